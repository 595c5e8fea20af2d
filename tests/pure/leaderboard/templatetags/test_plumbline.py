"""The words and numbers that all pages share."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from django.template import Context, Template

from leaderboard.stats.states import Counted, Key, Reason, State
from leaderboard.stats.two_way_intervals import Figure
from leaderboard.templatetags import plumbline
from leaderboard.wording.reasons import sentence
from leaderboard.wording.statement import Statement, name, person

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
    assert [plumbline.value_or_count(value) for value in whole] == ["2,108", "0", "1"]
    assert [plumbline.value_or_count(value) for value in others] == ["0.999", "0.000123", "−0.500"]
    assert plumbline.value_or_count(None) == plumbline.value_or_count(float("nan")) == "–" and plumbline.value_or_count(float("inf")) == "∞"


def test_counts_take_their_noun_and_verb():
    assert shown('{{ n|counted:"entry" }} {{ n|verb:"lacks" }} it', n=1) == "1 entry lacks it"
    assert shown('<b>{{ n|count }}</b> {{ n|noun:"study" }} {{ n|verb:"has" }}', n=5000) == "<b>5,000</b> studies have"


KNOWN = Figure(0.834, 0.78, 0.876, 1200)
FEW = Figure(0.9, None, None, 3, State.TOO_FEW, Reason(Key.FEW, Counted.ITEMS, 5, 3))
LINE = Figure(1.0, None, None, 9, State.NO_INTERVAL, Reason(Key.IN_LINE))


def test_an_interval_is_of_a_figure_of_a_triple_or_of_a_pair():
    assert (
        shown("{% interval f %}", f=KNOWN)
        == shown("{% interval f %}", f=KNOWN.ends)
        == shown("{% interval f %}", f=(0.78, 0.876))
        == "[78, 88]"
    )
    assert shown("{% interval f 2 %} {% interval f 'points' %}", f=(0.5, -0.034, 0.1)) == "[−0.03, 0.10] [−3, +10]"
    assert shown("{% interval f %}{% interval g %}", f=FEW, g=(0.5, None, None)) == ""


def test_a_figure_is_drawn_with_its_interval_or_its_reason():
    assert shown("{% figure f n=f.n %}", f=KNOWN) == '83<small class="range">[78, 88], n 1,200</small>'
    assert shown("{% figure f %}", f=FEW, noun="house") == f'<span class="none" title="{sentence(FEW.reason, "house")}">–</span>'
    assert shown("{% figure f 2 %}", f=LINE) == f'1.00<small class="range" title="{sentence(LINE.reason)}">no interval</small>'
    assert shown("{{ f|why:'house' }}", f=FEW) == shown("{{ f|why:'house' }}", f=asdict(FEW)) == sentence(FEW.reason, "house")
    assert shown("{{ f|why }}", f=replace(FEW, why="It was said so then.")) == "It was said so then."
    assert shown("{% figure f %}", f=None) == "–"


def test_a_dot_stands_on_its_scale_over_the_interval_of_another_rater():
    another = Figure(0.8, 0.75, 0.85)
    drawn = shown("{% agreement f another role='cell' %}", f=KNOWN, another=another)
    assert 'style="--v:83;--lo:78;--hi:88;--b0:75;--b1:85" role="cell" aria-label="78 to 88"' in drawn
    assert drawn.endswith("><s></s><i></i><u></u></span>")
    assert shown("{% agreement f another 50 %}", f=FEW, another=another) == '<span class="ag from50" style="--b0:75;--b1:85"><s></s></span>'


def test_a_statement_sets_its_names_in_bold_and_escapes_them():
    said = Statement.of(name("A, <b>"), " leads ", person("A, <b> v2"), ".")
    assert shown("{% statement said %}", said=said) == '<b>A, &lt;b&gt;</b> leads <b class="person">A, &lt;b&gt; v2</b>.'
    assert shown("{% statement said %}", said=None) == "" and str(said) == said.text


def test_lists_read_as_sentences():
    assert plumbline.sentence_list([]) == ""
    assert plumbline.sentence_list(["a"]) == "a"
    assert plumbline.sentence_list(["a", "b"]) == "a and b"
    assert plumbline.sentence_list(["a", "b", "c"], "or") == "a, b or c"


def test_backticks_set_code_and_a_range_is_no_interval():
    assert plumbline.code_words("as `a<b>` of `peer` 2") == "as <code>a&lt;b&gt;</code> of <code>peer</code> 2"
    assert plumbline.extent((0.4, 0.361, 0.559)) == "0.36–0.56" and plumbline.extent((1.0, 2.25), 1) == "1.0–2.2"
