"""Checks of the arrays that a pair is made of. The parsers check the contents of files."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def unit(unit_scale: float) -> float:
    """The unit of the files in metres; ValueError unless it is a positive number."""
    if not (math.isfinite(unit_scale) and unit_scale > 0):
        raise ValueError(f"unit_scale must be a positive number, got {unit_scale}")
    return float(unit_scale)


def indexed(vertices: Any, elements: Any, corners: int, side: str, element: str) -> tuple[np.ndarray, np.ndarray]:
    """`vertices` as float64[V, 3] and `elements` as int64[N, corners], numbers of vertices; ValueError if they are not.

    `side` names whose they are and `element` what they are ("edge", "face"), for the message.
    """
    points, numbers = np.asarray(vertices, dtype=np.float64), np.asarray(elements)
    if points.size == 0:
        points = np.empty((0, 3))
    if numbers.size == 0:
        numbers = np.empty((0, corners), dtype=np.int64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"the {side}'s vertices must have the shape [V, 3], got {points.shape}")
    if numbers.ndim != 2 or numbers.shape[1] != corners or not np.issubdtype(numbers.dtype, np.integer):
        raise ValueError(f"the {side}'s {element}s must be whole numbers of the shape [{element[0].upper()}, {corners}]")
    if not np.isfinite(points).all():
        raise ValueError(f"the {side} has a coordinate that is not finite")
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= len(points)):
        article = "an" if element[0] in "aeiou" else "a"
        raise ValueError(f"the {side} has {article} {element} that names a vertex it does not have")
    return points, numbers.astype(np.int64)
