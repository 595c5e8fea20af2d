"""Share of people who see a difference of a metric, by its size: a curve as paths of an inline SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass

from leaderboard.stats.differences import Seen

LEFT, RIGHT, TOP, BOTTOM = 52.0, 602.0, 20.0, 204.0  # of the plot in a box of 620 by 250
STEPS = 40
TICKS = 5


@dataclass(frozen=True)
class Point:
    """A difference and the share of people, in percent, who prefer its higher side, with its interval."""

    x: float
    y: float
    difference: float
    share: tuple[int, int, int]


@dataclass(frozen=True)
class GapChart:
    """`curve` and `band` are paths; `ticks` are places below with their numbers; `lines` are heights with shares in percent. `middle` is
    the middle difference that people were asked about, `seen` the smallest that 75 % see, None where that lies beyond all."""

    curve: str
    band: str
    ticks: tuple[tuple[float, str], ...]
    lines: tuple[tuple[float, int], ...]
    middle: Point
    seen: Point | None
    largest: float


def gap_chart(seen: Seen) -> GapChart:
    """The curve from no difference to the largest that anybody was asked about."""

    def across(difference: float) -> float:
        return LEFT + (RIGHT - LEFT) * difference / seen.largest

    def up(share: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (share - 0.5) / 0.5

    def point(difference: float) -> Point:
        value, low, high = seen.share(difference)
        return Point(across(difference), up(value), difference, (round(100 * value), round(100 * low), round(100 * high)))

    at = [seen.largest * (n / STEPS) ** 2 for n in range(STEPS + 1)]  # closer where the curve may be steep
    shares = [seen.share(difference) for difference in at]
    curve, low, high = ([f"{across(x):.1f} {up(share[n]):.1f}" for x, share in zip(at, shares, strict=True)] for n in range(3))
    rough = seen.largest / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= rough * (1 - 1e-9))
    ticks = tuple((across(n * step), f"{n * step:g}") for n in range(int(seen.largest / step) + 1))
    lines = tuple((up(share / 100), share) for share in range(50, 101, 10))
    return GapChart(
        f"M{'L'.join(curve)}",
        f"M{'L'.join(high)}L{'L'.join(reversed(low))}Z",
        ticks,
        lines,
        point(min(seen.unit, seen.largest)),
        point(seen.delta75[0]) if seen.delta75 else None,
        seen.largest,
    )
