"""A mesh made ready for the network: weighted points in a frame of its own, free of place, turn and size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.metrics.mesh.locase.arithmetic import lengths, principal_axes, total, totals, turned_to

MAX_POINTS = 10_000
MIN_POINTS = 4
_DEGENERATE = 1e-14  # of the squared diagonal; faces of less area count for nothing
_EVEN = 1e-7  # share of the sum of cubed distances along an axis; a shape whose cubes sum to less is symmetric along it
_SMALLEST = 1e-9  # share of the largest coordinate; a mesh whose mean radius is less is a point


@dataclass(frozen=True, eq=False)
class Shape:
    """Aligned vertices float64[N, 3] of mean norm 1 and their shares of the surface float64[N], which sum to 1."""

    points: np.ndarray
    weights: np.ndarray


def shape(vertices: np.ndarray, faces: np.ndarray, most: int = MAX_POINTS) -> Shape | None:
    """The aligned points of a mesh, or None where it is degenerate: fewer than 4 different vertices, or no size.

    The order of the given vertices and faces changes nothing, not even the last bit; neither does the machine.
    """
    points, faces = merged(vertices, faces)
    if len(points) < MIN_POINTS:
        return None
    points, weights = thinned(points, vertex_weights(points, faces), most)
    centred = points - totals(points) / len(points)
    if not total(lengths(centred)) / len(centred) > _SMALLEST * np.abs(centred).max(initial=0.0) or len(points) < MIN_POINTS:
        return None
    return Shape(aligned(points), weights)


def merged(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mesh with points at exactly the same position merged, unused ones removed and the rest in lexicographic order. Faces without
    area are dropped; the others begin at their smallest vertex and are sorted.
    """
    empty = np.empty((0, 3)), np.empty((0, 3), dtype=np.int64)
    if len(vertices) == 0 or len(faces) == 0:
        return empty
    points, number = np.unique(vertices + 0.0, axis=0, return_inverse=True)  # + 0.0 makes -0.0 the same as 0.0
    faces = number.reshape(-1)[faces]
    a, b, c = points[faces].transpose(1, 0, 2)
    area = lengths(np.cross(b - a, c - a)) / 2
    faces = faces[area > _DEGENERATE * (np.ptp(points, axis=0) ** 2).sum()]
    if len(faces) == 0:
        return empty
    used, number = np.unique(faces, return_inverse=True)
    faces = number.reshape(-1, 3)
    first = faces.argmin(axis=1)[:, None]
    faces = np.take_along_axis(faces, (first + np.arange(3)) % 3, axis=1)
    return points[used], faces[np.lexsort(faces.T[::-1])]


def vertex_weights(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """A third of the area of the faces around each point, as a share of the whole."""
    a, b, c = points[faces].transpose(1, 0, 2)
    area = lengths(np.cross(b - a, c - a))
    weights = np.bincount(faces.ravel(), np.repeat(area, 3), len(points))
    return weights / total(weights)


def thinned(points: np.ndarray, weights: np.ndarray, most: int = MAX_POINTS) -> tuple[np.ndarray, np.ndarray]:
    """At most `most` points: one in each cell of the finest grid that has no more occupied cells.

    The point nearest to the middle of its cell stays (the first of several) and takes the weight of the whole cell.
    """
    if len(points) <= most:
        return points, weights
    low, extent = points.min(axis=0), float(np.ptp(points, axis=0).max())
    fine, coarse = 0.0, extent * 1.001
    for _ in range(40):
        size = (fine + coarse) / 2
        fine, coarse = (fine, size) if len(np.unique(_cells(points, low, size))) <= most else (size, coarse)
    _, cell = np.unique(_cells(points, low, coarse), return_inverse=True)
    middle = (np.floor((points - low) / coarse) + 0.5) * coarse + low
    away = ((points - middle) ** 2).sum(axis=1)
    order = np.lexsort((np.arange(len(points)), away, cell))
    kept = np.sort(order[np.unique(cell[order], return_index=True)[1]])
    return points[kept], np.bincount(cell, weights)[cell[kept]]


def aligned(points: np.ndarray) -> np.ndarray:
    """The points turned to their principal axes, longest first, about their mean, scaled to mean norm 1.

    The first two axes point to where the sum of cubes is positive; the third makes the frame right-handed. Along an axis of
    symmetry that sum is 0 except for rounding, and rounding must not choose. Turning that axis shows the same shape, so it is turned
    if this makes the third axis's sum positive.
    """
    centred = points - totals(points) / len(points)
    centred = centred * (len(centred) / total(lengths(centred)))
    axes = principal_axes(centred)
    turned = turned_to(centred, axes)
    cubed = turned * turned * turned
    cubes = totals(cubed)
    even = np.abs(cubes) <= _EVEN * totals(np.abs(cubed))
    cubes[even] = 0.0
    signs = np.where(cubes >= 0, 1.0, -1.0)
    signs[2] = 1.0
    signs[2] = np.sign(np.linalg.det(axes * signs))
    if even[:2].any() and signs[2] * cubes[2] < 0:
        signs[[np.flatnonzero(even[:2])[-1], 2]] *= -1.0
    turned = turned * signs
    return turned * (len(turned) / total(lengths(turned)))


def _cells(points: np.ndarray, low: np.ndarray, size: float) -> np.ndarray:
    """One number for the grid cell of every point."""
    place = np.minimum(np.floor((points - low) / size), 2**20).astype(np.int64)
    return (place[:, 0] << 42) | (place[:, 1] << 21) | place[:, 2]
