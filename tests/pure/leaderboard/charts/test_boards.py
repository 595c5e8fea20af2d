import math
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from leaderboard.charts.boards import (
    CostPoint,
    Point,
    RankRow,
    Series,
    cost,
    differences,
    distributions,
    progress,
    rank_intervals,
)
from leaderboard.records.chart import Bars, Chart, Dots, Level
from leaderboard.stats.uncertainty import Paired, paired
from tests.support.leaderboard.charts import HSS, NASTY, OFFSET

ITEMS = ("h1", "h2", "h3", "h4")
A = Series("gable-net", (0.9, 0.5, None, 0.4))
B = Series("pc-to-edges", (0.6, 0.7, 0.8, 0.4))


def day(n, hour=0):
    return datetime(2026, 11, n, hour, tzinfo=UTC)


POINTS = [
    Point(day(3), 0.5, "second"),
    Point(day(1), 0.4, "first"),
    Point(day(5), 0.45, "worse"),
    Point(day(7), 0.5 + 1e-14, "tie"),
    Point(day(9), None, "nothing"),
    Point(day(8), 0.6, "best"),
]
RANKS = [RankRow("a", 1, (1, 2)), RankRow("b", 2, (1, 3)), RankRow("imported", 3), RankRow("unranked", None)]


def all_charts(name="e"):
    series = [Series(f"{name}{i}", tuple(np.linspace(i / 9, 1, 4))) for i in range(3)]
    points = [Point(p.time, p.value, name + p.label) for p in POINTS]
    ranks = [RankRow(name + r.label, r.rank, r.interval) for r in RANKS]
    return [
        distributions(HSS, series, ITEMS),
        progress(OFFSET, points, [(f"{name} hull", 0.3)]),
        differences(HSS, series[0], series[1], ITEMS, paired(series[0].values, series[1].values)),
        rank_intervals("HSS", ranks),
    ]


def empty_charts():
    return [
        distributions(HSS, [Series("a", (None,) * 4)], ITEMS),
        progress(HSS, [Point(day(1), None, "a")]),
        differences(HSS, Series("a", (1.0, None)), Series("b", (None, 1.0)), ("x", "y")),
        rank_intervals("HSS", [RankRow("a", None)]),
    ]


def series(chart: Chart, name: str) -> Dots | Bars:
    return next(mark for mark in chart.marks if isinstance(mark, Dots | Bars) and mark.name == name)


def heights(mark: Dots | Bars) -> list[float | None]:
    return [dot.y for dot in mark.dots]


def said(mark: Dots | Bars) -> list[str]:
    return [dot.said for dot in mark.dots]


def items_of(chart: Chart, name: str) -> list[str]:
    return [chart.x.names[int(dot.x)] for dot in series(chart, name).dots]


class TestEveryChart:
    def test_has_a_sentence_and_a_full_table_in_words(self):
        for chart in all_charts():
            assert chart.summary.endswith(".") and "nan" not in chart.summary
            assert chart.rows and [row for row in chart.rows if len(row) != len(chart.columns)] == []
            assert [(row, cell) for row in chart.rows for cell in row if not (isinstance(cell, str) and cell)] == []

    def test_keeps_names_whole_and_as_they_are_in_sentence_and_table(self):
        for chart in all_charts(name=NASTY):
            assert NASTY in f"{chart.summary}{chart.columns}{chart.rows}"

    def test_with_nothing_to_draw_says_so_without_drawing(self):
        for chart in empty_charts():
            assert chart.marks == () and chart.rows == () and chart.summary


class TestDistributions:
    def test_boxes_hold_the_values_there_are(self):
        chart = distributions(HSS, [A, B], ITEMS)
        assert chart.marks[0].name == "gable-net" and chart.marks[0].values == (0.9, 0.5, 0.4)
        assert chart.marks[0].said[2] == "gable-net\nh4: 0.4000"
        assert chart.rows[0] == ("gable-net", "3", "0.4000", "0.4500", "0.5000", "0.7000", "0.9000")

    @pytest.mark.parametrize(("metric", "best"), [(HSS, "pc-to-edges"), (OFFSET, "gable-net")])
    def test_names_the_best_median_by_the_metrics_direction(self, metric, best):
        assert distributions(metric, [A, B], ITEMS, noun="house").summary.endswith(f", of {best}.")

    def test_first_thirty_are_drawn_and_it_is_said(self):
        chart = distributions(HSS, [Series(f"e{i}", B.values) for i in range(31)], ITEMS)
        assert len(chart.marks) == len(chart.rows) == 30 and "30 of 31" in chart.summary

    def test_many_values_are_drawn_as_boxes_only(self):
        items = tuple(f"h{i}" for i in range(2000))
        one, other = (Series(name, tuple(np.linspace(0, 1, 2000))) for name in "ab")
        assert distributions(HSS, [one], items).marks[0].has_all_points
        assert not distributions(HSS, [one, other], items).marks[0].has_all_points

    def test_two_entries_of_one_name_stay_two(self):
        chart = distributions(HSS, [A, Series("gable-net", B.values)], ITEMS)
        assert [box.at for box in chart.marks] == [0, 1]

    def test_every_value_needs_its_item(self):
        with pytest.raises(ValueError, match="argument"):
            distributions(HSS, [A], ("h1",))


class TestProgress:
    def test_steps_up_at_each_record_where_higher_is_better(self):
        best = series(progress(HSS, POINTS), "Best so far")
        assert best.line.is_stepped and heights(best) == [0.4, 0.5, 0.6, 0.6]
        assert [dot.x for dot in best.dots] == [day(n).timestamp() for n in (1, 3, 8, 8)]

    def test_steps_down_where_lower_is_better(self):
        points = [Point(p.time, None if p.value is None else -p.value, p.label) for p in POINTS]
        assert heights(series(progress(OFFSET, points), "Best so far")) == [-0.4, -0.5, -0.6, -0.6]
        assert heights(series(progress(OFFSET, POINTS), "Best so far")) == [0.4, 0.4]

    def test_every_scored_entry_is_a_point_and_a_tie_is_no_record(self):
        chart = progress(HSS, POINTS)
        assert said(series(chart, "Records")) == ["first: 0.4000", "second: 0.5000", "best: 0.6000"]
        assert said(series(chart, "Entries")) == ["worse: 0.4500", "tie: 0.5000"]

    def test_records_differ_from_entries_by_shape_too(self):
        chart = progress(HSS, POINTS)
        assert series(chart, "Records").symbol != series(chart, "Entries").symbol

    def test_baselines_are_dashed_across_the_whole_time(self):
        hull = series(progress(HSS, POINTS, [("hull", 0.3)]), "hull")
        assert hull.line.dash == "dash" and heights(hull) == [0.3, 0.3]
        assert [dot.x for dot in hull.dots] == [day(1).timestamp(), day(8).timestamp()]

    def test_times_are_on_the_clock_that_is_named_whatever_zone_they_came_in(self):
        east = datetime(2026, 11, 2, 1, tzinfo=timezone(timedelta(hours=3)))
        assert progress(HSS, [Point(east, 0.5, "a")]).rows[0][0] == "2026-11-01 22:00:00"
        there = progress(HSS, [Point(east, 0.5, "a")], zone=ZoneInfo("Asia/Tokyo"))
        assert there.rows[0][0] == "2026-11-02 07:00:00" and "on 2 November 2026" in there.summary
        assert there.columns[0] == there.x.title == "Time (Asia/Tokyo)"
        assert there.marks[0].dots[0].x == day(2, 7).timestamp()

    def test_a_time_without_a_zone_is_refused(self):
        with pytest.raises(ValueError, match="no time zone"):
            progress(HSS, [Point(datetime(2026, 11, 1), 0.5, "a")])


TESTED = Paired(0.03, -0.1, 0.2, 0.44, 3, 1, 1, 1, 1)


class TestDifferences:
    def test_sides_signs_and_order_where_higher_is_better(self):
        chart = differences(HSS, A, B, ITEMS, noun="body")
        assert items_of(chart, "gable-net better") == ["h1"] and chart.columns[0] == "Body"
        assert heights(series(chart, "gable-net better")) == pytest.approx([0.3])
        assert heights(series(chart, "pc-to-edges better")) == pytest.approx([-0.2])
        assert chart.x.names == ("h1", "h4", "h2")
        assert [row[4] for row in chart.rows] == ["gable-net", "equal", "pc-to-edges"]

    def test_sides_swap_and_signs_stay_where_lower_is_better(self):
        chart = differences(OFFSET, A, B, ITEMS)
        assert heights(series(chart, "gable-net better")) == pytest.approx([-0.2])
        assert items_of(chart, "pc-to-edges better") == ["h1"]
        assert chart.x.names == ("h2", "h4", "h1")

    def test_sides_differ_by_hatching_too(self):
        chart = differences(HSS, A, B, ITEMS)
        assert not series(chart, "gable-net better").is_hatched and series(chart, "pc-to-edges better").is_hatched

    def test_mean_and_interval_are_drawn_when_given(self):
        result = TESTED
        assert differences(HSS, A, B, ITEMS, result).marks[2:] == (Level(result.mean_difference, result.ci_low, result.ci_high),)
        assert len(differences(HSS, A, B, ITEMS).marks) == 2

    def test_one_pair_has_a_mean_and_no_band(self):
        result = paired([1.0], [0.5])
        chart = differences(HSS, Series("a", (1.0,)), Series("b", (0.5,)), ("x",), result)
        assert chart.marks[2:] == (Level(0.5, result.ci_low, result.ci_high),) and "interval" not in chart.summary


class TestRankIntervals:
    def test_whiskers_reach_both_ends_and_missing_ones_are_open_dots(self):
        chart = rank_intervals("HSS", RANKS)
        known, bare = chart.marks
        assert [(dot.x, dot.low, dot.high) for dot in known.dots] == [(1, 1, 2), (2, 1, 3)]
        assert [(dot.x, dot.y, dot.low) for dot in bare.dots] == [(3, 2, None)] and bare.symbol == "circle-open"
        assert chart.rows == (("a", "1", "1–2"), ("b", "2", "1–3"), ("imported", "3", "no interval"))

    def test_first_thirty_are_drawn_and_it_is_said(self):
        chart = rank_intervals("HSS", [RankRow(f"e{i}", i + 1, (i + 1, i + 2)) for i in range(40)])
        assert len(chart.marks[0].dots) == 30 and "first 30 shown" in chart.summary


def test_a_value_that_is_not_a_number_is_treated_as_missing():
    chart = distributions(HSS, [Series("a", (math.nan, 0.5, None, math.inf))], ITEMS)
    assert chart.marks[0].values == (0.5,)


class TestCost:
    POINTS = (
        CostPoint("small", 1e6, 0.5, 0.4, 0.6),
        CostPoint("worse", 4e6, 0.45),
        CostPoint("large", 4e7, 0.9),
        CostPoint("huge", 4e9, 0.9),
    )

    def test_a_line_joins_those_that_none_beats_at_the_same_cost_or_less(self):
        chart = cost(HSS, self.POINTS, "Parameters", 2)
        line = [(dot.x, dot.y, dot.label) for dot in chart.marks[0].dots]
        assert line == [(1e6, 0.5, "small"), (4e7, 0.9, "large")], "huge is no better than large"
        assert chart.x.scale == "log" and "small, large" in chart.summary and "2 entries" in chart.summary

    def test_where_lower_is_better_the_line_goes_down(self):
        chart = cost(OFFSET, self.POINTS, "Parameters", 0)
        assert [dot.label for dot in chart.marks[0].dots] == ["small", "worse"] and "left out" not in chart.summary

    def test_every_entry_is_in_the_table_with_its_interval(self):
        rows = cost(HSS, self.POINTS, "Parameters", 0).rows
        assert [row[0] for row in rows] == ["small", "worse", "large", "huge"] and rows[0][3] == "0.40 to 0.60" and rows[1][3] == "–"
        assert [row[4] for row in rows] == ["best at its cost", "", "best at its cost", ""]

    def test_of_one_cost_the_better_one_is_on_the_line(self):
        chart = cost(HSS, (CostPoint("a", 1e6, 0.5), CostPoint("b", 1e6, 0.7)), "Parameters", 1)
        assert [dot.label for dot in chart.marks[0].dots] == ["b"]


PARENT, ABLATION = "Mip-NeRF 360 of Barron et al.", "Mip-NeRF 360 of Barron et al. (no appearance embedding)"


def test_an_ablation_does_not_have_the_name_of_its_parent():
    names = PARENT, ABLATION
    prices = [CostPoint(name, 10.0**n, 0.5 + n / 10) for n, name in enumerate(names)]
    found = {
        "boxes": [box.name for box in distributions(HSS, [Series(name, B.values) for name in names], ITEMS).marks],
        "ranks": [label for _, label in rank_intervals("HSS", [RankRow(name, n) for n, name in enumerate(names, 1)]).y.ticks],
        "cost": [dot.label for dot in cost(HSS, prices, "Parameters", 0).marks[0].dots],
        "differences": [bars.name for bars in differences(HSS, Series(PARENT, A.values), Series(ABLATION, B.values), ITEMS).marks],
        "baselines": [line.name for line in progress(HSS, POINTS, [(name, 0.3) for name in names]).marks[:2]],
    }
    assert {chart: labels for chart, labels in found.items() if len({*labels}) < 2} == {}


def test_a_long_name_is_that_of_the_method_alone():
    team = "gable-net v3 (University of Roofs)"
    (box,) = distributions(HSS, [Series(team, A.values, "gable-net v3")], ITEMS).marks
    (dot,) = cost(HSS, [CostPoint(team, 1e6, 0.5, method="gable-net v3")], "Parameters", 0).marks[0].dots
    ranks = rank_intervals("HSS", [RankRow(team, 1, method="gable-net v3")])
    assert box.name == dot.label == ranks.y.ticks[0][1] == "gable-net v3" and ranks.rows[0][0] == team


SAME = [Series(name, (1.0, 0.5, 1.0, 1.0)) for name in "abc"]


@pytest.mark.parametrize(
    ("chart", "said"),
    [
        (
            distributions(HSS, [*SAME, Series("d", (0.1,) * 4)], ITEMS, noun="house"),
            "HSS per house for every entry and baseline (higher is better); the best median is 1.000, of a and 2 others.",
        ),
        (
            progress(HSS, POINTS),
            "The best HSS (higher is better) is 0.6000, first by best on 8 November 2026. Of 5 entries, 3 set a record.",
        ),
        (
            differences(HSS, A, B, ITEMS, TESTED, noun="body"),
            "HSS (higher is better) per body: gable-net is better on 1, pc-to-edges on 1, equal on 1 of 3 bodies; mean difference 0.03 "
            "(95 % interval −0.10 to 0.20), p = 0.44. 1 body without a value on both sides left out.",
        ),
        (
            differences(HSS, Series("a", (1.0, None)), Series("b", (None, 1.0)), ("x", "y")),
            "a and b have no item in common with a value for HSS.",
        ),
        (rank_intervals("HSS", RANKS), "Ranks by HSS with 95 % intervals for 3 entries: 2 entries may be first."),
        (rank_intervals("HSS", [RankRow("c", 3, (2, 4))]), "Ranks by HSS with 95 % intervals for 1 entry: no interval reaches rank 1."),
        (rank_intervals("HSS", RANKS[2:]), "Ranks by HSS of 1 entry; there are no intervals."),
        (cost(HSS, (), "Parameters", 3), "No ranked entry states its parameters. 3 entries state nothing and are left out."),
        (
            cost(HSS, TestCost.POINTS[:1], "Parameters", 1),
            "HSS (higher is better) of 1 entry, against parameters, as their teams state them. Best at their cost: no entry that "
            "states the same or a lower cost has a better value than small. 1 entry states nothing and is left out.",
        ),
    ],
)
def test_a_chart_in_a_sentence(chart, said):
    assert chart.summary == said
