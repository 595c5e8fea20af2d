"""The curve of what differences mean, by hand: the mean is 1 / (1 + exp(-beta d / m))."""

from __future__ import annotations

import math

import pytest

from leaderboard.charts.meaning import curve, examples
from leaderboard.stats.meaning import Difference
from leaderboard.stats.minimums import ENTRIES_FOR_DIFFERENCE
from leaderboard.stats.states import Counted, Key, Reason

STEEP = Difference(0.5, 0.1, 0.4, 9, 30, 25, 12, 12, 0.01, 0.6, 0.01, 20.0)


def test_it_rises_from_one_half_to_the_largest_difference():
    found = curve(STEEP, "m")
    *_, line = found.marks
    assert len(line.dots) == 41 and line.dots[0].y == pytest.approx(50)
    assert (line.dots[-1].x, line.dots[-1].y) == (0.4, pytest.approx(100 / (1 + math.exp(-2))))
    assert (found.x.title, found.x.ends, found.y.ends) == ("difference in m", (0, 0.4), (0, 100))
    assert [row[:2] for row in found.rows[::5]] == [("0", "50 %"), ("0.4000", "88 %")] and len(found.rows[0]) == len(found.columns)
    assert [size for size, _ in examples(STEEP)] == [0.1, 0.4]


def test_the_band_of_single_pairs_is_wider_than_that_of_the_mean():
    one, mean, _ = curve(STEEP).marks
    for (_, least, most), (_, low, high) in zip(one.points[1:], mean.points[1:], strict=True):
        assert least < low < high < most


def test_where_nothing_is_known_there_is_no_curve():
    assert (
        curve(
            Difference(None, None, None, 6, 15, 9, 6, 6, reason=Reason(Key.FEW_FOR_DIFFERENCE, Counted.ENTRIES, ENTRIES_FOR_DIFFERENCE, 6))
        )
        is None
    )
