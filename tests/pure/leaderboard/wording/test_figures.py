"""Numbers and intervals as text."""

from __future__ import annotations

from leaderboard.wording.figures import POINTS, interval, number, points, share, written


def test_numbers():
    assert number(0.61234) == "0.612"
    assert number(-1.5, 1) == "−1.5"
    assert (number(0.0), number(1e-12), number(0.1)) == ("0.000", "0.000", "0.100")
    assert (number(0.0123456), number(-0.00012345)) == ("0.0123", "−0.000123"), "squared lengths are small"
    assert number(-0.001, 2) == "0.00" and number(float("inf")) == "∞"
    assert number(None) == number(float("nan")) == share(None) == points(None) == "–"


def test_shares_and_their_differences():
    assert [share(value) for value in (0.834, 0.0, 1.0, 0.9999, 0.001)] == ["83", "0", "100", "99", "1"]
    assert (points(0.031), points(-0.126), points(-0.001)) == ("+3", "−13", "0")


def test_an_interval_is_written_as_its_value():
    assert (
        interval(0.78, 0.876) == "[78, 88]" and interval(0.78, 0.876, 2) == "[0.78, 0.88]" and interval(-0.03, 0.1, POINTS) == "[−3, +10]"
    )
    assert interval(None, 0.5) == interval(0.5, None) == "" and written(0.5, POINTS) == "+50"


def test_an_end_that_rounding_would_put_at_chance_keeps_its_side():
    assert interval(0.503, 0.88) == "[50.3, 88]" and interval(0.31, 0.4961) == "[31, 49.6]" and interval(0.5, 0.88) == "[50, 88]"
    assert interval(0.5001, 0.88) == "[>50, 88]" and interval(0.31, 0.4999) == "[31, <50]" and interval(0.503, 0.88, 2) == "[0.50, 0.88]"
