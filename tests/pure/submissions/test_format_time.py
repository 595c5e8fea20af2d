"""Moments as people read them, on a named clock."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from submissions.format_time import day_in_words, in_words

AT = datetime(2026, 12, 14, 22, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "words"),
    [
        ("Europe/Prague", "14 December 2026, 23:59 CET"),
        ("UTC", "14 December 2026, 22:59 UTC"),
        ("Etc/GMT+12", "14 December 2026, 10:59 UTC−12"),
        ("Asia/Almaty", "15 December 2026, 03:59 UTC+05"),
        ("no/such", "14 December 2026, 22:59 UTC"),
    ],
)
def test_a_moment_names_its_clock(zone, words):
    assert in_words(AT, zone) == words


def test_a_day_is_of_the_same_clock():
    assert [day_in_words(AT, zone) for zone in ("Europe/Prague", "Asia/Almaty")] == ["14 December 2026", "15 December 2026"]


def test_in_brief_it_has_neither_year_nor_clock():
    assert in_words(AT, "Europe/Prague", short=True) == "14 December, 23:59"
