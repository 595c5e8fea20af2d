"""The scatter of people's means against a metric's values."""

from __future__ import annotations

from leaderboard.charts.scatter import scatter
from leaderboard.evidence.results import Result


def result(item: str, value: float, mean: float) -> Result:
    return Result(item, item, value, mean)


def test_lines_go_through_each_items_results_in_the_order_of_the_metric():
    chart = scatter([result("a", 30.0, 3.0), result("a", 20.0, 1.0), result("b", 25.0, 5.0)], (1.0, 5.0), "PSNR").chart
    lines = [(mark.name, mark.tone, [(dot.x, dot.y) for dot in mark.dots]) for mark in chart.marks if mark.line]
    assert lines == [("a", "warn", [(20.0, 1.0), (30.0, 3.0)]), ("b", "accent", [(25.0, 5.0)])]
    assert [(dot.label, dot.side) for mark in chart.marks[-2:] for dot in mark.dots] == [
        ("a: 30.0, rated 3.0", "top left"),
        ("b: 25.0, rated 5.0", "top right"),
    ]
    assert (chart.x.title, chart.y.ends) == ("PSNR", (1.0, 5.0)) and chart.rows == (("a", "30.0", "3.0"), ("b", "25.0", "5.0"))


def test_the_two_that_are_named_part_the_most_and_are_of_different_items():
    rows = [result("a", 30.0, 1.0), result("a", 20.0, 4.9), result("b", 24.0, 4.0), result("b", 22.0, 2.0)]
    found = scatter(rows, (1.0, 5.0), "PSNR")
    # a at 30 and b at 24: 6/10 of the values and 3/4 of the scale; a's own two are of one item.
    assert (found.low.item, found.low.value, found.low.mean) == ("a", 30.0, 1.0)
    assert (found.high.item, found.high.value, found.high.mean) == ("b", 24.0, 4.0)


def test_where_nothing_parts_there_is_no_chart():
    assert scatter([result("a", 1.0, 1.0), result("b", 2.0, 2.0)], (1.0, 5.0), "PSNR") is None
    assert scatter([], (1.0, 5.0), "PSNR") is None and scatter([result("a", 1.0, 1.0), result("b", 1.0, 2.0)], (1.0, 5.0), "PSNR") is None
