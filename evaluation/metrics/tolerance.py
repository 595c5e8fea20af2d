"""Difference that a metric's scores of the same items may have on two machines."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Tolerance:
    """The difference of two numbers that counts as none: at most `absolute`, or at most `relative` times the larger of the two.

    `parts` are the tolerances of parts of a result, or of its partial, that have one of their own: (name, tolerance), where * in the name
    stands for any characters. With `packed` a text is float32 numbers in base64, taken as one vector: its largest difference is compared
    with its largest number.
    """

    relative: float = 1e-6
    absolute: float = 1e-9
    parts: tuple[tuple[str, Tolerance], ...] = ()
    packed: bool = False

    def of(self, name: str) -> Tolerance:
        """The tolerance of the part of that name."""
        return next((own for pattern, own in self.parts if fnmatchcase(name, pattern)), self)

    def times(self, factor: float) -> Tolerance:
        """The tolerance so many times as wide, its parts' too."""
        parts = tuple((name, own.times(factor)) for name, own in self.parts)
        return replace(self, relative=factor * self.relative, absolute=factor * self.absolute, parts=parts)

    def allows(self, size: float) -> float:
        """The difference that two numbers may have of which the larger has that size."""
        return max(self.absolute, self.relative * size)


EXACT = Tolerance()  # of metrics without a network: the last digits of two machines differ
# Of metrics whose values networks compute: a graphics card and a processor add up in other orders.
OF_NETWORKS = Tolerance(relative=1e-3, absolute=1e-6)


@dataclass(frozen=True)
class Difference:
    """Distance of two results in one place: its `name`, the difference, and what is allowed. Both are inf and 0 where it is no number
    that differs."""

    name: str
    found: float
    allowed: float

    @property
    def share(self) -> float:
        """The difference as a share of what is allowed: above 1 it is too large."""
        return 0.0 if self.found == 0 else self.found / self.allowed if self.allowed else math.inf


def differences(first: Any, second: Any, tolerance: Tolerance, name: str = "") -> Iterator[Difference]:
    """The places in which two results of a column (`SampleScores.to_dict`, or anything in it) differ, in order."""
    if isinstance(first, Mapping) and isinstance(second, Mapping) and first.keys() == second.keys():
        for key in first:
            yield from differences(first[key], second[key], tolerance.of(key), key)
    elif isinstance(first, list | tuple) and isinstance(second, list | tuple) and len(first) == len(second):
        for one, other in zip(first, second, strict=True):
            yield from differences(one, other, tolerance, name)
    elif _is_number(first) and _is_number(second):
        if first != second:
            yield Difference(name, abs(first - second), tolerance.allows(max(abs(first), abs(second))))
    elif tolerance.packed and isinstance(first, str) and isinstance(second, str) and first != second:
        yield _of_vectors(first, second, tolerance, name)
    elif first != second:
        yield Difference(name, math.inf, 0.0)


def same(first: Any, second: Any, tolerance: Tolerance) -> bool:
    """Return whether two results of a column agree: the same items, statuses and flags, and numbers within the tolerance."""
    return all(one.share <= 1 for one in differences(first, second, tolerance))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of_vectors(first: str, second: str, tolerance: Tolerance, name: str) -> Difference:
    try:
        one, other = (np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4").astype(np.float64) for text in (first, second))
    except ValueError:
        return Difference(name, math.inf, 0.0)
    if len(one) != len(other) or not len(one) or not (np.isfinite(one).all() and np.isfinite(other).all()):
        return Difference(name, math.inf, 0.0)
    return Difference(name, float(np.abs(one - other).max()), tolerance.allows(float(max(np.abs(one).max(), np.abs(other).max()))))
