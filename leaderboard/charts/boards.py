"""Charts: numbers in, Plotly figures out, as plain dicts that go straight into JSON.

plotly's own Python objects are not imported: they take longer than the charts. Every chart comes with a text alternative (a sentence and a
table), and no chart distinguishes things by colour alone. Names are put in as text: markup in them is shown, not obeyed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any, TypeGuard

import numpy as np

from leaderboard.stats.ranking import order, rank
from leaderboard.stats.uncertainty import Paired
from leaderboard.wording.digits import rounded
from leaderboard.wording.nouns import NOUN, plural

MAX_ENTRIES = 30  # rows that can still be read
MAX_POINTS = 3000  # single points drawn in one chart
LABEL_LENGTH = 24  # leaves a phone room for the chart


@dataclass(frozen=True)
class Palette:
    """Colours by what they are for. ``panel`` is the ground, ``bar`` what carries no emphasis."""

    ink: str
    soft: str
    line: str
    accent: str
    bar: str
    warn: str
    panel: str


LIGHT = Palette("#1b1d1f", "#62686d", "#e4e4df", "#1f5fbf", "#aab1b8", "#a35600", "#ffffff")
DARK = Palette("#e8e8e4", "#9ea5ac", "#2c3137", "#7fb0ff", "#5a636d", "#e0a45a", "#1b1e22")
# Names of the page's custom properties, for a script to put the current theme's values in their place.
TOKENS = Palette("var(--ink)", "var(--soft)", "var(--line)", "var(--accent)", "var(--bar)", "var(--warn)", "var(--panel)")


@dataclass(frozen=True)
class Metric:
    """The metric of a chart's numbers."""

    title: str
    higher_is_better: bool
    unit: str = ""

    @property
    def label(self) -> str:
        unit = f" [{self.unit}]" if self.unit else ""
        return f"{self.title}{unit} {'↑' if self.higher_is_better else '↓'}"

    @property
    def direction(self) -> str:
        return "higher is better" if self.higher_is_better else "lower is better"


@dataclass(frozen=True)
class Figure:
    """A chart. ``data`` and ``layout`` are Plotly's; ``summary`` with ``columns`` and ``rows`` say
    the same in words. Without anything to draw, ``data`` is empty and the summary says so."""

    data: tuple[dict[str, Any], ...]
    layout: dict[str, Any]
    summary: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON: ``{"data", "layout", "summary", "table": {"columns", "rows"}}``."""
        table = {"columns": list(self.columns), "rows": [list(row) for row in self.rows]}
        return {"data": list(self.data), "layout": self.layout, "summary": self.summary, "table": table}


@dataclass(frozen=True)
class Series:
    """One entry's values, in the order of the items; None where there is none."""

    label: str
    values: Sequence[float | None]


@dataclass(frozen=True)
class Point:
    """One entry's score and when it came. ``time`` knows its zone."""

    time: datetime
    value: float | None
    label: str

    @property
    def known(self) -> float:
        """The value of a point that is drawn: it has one."""
        assert self.value is not None
        return float(self.value)


@dataclass(frozen=True)
class CostPoint:
    """One entry's score with its interval, and what it costs, as its team states it."""

    label: str
    cost: float
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class RankRow:
    """One entry's rank with its interval, None where it has none."""

    label: str
    rank: int | None
    low: int | None = None
    high: int | None = None


def distributions(metric: Metric, series: Sequence[Series], items: Sequence[str], colours: Palette = TOKENS, noun: str = "item") -> Figure:
    """Spread of each entry's values over the items: a box and, if they are few enough to be distinguished, every item as a point. Entries
    in the order given, at most the first 30."""
    columns = ("Entry", "Values", "Minimum", "Lower quartile", "Median", "Upper quartile", "Maximum")
    finite = [(one.label, [(v, i) for v, i in zip(one.values, items, strict=True) if _finite(v)]) for one in series]
    finite = [(label, pairs) for label, pairs in finite if pairs]
    if not finite:
        return nothing(f"No entry has a value for {metric.title} yet.", columns, colours)
    drawn = finite[:MAX_ENTRIES]
    all_points = sum(len(pairs) for _, pairs in drawn) <= MAX_POINTS
    data, rows, medians = [], [], []
    for position, (label, pairs) in enumerate(drawn):
        values = [float(value) for value, _ in pairs]
        names = [f"{plain(label)}<br>{plain(item)}: {rounded(value).text}" for value, item in pairs]
        data.append(
            {
                "type": "box",
                "orientation": "h",
                "name": short(label),
                "x": values,
                "y": [position] * len(values),
                "text": names,
                "hoverinfo": "text",
                "hoveron": "points",
                "boxpoints": "all" if all_points else "outliers",
                "jitter": 0.6,
                "pointpos": 0,
                "width": 0.6,
                "marker": {"color": colours.accent, "size": 4, "opacity": 0.55},
                "line": {"color": colours.ink, "width": 1.2},
                "fillcolor": "rgba(0,0,0,0)",
            }
        )
        quartiles = np.percentile(values, [0, 25, 50, 75, 100])
        medians.append(float(quartiles[2]))
        rows.append((label, str(len(values)), *(rounded(float(q)).text for q in quartiles)))
    layout = base_layout(colours, height=96 + 30 * len(drawn))
    layout["xaxis"] |= {"title": {"text": plain(metric.label)}}
    layout["yaxis"] |= _entry_axis([label for label, _ in drawn])
    first = order(medians, metric.higher_is_better)[0]
    level = medians.count(medians[first]) - 1
    alike = f" and {_counted(level, 'other')}" if level else ""
    shown_of = "every entry and baseline" if len(drawn) == len(finite) else f"the first {len(drawn)} of {len(finite)} entries and baselines"
    summary = (
        f"{metric.title} per {noun} for {shown_of if len(finite) > 1 else 'one entry'} ({metric.direction}); "
        f"the best median is {rounded(medians[first]).text}, of {drawn[first][0]}{alike}."
    )
    return Figure(tuple(data), layout, summary, columns, tuple(rows))


def progress(
    metric: Metric,
    points: Sequence[Point],
    baselines: Sequence[tuple[str, float]] = (),
    colours: Palette = TOKENS,
    zone: tzinfo = UTC,
) -> Figure:
    """The best score so far as a step line, every entry as a point, baselines dashed.

    A point is a record where it beats all before it by more than a tie. Times are shown on the clocks of `zone`.
    Raises ValueError for a time without a zone.
    """
    columns = (f"Time ({zone})", "Entry", metric.label, "What it is")
    came = []
    for point in points:
        if point.time.tzinfo is None:
            raise ValueError(f"{point.time.isoformat()} has no time zone; give an aware datetime")
        if _finite(point.value):
            came.append(replace(point, time=point.time.astimezone(zone)))
    came.sort(key=lambda point: point.time)
    if not came:
        return nothing(f"No entry has a value for {metric.title} yet.", columns, colours)
    records = [came[0]]
    for point in came[1:]:
        if _better_side(point.known, records[-1].known, metric.higher_is_better) == 1:
            records.append(point)
    best, start, end = records[-1], _stamp(came[0].time), _stamp(came[-1].time)
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines+text",
            "name": short(label),
            "x": [start, end],
            "y": [float(value)] * 2,
            "text": [short(label), ""],
            "textposition": "top right",
            "textfont": {"color": colours.soft},
            "line": {"dash": "dash", "color": colours.bar, "width": 1.5},
            "hoverinfo": "skip",
        }
        for label, value in baselines
    ]
    data.append(
        {
            "type": "scatter",
            "mode": "lines",
            "name": "Best so far",
            "x": [*(_stamp(point.time) for point in records), end],
            "y": [*(point.known for point in records), best.known],
            "line": {"shape": "hv", "color": colours.accent, "width": 2},
            "hoverinfo": "skip",
        }
    )
    chosen = {id(point) for point in records}
    others = [point for point in came if id(point) not in chosen]
    data.append(_dots("Entries", others, {"symbol": "circle-open", "size": 7, "color": colours.soft}))
    data.append(_dots("Records", records, {"symbol": "diamond", "size": 9, "color": colours.accent}))
    layout = base_layout(colours, height=360)
    layout["xaxis"] |= {"type": "date", "title": {"text": columns[0]}}
    layout["yaxis"] |= {"title": {"text": plain(metric.label)}}
    rows = [(_stamp(p.time), p.label, rounded(p.value).text, "record") for p in records]
    rows += [("–", label, rounded(value).text, "baseline") for label, value in baselines]
    summary = (
        f"The best {metric.title} ({metric.direction}) is {rounded(best.value).text}, first by {best.label} on {best.time:%-d %B %Y}, "
        f"after {_counted(len(records), 'record')} among {_counted(len(came), 'entry', 'entries')}."
    )
    return Figure(tuple(data), layout, summary, columns, tuple(rows))


def cost(metric: Metric, points: Sequence[CostPoint], title: str, n_silent: int, colours: Palette = TOKENS) -> Figure:
    """Scores over what the methods cost, on a scale of powers of ten; a line joins those that no other beats at the same cost or less.
    `n_silent` entries state no cost."""
    columns = ("Entry", title, metric.label, "95 % interval", "What it is")
    silent = (
        f" {_counted(n_silent, 'entry states', 'entries state')} nothing and {'is' if n_silent == 1 else 'are'} left out."
        if n_silent
        else ""
    )
    known = sorted((point for point in points if point.cost > 0), key=lambda point: (point.cost, point.label))
    if not known:
        return nothing(f"No ranked entry states its {title.lower()}.{silent}", columns, colours)
    best: list[CostPoint] = []
    for point in sorted(known, key=lambda one: (one.cost, -one.value if metric.higher_is_better else one.value)):
        if not best or _better_side(point.value, best[-1].value, metric.higher_is_better) == 1:
            best.append(point)
    chosen = {id(point) for point in best}
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines+text",
            "name": "Best at its cost",
            "x": [point.cost for point in best],
            "y": [point.value for point in best],
            "text": [short(point.label) for point in best],
            "textposition": "top right",
            "textfont": {"color": colours.soft},
            "line": {"shape": "hv", "color": colours.accent, "width": 2},
            "hoverinfo": "skip",
        }
    ]
    groups = (
        ("Entries", [point for point in known if id(point) not in chosen], {"symbol": "circle-open", "size": 8, "color": colours.soft}),
        ("Best at their cost", best, {"symbol": "diamond", "size": 9, "color": colours.accent}),
    )
    for name, group, marker in groups:
        if group:
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": name,
                    "x": [point.cost for point in group],
                    "y": [point.value for point in group],
                    "text": [
                        f"{plain(point.label)}: {rounded(point.value, point.low, point.high).text} at {point.cost:,.3g}" for point in group
                    ],
                    "hoverinfo": "text",
                    "marker": marker,
                }
            )
    layout = base_layout(colours, height=360)
    layout["xaxis"] |= {"type": "log", "title": {"text": plain(title)}}
    layout["yaxis"] |= {"title": {"text": plain(metric.label)}}
    rows = []
    for point in known:
        digits = rounded(point.value, point.low, point.high)
        interval = f"{digits.end(point.low)} to {digits.end(point.high)}" if _finite(point.low) and _finite(point.high) else "–"
        what = "best at its cost" if id(point) in chosen else ""
        rows.append((point.label, f"{point.cost:,.4g}", digits.text, interval, what))
    names = ", ".join(point.label for point in best)
    summary = (
        f"{metric.title} ({metric.direction}) over {title.lower()}, as teams state it, of {_counted(len(known), 'entry', 'entries')}; "
        f"by their values alone none is better at the same cost or less than {names}.{silent}"
    )
    return Figure(tuple(data), layout, summary, columns, tuple(rows))


def differences(
    metric: Metric, a: Series, b: Series, items: Sequence[str], result: Paired | None = None, colours: Palette = TOKENS, noun: str = NOUN
) -> Figure:
    """a minus b per item, a's greatest advantage first; solid bars where a is better, hatched where b is.

    Items where either has no value are left out and counted in the summary. ``result``, of the same
    pairs, adds the mean with its interval and the p value. ``noun`` is what an item is called.
    """
    columns = (noun.capitalize(), a.label, b.label, f"{a.label} − {b.label}", "Better")
    pairs = [(i, float(x), float(y)) for i, x, y in zip(items, a.values, b.values, strict=True) if _finite(x) and _finite(y)]
    if not pairs:
        return nothing(f"{a.label} and {b.label} have no {noun} in common with a value for {metric.title}.", columns, colours)
    pairs = [pairs[index] for index in order([x - y for _, x, y in pairs], metric.higher_is_better)]
    sides = [_better_side(x, y, metric.higher_is_better) for _, x, y in pairs]
    hatched = {
        "color": colours.warn,
        "line": {"color": colours.warn, "width": 1},
        "pattern": {"shape": "/", "fillmode": "replace", "size": 6},
    }
    data = [
        _bars(pairs, sides, 1, f"{short(a.label)} better", {"color": colours.accent}),
        _bars(pairs, sides, -1, f"{short(b.label)} better", hatched),
    ]
    layout = base_layout(colours, height=360)
    layout |= {"showlegend": True, "bargap": 0.15, "barmode": "overlay"}
    names = [plain(item) for item, _, _ in pairs]
    layout["xaxis"] |= {"type": "category", "categoryorder": "array", "categoryarray": names}
    layout["xaxis"] |= {"tickangle": -60, "showgrid": False}
    layout["yaxis"] |= {"title": {"text": "A − B"}}
    shapes: list[dict[str, Any]] = []
    test = ""
    if result is not None and result.mean_difference is not None:
        mean, low, high = result.mean_difference, result.ci_low, result.ci_high
        shown, place = rounded(mean, low, high), {"x0": -0.5, "x1": len(pairs) - 0.5}
        test = f"; mean difference {shown.text}"
        if low is not None and high is not None:
            if low < high:
                band = {"type": "rect", "y0": low, "y1": high, "layer": "below", **place}
                shapes.append(band | {"fillcolor": colours.bar, "opacity": 0.35, "line": {"width": 0}})
            if shown.spread:
                test += f" (95 % interval {shown.end(low)} to {shown.end(high)})"
        line = {"color": colours.ink, "dash": "dot", "width": 1.5}
        shapes.append({"type": "line", "y0": mean, "y1": mean, **place, "line": line})
        if result.p_value is not None:
            test += f", p = {result.p_value:.2g}"
    layout["shapes"] = shapes
    winner = {1: a.label, -1: b.label, 0: "equal"}
    rows = [
        (item, rounded(x).text, rounded(y).text, rounded(x - y).text, winner[side]) for (item, x, y), side in zip(pairs, sides, strict=True)
    ]
    summary = (
        f"{metric.title} ({metric.direction}) per {noun}: {a.label} is better on {sides.count(1)}, {b.label} on {sides.count(-1)}, "
        f"equal on {sides.count(0)} of {_counted(len(pairs), noun, plural(noun))}{test}."
    )
    if len(pairs) < len(items):
        summary += f" {_counted(len(items) - len(pairs), noun, plural(noun))} without a value on both sides left out."
    return Figure(tuple(data), layout, summary, columns, tuple(rows))


def rank_intervals(title: str, entries: Sequence[RankRow], colours: Palette = TOKENS) -> Figure:
    """Each entry's rank as a dot with its 95 % interval; an open dot has no interval. At most the
    first 30 ranked entries, in the order given. ``title`` says what is ranked, as in "HSS"."""
    columns = ("Entry", "Rank", "95 % interval")
    ranked = [row for row in entries if row.rank is not None]
    if not ranked:
        return nothing(f"No entry is ranked by {title} yet.", columns, colours)
    drawn = ranked[:MAX_ENTRIES]
    known = [(i, row) for i, row in enumerate(drawn) if row.low is not None and row.high is not None]
    ends = [(row.low, row.rank, row.high) for _, row in known if row.low is not None and row.rank is not None and row.high is not None]
    bare = [(i, row) for i, row in enumerate(drawn) if row.low is None or row.high is None]
    interval = _rank_dots("95 % interval", known, {"symbol": "circle", "size": 9, "color": colours.accent})
    interval["error_x"] = {
        "type": "data",
        "symmetric": False,
        "array": [high - rank for _, rank, high in ends],
        "arrayminus": [rank - low for low, rank, _ in ends],
        "color": colours.soft,
        "thickness": 2,
        "width": 4,
    }
    data = [interval]
    if bare:
        data.append(_rank_dots("No interval", bare, {"symbol": "circle-open", "size": 9, "color": colours.soft}))
    layout = base_layout(colours, height=96 + 26 * len(drawn))
    last = max(max(row.rank or 0, row.high or 0) for row in drawn)
    layout["xaxis"] |= {"title": {"text": f"Rank by {plain(title)}"}, "tickformat": "d", "range": [0.5, last + 0.5]}
    layout["xaxis"] |= {"dtick": 1} if last < 9 else {}
    layout["yaxis"] |= _entry_axis([row.label for row in drawn])
    rows = [(row.label, str(row.rank), _interval_words(row)) for row in drawn]
    firsts = [row.label for row in ranked if row.low == 1]
    reach = f"{_counted(len(firsts), 'entry', 'entries')} could be first" if firsts else "no interval reaches rank 1"
    shown_of = "" if len(drawn) == len(ranked) else f", the first {len(drawn)} shown"
    counted = _counted(len(ranked), "entry", "entries")
    summary = f"Ranks by {title} with 95 % intervals for {counted}{shown_of}: {reach}."
    if not known:
        summary = f"Ranks by {title} of {counted}{shown_of}; there are no intervals."
    return Figure(tuple(data), layout, summary, columns, tuple(rows))


def base_layout(colours: Palette, height: int) -> dict[str, Any]:
    axis = {
        "gridcolor": colours.line,
        "linecolor": colours.line,
        "zerolinecolor": colours.bar,
        "automargin": True,
        "tickfont": {"color": colours.ink},
        "title": {"font": {"color": colours.soft}},
    }
    return {
        "height": height,
        "margin": {"l": 8, "r": 16, "t": 32, "b": 8},
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": colours.ink},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hoverlabel": {"bgcolor": colours.panel, "bordercolor": colours.bar, "font": {"color": colours.ink}},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        "showlegend": False,
        "xaxis": dict(axis),
        "yaxis": dict(axis),
    }


def nothing(sentence: str, columns: tuple[str, ...], colours: Palette) -> Figure:
    return Figure((), base_layout(colours, height=120), sentence, columns, ())


def _entry_axis(labels: Sequence[str]) -> dict[str, Any]:
    """Entries from the top down by position, so that two of the same name stay two."""
    return {
        "tickvals": list(range(len(labels))),
        "ticktext": [short(label) for label in labels],
        "range": [len(labels) - 0.4, -0.6],
        "showgrid": False,
        "zeroline": False,
    }


def _dots(name: str, points: Sequence[Point], marker: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [_stamp(point.time) for point in points],
        "y": [point.known for point in points],
        "text": [f"{plain(point.label)}: {rounded(point.value).text}" for point in points],
        "hoverinfo": "text",
        "marker": marker,
    }


def _rank_dots(name: str, placed: Sequence[tuple[int, RankRow]], marker: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [row.rank for _, row in placed],
        "y": [position for position, _ in placed],
        "text": [f"{plain(row.label)}: rank {row.rank}, {_interval_words(row)}" for _, row in placed],
        "hoverinfo": "text",
        "marker": marker,
    }


def _bars(pairs: Sequence[tuple[str, float, float]], sides: Sequence[int], side: int, name: str, marker: dict[str, Any]) -> dict[str, Any]:
    chosen = [pair for pair, own in zip(pairs, sides, strict=True) if own == side]
    return {
        "type": "bar",
        "name": name,
        "x": [plain(item) for item, _, _ in chosen],
        "y": [x - y for _, x, y in chosen],
        "text": [f"{plain(item)}: {rounded(x).text} against {rounded(y).text}" for item, x, y in chosen],
        "textposition": "none",
        "hoverinfo": "text",
        "marker": marker,
    }


def _better_side(a: float, b: float, higher_is_better: bool) -> int:
    """1 if a is better, -1 if b is, 0 if they tie."""
    first, second = rank([a, b], higher_is_better)
    assert first is not None and second is not None  # both are numbers
    return (first < second) - (second < first)


def _interval_words(row: RankRow) -> str:
    return "no interval" if row.low is None or row.high is None else f"{row.low}–{row.high}"


def _counted(n: int, one: str, many: str = "") -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def _finite(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def _stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S")


def plain(text: str) -> str:
    """A name as Plotly text: shown as it is, with any tags in it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def short(text: str) -> str:
    return plain(text if len(text) <= LABEL_LENGTH else f"{text[: LABEL_LENGTH - 1]}…")
