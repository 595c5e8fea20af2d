"""Scatter of people's means against a metric's values, a line for each item, and the two results on which people and the metric disagree
most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.evidence.results import Result
from leaderboard.records.chart import Axis, Chart, Dot, Dots, Line, Mark, Side, Tone
from leaderboard.wording.figures import number


@dataclass(frozen=True)
class Scatter:
    """The chart and the two results that are named in it: `low` has the higher value, and `high` the higher mean."""

    chart: Chart
    low: Result
    high: Result


def scatter(results: Sequence[Result], scale: tuple[float, float], title: str) -> Scatter | None:
    """The scatter of results by items; None where no two results of different items are in the other order by the metric, called `title`,
    than by people."""
    values = [one.value for one in results]
    if len(results) < 2 or max(values) <= min(values):
        return None
    least, most = min(values), max(values)
    # The two that part most: the product of both differences, each as a share of its range, is the largest.
    apart = [
        ((low.value - high.value) / (most - least) * (high.mean - low.mean) / (scale[1] - scale[0]), low, high)
        for low in results
        for high in results
        if low.item != high.item and low.value > high.value and low.mean < high.mean
    ]
    if not apart:
        return None
    _, low, high = max(apart, key=lambda found: found[0])
    tones: dict[str, Tone] = {low.item: "warn", high.item: "accent"}
    items: dict[str, list[Dot]] = {}
    for one in sorted(results, key=lambda one: one.value):
        items.setdefault(one.item, []).append(Dot(one.value, one.mean))
    marks: list[Mark] = []
    for item, dots in items.items():
        tone = tones.get(item, "bar")
        marks.append(Dots(tuple(dots), item, tone, Line(1.8 if item in tones else 1.2)))
        marks.append(Dots(tuple(dots), item, tone, symbol="circle", size=4.8))
    rows = []
    for one in (low, high):
        rows.append((one.item, number(one.value, 1), number(one.mean, 1)))
        side: Side = "top left" if one.value > (least + most) / 2 else "top right"
        dot = Dot(one.value, one.mean, label=f"{one.item}: {rows[-1][1]}, rated {rows[-1][2]}", side=side)
        marks.append(Dots((dot,), one.item, tones[one.item], symbol="circle", size=12, label_tone=tones[one.item]))
    summary = f"Mean rating against {title}: within an item the rating follows the metric, and the lines of items lie far apart"
    x, y = Axis(title, has_grid=False), Axis("mean rating", ends=scale)
    return Scatter(Chart(summary, ("Item", title, "Mean rating"), tuple(rows), x, y, tuple(marks), height=270), low, high)
