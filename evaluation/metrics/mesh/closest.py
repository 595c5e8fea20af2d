"""Exact distances from points to the triangles of a mesh, by a library's tree of boxes. PURE.

A hostile pair of meshes can make every triangle count for every point, and such a search takes hours. Metrics run in a
child that is stopped; a web process asks `distances_within` some seconds, which every honest pair is far below.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import scipy

ROUNDING = 1e-14  # of a surface of size 1: a point this near to it lies on it
NEEDLE = 1e-5  # height over the longest side, below which a triangle is looked at by its sides too
FIRST = 16  # points asked at first; then as many as take about PACE
PACE = 0.1  # seconds that the interpreter may be held at a time
NEARLY = 0.5  # what is only bounded is at most this share further than the nearest corner


def distances(points: np.ndarray, corners: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """float64[N]: the distance of each point to the nearest of the triangles, exactly. `faces` int64[F, 3], F at least 1."""
    import igl

    _, _, closest = igl.point_mesh_squared_distance(points, corners, faces)
    return _apart(points, closest)


def to_mesh(corners: np.ndarray, faces: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """`distances` from points float64[N, 3] to one mesh, for several queries of the same mesh."""
    search = to_triangles(corners, faces)
    return lambda points: search(points)[0]


def to_triangles(corners: np.ndarray, faces: np.ndarray) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Distances as `distances_to` gives them, with the nearest place on the mesh to each point, float64[N, 3], and the row of its face,
    int64[N]."""
    import igl

    a, b, c = (corners[faces[:, column]] for column in range(3))
    longest = np.max([np.einsum("ij,ij->i", side, side) for side in (b - a, c - b, a - c)], axis=0)
    needles = np.flatnonzero(np.linalg.norm(np.cross(b - a, c - a), axis=1) <= NEEDLE * longest)
    # A needle's own figure can be wrong by a good part of its length; its sides, as triangles of two corners, have exact ones.
    sides = [faces[needles][:, (first, second, second)] for first, second in ((0, 1), (1, 2), (2, 0))]
    faces, of_face = np.concatenate([faces, *sides]), np.concatenate([np.arange(len(faces)), *3 * [needles]])
    tree = igl.AABB()
    tree.init(corners, faces)

    def search(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        _, rows, places = tree.squared_distance(corners, faces, points)
        return _apart(points, places), places, of_face[rows]

    return search


def distances_within(points: np.ndarray, corners: np.ndarray, faces: np.ndarray, seconds: float) -> tuple[np.ndarray, bool]:
    """The same and True; or, where that takes longer than `seconds`, for the last points an upper bound, and False."""
    import igl

    deadline = time.monotonic() + seconds
    corners, points = np.ascontiguousarray(corners), np.ascontiguousarray(points)
    tree, found, start, wanted = igl.AABB(), np.empty(len(points)), 0, FIRST
    tree.init(corners, faces)
    while start < len(points) and (began := time.monotonic()) < deadline:
        part = slice(start, start + wanted)
        found[part] = _apart(points[part], tree.squared_distance(corners, faces, points[part])[2])
        start += wanted
        wanted = wanted * 2 if time.monotonic() - began < PACE else max(1, wanted // 2)
    if start >= len(points):
        return found, True
    # Each corner is a point of the surface, so the distance to one that is near bounds the distance to the surface.
    found[start:] = scipy.spatial.cKDTree(corners[np.unique(faces)]).query(points[start:], eps=NEARLY)[0]
    return found, False


def _apart(points: np.ndarray, closest: np.ndarray) -> np.ndarray:
    gaps = np.linalg.norm(points - closest, axis=1)
    return np.where(gaps <= ROUNDING, 0.0, gaps)
