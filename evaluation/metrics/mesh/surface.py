"""A triangle mesh as a surface: cleaned, welded, and in an order that no file can change.

Coordinates are in the reference's frame (see `pair`): its longest side is 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

AREA_TOLERANCE = 1e-14  # of the squared diagonal; faces no larger are no surface
# Coordinates this near to one another (the reference's longest side is 1) count as equal where faces are put in order.
# So the rounding of far-off coordinates does not reorder a mesh with many equal ones.
ORDER_TOLERANCE = 1e-7
MAX_POSITIONS = 1 << 21  # three ranks below this fit into one 64-bit key; files are bounded below it


@dataclass(frozen=True, eq=False)
class Surface:
    """The faces of a mesh that have an area.

    `points` float64[P, 3]: the distinct positions that faces use, in lexicographic order (within ORDER_TOLERANCE).
    `faces` int64[M, 3]: rows of `points`, ascending within a face, the faces in lexicographic order.
    `sign` int8[M]: 1 where (0, 1, 2) is the face's own direction, -1 where it is turned over.
    `areas` float64[M]. Equal geometry gives equal arrays whatever the file's order of vertices and faces.
    """

    points: np.ndarray
    faces: np.ndarray
    sign: np.ndarray
    areas: np.ndarray

    def __len__(self) -> int:
        return len(self.faces)

    @property
    def oriented(self) -> np.ndarray:
        """int64[M, 3]: the faces in their own direction of turning."""
        return np.where(self.sign[:, None] < 0, self.faces[:, [0, 2, 1]], self.faces)

    def normals(self) -> np.ndarray:
        """float64[M, 3]: unit normals, of either direction."""
        return cross(self.points, self.faces) / (2 * self.areas[:, None])


def surface(vertices: np.ndarray, faces: np.ndarray, min_area: float) -> Surface:
    """The surface of a mesh: equal positions welded, faces with a repeated corner or an area of at most `min_area` dropped."""
    faces = faces[distinct(faces)]
    place, points = welded(vertices, faces)
    corners = place[faces]
    corners = corners[distinct(corners)]
    ascending = np.sort(corners, axis=1)
    # 1 where a face's corners go round as its ascending ones do.
    alike = np.any([(corners == np.roll(ascending, places, axis=1)).all(axis=1) for places in range(3)], axis=0)
    sign = np.where(alike, 1, -1).astype(np.int8)
    order = np.lexsort((sign, _keys(ascending)))
    ascending, sign = ascending[order], sign[order]
    areas = np.linalg.norm(cross(points, ascending), axis=1) / 2
    kept = areas > min_area
    used, renumbered = np.unique(ascending[kept], return_inverse=True)
    return Surface(points[used], renumbered.reshape(-1, 3).astype(np.int64), sign[kept], areas[kept])


def welded(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(place, points): the distinct positions that faces use, in order, and for each vertex its row among them.

    A vertex that no face uses has the place -1.
    """
    used = np.unique(faces)
    corners = vertices[used] + 0.0  # + 0.0: no negative zeros
    ranks = [_ranks(corners[:, axis]) for axis in range(3)]
    order = np.lexsort((corners[:, 2], corners[:, 1], corners[:, 0], *ranks[::-1]))
    in_order = corners[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (in_order[1:] != in_order[:-1]).any(axis=1)
    place = np.full(len(vertices), -1, dtype=np.int64)
    place[used[order]] = np.cumsum(new) - 1
    return place, in_order[new]


def distinct(faces: np.ndarray) -> np.ndarray:
    """bool[M]: whether the three corners of a face differ."""
    a, b, c = faces.T
    return (a != b) & (b != c) & (c != a)


def cross(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """float64[M, 3]: the cross product of each face's sides, twice its area long."""
    a, b, c = (points[faces[:, corner]] for corner in range(3))
    return np.cross(b - a, c - a)


def _ranks(values: np.ndarray) -> np.ndarray:
    """The rank of each value, equal for values that a chain of steps below ORDER_TOLERANCE links."""
    order = np.argsort(values, kind="stable")
    steps = np.diff(values[order], prepend=values[order[:1]]) > ORDER_TOLERANCE
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.cumsum(steps)
    return ranks


def _keys(ascending: np.ndarray) -> np.ndarray:
    """int64[M]: keys that sort as the rows of `ascending` do."""
    if ascending.size and ascending.max() >= MAX_POSITIONS:
        raise ValueError(f"a mesh may have at most {MAX_POSITIONS} positions")
    first, second, third = ascending.T
    return ((first << 21) | second) << 21 | third
