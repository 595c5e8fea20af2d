"""Scatter of people's means against a metric's values, a line for each item: paths of an inline SVG, and the two results that part most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.evidence.results import Result

LEFT, RIGHT, TOP, BOTTOM = 46.0, 546.0, 18.0, 214.0  # of the plot in a box of 560 by 240
MAX_TICKS = 7


@dataclass(frozen=True)
class Mark:
    """One of the two results that are named: its item, value, mean, and place in the box."""

    item: str
    value: float
    mean: float
    x: float
    y: float

    @property
    def is_right(self) -> bool:
        """True in the right half of the plot, where words stand on its left."""
        return self.x > (LEFT + RIGHT) / 2


@dataclass(frozen=True)
class Scatter:
    """`lines` are the paths of items, the places of their results, and "low" or "high" where one of the two named results is the item's.
    Of these two `low` has the higher value, and `high` the higher mean. `heights` are means with their places, `ticks` values with
    theirs."""

    lines: tuple[tuple[str, tuple[tuple[float, float], ...], str], ...]
    low: Mark
    high: Mark
    heights: tuple[tuple[float, float], ...]
    ticks: tuple[tuple[float, float], ...]


def scatter(results: Sequence[Result], scale: tuple[float, float]) -> Scatter | None:
    """The scatter of results by items; None where no two results of different items are in the other order by the metric than by people."""
    values = [one.value for one in results]
    if len(results) < 2 or max(values) <= min(values):
        return None
    least, most = min(values), max(values)
    bottom, top = scale

    def place(value: float, mean: float) -> tuple[float, float]:
        x = LEFT + (RIGHT - LEFT) * (value - least) / (most - least)
        return round(x, 1), round(BOTTOM - (BOTTOM - TOP) * (mean - bottom) / (top - bottom), 1)

    # The two that part most: the product of both differences, each as a share of its range, is the largest.
    apart = [
        ((low.value - high.value) / (most - least) * (high.mean - low.mean) / (top - bottom), low, high)
        for low in results
        for high in results
        if low.item != high.item and low.value > high.value and low.mean < high.mean
    ]
    if not apart:
        return None
    _, low, high = max(apart, key=lambda found: found[0])
    lines = []
    for item in dict.fromkeys(one.item for one in results):
        points = tuple(place(one.value, one.mean) for one in sorted(results, key=lambda one: one.value) if one.item == item)
        lines.append(("M" + "L".join(f"{x} {y}" for x, y in points), points, {low.item: "low", high.item: "high"}.get(item, "")))
    step = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1e9) if (most - least) / step <= MAX_TICKS)
    first = int(least // step) + 1
    ticks = [n * step for n in range(first, int(most // step) + 1)]
    heights = [bottom + n * (top - bottom) / 4 for n in range(5)]
    return Scatter(
        tuple(lines),
        Mark(low.item, low.value, low.mean, *place(low.value, low.mean)),
        Mark(high.item, high.value, high.mean, *place(high.value, high.mean)),
        tuple((height, place(least, height)[1]) for height in heights),
        tuple((tick, place(tick, bottom)[0]) for tick in ticks),
    )
