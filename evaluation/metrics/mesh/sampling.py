"""Points on a surface, the same for the same surface whatever its file."""

from __future__ import annotations

import numpy as np

from evaluation.metrics.mesh.surface import Surface
from evaluation.metrics.seeds import generator
from evaluation.networks import graphics_card

# One name for all metrics that look at surface samples, so that they share one draw.
SEED_NAME = "mesh_surface"
CELLS = 1 << 10  # along each side of the grid whose Morton order the samples take
WORTH_A_CARD = 250_000  # points from which on a graphics card, which takes a second or two to start, is worth it


def samples(surface: Surface, n: int, seed0: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(points float64[n, 3], faces int32[n]): uniform over the area, and the face that each lies in.

    Two surfaces with the same faces get the same points. They come along a Morton curve, so that neighbours in the
    arrays are neighbours in space: a search tree answers such queries about twice as fast.
    """
    rng = generator(SEED_NAME, seed0)
    draws = rng.random(n), np.sqrt(rng.random(n)), rng.random(n)
    triangles = surface.points, surface.faces, np.cumsum(surface.areas)
    if n >= WORTH_A_CARD and (device := graphics_card.card()):
        from evaluation.metrics.mesh import on_gpu  # loads torch

        if (found := on_gpu.if_it_fits(lambda: on_gpu.placed(*triangles, *draws, CELLS, device))) is not None:
            return found
    return placed(*triangles, *draws)


def placed(
    vertices: np.ndarray, faces: np.ndarray, reached: np.ndarray, position: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Points float64[n, 3] of triangles in Morton order, and the triangle of each, int32[n].

    `vertices` float64[P, 3], `faces` int64[M, 3], `reached` float64[M], the areas summed up. The others are float64[n] in [0, 1):
    `position` chooses the triangle, `first` how far from its first corner, `second` how far across.
    """
    position = np.sort(position)
    face = np.minimum(np.searchsorted(reached, position * reached[-1], side="right"), len(reached) - 1)
    a, b, c = (vertices[faces[face, corner]] for corner in range(3))
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
