"""The scatter of people's means against a metric's values."""

from __future__ import annotations

from leaderboard.charts.scatter import BOTTOM, LEFT, RIGHT, TOP, scatter
from leaderboard.evidence.results import Result


def result(item: str, value: float, mean: float) -> Result:
    return Result(item, item, value, mean)


def test_lines_go_through_each_items_results_in_the_order_of_the_metric():
    chart = scatter([result("a", 30.0, 3.0), result("a", 20.0, 1.0), result("b", 25.0, 5.0)], (1.0, 5.0))
    (path, points, first), (_, single, second) = chart.lines
    assert (first, second) == ("low", "high")
    assert points == ((LEFT, BOTTOM), (RIGHT, (TOP + BOTTOM) / 2)) and path == f"M{LEFT} {BOTTOM}L{RIGHT} {(TOP + BOTTOM) / 2}"
    assert single == (((LEFT + RIGHT) / 2, TOP),)
    assert [mean for mean, _ in chart.heights] == [1, 2, 3, 4, 5] and chart.heights[0][1] == BOTTOM
    assert [value for value, _ in chart.ticks] == [22.0, 24.0, 26.0, 28.0, 30.0]


def test_the_two_that_are_named_part_the_most_and_are_of_different_items():
    rows = [result("a", 30.0, 1.0), result("a", 20.0, 4.9), result("b", 24.0, 4.0), result("b", 22.0, 2.0)]
    chart = scatter(rows, (1.0, 5.0))
    # a at 30 and b at 24: 6/10 of the values and 3/4 of the scale; a's own two are of one item.
    assert (chart.low.item, chart.low.value, chart.low.mean) == ("a", 30.0, 1.0)
    assert (chart.high.item, chart.high.value, chart.high.mean) == ("b", 24.0, 4.0)


def test_where_nothing_parts_there_is_no_chart():
    assert scatter([result("a", 1.0, 1.0), result("b", 2.0, 2.0)], (1.0, 5.0)) is None
    assert scatter([], (1.0, 5.0)) is None and scatter([result("a", 1.0, 1.0), result("b", 1.0, 2.0)], (1.0, 5.0)) is None
