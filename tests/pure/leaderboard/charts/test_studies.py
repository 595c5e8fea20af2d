"""Words of a study's charts, and where they leave words out."""

from __future__ import annotations

import re

import pytest

from leaderboard.charts.studies import MAX_NAMES, Point, adequacy, agreement_map, scatter
from leaderboard.stats.minimums import RATERS_FOR_FIGURE
from leaderboard.stats.subsample_stability import Curve


def curve(resource: str, enough: int | None) -> Curve:
    return Curve(resource=resource, sizes=[1, 2, 4], mean=[0.5, 0.8, 1.0], low=[0.1, 0.6, 1.0], high=[0.9, 1.0, 1.0], enough=enough)


@pytest.mark.parametrize(
    ("resource", "enough", "words"),
    [
        ("comparisons", 2, "Answers: random subsets of 2 or more of 4 reliably give the same order."),
        ("comparisons", 4, "Answers: no smaller number than all 4 reliably gives the same order."),
        ("samples", None, "Houses: no smaller number than all 4 reliably gives the same order."),
        ("raters", 2, "People: no smaller number than all 4 reliably gives the same order."),  # fewer than five people bear no figure
    ],
)
def test_that_all_of_them_agree_with_all_of_them_says_nothing_of_less(resource, enough, words):
    found = adequacy(curve(resource, enough), noun="house")
    assert found.summary == words
    assert found.rows[-1][0] == "4" and found.rows[-1][2:] == ("–", "–")  # one part of all: an interval of no width


def test_people_keep_the_order_from_the_smallest_number_that_bears_a_figure_on():
    many = Curve(resource="raters", sizes=[1, RATERS_FOR_FIGURE, 9], mean=[1.0] * 3, low=[1.0] * 3, high=[1.0] * 3, enough=1)
    assert re.findall(r"\d+", adequacy(many).summary) == [str(RATERS_FOR_FIGURE), "9"]


def test_where_all_entries_are_level_there_is_no_order_to_keep_and_no_lack_of_answers():
    nothing = [None] * 3
    level = Curve(resource="comparisons", sizes=[1, 30, 960], mean=nothing, low=nothing, high=nothing, enough=None)
    assert adequacy(level).marks == ()
    one = Curve(resource="raters", sizes=[1], mean=[1.0], low=[1.0], high=[1.0], enough=None)
    assert adequacy(one).marks == () and adequacy(one).summary != adequacy(level).summary


def points(*places: tuple[float, float]) -> list[Point]:
    return [Point(f"method {n}", value, mos, None, None) for n, (value, mos) in enumerate(places)]


def test_entries_whose_long_names_differ_in_brackets_have_labels_that_differ():
    names = ("one method with a long name (first)", "one method with a long name (second)")
    (dots,) = scatter("HSS", True, [Point(name, n, 1.0 + n, None, None) for n, name in enumerate(names)]).marks
    assert len({dot.label for dot in dots.dots} - {""}) == 2
    ticks = agreement_map(names, [[None, 0.5], [0.5, None]], [[0, 9], [9, 0]], [0, 1], [], "two").y.ticks
    assert len({label for _, label in ticks}) == 2


def test_labels_that_would_lie_over_each_other_are_left_to_the_pointer():
    apart = scatter("PSNR", True, points((20, 2), (25, 3), (30, 4))).marks[0].dots
    assert [dot.label for dot in apart] == ["method 0", "method 1", "method 2"]
    crowd = scatter("PSNR", True, points((0, 1), *((29 + n / 1000, 4.0 + n / 1000) for n in range(9)))).marks[0].dots
    assert crowd[0].label == "method 0" and 1 <= sum(bool(dot.label) for dot in crowd[1:]) <= 4
    assert [dot.said.partition(":")[0] for dot in crowd] == [f"method {n}" for n in range(10)]


def test_an_interval_beyond_the_scale_is_drawn_whole():
    near = scatter("PSNR", True, [Point("a", 20, 4.6, 3.9, 5.3), Point("b", 25, 1.5, 1.2, 1.8)])
    assert near.y.ends == pytest.approx([0.9, 5.4])
    assert scatter("PSNR", True, points((20, 2), (25, 3))).y.ends == pytest.approx([0.9, 5.1])


def test_the_map_says_who_is_in_it_and_leaves_names_out_below_where_they_have_no_room():
    for n, shown in ((MAX_NAMES, True), (MAX_NAMES + 1, False)):
        square = [[0.5] * n for _ in range(n)]
        found = agreement_map([f"rater {k}" for k in range(n)], square, square, range(n), [], "2 raters and 1 metric")
        assert "2 raters and 1 metric" in found.summary
        assert bool(found.x.ticks) is shown and len(found.y.ticks) == n
