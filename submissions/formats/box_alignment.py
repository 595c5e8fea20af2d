"""The comparison of two boxes: do they have the same size, order of axes and place? PURE.

It is used twice: before scoring, on an entry and its inputs; after scoring, on an entry and the reference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGER = 5.0  # times as large as the other: beyond that sizes do not fit
PART = 50.0  # times smaller: an item may be a part of its points, but hardly so small a one
APART = 0.5  # of the other's diagonal between the two boxes: a larger distance means another place
OVERLAP = 0.3  # shared volume over joint volume, below which another order of axes is tried
TURNED = 0.6  # and from which on that order is believed
NEAR, EXACT = 0.75, 0.85  # the same of boxes that share more: then the other order must fit all but exactly
POWER = 0.12  # how far, in decades, a ratio may lie from a power of ten to be taken for one
FITS = "fits"
LOCAL = 20.0  # diagonals from the origin: so far off coordinates are projected ones


class Kind(Enum):
    """Kinds of misfit of a box: its size, the order or the signs of its axes, or its place."""

    SIZE = "size"
    AXES = "axes"
    PLACE = "place"


@dataclass(frozen=True)
class Box:
    """A box along the axes, in one unit: `low` and `high` float64 [3]."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, points: NDArray[np.float64]) -> Box | None:
        """The box around points [N, 3]; None where they have no extent."""
        if not len(points):
            return None
        box = cls(points.min(axis=0), points.max(axis=0))
        return box if box.diagonal > 0 else None

    @property
    def diagonal(self) -> float:
        return float(np.linalg.norm(self.high - self.low))

    @property
    def centre(self) -> NDArray[np.float64]:
        return (self.low + self.high) / 2

    def scaled(self, factor: float) -> Box:
        return Box(self.low * factor, self.high * factor)

    def rotated(self, axes: Sequence[int], signs: Sequence[int]) -> Box:
        """Box with its axes in another order, and those with sign −1 reversed."""
        ends = np.stack([self.low[list(axes)], self.high[list(axes)]]) * np.array(signs)
        return Box(ends.min(axis=0), ends.max(axis=0))


@dataclass(frozen=True)
class Misfit:
    """`ratio` is how many times larger the box is. `axes` and `signs` say how its axes would fit. `distance` is how far off its centre
    lies. `local`: the box lies at the origin, and the other far from it."""

    kind: Kind
    ratio: float = 1.0
    axes: tuple[int, ...] = (0, 1, 2)
    signs: tuple[int, ...] = (1, 1, 1)
    distance: float = 0.0
    local: bool = False

    @property
    def power(self) -> int:
        """The power of ten that the ratio is near; 0 where it is near none but one."""
        exponent = math.log10(self.ratio)
        return round(exponent) if abs(exponent - round(exponent)) <= POWER else 0

    @property
    def alike(self) -> tuple[Any, ...]:
        """The same for all misfits that one sentence can be about."""
        facts = {Kind.SIZE: (round(math.log10(self.ratio)),), Kind.AXES: (self.axes, self.signs), Kind.PLACE: (self.local,)}
        return self.kind, *facts[self.kind]


def misfit(found: Box, other: Box, may_be_part: bool = False) -> Misfit | None:
    """The first thing that is wrong with `found`, in the order size, axes, place; None where nothing is. With `may_be_part`, `found` may
    be a small part of the other and lie anywhere within it."""
    ratio = found.diagonal / other.diagonal
    # How far the boxes are apart along the axis that parts them most; not above 0 where they meet.
    gap = float(np.max(np.maximum(found.low - other.high, other.low - found.high)))
    if ratio >= LARGER or ratio <= (1 / PART if may_be_part and gap <= 0 else 1 / LARGER):
        return Misfit(Kind.SIZE, ratio=ratio)
    shared = overlap(found, other)
    if shared < NEAR:
        tries = [(overlap(found.rotated(axes, signs), other), axes, signs) for axes, signs in _TURNS]
        best = max(tries, key=lambda one: one[0])
        if (shared < OVERLAP and best[0] >= TURNED and best[0] > 2 * shared) or best[0] >= EXACT:
            return Misfit(Kind.AXES, axes=best[1], signs=best[2])
    if gap > APART * other.diagonal:
        distance = float(np.linalg.norm(found.centre - other.centre))
        far, near = np.linalg.norm(other.centre) / other.diagonal, np.linalg.norm(found.centre) / found.diagonal
        return Misfit(Kind.PLACE, distance=distance, local=bool(far > LOCAL and near < LOCAL / 4))
    return None


# All orders of axes with all signs but the plain one, those that change least first.
_TURNS = sorted(
    product(permutations(range(3)), product((1, -1), repeat=3)),
    key=lambda one: (sum(a != n for n, a in enumerate(one[0])) + one[1].count(-1), one),
)[1:]


def overlap(a: Box, b: Box) -> float:
    """Volume that both boxes hold over the volume that either does; flat boxes are given a hundredth of their diagonal."""
    thick = 0.01 * max(a.diagonal, b.diagonal)
    sizes = []
    for box in (a, b):
        half = np.maximum(box.high - box.low, thick) / 2
        sizes.append((box.centre - half, box.centre + half))
    (low_a, high_a), (low_b, high_b) = sizes
    both = float(np.prod(np.clip(np.minimum(high_a, high_b) - np.maximum(low_a, low_b), 0, None)))
    return both / (float(np.prod(high_a - low_a)) + float(np.prod(high_b - low_b)) - both)


def diagnosis(labels: Iterable[str]) -> str:
    """Most common misfit of a set, by the `label` of each: `size`, `axes` or `place`, or `fits` where more than half have none of these in
    common; empty for an empty set."""
    every = list(labels)
    if not every:
        return ""
    most = max(sorted(set(every)), key=every.count)
    return most.partition(":")[0] if most != FITS and 2 * every.count(most) > len(every) else FITS


def label(found: Box, other: Box) -> str:
    """Misfit of one box: `size:3` (by that power of ten), `axes` or `place`; `fits` without one, or if it is only larger or smaller by some
    number."""
    one = misfit(found, other)
    if one is None or (one.kind is Kind.SIZE and not one.power):
        return FITS
    return f"{one.kind.value}:{one.power}" if one.kind is Kind.SIZE else one.kind.value
