"""Charts as SVG: what is drawn lies where its numbers say, and nothing that a figure holds is left out."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard import charts
from leaderboard.charts import boards, judges, ranking_variants, studies
from leaderboard.charts.drawing import _SYMBOLS, _Axis, _dates, _ticks, draw
from leaderboard.stats.subsample_stability import Curve
from leaderboard.stats.uncertainty import paired
from tests.support.examples import examples

HSS = boards.Metric("HSS", True)
NAMES = ["gable-net", "pc-to-edges <b>", "a name that is longer than any chart has room for", "ridge & valley"]
START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def figures(seed: int) -> dict[str, list[boards.Figure]]:
    """Charts of simulated numbers by the function that makes them, all that there are."""
    rng = np.random.default_rng(seed)
    n, scale = int(rng.integers(2, 9)), 10.0 ** rng.integers(-4, 5)
    items = [f"house_{k}" for k in range(n)]
    names = [NAMES[k % 4] + str(k) for k in range(n)]
    values = (rng.normal(size=(n, n)) * scale * rng.choice([0, 1, 1])).tolist()
    if rng.random() < 0.3:
        values[1] = values[0]
        values[0] = [values[0][0] * (1 + 1e-16 * k) for k in range(n)]
    series = [
        boards.Series(name, [None if rng.random() < 0.2 else value for value in row[:-1]] + row[-1:])
        for name, row in zip(names, values, strict=True)
    ]
    span = timedelta(seconds=float(rng.choice([0, 1, 1]) * 10 ** rng.uniform(0, 9)))
    points = [
        boards.Point(START + span * float(rng.random()), float(value), name) for name, value in zip(names, rng.normal(size=n), strict=True)
    ]
    ranks = [boards.RankRow(name, k + 1, max(1, k), k + 3) if k % 3 else boards.RankRow(name, k + 1) for k, name in enumerate(names)]
    orders = [[int(rank) + 1 for rank in rng.permutation(n)] for _ in range(3)]
    board = [[orders[way][k] if way == 0 or rng.random() < 0.8 else None for way in range(3)] for k in range(n)]
    agreement = rng.uniform(size=(n, n)).tolist()
    agreement[0][1] = None
    sizes = [*np.unique(rng.integers(1, int(rng.choice([20, 5000])), size=6)).tolist(), 6000]
    low, high = np.sort(rng.uniform(-1, 1, size=(2, len(sizes))), axis=0)
    curve = Curve(resource="raters", sizes=sizes, mean=((low + high) / 2).tolist(), low=low.tolist(), high=high.tolist(), enough=None)
    entries = [
        studies.Point(name, float(rng.normal() * scale), mos, max(1.0, mos - 0.4), min(5.0, mos + 0.3) if k else None, k == 1)
        for k, (name, mos) in enumerate(zip(names, rng.uniform(1, 5, size=n).tolist(), strict=True))
    ]
    elo = {name: [None if rng.random() < 0.1 else float(value) for value in rng.normal(1000, 100, size=5)] for name in names}
    return {
        "boards.distributions": [boards.distributions(HSS, series, items)],
        "boards.progress": [boards.progress(HSS, points, [("hull", 0.5)])],
        "boards.differences": [
            boards.differences(HSS, series[0], series[1], items),
            boards.differences(
                HSS, *(boards.Series(name, row) for name, row in zip(names, values[:2], strict=False)), items, paired(*values[:2], True)
            ),
        ],
        "boards.rank_intervals": [boards.rank_intervals("HSS", ranks)],
        "boards.cost": [
            boards.cost(HSS, [boards.CostPoint(one.label, float(10 ** rng.uniform(-1, 10)), one.known) for one in points], "Parameters", 1)
        ],
        "ranking_variants.bumps": [ranking_variants.bumps(["The board", "Median rank", "Borda count"], names, board, n)],
        "studies.agreement_map": [studies.agreement_map(names, agreement, np.ones((n, n)).tolist(), list(rng.permutation(n)), [1], "all")],
        "studies.adequacy": [studies.adequacy(curve)],
        "studies.scatter": [studies.scatter("PSNR", True, entries), studies.scatter("PSNR", True, entries[:1])],
        "judges.radar": [
            judges.radar(["Overall", "3D plausibility", "Edges", "Colour", "Detail"][:m], {k: v[:m] for k, v in elo.items()})
            for m in (2, 5)
        ],
    }


def parsed(figure: boards.Figure) -> tuple[ElementTree.Element, float]:
    """The markup as a tree, and the height of the area between the axes in px (0 of a round one)."""
    tree = ElementTree.fromstring(f"<div>{draw(figure.to_dict(), 'name')}</div>")
    height = re.search(r"height:([\d.]+)px", tree.find("svg").get("style", ""))
    return tree, float(height[1]) if height else 0.0


def marks(tree: ElementTree.Element) -> list[tuple[float, float]]:
    """Places of all marks: percent across (or units of a round chart) and px down."""
    nodes = [node for group in tree.findall("svg//g[@class='marks']") for node in group if node.tag in ("circle", "svg")]
    return [(float((node.get("cx") or node.get("x")).rstrip("%")), float(node.get("cy") or node.get("y"))) for node in nodes]


def marked(trace: dict) -> int:
    """Number of marks that a trace must have."""
    if trace["type"] == "box":
        return len(trace["x"]) if trace["boxpoints"] == "all" else 0
    if "markers" not in trace.get("mode", ""):
        return 0
    ends = trace["r"][:-1] if "r" in trace else trace["y"]
    return sum(value is not None for value in ends)


def test_every_chart_that_there_is_is_drawn_here():
    made = set()
    for module in pkgutil.iter_modules(charts.__path__):
        for name, function in inspect.getmembers(importlib.import_module(f"leaderboard.charts.{module.name}"), inspect.isfunction):
            own = function.__module__ == f"leaderboard.charts.{module.name}" and not name.startswith("_") and name != "nothing"
            if own and function.__annotations__.get("return") == "Figure":
                made.add(f"{module.name}.{name}")
    assert made == set(figures(0))


@examples(30)
@given(st.integers(0, 2**32 - 1))
def test_every_number_has_its_mark_between_the_axes(seed):
    for name, several in figures(seed).items():
        for figure in several:
            if not figure.data:
                continue
            tree, height = parsed(figure)
            places = marks(tree)
            assert len(places) == sum(map(marked, figure.data)), name
            if height:
                assert all(-0.01 <= x <= 100.01 and -0.01 <= y <= height + 0.01 for x, y in places), name
            else:
                assert all(x * x + y * y <= 118.01**2 for x, y in places)
            bars = [float(bar.get("y")) + float(bar.get("height")) for bar in tree.findall("svg//g[@class='bars']/rect")]
            assert len(bars) == sum(len(trace["x"]) for trace in figure.data if trace["type"] == "bar")
            assert all(foot <= height + 0.01 for foot in bars)
            cells = "".join(path.get("d") for path in tree.findall("svg//g[@class='cells']//path")).count("M")
            assert cells == sum(value is not None for trace in figure.data for row in trace.get("z", ()) for value in row)
            assert len(tree.findall("svg//g[@class='box']")) == sum(trace["type"] == "box" for trace in figure.data)
            assert len(tree.findall("svg//path[@class='band']")) == sum("fill" in trace for trace in figure.data)
            assert tree.find("svg").get("role") == "img" and tree.find("svg/title").text == figure.summary
            assert "var(--ink)" in str(figure.data) + str(figure.layout) and "#" not in re.sub(
                r"url\(#[^)]*\)|&#\w+;", "", draw(figure.to_dict(), "n")
            )


def test_values_that_rounding_alone_parts_have_a_box_without_length():
    # The quartiles of these two are both the number between them.
    values = (-388.7221343889642, -388.7221343889643)
    tree, _ = parsed(boards.distributions(HSS, [boards.Series("gable-net", values)], ["house_01", "house_02"]))
    (box,) = tree.findall("svg//g[@class='box']")
    assert box.find("rect").get("width") == "0%" and len(marks(tree)) == 2


def test_ranks_and_their_intervals_lie_where_a_ruler_puts_them():
    # Ranks 0.5 to 3.5 from left to right; two rows from -0.6 to 1.6 from the top down, in 96 px.
    tree, height = parsed(boards.rank_intervals("HSS", [boards.RankRow("first", 1, 1, 3), boards.RankRow("second", 2)]))
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
    assert " ".join(text for _, text in _ticks(_Axis("linear", low, high), {})) == words


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
    assert [text for _, text in _dates(START.timestamp(), START.timestamp() + seconds)] == words


def test_names_are_shown_as_they_are_and_the_last_ones_only_where_they_have_room():
    markup = draw(boards.rank_intervals("HSS", [boards.RankRow("<b>&amp;", 1)]).to_dict(), "n")
    assert ">&lt;b&gt;&amp;amp;</text>" in markup
    rows = [(f"house_{k}", 0.1 * k) for k in range(40)]
    series = boards.Series("a", [value for _, value in rows]), boards.Series("b", [0.0] * 40)
    crowded = draw(boards.differences(HSS, *series, [name for name, _ in rows]).to_dict(), "n")
    shown, on_a_desk = crowded.count("rotate(-60)"), crowded.count('class="roomy"')
    assert 0 < shown - on_a_desk <= 21 and shown <= 40, "15 px for each label, of 326 on a phone and 640 on a desk"


@pytest.mark.parametrize(
    "change",
    [
        {"data": [{"type": "pie", "values": [1]}]},
        {"data": [{"type": "scatter", "mode": "lines", "x": [1], "y": [1], "stackgroup": "a"}]},
        {"data": [{"type": "scatter", "mode": "lines", "x": [1, 2], "y": [1, 2], "fill": "tozeroy"}]},
        {"layout": {"annotations": []}},
        {"layout": {"barmode": "stack"}},
        {"layout": {"shapes": [{"type": "circle", "x0": 1, "x1": 2, "y0": 1, "y1": 2}]}},
    ],
)
def test_what_cannot_be_drawn_is_refused(change):
    figure = boards.rank_intervals("HSS", [boards.RankRow("first", 1, 1, 2)]).to_dict()
    figure = figure | {"data": change.get("data", figure["data"]), "layout": figure["layout"] | change.get("layout", {})}
    with pytest.raises(ValueError, match="cannot be drawn"):
        draw(figure, "n")


def test_every_symbol_in_use_has_a_shape():
    assert {*ranking_variants._SYMBOLS, *judges._SYMBOLS} <= set(_SYMBOLS)
