"""Ranks and places as text."""

from __future__ import annotations

from leaderboard.wording.ranks import ordinal, place, span


def test_ordinals():
    words = [ordinal(n) for n in (1, 2, 3, 4, 10, 11, 12, 13, 21, 22, 101, 111, 112)]
    assert words == ["1st", "2nd", "3rd", "4th", "10th", "11th", "12th", "13th", "21st", "22nd", "101st", "111th", "112th"]


def test_ranges():
    assert (span(1, 3), span(2, 2), span(None, None), span(12, 400, open_end=True)) == ("1–3", "2", "", "12–")
    assert (place(None), place((3, 3)), place((2, 4))) == ("", "3rd", "2–4")
