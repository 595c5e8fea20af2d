"""Charts as SVG: what is drawn lies where its numbers say, and nothing that a chart holds is left out."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from datetime import timedelta
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard import charts
from leaderboard.charts import boards, studies
from leaderboard.charts.svg import _DASHES, _SYMBOLS, _moments, _ticks, draw
from leaderboard.records.chart import DASHES, SYMBOLS, Axis, Band, Bars, Box, Cells, Chart, Dot, Dots, Level, Line
from leaderboard.stats.subsample_stability import Curve
from tests.support.examples import examples
from tests.support.leaderboard.charts import HSS, START
from tests.support.leaderboard.charts import charts as charts_of


def parsed(chart: Chart) -> tuple[ElementTree.Element, float]:
    """The markup as a tree, and the height of the area between the axes in px (0 of a round one)."""
    tree = ElementTree.fromstring(f"<div>{draw(chart, 'name')}</div>")
    height = re.search(r"height:([\d.]+)px", tree.find("svg").get("style", ""))
    return tree, float(height[1]) if height else 0.0


def marks(tree: ElementTree.Element) -> list[tuple[float, float]]:
    """Places of all marks: percent across (or units of a round chart) and px down."""
    nodes = [node for group in tree.findall("svg//g[@class='marks']") for node in group if node.tag in ("circle", "svg")]
    return [(float((node.get("cx") or node.get("x")).rstrip("%")), float(node.get("cy") or node.get("y"))) for node in nodes]


def marked(mark) -> int:
    """Number of marks that it must have."""
    if isinstance(mark, Box):
        return len(mark.values) if mark.has_all_points else 0
    return sum(dot.y is not None for dot in mark.dots) if isinstance(mark, Dots) and mark.symbol else 0


def test_every_chart_that_there_is_is_drawn_here():
    made = set()
    for module in pkgutil.iter_modules(charts.__path__):
        for name, function in inspect.getmembers(importlib.import_module(f"leaderboard.charts.{module.name}"), inspect.isfunction):
            own = function.__module__ == f"leaderboard.charts.{module.name}" and not name.startswith("_")
            if own and function.__annotations__.get("return") == "Chart":
                made.add(f"{module.name}.{name}")
    assert made == set(charts_of(0))


@examples(30)
@given(st.integers(0, 2**32 - 1))
def test_every_number_has_its_mark_between_the_axes(seed):
    for name, several in charts_of(seed).items():
        for chart in several:
            if not chart.marks:
                continue
            tree, height = parsed(chart)
            places = marks(tree)
            assert len(places) == sum(map(marked, chart.marks)), name
            if height:
                assert [(x, y) for x, y in places if not (-0.01 <= x <= 100.01 and -0.01 <= y <= height + 0.01)] == [], name
            else:
                assert [(x, y) for x, y in places if not x * x + y * y <= 118.01**2] == []
            bars = [float(bar.get("y")) + float(bar.get("height")) for bar in tree.findall("svg//g[@class='bars']/rect")]
            assert len(bars) == sum(len(mark.dots) for mark in chart.marks if isinstance(mark, Bars))
            assert [foot for foot in bars if not foot <= height + 0.01] == []
            cells = "".join(path.get("d") for path in tree.findall("svg//g[@class='cells']//path")).count("M")
            heat = [row for mark in chart.marks if isinstance(mark, Cells) for row in mark.values]
            assert cells == sum(value is not None for row in heat for value in row)
            assert len(tree.findall("svg//g[@class='box']")) == sum(isinstance(mark, Box) for mark in chart.marks)
            assert len(tree.findall("svg//path[@class='band']")) == sum(isinstance(mark, Band) for mark in chart.marks)
            assert tree.find("svg").get("role") == "img" and tree.find("svg/title").text == chart.summary
            assert "#" not in re.sub(r"url\(#[^)]*\)|&#\w+;", "", draw(chart, "n")), "colours are names of the page's own"


def test_values_that_rounding_alone_parts_have_a_box_without_length():
    # The quartiles of these two are both the number between them.
    values = (-388.7221343889642, -388.7221343889643)
    tree, _ = parsed(boards.distributions(HSS, [boards.Series("gable-net", values)], ["house_01", "house_02"]))
    (box,) = tree.findall("svg//g[@class='box']")
    assert box.find("rect").get("width") == "0%" and len(marks(tree)) == 2


def test_ranks_and_their_intervals_lie_where_a_ruler_puts_them():
    # Ranks 0.5 to 3.5 from left to right; two rows from -0.6 to 1.6 from the top down, in 96 px.
    tree, height = parsed(boards.rank_intervals("HSS", [boards.RankRow("first", 1, (1, 3)), boards.RankRow("second", 2)]))
    assert height == 148 - 12 - 40
    assert marks(tree) == [(16.67, 26.18), (50.0, 69.82)]
    whisker = tree.find("svg//g[@class='errors']/line")
    assert (whisker.get("x1"), whisker.get("x2"), whisker.get("y1")) == ("16.67%", "83.33%", "26.18")
    labels = [text.text for text in tree.findall("svg//text") if text.text in ("1", "2", "3", "first", "second")]
    assert labels == ["1", "2", "3", "first", "second"]


def test_sizes_on_a_scale_of_powers_and_moments_on_one_of_time():
    # From 1 to 100, with a twentieth of the two powers of ten to each side.
    curve = Curve(resource="comparisons", sizes=[1, 10, 100], mean=[0, 0.5, 1], low=[0, 0.5, 1], high=[0, 0.5, 1], enough=None)
    tree, _ = parsed(studies.adequacy(curve))
    assert [x for x, _ in marks(tree)] == [4.55, 50.0, 95.45]
    points = [boards.Point(START + timedelta(days=day), value, "e") for day, value in ((0, 0.1), (5, 0.5), (10, 0.9))]
    tree, height = parsed(boards.progress(HSS, points))
    assert marks(tree) == [(4.55, round(height * 21 / 22, 2)), (50.0, round(height / 2, 2)), (95.45, round(height / 22, 2))]
    step = tree.find("svg//path[@class='line']").get("d")
    assert step.startswith(f"M4.55 {height * 21 / 22:.2f}".rstrip("0") + "L50 "), "level up to the next record, then up"


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"),
        (-1.02, 1.03, "−1.0 −0.5 0.0 0.5 1.0"),
        (0, 1.2, "0.00 0.25 0.50 0.75 1.00"),
        (0, 12_000, "0 2,500 5,000 7,500 10,000"),
        (0.0001, 0.00042, "0.0001 0.0002 0.0003 0.0004"),
    ],
)
def test_ticks_are_round_numbers(low, high, words):
    assert " ".join(text for _, text in _ticks(Axis(), low, high)) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (10, ["1 Mar 12:00:00", "12:00:05", "12:00:10"]),
        (3 * 86400, ["2 Mar 2026", "3 Mar", "4 Mar"]),
        (36 * 3600, ["1 Mar 12:00", "2 Mar 00:00", "12:00", "3 Mar 00:00"]),
        (100 * 86400, ["Apr 2026", "May 2026", "Jun 2026"]),
        (900 * 86400, ["Jul 2026", "Jan 2027", "Jul 2027", "Jan 2028", "Jul 2028"]),
    ],
)
def test_ticks_of_time_say_the_day_where_it_changes(seconds, words):
    assert [text for _, text in _moments(START.timestamp(), START.timestamp() + seconds)] == words


def test_names_are_shown_as_they_are_and_the_last_ones_only_where_they_have_room():
    markup = draw(boards.rank_intervals("HSS", [boards.RankRow("<b>&amp;", 1)]), "n")
    assert ">&lt;b&gt;&amp;amp;</text>" in markup
    rows = [(f"house_{k}", 0.1 * k) for k in range(40)]
    series = boards.Series("a", [value for _, value in rows]), boards.Series("b", [0.0] * 40)
    crowded = draw(boards.differences(HSS, *series, [name for name, _ in rows]), "n")
    shown, on_a_desk = crowded.count("rotate(-60)"), crowded.count('class="roomy"')
    assert 0 < shown - on_a_desk <= 21 and shown <= 40, "15 px for each label, of 326 on a phone and 640 on a desk"


def test_a_record_by_hand_lies_where_a_ruler_puts_it():
    # 120 px between the axes; x from 0 to 4 and y from 0 to 2, so 25 % across and 60 px up for each unit.
    x, y = Axis(ends=(0, 4), ticks=((1, "one"), (2, "two"))), Axis(ends=(0, 2), ticks=())
    marks_by_hand = (
        Band(((1, 0.5, 1), (3, 1, 1.5))),
        Dots((Dot(1, 0.5), Dot(2, 1), Dot(3, None), Dot(4, 2)), "line", "accent", Line(2, "dash")),
        Dots((Dot(1, 0.5), Dot(3, 1)), "steps", "soft", Line(is_stepped=True)),
        Dots((Dot(2, 1, label="a < b", low=0.5, high=1.5),), "mark", "warn", symbol="diamond", along="y"),
    )
    tree, height = parsed(Chart("Sentence.", (), x=x, y=y, marks=marks_by_hand, height=154))
    assert height == 120
    assert tree.find("svg//path[@class='band']").get("d") == "M25 90L75 60L75 30L25 60Z"
    line, steps = tree.findall("svg//path[@class='line']")
    assert (line.get("d"), line.get("stroke-dasharray"), line.get("stroke")) == ("M25 90L50 60M100 0", "7 5", "var(--accent)")
    assert (steps.get("d"), steps.get("stroke-dasharray")) == ("M25 90L75 90L75 60", None)
    assert marks(tree) == [(50.0, 60.0)]
    assert tree.find("svg//g[@class='errors']/svg/path").get("d") == "M0 90V30M-4 90H4M-4 30H4"
    assert [text.text for text in tree.findall("svg//g[@class='labels']/text")] == ["a < b"]
    assert [(text.get("x"), text.text) for text in tree.findall("svg/text")] == [("25%", "one"), ("50%", "two")]


def test_labels_at_both_ends_of_a_chart_lean_into_it():
    dots = [Dot(x, 1, label="a label of some length", side=side) for x, side in ((0, "top center"), (2, "top center"), (4, "top center"))]
    dots += [Dot(4, 0.5, label="another label", side="middle right")]
    axis = Axis(ends=(0, 4), ticks=())
    tree, _ = parsed(Chart("Sentence.", (), x=axis, y=Axis(ends=(0, 2), ticks=()), marks=(Dots(tuple(dots), "m", symbol="circle"),)))
    labels = tree.findall("svg//g[@class='labels']/text")
    assert [text.get("text-anchor") for text in labels] == ["start", "middle", "end", "end"]
    assert [text.get("dx") for text in labels] == [None, None, None, "-9"]


def test_bars_begin_at_zero_and_a_level_lies_over_the_whole_width():
    # The upper bar reaches 3 and the lower one −1, with a twentieth of 4 beyond each: 220 px from 3.2 to −1.2, 50 px for each unit.
    marks_by_hand = (
        Bars((Dot(0, 3.0),), "A", "accent"),
        Bars((Dot(1, -1.0),), "B", "warn", is_hatched=True),
        Level(1.0, 0.5, 2.0),
    )
    x = Axis(names=("a", "b"), has_grid=False)
    tree, height = parsed(Chart("Sentence.", (), x=x, marks=marks_by_hand, height=254, has_legend=True))
    assert height == 220
    bars = [[bar.get(key) for key in ("x", "y", "width", "height")] for bar in tree.findall("svg//g[@class='bars']/rect")]
    assert bars == [["3.75%", "10", "42.5%", "150"], ["53.75%", "160", "42.5%", "50"]], "85 % of half the width for each"
    band = tree.find("svg/rect")
    assert [band.get(key) for key in ("x", "y", "width", "height")] == ["0%", "60", "100%", "75"]
    assert "M0 110L100 110" in [path.get("d") for path in tree.findall("svg/svg/path")]
    assert [key.find("svg").tail for key in tree.findall("ul/li")] == ["A", "B"]
    assert [pattern.get("id") for pattern in tree.findall("ul/li/svg/pattern")] == ["key-name-1"]


def test_cells_are_shaded_from_the_ground_to_the_accent():
    # Two rows and columns in 100 px: half the width and 50 px each.
    cells = Cells("agreement", ((None, 0.5), (1.0, None)), (("", "a and b"), ("b and a", "")), 0.5, 1.0, (1,))
    x, y = Axis(ticks=(), ends=(-0.5, 1.5), has_grid=False), Axis(ticks=(), ends=(1.5, -0.5), has_grid=False)
    tree, height = parsed(Chart("Sentence.", (), x=x, y=y, marks=(cells,), height=118))
    assert height == 100
    least, most = tree.findall("svg//g[@class='cells']//path")
    assert (least.get("d"), least.get("fill")) == ("M50 0h50v50h-50z", "color-mix(in srgb,var(--accent) 0%,var(--panel))")
    assert (most.get("d"), most.get("fill")) == ("M0 50h50v50h-50z", "color-mix(in srgb,var(--accent) 100%,var(--panel))")
    assert [path.get("d") for path in tree.findall("svg/svg/path")] == ["M50 0L50 100", "M0 50L100 50"]
    assert "".join(tree.find("p").itertext()).split() == ["agreement", "0.50", "1.00"]


def test_around_a_centre_the_first_axis_points_up_and_the_others_follow_clockwise():
    # Four axes, 118 px long, from 0 to 2.
    dots = tuple(Dot(n, value) for n, value in enumerate((2.0, 1.0, 0.0, None)))
    series = Dots(dots, "one", line=Line(), symbol="circle")
    names = Axis(names=("Text and object", "B", "C", "D"))
    tree, _ = parsed(Chart("Sentence.", (), x=names, y=Axis(ends=(0, 2)), marks=(series,), is_round=True, has_legend=True))
    assert marks(tree) == [(0, -118), (59, 0), (0, 0)]
    assert tree.find("svg//path[@class='line']").get("d") == "M0 -118L59 0L0 0M0 -118"
    assert [text.text for text in tree.findall("svg/g/text")][:3] == ["Text", "and object", "B"]


def test_every_symbol_and_dash_has_a_shape():
    assert {*SYMBOLS, "circle-open"} - {"circle", "circle-open"} == set(_SYMBOLS) and set(DASHES) == set(_DASHES)
