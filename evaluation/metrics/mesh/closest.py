"""Exact distances from points to the triangles of a mesh. PURE.

Triangles lie in blocks of eight, eight blocks in a larger one and so on, each with its box. For
every point a first bound comes from the triangle with the nearest centroid; then whole levels of
blocks are thrown out at once, and what is left is measured. The work is bounded, so that a web process
may do it for meshes that somebody uploaded; metrics, which run in a limited child, ask a library instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

FAN = 8  # children of a block
CHUNK = 8192  # points that go down together
MOST_PAIRS = 8_000_000  # of points and blocks looked at together
MOST_TESTS = 10_000_000  # of points against triangles; a hostile pair of meshes could ask for all with all


class Surface:
    """The triangles of a mesh, ready to be asked. `triangles`: float64 [F, 3, 3], F at least 1."""

    def __init__(self, triangles: Floats) -> None:
        order = np.argsort(_along_a_curve(triangles.mean(axis=1)), kind="stable")
        self.triangles = triangles[order]
        self.centroids = cKDTree(self.triangles.mean(axis=1), balanced_tree=False, compact_nodes=False)
        self.levels = [(self.triangles.min(axis=1), self.triangles.max(axis=1))]
        while len(self.levels[-1][0]) > FAN:
            self.levels.append((_blocks(self.levels[-1][0], np.inf).min(axis=1), _blocks(self.levels[-1][1], -np.inf).max(axis=1)))
        # Every level but the first is asked for whole blocks, so each is filled up with boxes that hold nothing.
        self.levels = [(_filled(low, np.inf), _filled(high, np.inf)) for low, high in self.levels]

    def distances(self, points: Floats) -> tuple[Floats, bool]:
        """float64 [N], each point's distance to the nearest point of the surface; and whether all of them
        are exact: past MOST_TESTS the remaining ones are the distance to a triangle near them, an upper bound."""
        squared = np.empty(len(points))
        for start in range(0, len(points), CHUNK):
            part = slice(start, start + CHUNK)
            squared[part] = _squared(points[part], self.triangles[self.centroids.query(points[part])[1]])
        waiting, tests = [(start, min(start + CHUNK, len(points))) for start in range(0, len(points), CHUNK)], 0
        while waiting and tests < MOST_TESTS:
            start, stop = waiting.pop()
            left = self._candidates(points[start:stop], squared[start:stop])
            if left is None:  # too many at once
                tests += MOST_PAIRS // FAN
                waiting += [(start, (start + stop) // 2), ((start + stop) // 2, stop)]
            else:
                tests += len(left[0])
                self._measure(points[start:stop], squared[start:stop], *left)
        return np.sqrt(squared), not waiting

    def _candidates(self, points: Floats, squared: Floats) -> tuple[Indices, Indices] | None:
        """Pairs (point, triangle) that may be nearer than `squared`, in order of the points; None where
        several points have too many to be looked at together."""
        which = np.repeat(np.arange(len(points)), FAN)
        node = np.tile(np.arange(FAN), len(points))
        for depth in range(len(self.levels) - 1, -1, -1):
            low, high = self.levels[depth]
            gap = np.maximum(np.maximum(low[node] - points[which], points[which] - high[node]), 0)
            near = _dot(gap, gap) < squared[which]
            which, node = which[near], node[near]
            if len(which) > MOST_PAIRS // FAN and len(points) > 1:
                return None
            if depth:
                which, node = np.repeat(which, FAN), (node[:, None] * FAN + np.arange(FAN)).ravel()
        return which, node

    def _measure(self, points: Floats, squared: Floats, which: Indices, node: Indices) -> None:
        """Lower `squared` in place to the least over the candidates."""
        for start in range(0, len(which), MOST_PAIRS // FAN):
            part = slice(start, start + MOST_PAIRS // FAN)
            at, values = which[part], _squared(points[which[part]], self.triangles[node[part]])
            first = np.flatnonzero(np.r_[True, at[1:] != at[:-1]])
            squared[at[first]] = np.minimum(squared[at[first]], np.minimum.reduceat(values, first))


def _along_a_curve(points: Floats) -> NDArray[np.int64]:
    """Where each point stands on a Morton curve of 2^10 cells a side, so that neighbours share blocks."""
    low, high = points.min(axis=0), points.max(axis=0)
    cells = ((points - low) / np.maximum(high - low, 1e-300).max() * 1023).astype(np.int64)
    for shift, mask in ((16, 0x030000FF), (8, 0x0300F00F), (4, 0x030C30C3), (2, 0x09249249)):
        cells = (cells | (cells << shift)) & mask
    return cells[:, 0] | (cells[:, 1] << 1) | (cells[:, 2] << 2)


def _filled(rows: Floats, value: float) -> Floats:
    return np.concatenate([rows, np.full((-len(rows) % FAN, 3), value)])


def _blocks(rows: Floats, nothing: float) -> Floats:
    return _filled(rows, nothing).reshape(-1, FAN, 3)


def _squared(points: Floats, triangles: Floats) -> Floats:
    """Squared distance of each point [N, 3] to its own triangle [N, 3, 3], degenerate ones included."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    best = np.minimum(_to_segment(points, a, b), np.minimum(_to_segment(points, b, c), _to_segment(points, c, a)))
    u, v, w = b - a, c - a, points - a
    uu, uv, vv, wu, wv = _dot(u, u), _dot(u, v), _dot(v, v), _dot(w, u), _dot(w, v)
    area = uu * vv - uv * uv
    with np.errstate(divide="ignore", invalid="ignore"):
        s, t = (vv * wu - uv * wv) / area, (uu * wv - uv * wu) / area
        rest = w - s[:, None] * u - t[:, None] * v
        inside = (s >= 0) & (t >= 0) & (s + t <= 1)  # never where the area is nothing
        return np.where(inside, np.minimum(best, _dot(rest, rest)), best)


def _to_segment(points: Floats, a: Floats, b: Floats) -> Floats:
    along, from_a = b - a, points - a
    t = np.clip(_dot(from_a, along) / np.maximum(_dot(along, along), 1e-300), 0, 1)
    return _dot(gap := from_a - t[:, None] * along, gap)


def _dot(a: Floats, b: Floats) -> Floats:
    return np.einsum("ij,ij->i", a, b)
