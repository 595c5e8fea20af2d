"""Canonical wireframes, in an order that geometry and edges alone fix: what every wireframe metric except hss reads.

Arrays: vertices float64[V, 3], edges int64[E, 2] naming vertices. Lengths are in the unit of the arrays. Vertices go by x, then y, then z.
Those at the same place go by their neighbours, as colour refinement does it: a vertex is told from another of its place by the multiset of
its neighbours' labels, over and over. Vertices that are still alike are taken one by one, and refined again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

WORK = 1_000_000  # neighbours looked at; past it, vertices that are still alike keep the file's order


def canonical_order(vertices: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """int64[V]: the rows of vertices[V, 3] in the order described above; edges int64[E, 2]."""
    order = np.lexsort((vertices[:, 2], vertices[:, 1], vertices[:, 0]))
    placed = vertices[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (placed[1:] != placed[:-1]).any(axis=1)
    if new.all():
        return order
    label = np.empty(len(order), dtype=np.int64)
    label[order] = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    cells = _Cells(label, edges)
    cells.refine()
    while cells.work < WORK and (place := cells.entangled()) is not None:
        first, *others = cells.tied[place]
        cells.split(place, [[first], others])
        cells.refine()
    return np.argsort(cells.label, kind="stable")


class _Cells:
    """Labels of vertices and the cells of equal ones; a label is the place of its cell's first vertex."""

    def __init__(self, label: np.ndarray, edges: np.ndarray) -> None:
        self.label: list[int] = label.tolist()
        members: dict[int, list[int]] = {}
        for vertex, place in enumerate(self.label):
            members.setdefault(place, []).append(vertex)
        self.tied = {place: rows for place, rows in members.items() if len(rows) > 1}
        self.neighbours: dict[int, set[int]] = {vertex: set() for rows in self.tied.values() for vertex in rows}
        for a, b in edges.tolist():
            for one, other in ((a, b), (b, a)):
                if a != b and one in self.neighbours:
                    self.neighbours[one].add(other)
        self.work = 0

    def signature(self, vertex: int) -> tuple[int, ...]:
        """The labels of its neighbours, in order."""
        near = self.neighbours[vertex]
        self.work += 1 + len(near)
        return tuple(sorted(self.label[other] for other in near))

    def split(self, place: int, groups: list[list[int]]) -> None:
        """Replace the cell at `place` by its parts, in order."""
        del self.tied[place]
        for rows in groups:
            for vertex in rows:
                self.label[vertex] = place
            if len(rows) > 1:
                self.tied[place] = rows
            place += len(rows)

    def refine(self) -> None:
        """Split every cell whose vertices differ in their neighbours' labels, until none does."""
        changed = True
        while changed and self.work < WORK:
            found = {place: [(self.signature(vertex), vertex) for vertex in rows] for place, rows in self.tied.items()}
            changed = False
            for place, rows in found.items():
                groups: dict[tuple[int, ...], list[int]] = {}
                for signature, vertex in sorted(rows):
                    groups.setdefault(signature, []).append(vertex)
                if len(groups) > 1:
                    self.split(place, list(groups.values()))
                    changed = True

    def entangled(self) -> int | None:
        """The first cell with a neighbour in a cell of several: others' vertices can change places unseen."""
        self.work += len(self.tied)
        for place in sorted(self.tied):
            if any(self.label[other] in self.tied for other in self.neighbours[self.tied[place][0]]):
                return place
        return None


DEGENERATE_LENGTH = 1e-9  # metres; geometric metrics leave out edges this short
DIAMETER_ROWS = 256  # rows of the distance matrix held at a time


@dataclass(frozen=True, eq=False)
class Graph:
    """A canonical wireframe: vertices float64[V, 3]; edges int64[E, 2], (smaller, larger), sorted, each once."""

    vertices: np.ndarray
    edges: np.ndarray

    def lengths(self, edges: np.ndarray | None = None) -> np.ndarray:
        """float64[E] of the graph's edges, or of others between its vertices."""
        ends = self.vertices[self.edges if edges is None else edges]
        return np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)

    @cached_property
    def diameter(self) -> float:
        """The largest distance between two vertices; 0 for fewer than two."""
        return diameter(self.vertices)


@dataclass(frozen=True, eq=False)
class Segments:
    """Edges as geometry: `ends` float64[S, 2, 3] and, for each, its row among the given edges.

    Each segment starts at its lexicographically smaller end, and segments are in lexicographic order of their six coordinates, so that
    equal geometry gives equal arrays for any order of vertices and edges in the file. `corner` int64[S, 2] numbers the vertices that the
    ends are.
    """

    ends: np.ndarray
    source: np.ndarray
    corner: np.ndarray

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def lengths(self) -> np.ndarray:
        """float64[S]"""
        return np.linalg.norm(self.ends[:, 1] - self.ends[:, 0], axis=1)


def canon(
    vertices: np.ndarray,
    edges: np.ndarray,
    merge_tol: float | None = None,
    drop_isolated: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Drop self-loops, write each edge as (smaller, larger) index, drop repeated edges, sort.

    Vertices stay as they are, doubles and isolated ones included, unless `merge_tol` merges those
    closer than it first (single linkage; the lowest index represents them) or `drop_isolated`
    leaves out those that no remaining edge uses.
    """
    if merge_tol is not None and len(vertices) > 1:
        vertices, edges = _merge(vertices, edges, merge_tol)
    kept, _ = _unique_pairs(edges)
    if drop_isolated:
        used = np.unique(kept)
        renumbered = np.full(len(vertices), -1, dtype=np.int64)
        renumbered[used] = np.arange(len(used))
        return vertices[used], renumbered[kept]
    return vertices, kept


def lexicographic(vertices: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Put vertices in lexicographic order (x, then y, then z) and rename the edges' ends to match.

    Vertices at one place go by their edges (see canonical_order). Returns (vertices, edges in
    their given order, order), where vertices = given[order].
    """
    order = canonical_order(vertices, edges)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return vertices[order], place[edges], order


def segments(
    vertices: np.ndarray,
    edges: np.ndarray,
    merge_tol: float | None = None,
    min_length: float = DEGENERATE_LENGTH,
) -> Segments:
    """The canonical edges longer than `min_length` as geometry (see Segments)."""
    if merge_tol is not None and len(vertices) > 1:
        vertices, edges = _merge(vertices, edges, merge_tol)
    pairs, source = _unique_pairs(edges)
    ends = vertices[pairs]
    long_enough = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) > min_length
    ends, source, pairs = ends[long_enough], source[long_enough], pairs[long_enough]
    a, b = ends[:, 1], ends[:, 0]
    x, y = a[:, 0] == b[:, 0], a[:, 1] == b[:, 1]
    # Where the second end is the lexicographically smaller one.
    backwards = (a[:, 0] < b[:, 0]) | (x & (a[:, 1] < b[:, 1])) | (x & y & (a[:, 2] < b[:, 2]))
    ends = np.where(backwards[:, None, None], ends[:, ::-1], ends)
    order = np.lexsort(ends.reshape(-1, 6).T[::-1])
    return Segments(ends[order], source[order], np.where(backwards[:, None], pairs[:, ::-1], pairs)[order])


def bbox_diagonal(vertices: np.ndarray) -> float:
    """Length of the diagonal of the bounding box of all vertices; 0 without vertices."""
    return float(np.linalg.norm(np.ptp(vertices, axis=0))) if len(vertices) else 0.0


def diameter(vertices: np.ndarray) -> float:
    """The largest distance between two vertices; 0 for fewer than two."""
    blocks = (vertices[first : first + DIAMETER_ROWS] for first in range(0, len(vertices), DIAMETER_ROWS))
    return max((float(scipy.spatial.distance.cdist(block, vertices).max()) for block in blocks), default=0.0)


def _unique_pairs(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sorted pairs without self-loops and doubles, and for each its first row in `edges`."""
    rows = np.flatnonzero(edges[:, 0] != edges[:, 1])
    pairs, first = np.unique(np.sort(edges[rows], axis=1), axis=0, return_index=True)
    return pairs.reshape(-1, 2), rows[first]


def _merge(vertices: np.ndarray, edges: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    near = scipy.spatial.cKDTree(vertices).query_pairs(tolerance, output_type="ndarray")
    gaps = np.linalg.norm(vertices[near[:, 0]] - vertices[near[:, 1]], axis=1)
    near = near[gaps < tolerance]
    links = scipy.sparse.coo_array((np.ones(len(near)), (near[:, 0], near[:, 1])), shape=(len(vertices),) * 2)
    _, label = scipy.sparse.csgraph.connected_components(links, directed=False)
    _, representative, cluster = np.unique(label, return_index=True, return_inverse=True)
    kept = np.sort(representative)
    return vertices[kept], np.searchsorted(kept, representative[cluster])[edges]
