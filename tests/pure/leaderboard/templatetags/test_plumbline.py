"""The words and numbers that all pages share."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from django.template import Context, Template

from leaderboard.templatetags import plumbline

AT = datetime(2026, 12, 14, 22, 59, tzinfo=UTC)


def shown(source: str, **context) -> str:
    return Template("{% load plumbline %}" + source).render(Context(context))


def test_a_moment_is_written_in_the_phases_zone_and_machine_readable():
    html = shown("{% moment at 'Europe/Prague' %}", at=AT)
    assert html == '<time datetime="2026-12-14T22:59:00Z">14 December 2026, 23:59 CET</time>'


def test_a_viewer_with_a_zone_reads_their_own_time_behind_it():
    html = shown("{% moment at 'Europe/Prague' %}", at=AT, user=SimpleNamespace(time_zone="Asia/Tokyo"))
    assert html.endswith('<span class="local">(your time: 15 December, 07:59)</span>')
    assert 'data-local="none"' in html  # the script need not add the browser's


def test_in_tables_the_viewers_time_is_in_the_title():
    html = shown("{% moment at 'UTC' 'title' %}", at=AT, user=SimpleNamespace(time_zone="Asia/Tokyo"))
    assert 'title="your time: 15 December, 07:59"' in html and "span" not in html


def test_a_deadline_anywhere_on_earth_is_of_the_day_it_names():
    end = datetime(2026, 12, 15, 11, 59, tzinfo=UTC)
    html = shown("{% day at 'Etc/GMT+12' 'short' %}", at=end)
    time = '<time datetime="2026-12-15T11:59:00Z" data-local="none" title="14 December 2026, 23:59 UTC−12">14 Dec 2026</time>'
    assert html == time
    assert shown("{% day at %}", at=end).endswith(">15 December 2026</time>")
    assert shown("{% day at 'UTC' 'bare' %}", at=end).endswith(">15 Dec</time>")


def test_no_moment_is_nothing():
    assert shown("{% moment at %}{% day at %}", at=None) == ""


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (12_345, "12.3 kB"),
        (999_999, "1 MB"),
        (123_456_789, "123 MB"),
        (500_000_000, "500 MB"),
        (2_000_000_000, "2 GB"),
        (None, "–"),
    ],
)
def test_sizes_are_read_in_decimal_units(size, words):
    assert plumbline.size_in_words(size) == words


def test_figures_that_may_be_counts():
    whole, others = (2108.0, 0.0, 1), (0.9992, 0.000123, -0.5)
    assert [plumbline.figure(value) for value in whole] == ["2,108", "0", "1"]
    assert [plumbline.figure(value) for value in others] == ["0.999", "0.000123", "−0.500"]
    assert plumbline.figure(None) == plumbline.figure(float("nan")) == "–" and plumbline.figure(float("inf")) == "∞"


def test_numbers():
    assert plumbline.count(1234567) == "1,234,567"
    assert plumbline.number(0.61234) == "0.612"
    assert plumbline.number(-1.5, 1) == "−1.5"
    assert (plumbline.number(0.0), plumbline.number(1e-12), plumbline.number(0.1)) == ("0.000", "0.000", "0.100")
    assert (plumbline.number(0.0123456), plumbline.number(-0.00012345)) == ("0.0123", "−0.000123"), "squared lengths are small"
    assert plumbline.number(None) == plumbline.number(float("nan")) == "–"


def test_lists_read_as_sentences():
    assert plumbline.sentence_list([]) == ""
    assert plumbline.sentence_list(["a"]) == "a"
    assert plumbline.sentence_list(["a", "b"]) == "a and b"
    assert plumbline.sentence_list(["a", "b", "c"], "or") == "a, b or c"
