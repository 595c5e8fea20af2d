"""The chart of a published set's metrics within an item and across items."""

from __future__ import annotations

import pytest

from leaderboard.charts.published_sets import within_and_across
from leaderboard.evidence import shown


def test_heights_are_shares_of_the_way_from_chance_to_perfect_agreement():
    one = shown.leading(shown.shipped()["nerf-qa"])
    lower, rival = (next(row for row in one.rows if row.title == title) for title in ("PSNR (luma)", "TOPIQ-FR"))
    drawn = {series.name: series.dots for series in within_and_across(one, lower, rival).marks}
    assert set(drawn) == {row.title for row in one.rows if not row.is_reference_point}, "reference points have no line"
    for row in (lower, rival):
        within, across = row.within.figure, row.across.figure
        expected = [2 * within.value - 1, 2 * within.low - 1, 2 * within.high - 1], [across.value, across.low, across.high]
        assert [[dot.y, dot.low, dot.high] for dot in drawn[row.title]] == [pytest.approx(ends) for ends in expected]
        assert [dot.x for dot in drawn[row.title]] == [0, 1]
    below = next(row for row in one.rows if row.across.figure is not None and row.across.figure.low < 0)
    assert drawn[below.title][1].label == "" and drawn[below.title][1].low is None, "only the two that are named have intervals"


def test_without_a_rival_one_metric_is_named():
    found = shown.finding([shown.leading(shown.shipped()["gsc"])])
    one, lower, _ = found.example
    named = [series.name for series in within_and_across(one, lower, None).marks if series.dots[1].label]
    assert named == ["SSIM"]
