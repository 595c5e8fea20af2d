"""Metrics of a published set by their two figures of agreement: a line for each metric, from within an item to across items."""

from __future__ import annotations

from leaderboard.evidence.shown import Row, Set
from leaderboard.records.chart import Axis, Chart, Dot, Dots, Line, Mark, Side, Tone


def within_and_across(one: Set, lower: Row, rival: Row | None) -> Chart:
    """The set's metrics that have both figures. Heights are shares of the way from chance (50 of 100, ρ 0) to perfect agreement (100, ρ 1).

    `lower`, the metric that the chart is about, and `rival` have their names and 95 % intervals. Reference points are left out, and a ρ
    below 0 is drawn where it lies.
    """
    marks: list[Mark] = []
    rows = []
    for row in (*(row for row in one.rows if row not in (lower, rival)), *([rival] if rival is not None else []), lower):
        within, across = row.within.ends, row.across.ends
        if row.is_reference_point or within is None or across is None:
            continue
        rows.append((row.title, f"{row.within.text} {row.within.interval}", f"{row.across.text} {row.across.interval}"))
        heights = [(end - 50) / 50 for end in within], [end / 100 for end in across]
        said = " · ".join(rows[-1])
        named = row is lower or row is rival
        tone: Tone = "warn" if row is lower else "accent" if named else "bar"
        labels = (row.within.text, f"{row.title} {row.across.text}") if named else ("", "")
        sides: tuple[Side, Side] = ("middle left", "middle right")
        dots = tuple(
            Dot(place, height[0], said, label, side, *(height[1:] if named else (None, None)))
            for place, (height, label, side) in enumerate(zip(heights, labels, sides, strict=True))
        )
        marks.append(
            Dots(
                dots,
                row.title,
                tone,
                Line(2 if named else 1),
                "circle",
                9 if named else 5,
                along="y",
                interval_tone=tone,
                label_tone=tone,
            )
        )
    item = one.record.words.item
    summary = f"{one.record.called}: figures of each metric within one {item} and across {one.items}; {lower.title} is ruled out across."
    x = Axis(ends=(-0.3, 2.1), ticks=((0, "within an item"), (1, "across items")), has_grid=False)
    y = Axis(ends=(-0.15, 1), ticks=((0, "chance"), (1, "perfect")))
    return Chart(summary, ("Metric", "Within, of 100", "Across, ρ"), tuple(rows), x, y, tuple(marks), height=300)
