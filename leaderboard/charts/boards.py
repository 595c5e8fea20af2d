"""Charts of boards as records: spread, progress, cost, differences and ranks. Every chart comes with a text alternative (a sentence and a
table), and no chart distinguishes things by colour alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import TypeGuard

import numpy as np

from leaderboard.records.board import ColumnHead
from leaderboard.records.chart import Axis, Bars, Box, Chart, Dot, Dots, Level, Line, Mark, labels
from leaderboard.stats.ranking import order, rank
from leaderboard.stats.uncertainty import Paired
from leaderboard.wording.digits import rounded
from leaderboard.wording.nouns import NOUN, counted, verb

MAX_ENTRIES = 30  # rows that can still be read
MAX_POINTS = 3000  # single points drawn in one chart


@dataclass(frozen=True)
class Series:
    """One entry's values, in the order of the items; None where there is none. `method` is its label less its team."""

    label: str
    values: Sequence[float | None]
    method: str = ""


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
    """One entry's score with its interval, and what it costs, as its team states it. `method` is its label less its team."""

    label: str
    cost: float
    value: float
    low: float | None = None
    high: float | None = None
    method: str = ""


@dataclass(frozen=True)
class RankRow:
    """One entry's rank with its interval, None where it has none. `method` is its label less its team."""

    label: str
    rank: int | None
    interval: tuple[int, int] | None = None
    method: str = ""

    @property
    def words(self) -> str:
        return "no interval" if self.interval is None else f"{self.interval[0]}–{self.interval[1]}"


def distributions(metric: ColumnHead, series: Sequence[Series], items: Sequence[str], noun: str = "item") -> Chart:
    """Spread of each entry's values over the items: a box and, if they are few enough to be distinguished, every item as a point. Entries
    in the order given, at most the first 30."""
    columns = ("Entry", "Values", "Minimum", "Lower quartile", "Median", "Upper quartile", "Maximum")
    finite = [(one, [(v, i) for v, i in zip(one.values, items, strict=True) if _finite(v)]) for one in series]
    finite = [(one, pairs) for one, pairs in finite if pairs]
    if not finite:
        return Chart(f"No entry has a value for {metric.title} yet.", columns)
    drawn = finite[:MAX_ENTRIES]
    all_points = sum(len(pairs) for _, pairs in drawn) <= MAX_POINTS
    shown, boxes, rows, medians = _shown([one for one, _ in drawn]), [], [], []
    for position, (one, pairs) in enumerate(drawn):
        values = tuple(float(value) for value, _ in pairs)
        names = tuple(f"{one.label}\n{item}: {rounded(value).text}" for value, item in pairs)
        boxes.append(Box(shown[position], position, values, names, all_points))
        quartiles = np.percentile(values, [0, 25, 50, 75, 100])
        medians.append(float(quartiles[2]))
        rows.append((one.label, str(len(values)), *(rounded(float(q)).text for q in quartiles)))
    first = order(medians, metric.higher_is_better)[0]
    level = medians.count(medians[first]) - 1
    alike = f" and {counted(level, 'other')}" if level else ""
    shown_of = "every entry and baseline" if len(drawn) == len(finite) else f"the first {len(drawn)} of {len(finite)} entries and baselines"
    summary = (
        f"{metric.title} per {noun} for {shown_of if len(finite) > 1 else 'one entry'} ({metric.direction}); "
        f"the best median is {rounded(medians[first]).text}, of {drawn[first][0].label}{alike}."
    )
    return Chart(summary, columns, tuple(rows), Axis(metric.heading), _entry_axis(shown), tuple(boxes), height=96 + 30 * len(drawn))


def progress(
    metric: ColumnHead,
    points: Sequence[Point],
    baselines: Sequence[tuple[str, float]] = (),
    zone: tzinfo = UTC,
) -> Chart:
    """The best score so far as a step line, every entry as a point, baselines dashed.

    A point is a record where it beats all before it by more than a tie. Times are shown on the clocks of `zone`.
    Raises ValueError for a time without a zone.
    """
    columns = (f"Time ({zone})", "Entry", metric.heading, "What it is")
    came = []
    for point in points:
        if point.time.tzinfo is None:
            raise ValueError(f"{point.time.isoformat()} has no time zone; give an aware datetime")
        if _finite(point.value):
            came.append(replace(point, time=point.time.astimezone(zone)))
    came.sort(key=lambda point: point.time)
    if not came:
        return Chart(f"No entry has a value for {metric.title} yet.", columns)
    records = [came[0]]
    for point in came[1:]:
        if _better_side(point.known, records[-1].known, metric.higher_is_better) == 1:
            records.append(point)
    best, start, end = records[-1], _clock(came[0]), _clock(came[-1])
    marks: list[Mark] = [
        Dots((Dot(start, value, label=label, side="top right"), Dot(end, value)), label, "bar", Line(1.5, "dash"))
        for label, (_, value) in zip(labels([name for name, _ in baselines]), baselines, strict=True)
    ]
    steps = (*(Dot(_clock(point), point.known) for point in records), Dot(end, best.known))
    marks.append(Dots(steps, "Best so far", "accent", Line(2, is_stepped=True)))
    chosen = {id(point) for point in records}
    others = [point for point in came if id(point) not in chosen]
    marks.append(Dots(tuple(map(_moment, others)), "Entries", "soft", symbol="circle-open", size=7))
    marks.append(Dots(tuple(map(_moment, records)), "Records", "accent", symbol="diamond", size=9))
    rows = [(f"{p.time:%Y-%m-%d %H:%M:%S}", p.label, rounded(p.value).text, "record") for p in records]
    rows += [("–", label, rounded(value).text, "baseline") for label, value in baselines]
    summary = (
        f"The best {metric.title} ({metric.direction}) is {rounded(best.value).text}, first by {best.label} on {best.time:%-d %B %Y}. "
        f"Of {counted(len(came), 'entry')}, {len(records)} set a record."
    )
    return Chart(summary, columns, tuple(rows), Axis(columns[0], "time"), Axis(metric.heading), tuple(marks))


def cost(metric: ColumnHead, points: Sequence[CostPoint], title: str, n_silent: int) -> Chart:
    """Scores over the methods' costs, on a scale of powers of ten. A line joins the methods that no other beats at the same cost or less.
    `n_silent` entries state no cost."""
    columns = ("Entry", title, metric.heading, "95 % interval", "What it is")
    silent = ""
    if n_silent:
        silent = f" {counted(n_silent, 'entry')} {verb('states', n_silent)} nothing and {verb('is', n_silent)} left out."
    known = sorted((point for point in points if point.cost > 0), key=lambda point: (point.cost, point.label))
    if not known:
        return Chart(f"No ranked entry states its {title.lower()}.{silent}", columns)
    best: list[CostPoint] = []
    for point in sorted(known, key=lambda one: (one.cost, -one.value if metric.higher_is_better else one.value)):
        if not best or _better_side(point.value, best[-1].value, metric.higher_is_better) == 1:
            best.append(point)
    chosen = {id(point) for point in best}
    line = tuple(Dot(point.cost, point.value, label=label, side="top right") for point, label in zip(best, _shown(best), strict=True))
    marks: list[Mark] = [Dots(line, "Best at its cost", "accent", Line(2, is_stepped=True))]
    if others := tuple(_priced(point) for point in known if id(point) not in chosen):
        marks.append(Dots(others, "Entries", "soft", symbol="circle-open"))
    marks.append(Dots(tuple(map(_priced, best)), "Best at their cost", "accent", symbol="diamond", size=9))
    rows = []
    for point in known:
        digits = rounded(point.value, point.low, point.high)
        interval = f"{digits.end(point.low)} to {digits.end(point.high)}" if _finite(point.low) and _finite(point.high) else "–"
        what = "best at its cost" if id(point) in chosen else ""
        rows.append((point.label, f"{point.cost:,.4g}", digits.text, interval, what))
    names = ", ".join(point.label for point in best)
    summary = (
        f"{metric.title} ({metric.direction}) of {counted(len(known), 'entry')}, against {title.lower()}, as their teams state them. "
        f"Best at their cost: no entry that states the same or a lower cost has a better value than {names}.{silent}"
    )
    return Chart(summary, columns, tuple(rows), Axis(title, "log"), Axis(metric.heading), tuple(marks))


def differences(metric: ColumnHead, a: Series, b: Series, items: Sequence[str], result: Paired | None = None, noun: str = NOUN) -> Chart:
    """a minus b per item, a's greatest advantage first; solid bars where a is better, hatched where b is.

    Items where either has no value are left out and counted in the summary. ``result``, of the same
    pairs, adds the mean with its interval and the p value. ``noun`` is what an item is called.
    """
    columns = (noun.capitalize(), a.label, b.label, f"{a.label} − {b.label}", "Better")
    pairs = [(i, float(x), float(y)) for i, x, y in zip(items, a.values, b.values, strict=True) if _finite(x) and _finite(y)]
    if not pairs:
        return Chart(f"{a.label} and {b.label} have no {noun} in common with a value for {metric.title}.", columns)
    pairs = [pairs[index] for index in order([x - y for _, x, y in pairs], metric.higher_is_better)]
    sides = [_better_side(x, y, metric.higher_is_better) for _, x, y in pairs]
    bars: dict[int, list[Dot]] = {1: [], -1: [], 0: []}
    for place, ((item, x, y), side) in enumerate(zip(pairs, sides, strict=True)):
        bars[side].append(Dot(place, x - y, f"{item}: {rounded(x).text} against {rounded(y).text}"))
    first, second = _shown([a, b])
    marks: list[Mark] = [
        Bars(tuple(bars[1]), f"{first} better", "accent"),
        Bars(tuple(bars[-1]), f"{second} better", "warn", is_hatched=True),
    ]
    test = ""
    if result is not None and result.mean_difference is not None:
        mean, low, high = result.mean_difference, result.ci_low, result.ci_high
        shown = rounded(mean, low, high)
        marks.append(Level(mean, low, high))
        test = f"; mean difference {shown.text}"
        if low is not None and high is not None and shown.spread:
            test += f" (95 % interval {shown.end(low)} to {shown.end(high)})"
        if result.p_value is not None:
            test += f", p = {result.p_value:.2g}"
    winner = {1: a.label, -1: b.label, 0: "equal"}
    rows = [
        (item, rounded(x).text, rounded(y).text, rounded(x - y).text, winner[side]) for (item, x, y), side in zip(pairs, sides, strict=True)
    ]
    summary = (
        f"{metric.title} ({metric.direction}) per {noun}: {a.label} is better on {sides.count(1)}, {b.label} on {sides.count(-1)}, "
        f"equal on {sides.count(0)} of {counted(len(pairs), noun)}{test}."
    )
    if len(pairs) < len(items):
        summary += f" {counted(len(items) - len(pairs), noun)} without a value on both sides left out."
    axis = Axis(names=tuple(item for item, _, _ in pairs), turned=60, has_grid=False)
    return Chart(summary, columns, tuple(rows), axis, Axis("A − B"), tuple(marks), has_legend=True)


def rank_intervals(title: str, entries: Sequence[RankRow]) -> Chart:
    """Each entry's rank as a dot with its 95 % interval; an open dot has no interval. At most the
    first 30 ranked entries, in the order given. ``title`` says what is ranked, as in "HSS"."""
    columns = ("Entry", "Rank", "95 % interval")
    ranked = [row for row in entries if row.rank is not None]
    if not ranked:
        return Chart(f"No entry is ranked by {title} yet.", columns)
    drawn = ranked[:MAX_ENTRIES]
    dots = []
    for place, row in enumerate(drawn):
        low, high = row.interval or (None, None)
        dots.append(Dot(row.rank or 0, place, f"{row.label}: rank {row.rank}, {row.words}", low=low, high=high))
    marks: list[Mark] = []
    if known := tuple(dot for dot in dots if dot.low is not None):
        marks.append(Dots(known, "95 % interval", "accent", symbol="circle", size=9))
    if bare := tuple(dot for dot in dots if dot.low is None):
        marks.append(Dots(bare, "No interval", "soft", symbol="circle-open", size=9))
    last = max(max(row.rank or 0, *(row.interval or (0,))) for row in drawn)
    ticks = tuple((rank, str(rank)) for rank in range(1, last + 1)) if last < 9 else None
    x = Axis(f"Rank by {title}", ends=(0.5, last + 0.5), ticks=ticks, is_whole=True)
    rows = [(row.label, str(row.rank), row.words) for row in drawn]
    y = _entry_axis(_shown(drawn))
    return Chart(_ranks_in_words(title, ranked, bool(known)), columns, tuple(rows), x, y, tuple(marks), height=96 + 26 * len(drawn))


def _ranks_in_words(title: str, ranked: Sequence[RankRow], has_intervals: bool) -> str:
    """Summary of ranks: how many entries may be first, if any that is drawn has an interval."""
    entries = counted(len(ranked), "entry") + (f", the first {MAX_ENTRIES} shown" if len(ranked) > MAX_ENTRIES else "")
    if not has_intervals:
        return f"Ranks by {title} of {entries}; there are no intervals."
    n = sum(row.interval is not None and row.interval[0] == 1 for row in ranked)
    reach = f"{counted(n, 'entry')} may be first" if n else "no interval reaches rank 1"
    return f"Ranks by {title} with 95 % intervals for {entries}: {reach}."


def _shown(entries: Sequence[Series] | Sequence[CostPoint] | Sequence[RankRow]) -> list[str]:
    """The entries' labels in the chart."""
    return labels([one.label for one in entries], [one.method or one.label for one in entries])


def _entry_axis(shown: Sequence[str]) -> Axis:
    """Entries from the top down by position."""
    return Axis(ticks=tuple(enumerate(shown)), ends=(len(shown) - 0.4, -0.6), has_grid=False)


def _clock(point: Point) -> float:
    """The place of a point on an axis of time."""
    return point.time.replace(tzinfo=UTC, microsecond=0).timestamp()


def _moment(point: Point) -> Dot:
    return Dot(_clock(point), point.known, f"{point.label}: {rounded(point.value).text}")


def _priced(point: CostPoint) -> Dot:
    return Dot(point.cost, point.value, f"{point.label}: {rounded(point.value, point.low, point.high).text} at {point.cost:,.3g}")


def _better_side(a: float, b: float, higher_is_better: bool) -> int:
    """1 if a is better, -1 if b is, 0 if they tie."""
    first, second = rank([a, b], higher_is_better)
    assert first is not None and second is not None  # both are numbers
    return (first < second) - (second < first)


def _finite(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)
