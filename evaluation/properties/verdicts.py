"""The verdict of a test on one model, from the distances that were measured on it. Numbers in, yes or no out.

`size` is the model's diameter in metres. Distances are at most a rounding apart if they differ by
no more than `tolerance(size)`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

STRICT_STEP = 1e-9  # a strict rule asks each step for more than this
ROUNDING = 1e-9
NEAR_ZERO = 1e-6
NEAR_SYMMETRY = 0.05  # of the larger of the two distances
NO_SLOPE = 1e-12
UNEVEN = 0.1  # standard deviation over mean of proportional steps
DECIDED = 1e-6  # what a verdict that is given early must exceed its limit by, relatively, for rounding


@dataclass(frozen=True)
class Held:
    """The verdict of a test, by the metric's official rule and, for monotone tests, by both rules."""

    official: bool
    strict: bool | None = None
    weak: bool | None = None


def tolerance(size: float) -> float:
    """The error that rounding may give a distance between models of this diameter."""
    return ROUNDING * max(1.0, size)


def monotone(distances: Sequence[float], size: float, strict: bool) -> Held:
    """True if the distances grow at every step (`strict`) or never fall (weak)."""
    steps = [after - before for before, after in pairwise(distances)]
    grows = all(step > STRICT_STEP for step in steps)
    never_falls = all(step >= -tolerance(size) for step in steps)
    return Held(grows if strict else never_falls, grows, never_falls)


def has_fallen(distances: Sequence[float], size: float) -> bool:
    """True if they have fallen already, so that `monotone` fails by every rule, whatever follows."""
    return any(after - before < -tolerance(size) for before, after in pairwise(distances))


def identical(distance: float) -> Held:
    return Held(distance == 0.0)


def nearly_identical(distance: float, size: float) -> Held:
    return Held(abs(distance) <= NEAR_ZERO * max(1.0, size))


def symmetric(there: float, back: float, size: float) -> Held:
    return Held(abs(there - back) <= tolerance(size))


def nearly_symmetric(there: float, back: float) -> Held:
    return Held(abs(there - back) <= NEAR_SYMMETRY * max(abs(there), abs(back)))


def proportional(distances: Sequence[float]) -> Held:
    """True if equal steps of the model gave nearly equal, non-zero steps of the distance."""
    steps = [after - before for before, after in pairwise(distances)]
    slope = abs(statistics.fmean(steps))
    return Held(slope > NO_SLOPE and statistics.pstdev(steps) / slope <= UNEVEN)


def is_uneven(distances: Sequence[float], of: int) -> bool:
    """True if the first of `of` distances step so unevenly that `proportional` cannot hold, for any others.

    With k steps to come, the quotient of standard deviation and mean is least if each of them is q / s: s is the sum of the
    known steps and q the sum of their squares. The quotient's square over all n steps is then n q / (s^2 + k q) - 1.
    """
    steps = [after - before for before, after in pairwise(distances)]
    to_come = of - 1 - len(steps)
    s, q = math.fsum(steps), math.fsum(step * step for step in steps)
    return q > 0 and (of - 1) * q / (s * s + to_come * q) - 1 > UNEVEN**2 * (1 + DECIDED)


def triangle(direct: float, first_leg: float, second_leg: float, allowed: float) -> Held:
    """True if the way over a third model is no shorter, up to `allowed`."""
    return Held(direct <= first_leg + second_leg + allowed)
