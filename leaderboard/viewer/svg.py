"""Small drawings of a prediction over its reference, as paths for an inline SVG. Arrays in, text out.

Orthographic: flat models from above, others from a corner and a little above. The reference is a wide band, the prediction a thin dashed
line with dots on its corners, so that they differ without colour, and if one covers the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

WIDTH, HEIGHT, MARGIN = 320, 200, 14
TURN, RISE = math.radians(-58), math.radians(22)  # where one looks from
MAX_CORNERS = 120
FINE = 150  # lines; beyond that strokes are thin
SHADES = 8  # of a mesh's faces, from the darkest


@dataclass(frozen=True)
class Drawing:
    """Paths and dots in a box of `width` by `height`."""

    reference: str
    prediction: str
    corners: tuple[tuple[float, float], ...]
    is_fine: bool
    width: int = WIDTH
    height: int = HEIGHT


@dataclass(frozen=True)
class Classed:
    """Paths of a reference and of a prediction, separated into matched lines of both, missed ones and extra ones. `n_missed` and `n_extra`
    say how many lines those are; without a reference all lines are the prediction's `matched`."""

    reference: str
    matched: str
    missed: str
    extra: str
    n_missed: int
    n_extra: int
    is_fine: bool
    width: int = WIDTH
    height: int = HEIGHT


def draw_classed(reference: Any, prediction: Any, missed: Sequence[bool], extra: Sequence[bool]) -> Classed:
    """Two wireframes (the reference may be None) in one frame; `missed` tells for each edge of the reference, and `extra` for each of the
    prediction, whether it has no counterpart."""
    placed = _frame(reference, prediction)
    of_reference, of_prediction = np.array(missed, dtype=bool), np.array(extra, dtype=bool)

    def path(model: Any, chosen: np.ndarray) -> str:
        return "" if model is None or not len(model.vertices) or not len(model.edges) else _path((placed(model), model.edges[chosen]))

    n_lines = max((len(model.edges) for model in (reference, prediction) if model is not None), default=0)
    return Classed(
        reference=path(reference, np.ones(len(of_reference), dtype=bool)),
        matched=path(prediction, ~of_prediction),
        missed=path(reference, of_reference),
        extra=path(prediction, of_prediction),
        n_missed=int(of_reference.sum()),
        n_extra=int(of_prediction.sum()),
        is_fine=n_lines > FINE,
    )


@dataclass(frozen=True)
class Shaded:
    """A mesh as paths from the farthest to the nearest, each with its shade of `SHADES`."""

    paths: tuple[tuple[int, str], ...]
    width: int = WIDTH
    height: int = HEIGHT


def draw_shaded(mesh: Any, frame: Any = None) -> Shaded:
    """A mesh in light from the upper left, in the box that it and `frame` (another model, or None) fill."""
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    kept = lengths > 0
    corners, normals = corners[kept], normals[kept] / lengths[kept, None]
    # Files turn their faces either way: light falls on both sides.
    light = np.abs(normals @ (np.array([-0.35, -0.5, 0.8]) / np.linalg.norm([-0.35, -0.5, 0.8])))
    shades = np.minimum((light * SHADES).astype(int), SHADES - 1)
    x, y, z = corners.mean(axis=1).T
    away = (x * math.sin(TURN) + y * math.cos(TURN)) * math.cos(RISE) - z * math.sin(RISE)
    at = _frame(mesh, frame)(mesh)[mesh.faces[kept]]
    paths: list[tuple[int, list[str]]] = []
    for index in np.argsort(-away, kind="stable").tolist():
        (ax, ay), (bx, by), (cx, cy) = at[index]
        piece = f"M{ax:.1f} {ay:.1f}L{bx:.1f} {by:.1f} {cx:.1f} {cy:.1f}Z"
        if paths and paths[-1][0] == shades[index]:
            paths[-1][1].append(piece)
        else:
            paths.append((int(shades[index]), [piece]))
    return Shaded(tuple((shade, "".join(pieces)) for shade, pieces in paths))


def draw(reference: Any, prediction: Any) -> Drawing:
    """Both models (wireframes or meshes, or None for nothing) in one frame."""
    placed = _frame(reference, prediction)
    lines = [(placed(model), _lines(model)) if model is not None and len(model.vertices) else None for model in (reference, prediction)]
    fine = max((len(drawn[1]) for drawn in lines if drawn), default=0) > FINE
    dots = lines[1][0] if lines[1] is not None and not fine and len(lines[1][0]) <= MAX_CORNERS else np.zeros((0, 2))
    return Drawing(_path(lines[0]), _path(lines[1]), tuple((round(float(x), 1), round(float(y), 1)) for x, y in dots), fine)


def _frame(*given: Any) -> Callable[[Any], np.ndarray]:
    """A function from a model to its vertices' places float64[N, 2] in the box that all given models fill."""
    models = [model for model in given if model is not None and len(model.vertices)]
    points = np.concatenate([model.vertices for model in models]) if models else np.zeros((1, 3))
    flat = is_flat(points)
    flattened = seen(points, flat)
    low, span = flattened.min(axis=0), np.ptp(flattened, axis=0)
    scale = float(min((WIDTH - 2 * MARGIN) / max(span[0], 1e-9), (HEIGHT - 2 * MARGIN) / max(span[1], 1e-9)))
    shift = (np.array([WIDTH, HEIGHT]) - scale * span) / 2

    def placed(model: Any) -> np.ndarray:
        at = (seen(model.vertices, flat) - low) * scale + shift
        return np.column_stack([at[:, 0], HEIGHT - at[:, 1]])

    return placed


def is_flat(points: np.ndarray) -> bool:
    """True if the points float64[N, 3] lie at one height: then one looks from above."""
    return bool(np.ptp(points[:, 2]) <= 1e-9 * max(1.0, float(np.ptp(points))))


def seen(points: np.ndarray, from_above: bool, turn: float = TURN) -> np.ndarray:
    """float64[N, 2]: to the right and up, in the models' unit, of points float64[N, 3] seen from `turn`."""
    if from_above:
        return points[:, :2]
    x, y, z = points.T
    right = x * math.cos(turn) - y * math.sin(turn)
    away = x * math.sin(turn) + y * math.cos(turn)
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
