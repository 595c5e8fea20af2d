"""Share of people who prefer the higher side of a difference of a metric, by its size: a curve as paths of an inline SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.stats.meaning import Difference
from leaderboard.wording.board import difference as difference_words

LEFT, RIGHT, TOP, BOTTOM = 52.0, 602.0, 20.0, 204.0  # of the plot in a box of 620 by 250
STEPS = 40
TICKS = 5


@dataclass(frozen=True)
class Curve:
    """`line` is the mean over pairs and `mean` its interval, `one` where 95 of 100 single pairs lie, all paths; `ticks` are places below
    with their numbers, `shares` heights with shares in percent; `examples` are the statements of two differences."""

    line: str
    mean: str
    one: str
    ticks: tuple[tuple[float, str], ...]
    shares: tuple[tuple[float, int], ...]
    examples: tuple[tuple[float, str], ...]


def curve(difference: Difference) -> Curve | None:
    """The curve from no difference to the largest that people were asked about; None without one."""
    largest, unit = difference.largest, difference.unit
    found = [] if largest is None else [(x, difference.at(x)) for x in (largest * n / STEPS for n in range(STEPS + 1))]
    at = [(x, one) for x, one in found if one is not None]
    if largest is None or unit is None or not at:
        return None

    def across(x: float) -> float:
        return LEFT + (RIGHT - LEFT) * x / largest

    def points(shares: Sequence[float]) -> list[str]:
        return [f"{across(x):.1f} {BOTTOM - (BOTTOM - TOP) * share:.1f}" for (x, _), share in zip(at, shares, strict=True)]

    def band(low: Sequence[float], high: Sequence[float]) -> str:
        return f"M{'L'.join(points(high))}L{'L'.join(reversed(points(low)))}Z"

    rough = largest / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= rough * (1 - 1e-9))
    examples = tuple((x, difference_words(one)) for x in (unit, largest) if (one := difference.at(x)) is not None)
    return Curve(
        f"M{'L'.join(points([one.mean[0] for _, one in at]))}",
        band([one.mean[1] for _, one in at], [one.mean[2] for _, one in at]),
        band([one.one[0] for _, one in at], [one.one[1] for _, one in at]),
        tuple((across(n * step), f"{n * step:g}") for n in range(int(largest / step) + 1)),
        tuple((BOTTOM - (BOTTOM - TOP) * share / 100, share) for share in range(0, 101, 25)),
        examples,
    )
