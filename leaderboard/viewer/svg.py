"""Small drawings of a prediction over its reference, as paths for an inline SVG. Arrays in, text out.

Orthographic: flat models from above, others from a corner and a little above. The reference is a
wide band, the prediction a thin dashed line with dots on its corners, so that they are told apart
without colour, and where one covers the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

WIDTH, HEIGHT, MARGIN = 320, 200, 14
TURN, RISE = math.radians(-58), math.radians(22)  # where one looks from
MAX_CORNERS = 120
FINE = 150  # lines; beyond that strokes are thin


@dataclass(frozen=True)
class Drawing:
    """Paths and dots in a box of `width` by `height`."""

    reference: str
    prediction: str
    corners: tuple[tuple[float, float], ...]
    is_fine: bool
    width: int = WIDTH
    height: int = HEIGHT


def draw(reference: Any, prediction: Any) -> Drawing:
    """Both models (wireframes or meshes, or None for nothing) in one frame."""
    models = [model for model in (reference, prediction) if model is not None and len(model.vertices)]
    points = np.concatenate([model.vertices for model in models]) if models else np.zeros((1, 3))
    flat = is_flat(points)
    flattened = seen(points, flat)
    low, span = flattened.min(axis=0), np.ptp(flattened, axis=0)
    scale = float(min((WIDTH - 2 * MARGIN) / max(span[0], 1e-9), (HEIGHT - 2 * MARGIN) / max(span[1], 1e-9)))
    shift = (np.array([WIDTH, HEIGHT]) - scale * span) / 2

    def placed(model: Any) -> np.ndarray:
        at = (seen(model.vertices, flat) - low) * scale + shift
        return np.column_stack([at[:, 0], HEIGHT - at[:, 1]])

    lines = [(placed(model), _lines(model)) if model is not None and len(model.vertices) else None for model in (reference, prediction)]
    fine = max((len(drawn[1]) for drawn in lines if drawn), default=0) > FINE
    dots = lines[1][0] if lines[1] is not None and not fine and len(lines[1][0]) <= MAX_CORNERS else np.zeros((0, 2))
    return Drawing(_path(lines[0]), _path(lines[1]), tuple((round(float(x), 1), round(float(y), 1)) for x, y in dots), fine)


def is_flat(points: np.ndarray) -> bool:
    """True if the points float64[N, 3] lie at one height: then one looks from above."""
    return bool(np.ptp(points[:, 2]) <= 1e-9 * max(1.0, float(np.ptp(points))))


def seen(points: np.ndarray, from_above: bool) -> np.ndarray:
    """float64[N, 2]: to the right and up, in the models' unit, of points float64[N, 3]."""
    if from_above:
        return points[:, :2]
    x, y, z = points.T
    right = x * math.cos(TURN) - y * math.sin(TURN)
    away = x * math.sin(TURN) + y * math.cos(TURN)
    return np.column_stack([right, z * math.cos(RISE) + away * math.sin(RISE)])


def _lines(model: Any) -> np.ndarray:
    """int64[E, 2]: a wireframe's edges, or each edge of a mesh's faces once."""
    if hasattr(model, "edges"):
        return model.edges
    sides = np.sort(model.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    return np.unique(sides, axis=0)


def _path(drawn: tuple[np.ndarray, np.ndarray] | None) -> str:
    if drawn is None:
        return ""
    at, lines = drawn
    return "".join(f"M{at[a, 0]:.1f} {at[a, 1]:.1f}L{at[b, 0]:.1f} {at[b, 1]:.1f}" for a, b in lines)
