"""An order of vertices that geometry and edges alone fix, whatever the order of the file.

Vertices go by x, then y, then z. Those at the same place go by their neighbours, as colour
refinement does it: a vertex is told from another of its place by the multiset of its neighbours'
labels, over and over. What is still alike is taken one by one, and refined again.
"""

from __future__ import annotations

import numpy as np

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
