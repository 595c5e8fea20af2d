"""Points on a surface, the same for the same surface whatever its file."""

from __future__ import annotations

import numpy as np

from evaluation.metrics.mesh.surface import Surface
from evaluation.metrics.seeds import generator

# One name for all metrics that look at surface samples, so that they share one draw.
SEED_NAME = "mesh_surface"
CELLS = 1 << 10  # along each side of the grid whose Morton order the samples take


def samples(surface: Surface, n: int, seed0: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(points float64[n, 3], faces int32[n]): uniform over the area, and the face that each lies in.

    Two surfaces with the same faces get the same points. They come along a Morton curve, so that neighbours in the
    arrays are neighbours in space: a search tree answers such queries about twice as fast.
    """
    rng = generator(SEED_NAME, seed0)
    position, first, second = rng.random(n), np.sqrt(rng.random(n)), rng.random(n)
    reached = np.cumsum(surface.areas)
    position.sort()
    face = np.minimum(np.searchsorted(reached, position * reached[-1], side="right"), len(reached) - 1)
    a, b, c = (surface.points[surface.faces[face, corner]] for corner in range(3))
    points = a + (first * (1 - second))[:, None] * (b - a) + (first * second)[:, None] * (c - a)
    order = morton_order(points)
    return points[order], face[order].astype(np.int32)


def morton_order(points: np.ndarray) -> np.ndarray:
    """int64[N]: an order in which points near in space are mostly near in the array."""
    low = points.min(axis=0)
    side = max(float((points.max(axis=0) - low).max()), np.finfo(float).tiny)
    cells = np.minimum((points - low) / side * CELLS, CELLS - 1).astype(np.int64)
    x, y, z = (_spread(cells[:, axis]) for axis in range(3))
    return np.argsort(x << 2 | y << 1 | z, kind="stable")


def _spread(cells: np.ndarray) -> np.ndarray:
    """Numbers below 1024 with two zero bits put between each two of their bits."""
    for shift, mask in ((16, 0x30000FF), (8, 0x300F00F), (4, 0x30C30C3), (2, 0x9249249)):
        cells = (cells | cells << shift) & mask
    return cells
