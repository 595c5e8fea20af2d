"""Charts as figures of Plotly: records worked by hand, and Plotly's own validation."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from leaderboard.charts.plotly import figure
from leaderboard.records.chart import Axis, Band, Bars, Box, Cells, Chart, Dot, Dots, Level, Line, Mark
from tests.support.leaderboard.charts import NASTY, every_chart


def drawn(*marks: Mark, x: Axis = Axis(), y: Axis = Axis(), is_round: bool = False) -> dict:  # noqa: B008 - frozen
    return figure(Chart("A sentence.", ("a",), (("b",),), x, y, marks, is_round=is_round))


@pytest.mark.parametrize("seed", range(3))
def test_every_chart_is_valid_to_plotly_itself_and_strict_json(seed):
    from plotly.graph_objects import Figure

    for chart in every_chart(seed):
        made = json.loads(json.dumps(figure(chart), allow_nan=False))
        Figure(**made)
        assert bool(made["data"]) is bool(chart.marks)


def test_it_does_not_load_plotly():
    code = "import sys, leaderboard.charts.plotly; sys.exit('plotly' in sys.modules or 'django' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_colour_is_one_of_the_page():
    for chart in every_chart(1):
        text = json.dumps(figure(chart))
        assert "var(--ink)" in text and "#" not in text


def test_names_are_shown_as_text():
    for chart in every_chart(2, NASTY):
        text = json.dumps(figure(chart))
        assert "<a" not in text and "<b>" not in text and "hovertemplate" not in text


def test_dots_have_lines_marks_labels_and_intervals():
    dots = (Dot(1, 2.0, "two\nlines", "A", "top right", 1.5, 2.25), Dot(2, None), Dot(3, 4.0, "four"))
    (trace,) = drawn(Dots(dots, "s & t", "warn", Line(1.5, "dash", is_stepped=True), "diamond", 9, "y", "bar"))["data"]
    assert (trace["mode"], trace["x"], trace["y"], trace["name"]) == ("lines+markers+text", [1, 2, 3], [2.0, None, 4.0], "s &amp; t")
    assert trace["line"] == {"color": "var(--warn)", "width": 1.5, "dash": "dash", "shape": "hv"}
    assert (trace["hovertext"], trace["hoverinfo"]) == (["two<br>lines", "", "four"], "text")
    assert (trace["text"], trace["textposition"][0]) == (["A", "", ""], "top right")
    ends = trace["error_y"]
    assert (ends["array"], ends["arrayminus"], ends["color"]) == ([0.25, 0, 0], [0.5, 0, 0], "var(--bar)")
    (bare,) = drawn(Dots((Dot(1, 1.0, low=0.5, high=1.5),), line=Line()))["data"]
    assert bare["mode"] == "lines" and bare["hoverinfo"] == "skip" and bare["error_x"]["arrayminus"] == [0.5] and "marker" not in bare


def test_around_a_centre_lines_close_and_names_take_two_lines():
    dots = tuple(Dot(n, value) for n, value in enumerate((1.0, 2.0, 3.0)))
    names = Axis(names=("Text and object", "Plausibility", "Overall"))
    made = drawn(Dots(dots, line=Line()), x=names, y=Axis(ends=(0, 4)), is_round=True)
    assert made["data"][0]["type"] == "scatterpolar" and made["data"][0]["r"] == [1.0, 2.0, 3.0, 1.0]
    assert made["data"][0]["theta"] == ["Text<br>and object", "Plausibility", "Overall", "Text<br>and object"]
    assert made["layout"]["polar"]["radialaxis"]["range"] == (0, 4) and "xaxis" not in made["layout"]


def test_bars_lie_at_names_and_differ_by_hatching():
    bars = Bars((Dot(1, 0.5, "b: 1 against 0.5"),), "A", "accent"), Bars((Dot(0, -0.5),), "B", "warn", is_hatched=True)
    made = drawn(*bars, Level(0.25, 0.125, 0.5), x=Axis(names=("a", "b"), turned=60, has_grid=False))
    solid, hatched = made["data"]
    assert (solid["x"], solid["y"], solid["text"]) == (["b"], [0.5], ["b: 1 against 0.5"]) and "pattern" not in solid["marker"]
    assert hatched["x"] == ["a"] and hatched["marker"]["pattern"]["shape"] == "/"
    area, line = made["layout"]["shapes"]
    assert (area["y0"], area["y1"], line["y0"], line["y1"], line["xref"]) == (0.125, 0.5, 0.25, 0.25, "x domain")
    axis = made["layout"]["xaxis"]
    assert (axis["type"], axis["categoryarray"], axis["range"], axis["tickangle"]) == ("category", ["a", "b"], [-0.5, 1.5], -60)
    assert len(drawn(Level(1.0))["layout"]["shapes"]) == 1


def test_bands_are_closed_boxes_keep_their_values_and_cells_their_borders():
    band, box, cells = drawn(
        Band(((1, 0.1, 0.3), (2, 0.2, 0.4))),
        Box("e", 2, (1.0, 2.0), ("one", "two"), False),
        Cells("agreement", ((None, 0.5), (0.75, None)), (("", "a and b"), ("b and a", "")), 0.25, 1.0, (1,)),
    )["data"]
    assert (band["x"], band["y"], band["fill"]) == ([1, 2, 2, 1], [0.1, 0.2, 0.4, 0.3], "toself")
    assert (box["x"], box["y"], box["boxpoints"]) == ((1.0, 2.0), [2, 2], "outliers")
    assert (cells["z"], cells["zmin"], cells["zmax"]) == (((None, 0.5), (0.75, None)), 0.25, 1.0)
    down, across = drawn(Cells("c", ((1.0, 1.0),) * 2, (("", ""),) * 2, 0, 1, (1,)))["layout"]["shapes"]
    assert (down["x0"], down["x1"], down["yref"]) == (0.5, 0.5, "y domain") and (across["y0"], across["xref"]) == (0.5, "x domain")


def test_axes_of_time_powers_and_named_places():
    at = datetime(2026, 11, 3, 12, 30, tzinfo=UTC).timestamp()
    made = drawn(Dots((Dot(at, 1.0),), symbol="circle"), x=Axis("Time", "time"), y=Axis(scale="log", is_whole=True))
    assert made["data"][0]["x"] == ["2026-11-03 12:30:00"]
    across, up = made["layout"]["xaxis"], made["layout"]["yaxis"]
    assert (across["type"], up["type"]) == ("date", "log") and "tickformat" not in up
    named = drawn(x=Axis(ticks=((0, "a<b"),), ends=(0.5, -0.5)), y=Axis(is_whole=True))["layout"]
    assert (named["xaxis"]["ticktext"], named["xaxis"]["range"], named["xaxis"]["zeroline"]) == (["a&lt;b"], [0.5, -0.5], False)
    assert named["yaxis"]["tickformat"] == "d" and named["yaxis"]["zeroline"]
