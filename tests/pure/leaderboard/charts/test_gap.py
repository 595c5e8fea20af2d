"""The curve of how many people see a gap, by hand: share = 1 / (1 + exp(-beta d / m))."""

from __future__ import annotations

import math

import pytest

from leaderboard.charts.gap import BOTTOM, LEFT, RIGHT, TOP, gap_chart
from leaderboard.stats.differences import Seen


def test_it_rises_from_one_half_and_marks_the_middle_gap_and_the_one_that_three_of_four_see():
    found = gap_chart(Seen(gamma=1.0, unit=0.1, slope=0.5, low=0.3, high=0.7, delta75=(0.2197225, 0.157, 0.366), largest=0.4))
    assert found.curve.startswith(f"M{LEFT} {BOTTOM}L") and found.curve.count("L") == 40 and found.band.endswith("Z")
    assert (found.middle.difference, found.middle.share) == (0.1, (62, 57, 67))  # sigma(.5), sigma(.3), sigma(.7)
    assert found.middle.x == pytest.approx(LEFT + (RIGHT - LEFT) / 4)
    assert found.seen.share[0] == 75 and found.seen.y == pytest.approx((TOP + BOTTOM) / 2, abs=1e-4)
    end = float(found.curve.split()[-1])
    assert end == pytest.approx(BOTTOM - (BOTTOM - TOP) * (1 / (1 + math.exp(-2)) - 0.5) / 0.5, abs=0.06)
    assert [text for _, text in found.ticks] == ["0", "0.1", "0.2", "0.3", "0.4"] and [share for _, share in found.lines][0::5] == [50, 100]


def test_a_gap_beyond_the_largest_is_not_marked_and_the_ticks_have_round_numbers():
    found = gap_chart(Seen(gamma=0.5, unit=9.0, slope=0.2, low=0.1, high=0.3, delta75=None, largest=17.0))
    assert found.seen is None and [text for _, text in found.ticks] == ["0", "5", "10", "15"]
