"""Charts of a study: who agrees with whom, and whether enough was labelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.records.chart import Axis, Band, Cells, Chart, Dot, Dots, Line, Mark, Side, labels
from leaderboard.stats.subsample_stability import Curve
from leaderboard.wording.nouns import NOUN, plural

_COLUMNS = ("Rater", "Other", "Agreement", "Pairs in common")
SIDES: tuple[Side, ...] = ("top center", "bottom center", "middle right", "middle left")  # of labels
WIDE, TALL, LETTER = 900, 270, 6.5  # px of a scatter plot on a desk, and of a letter in it
MAX_NAMES = 60  # below a heat map; more would overlap, and are listed beside it
MAX_ROWS = 400  # of the table that says the same in numbers


def agreement_map(
    names: Sequence[str],
    agree: Sequence[Sequence[float | None]],
    common: Sequence[Sequence[float]],
    order: Sequence[int],
    borders: Sequence[int],
    who: str,
) -> Chart:
    """A heat map of agreement [k][k] in the given order; `borders` are places in that order at which another cluster begins, `who`
    says in words who is in it."""
    ordered = [names[n] for n in order]
    if len(ordered) < 2:
        return Chart("Once there are two raters, a matrix shows who agrees with whom.", _COLUMNS)
    values = [[agree[i][j] if i != j else None for j in order] for i in order]
    flat = [value for row in values for value in row if value is not None]
    rows = [
        (ordered[i], ordered[j], f"{values[i][j]:.3f}", str(int(common[order[i]][order[j]])))
        for i in range(len(order))
        for j in range(i)
        if values[i][j] is not None
    ]
    summary = f"How often each two of {who} agree, on the pairs that both decided"
    summary += "; a line divides people and metrics." if borders else "."
    said = tuple(
        tuple("" if value is None else f"{one} and {other}: {value:.2f}" for other, value in zip(ordered, row, strict=True))
        for one, row in zip(ordered, values, strict=True)
    )
    cells = Cells("agreement", tuple(map(tuple, values)), said, min([0.5, *flat]), 1.0, tuple(borders))
    ticks, end = tuple(enumerate(labels(ordered))), len(ordered) - 0.5
    x = Axis(ticks=ticks if len(ordered) <= MAX_NAMES else (), ends=(-0.5, end), turned=60, has_grid=False)
    y = Axis(ticks=ticks, ends=(end, -0.5), has_grid=False)
    return Chart(summary, _COLUMNS, tuple(rows[:MAX_ROWS]), x, y, (cells,), height=180 + 15 * len(ordered))


def adequacy(curve: Curve, noun: str = NOUN) -> Chart:
    """Tau to the ranking by all over the size of the part: the mean as a line, the middle 95 % of the parts as a band. ``noun`` is what
    samples are called."""
    what = {"raters": "people", "comparisons": "answers", "samples": plural(noun)}[curve.resource]
    columns = (what.capitalize(), "Mean τ", "95 % of parts from", "to")
    known = [row for row in zip(curve.sizes, curve.mean, curve.low, curve.high, strict=True) if row[1] is not None]
    if not known and len(curve.sizes) > 1:
        return Chart(f"All entries are tied, so there is no order that a subset of the {what} could keep.", columns)
    if len(known) < 2:
        return Chart(f"There are too few {what} to take subsets.", columns)
    sizes, mean, low, high = (list(column) for column in zip(*known, strict=True))
    dots = tuple(Dot(size, one, f"{size} {what}: τ {one:.3f}") for size, one in zip(sizes, mean, strict=True))
    marks = (
        Band(tuple(zip(sizes, low, high, strict=True))),
        Dots((Dot(sizes[0], 0.95), Dot(sizes[-1], 0.95)), tone="warn", line=Line(1, "dash")),
        Dots(dots, tone="accent", line=Line(), symbol="circle", size=6),
    )
    x = Axis(what, "log" if sizes[-1] > 50 else "linear", is_whole=True)
    y = Axis("τ-b", ends=(min(0.0, *low) - 0.02, 1.03))
    if curve.steady is not None:
        summary = f"{what.capitalize()}: random subsets of {curve.steady:,} or more of {sizes[-1]:,} reliably give the same order."
    else:
        summary = f"{what.capitalize()}: no smaller number than all {sizes[-1]:,} reliably gives the same order."
    rows = tuple((f"{size:,}", *(f"{value:.3f}" for value in row)) for size, *row in known[:-1])
    rows += ((f"{sizes[-1]:,}", f"{mean[-1]:.3f}", "–", "–"),)  # there is one part of all
    return Chart(summary, columns, rows, x, y, marks, height=230)


@dataclass(frozen=True)
class Point:
    """An entry with a metric's value and its mean opinion score with the ends of its interval; `is_out` takes no part in correlations."""

    label: str
    value: float
    mos: float
    low: float | None
    high: float | None
    is_out: bool = False


def scatter(title: str, higher_is_better: bool, points: Sequence[Point], scale: tuple[float, float] = (1.0, 5.0)) -> Chart:
    """Mean opinion scores on their scale, with their intervals, over a metric's values."""
    columns = ("Entry", title, "Opinion score", "95 % low", "95 % high")
    if not points:
        return Chart("No entry has both a value of this metric and an opinion score.", columns)
    ends = [end for point in points for end in (point.low, point.high) if end is not None]  # which may lie beyond the scale
    groups: dict[bool, list[Dot]] = {False: [], True: []}
    for point, (label, side) in zip(points, _labels(points, scale), strict=True):
        said = f"{point.label}: {point.value:.4g}, opinion score {point.mos:.2f}"
        groups[point.is_out].append(Dot(point.value, point.mos, said, label, side, point.low, point.high))
    marks: list[Mark] = []
    if groups[False]:
        marks.append(Dots(tuple(groups[False]), tone="accent", symbol="circle", along="y", interval_tone="bar"))
    if groups[True]:
        marks.append(Dots(tuple(groups[True]), tone="soft", symbol="circle-open", along="y", interval_tone="bar"))
    out = [point.label for point in points if point.is_out]
    summary = f"Opinion scores of {len(points)} entries over {title}" + (f"; hollow: left out, {', '.join(out)}." if out else ".")
    x = Axis(f"{title} ({'higher' if higher_is_better else 'lower'} is better)")
    room = (scale[1] - scale[0]) / 40
    y = Axis("opinion score", ends=(min([scale[0], *ends]) - room, max([scale[1], *ends]) + room))
    rows = tuple(
        (point.label, f"{point.value:.4g}", f"{point.mos:.3f}", *("–" if end is None else f"{end:.3f}" for end in (point.low, point.high)))
        for point in sorted(points, key=lambda point: -point.mos)
    )
    return Chart(summary, columns, rows, x, y, tuple(marks), height=380)


def _labels(points: Sequence[Point], scale: tuple[float, float]) -> list[tuple[str, Side]]:
    """The text beside each point and on which side it has room; none where it would lie over another one or over a point."""
    low, high = min(point.value for point in points), max(point.value for point in points)
    tall = TALL / (scale[1] - scale[0])
    places = [((point.value - low) / ((high - low) or 1.0) * WIDE, (scale[1] - point.mos) * tall) for point in points]
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    shown = labels([point.label for point in points])
    found: list[tuple[str, Side]] = [("", SIDES[0])] * len(points)
    for n in sorted(range(len(points)), key=lambda n: -points[n].mos):
        (x, y), wide = places[n], LETTER * len(shown[n])
        sides = ((x - wide / 2, y - 20), (x - wide / 2, y + 6), (x + 7, y - 7), (x - 7 - wide, y - 7))
        for position, (left, top) in zip(SIDES, sides, strict=True):
            box = (left, top, left + wide, top + 14)
            if not any(box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3] for other in taken):
                taken.append(box)
                found[n] = (shown[n], position)
                break
    return found
