import json
import math
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from leaderboard.charts import drawing
from leaderboard.charts.boards import (
    DARK,
    LIGHT,
    TOKENS,
    CostPoint,
    Metric,
    Point,
    RankRow,
    Series,
    cost,
    differences,
    distributions,
    progress,
    rank_intervals,
)
from leaderboard.stats.uncertainty import Paired, paired

HSS = Metric("HSS", True)
OFFSET = Metric("Corner offset", False, "m")
ITEMS = ("h1", "h2", "h3", "h4")
A = Series("gable-net", (0.9, 0.5, None, 0.4))
B = Series("pc-to-edges", (0.6, 0.7, 0.8, 0.4))
NASTY = '<a href="javascript:x">%{x}</a> & <b>bold</b>'


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
RANKS = [RankRow("a", 1, 1, 2), RankRow("b", 2, 1, 3), RankRow("imported", 3), RankRow("unranked", None)]


def all_figures(colours=LIGHT, name="e"):
    series = [Series(f"{name}{i}", tuple(np.linspace(i / 9, 1, 4))) for i in range(3)]
    points = [Point(p.time, p.value, name + p.label) for p in POINTS]
    ranks = [RankRow(name + r.label, r.rank, r.low, r.high) for r in RANKS]
    return [
        distributions(HSS, series, ITEMS, colours),
        progress(OFFSET, points, [(f"{name} hull", 0.3)], colours),
        differences(HSS, series[0], series[1], ITEMS, paired(series[0].values, series[1].values), colours),
        rank_intervals("HSS", ranks, colours),
    ]


def empty_figures():
    return [
        distributions(HSS, [Series("a", (None,) * 4)], ITEMS),
        progress(HSS, [Point(day(1), None, "a")]),
        differences(HSS, Series("a", (1.0, None)), Series("b", (None, 1.0)), ("x", "y")),
        rank_intervals("HSS", [RankRow("a", None)]),
    ]


def trace(figure, name):
    return next(t for t in figure.data if t["name"] == name)


class TestEveryFigure:
    @pytest.mark.parametrize("colours", [LIGHT, DARK])
    def test_is_valid_to_plotly_itself(self, colours):
        from plotly.graph_objects import Figure

        for figure in all_figures(colours):
            Figure(data=list(figure.data), layout=figure.layout)

    def test_is_strict_json(self):
        for figure in [*all_figures(), *empty_figures()]:
            again = json.loads(json.dumps(figure.to_dict(), allow_nan=False))
            assert set(again) == {"data", "layout", "summary", "table"}

    def test_has_a_sentence_and_a_full_table_in_words(self):
        for figure in all_figures():
            assert figure.summary.endswith(".") and "nan" not in figure.summary
            assert figure.rows and all(len(row) == len(figure.columns) for row in figure.rows)
            assert all(isinstance(cell, str) and cell for row in figure.rows for cell in row)

    def test_takes_every_colour_from_the_palette(self):
        for figure in all_figures(TOKENS):
            text = json.dumps(figure.to_dict())
            assert "var(--ink)" in text and "#" not in text

    def test_shows_names_as_text_and_keeps_them_whole_in_the_table(self):
        for figure in all_figures(name=NASTY):
            drawn = json.dumps([figure.data, figure.layout])
            assert "<a" not in drawn and "<b>" not in drawn.replace("<br>", "")
            assert "hovertemplate" not in drawn
            assert NASTY in json.dumps([figure.summary, figure.columns, figure.rows]).replace('\\"', '"')

    def test_with_nothing_to_draw_says_so_without_drawing(self):
        for figure in empty_figures():
            assert figure.data == () and figure.rows == ()
            assert figure.summary.startswith(("No entry ", "a and b have no item"))

    def test_does_not_load_plotly(self):
        code = "import sys, leaderboard.charts.boards; sys.exit('plotly' in sys.modules or 'django' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestDistributions:
    def test_boxes_hold_the_values_there_are(self):
        figure = distributions(HSS, [A, B], ITEMS, LIGHT)
        assert trace(figure, "gable-net")["x"] == [0.9, 0.5, 0.4]
        assert trace(figure, "gable-net")["text"][2] == "gable-net<br>h4: 0.4000"
        assert figure.rows[0] == ("gable-net", "3", "0.4000", "0.4500", "0.5000", "0.7000", "0.9000")

    @pytest.mark.parametrize(("metric", "best"), [(HSS, "pc-to-edges"), (OFFSET, "gable-net")])
    def test_names_the_best_median_by_the_metrics_direction(self, metric, best):
        assert distributions(metric, [A, B], ITEMS).summary.endswith(f", of {best}.")
        assert f"{metric.title} per house for every entry" in distributions(metric, [A, B], ITEMS, noun="house").summary

    def test_says_how_many_share_the_best_median(self):
        same = [Series(name, (1.0, 0.5, 1.0, 1.0)) for name in "abc"]
        assert distributions(HSS, [*same, Series("d", (0.1,) * 4)], ITEMS).summary.endswith("the best median is 1.000, of a and 2 others.")

    def test_first_thirty_are_drawn_and_it_is_said(self):
        figure = distributions(HSS, [Series(f"e{i}", B.values) for i in range(31)], ITEMS)
        assert len(figure.data) == len(figure.rows) == 30
        assert "the first 30 of 31 entries" in figure.summary

    def test_many_values_are_drawn_as_boxes_only(self):
        items = tuple(f"h{i}" for i in range(2000))
        one, other = (Series(name, tuple(np.linspace(0, 1, 2000))) for name in "ab")
        assert distributions(HSS, [one], items).data[0]["boxpoints"] == "all"
        assert distributions(HSS, [one, other], items).data[0]["boxpoints"] == "outliers"

    def test_two_entries_of_one_name_stay_two(self):
        figure = distributions(HSS, [A, Series("gable-net", B.values)], ITEMS)
        assert [set(t["y"]) for t in figure.data] == [{0}, {1}]

    def test_every_value_needs_its_item(self):
        with pytest.raises(ValueError, match="argument"):
            distributions(HSS, [A], ("h1",))


class TestProgress:
    def test_steps_up_at_each_record_where_higher_is_better(self):
        line = trace(progress(HSS, POINTS), "Best so far")
        assert line["line"]["shape"] == "hv"
        assert line["y"] == [0.4, 0.5, 0.6, 0.6]
        assert [x[:10] for x in line["x"]] == ["2026-11-01", "2026-11-03", "2026-11-08", "2026-11-08"]

    def test_steps_down_where_lower_is_better(self):
        points = [Point(p.time, None if p.value is None else -p.value, p.label) for p in POINTS]
        assert trace(progress(OFFSET, points), "Best so far")["y"] == [-0.4, -0.5, -0.6, -0.6]
        assert trace(progress(OFFSET, POINTS), "Best so far")["y"] == [0.4, 0.4]

    def test_every_scored_entry_is_a_point_and_a_tie_is_no_record(self):
        figure = progress(HSS, POINTS)
        assert trace(figure, "Records")["text"] == ["first: 0.4000", "second: 0.5000", "best: 0.6000"]
        assert trace(figure, "Entries")["text"] == ["worse: 0.4500", "tie: 0.5000"]

    def test_records_differ_from_entries_by_shape_too(self):
        figure = progress(HSS, POINTS)
        assert trace(figure, "Records")["marker"]["symbol"] != trace(figure, "Entries")["marker"]["symbol"]

    def test_baselines_are_dashed_across_the_whole_time(self):
        line = trace(progress(HSS, POINTS, [("hull", 0.3)]), "hull")
        assert line["line"]["dash"] == "dash" and line["y"] == [0.3, 0.3]
        assert [x[:10] for x in line["x"]] == ["2026-11-01", "2026-11-08"]

    def test_says_who_is_best_and_since_when(self):
        assert progress(HSS, POINTS).summary == (
            "The best HSS (higher is better) is 0.6000, first by best on 8 November 2026, after 3 records among 5 entries."
        )

    def test_times_are_on_the_clock_that_is_named_whatever_zone_they_came_in(self):
        east = datetime(2026, 11, 2, 1, tzinfo=timezone(timedelta(hours=3)))
        assert progress(HSS, [Point(east, 0.5, "a")]).rows[0][0] == "2026-11-01 22:00:00"
        there = progress(HSS, [Point(east, 0.5, "a")], zone=ZoneInfo("Asia/Tokyo"))
        assert there.rows[0][0] == "2026-11-02 07:00:00" and "on 2 November 2026" in there.summary
        assert there.columns[0] == there.layout["xaxis"]["title"]["text"] == "Time (Asia/Tokyo)"

    def test_a_time_without_a_zone_is_refused(self):
        with pytest.raises(ValueError, match="no time zone"):
            progress(HSS, [Point(datetime(2026, 11, 1), 0.5, "a")])


TESTED = Paired(0.03, -0.1, 0.2, 0.44, 3, 1, 1, 1, 1)


class TestDifferences:
    def test_sides_signs_and_order_where_higher_is_better(self):
        figure = differences(HSS, A, B, ITEMS)
        assert trace(figure, "gable-net better")["x"] == ["h1"]
        assert trace(figure, "gable-net better")["y"] == pytest.approx([0.3])
        assert trace(figure, "pc-to-edges better")["y"] == pytest.approx([-0.2])
        assert figure.layout["xaxis"]["categoryarray"] == ["h1", "h4", "h2"]
        assert [row[4] for row in figure.rows] == ["gable-net", "equal", "pc-to-edges"]

    def test_an_item_is_called_as_its_challenge_calls_it(self):
        figure = differences(HSS, A, B, ITEMS, noun="body")
        assert figure.columns[0] == "Body" and "per body: " in figure.summary and "1 of 3 bodies" in figure.summary

    def test_sides_swap_and_signs_stay_where_lower_is_better(self):
        figure = differences(OFFSET, A, B, ITEMS)
        assert trace(figure, "gable-net better")["y"] == pytest.approx([-0.2])
        assert trace(figure, "pc-to-edges better")["x"] == ["h1"]
        assert figure.layout["xaxis"]["categoryarray"] == ["h2", "h4", "h1"]

    def test_sides_differ_by_hatching_too(self):
        figure = differences(HSS, A, B, ITEMS)
        assert "pattern" not in trace(figure, "gable-net better")["marker"]
        assert trace(figure, "pc-to-edges better")["marker"]["pattern"]["shape"] == "/"

    def test_counts_and_test_are_in_the_summary_with_what_was_left_out(self):
        result = TESTED
        figure = differences(HSS, A, B, ITEMS, result)
        assert "gable-net is better on 1, pc-to-edges on 1, equal on 1 of 3 items" in figure.summary
        assert f"p = {result.p_value:.2g}" in figure.summary
        assert figure.summary.endswith("1 item without a value on both sides left out.")

    def test_mean_and_interval_are_drawn_when_given(self):
        result = TESTED
        band, mean = differences(HSS, A, B, ITEMS, result).layout["shapes"]
        assert (band["y0"], band["y1"]) == (result.ci_low, result.ci_high)
        assert mean["y0"] == mean["y1"] == result.mean_difference
        assert differences(HSS, A, B, ITEMS).layout["shapes"] == []

    def test_one_pair_has_a_mean_and_no_band(self):
        result = paired([1.0], [0.5])
        figure = differences(HSS, Series("a", (1.0,)), Series("b", (0.5,)), ("x",), result)
        assert len(figure.layout["shapes"]) == 1 and "interval" not in figure.summary


class TestRankIntervals:
    def test_whiskers_reach_both_ends_and_missing_ones_are_open_dots(self):
        figure = rank_intervals("HSS", RANKS)
        known, bare = figure.data
        assert (known["x"], known["error_x"]["array"], known["error_x"]["arrayminus"]) == ([1, 2], [1, 1], [0, 1])
        assert (bare["x"], bare["y"], bare["marker"]["symbol"]) == ([3], [2], "circle-open")
        assert figure.rows == (("a", "1", "1–2"), ("b", "2", "1–3"), ("imported", "3", "no interval"))

    def test_says_how_many_could_be_first(self):
        assert rank_intervals("HSS", RANKS).summary == "Ranks by HSS with 95 % intervals for 3 entries: 2 entries could be first."
        assert rank_intervals("HSS", [RankRow("c", 3, 2, 4)]).summary.endswith("no interval reaches rank 1.")

    def test_says_where_nobody_has_an_interval(self):
        assert rank_intervals("HSS", RANKS[2:]).summary == "Ranks by HSS of 1 entry; there are no intervals."

    def test_first_thirty_are_drawn_and_it_is_said(self):
        figure = rank_intervals("HSS", [RankRow(f"e{i}", i + 1, i + 1, i + 2) for i in range(40)])
        assert len(figure.data[0]["x"]) == 30 and "40 entries, the first 30 shown" in figure.summary


def test_a_value_that_is_not_a_number_is_treated_as_missing():
    figure = distributions(HSS, [Series("a", (math.nan, 0.5, None, math.inf))], ITEMS)
    assert figure.data[0]["x"] == [0.5]


class TestCost:
    POINTS = (
        CostPoint("small", 1e6, 0.5, 0.4, 0.6),
        CostPoint("worse", 4e6, 0.45),
        CostPoint("large", 4e7, 0.9),
        CostPoint("huge", 4e9, 0.9),
    )

    def test_a_line_joins_those_that_none_beats_at_the_same_cost_or_less(self):
        figure = cost(HSS, self.POINTS, "Parameters", 2)
        line = figure.data[0]
        assert (line["x"], line["y"], line["text"]) == ([1e6, 4e7], [0.5, 0.9], ["small", "large"]), "huge is no better than large"
        assert figure.layout["xaxis"]["type"] == "log"
        assert "none is better at the same cost or less than small, large. 2 entries state nothing and are left out." in figure.summary

    def test_where_lower_is_better_the_line_goes_down(self):
        figure = cost(OFFSET, self.POINTS, "Parameters", 0)
        assert figure.data[0]["text"] == ["small", "worse"] and "left out" not in figure.summary

    def test_every_entry_is_in_the_table_with_its_interval(self):
        rows = cost(HSS, self.POINTS, "Parameters", 0).rows
        assert [row[0] for row in rows] == ["small", "worse", "large", "huge"] and rows[0][3] == "0.40 to 0.60" and rows[1][3] == "–"
        assert [row[4] for row in rows] == ["best at its cost", "", "best at its cost", ""]

    def test_of_one_cost_the_better_one_is_on_the_line(self):
        figure = cost(HSS, (CostPoint("a", 1e6, 0.5), CostPoint("b", 1e6, 0.7)), "Parameters", 1)
        assert figure.data[0]["text"] == ["b"] and figure.summary.endswith("1 entry states nothing and is left out.")

    def test_it_can_be_drawn_and_names_are_shown_as_they_are(self):
        figure = cost(HSS, (CostPoint(NASTY, 1e6, 0.5), *self.POINTS), "Parameters", 0)
        assert "<a" not in drawing.draw(figure.to_dict(), "cost")

    def test_without_costs_it_says_so(self):
        assert cost(HSS, (), "Parameters", 3).summary == (
            "No ranked entry states its parameters. 3 entries state nothing and are left out."
        )
