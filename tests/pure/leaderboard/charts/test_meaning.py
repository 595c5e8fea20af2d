"""The curve of what differences mean, by hand: the mean is 1 / (1 + exp(-beta d / m))."""

from __future__ import annotations

import math

import pytest

from leaderboard.charts.meaning import BOTTOM, TOP, curve
from leaderboard.stats.meaning import Difference
from leaderboard.stats.minimums import ENTRIES_FOR_DIFFERENCE
from leaderboard.stats.states import Counted, Key, Reason

STEEP = Difference(0.5, 0.1, 0.4, 9, 30, 25, 12, 12, 0.01, 0.6, 0.01, 20.0)


def test_it_rises_from_one_half_to_the_largest_difference():
    found = curve(STEEP)
    points = [tuple(float(n) for n in point.split()) for point in found.line.removeprefix("M").split("L")]
    assert len(points) == 41 and points[0][1] == pytest.approx((TOP + BOTTOM) / 2, abs=0.06)
    assert points[-1][1] == pytest.approx(BOTTOM - (BOTTOM - TOP) / (1 + math.exp(-2)), abs=0.06)
    assert [text for _, text in found.ticks] == ["0", "0.1", "0.2", "0.3", "0.4"] and [share for _, share in found.shares] == [
        0,
        25,
        50,
        75,
        100,
    ]
    assert [size for size, _ in found.examples] == [0.1, 0.4]


def test_the_band_of_single_pairs_is_wider_than_that_of_the_mean():
    found = curve(STEEP)

    def width(band: str) -> float:
        heights = [float(point.split()[1]) for point in band.removeprefix("M").removesuffix("Z").split("L")]
        return heights[len(heights) // 2] - heights[len(heights) // 2 - 1]

    assert width(found.one) > width(found.mean) > 0


def test_where_nothing_is_known_there_is_no_curve():
    assert (
        curve(
            Difference(None, None, None, 6, 15, 9, 6, 6, reason=Reason(Key.FEW_FOR_DIFFERENCE, Counted.ENTRIES, ENTRIES_FOR_DIFFERENCE, 6))
        )
        is None
    )
