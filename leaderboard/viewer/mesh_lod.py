"""A mesh as the 3D view draws it: few enough faces to be sent, small enough ones to be coloured. PURE.

A coarse mesh has too few vertices to show a distance: a box without its lid has every corner of the whole box. So large faces are split,
which changes no shape. A mesh of millions of faces is too large to send, so vertices are merged within the cells of a grid. Each cell keeps
the vertex nearest to the mean of its vertices, so every vertex shown belongs to the mesh.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_FACES = 200_000  # more are simplified
SPLIT_FACES = 60_000  # splitting stops here
SPLIT_STEPS = 48  # large is what has a side longer than this part of the mesh's longest side

Faces = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ReducedMesh:
    """`vertices` float64 [V, 3] and `faces` int64 [F, 3], every vertex in some face.

    `sides` uint8 [F]: bit k is set where the side from corner k to the next is one of the mesh, not of a split.
    `source` int64 [F]: the face of the mesh that each is, is a part of, or was before vertices were joined.
    """

    vertices: NDArray[np.float64]
    faces: Faces
    sides: NDArray[np.uint8]
    source: Faces
    simplified: bool = False


def reduced(vertices: NDArray[np.float64], faces: Faces, most: int = MAX_FACES) -> ReducedMesh:
    """The mesh simplified where it has more than `most` faces, its large faces split where it has few."""
    source = np.arange(len(faces))
    simplified = len(faces) > most
    if simplified:
        vertices, faces, source = simplify(vertices, faces, most)
    used = np.zeros(len(vertices), dtype=bool)  # the vertices of some face, which are numbered again
    used[faces] = True
    vertices, faces = vertices[used], (np.cumsum(used) - 1)[faces]
    sides = np.full(len(faces), 7, dtype=np.uint8)
    if len(faces) < SPLIT_FACES:
        vertices, faces, sides, part = split(vertices, faces, SPLIT_FACES)
        source = source[part]
    return ReducedMesh(vertices, faces, sides, source, simplified)


def simplify(vertices: NDArray[np.float64], faces: Faces, most: int) -> tuple[NDArray[np.float64], Faces, Faces]:
    """Mesh of at most `most` faces, and the original face of each."""
    low, ends = vertices.min(axis=0), vertices[faces]
    area = float(np.linalg.norm(np.cross(ends[:, 1] - ends[:, 0], ends[:, 2] - ends[:, 0]), axis=1).sum()) / 2
    # On a smooth surface about three faces are left for each cell's square.
    cell = max(np.sqrt(3 * area / most), float(np.ptp(vertices, axis=0).max()) / 2**20, 1e-300)
    tries = 0
    while True:
        place, keep = _joined(vertices, low, cell)
        joined = place[faces]
        remaining = np.flatnonzero((joined[:, 0] != joined[:, 1]) & (joined[:, 1] != joined[:, 2]) & (joined[:, 2] != joined[:, 0]))
        a, b, c = np.sort(joined[remaining], axis=1).T
        corners = (a << 42) | (b << 21) | c  # one number for each set of three; a mesh has at most 2,000,000 vertices
        remaining = np.sort(remaining[np.unique(corners, return_index=True)[1]])
        if len(remaining) <= most:
            return vertices[keep], joined[remaining], remaining
        tries += 1
        # No smooth surface: then the cells grow until they hold all.
        cell *= 1.02 * np.sqrt(len(remaining) / most) if tries < 4 else 2


def _joined(vertices: NDArray[np.float64], low: NDArray[np.float64], cell: float) -> tuple[Faces, Faces]:
    """(for each vertex its cell's number, for each cell the vertex nearest to the mean of its vertices)."""
    cells = np.minimum((vertices - low) / cell, 2**20).astype(np.int64)
    _, place = np.unique((cells[:, 0] << 42) | (cells[:, 1] << 21) | cells[:, 2], return_inverse=True)
    count = np.bincount(place)
    mean = np.stack([np.bincount(place, vertices[:, axis]) / count for axis in range(3)], axis=1)
    gap = np.einsum("ij,ij->i", off := vertices - mean[place], off)
    order = np.lexsort((gap, place))
    return place, order[np.r_[0, np.cumsum(count)[:-1]]]


def split(vertices: NDArray[np.float64], faces: Faces, most: int) -> tuple[NDArray[np.float64], Faces, NDArray[np.uint8], Faces]:
    """Halve faces at their longest sides until none is large, or there are `most`: (vertices, faces, sides, source)."""
    sides, source = np.full(len(faces), 7, dtype=np.uint8), np.arange(len(faces))
    if not len(faces):
        return vertices, faces, sides, source
    limit = float(np.ptp(vertices, axis=0).max()) / SPLIT_STEPS
    while True:
        ends = vertices[faces]
        lengths = np.linalg.norm(ends[:, [1, 2, 0]] - ends, axis=2)
        longest = lengths.argmax(axis=1)
        length = lengths[np.arange(len(faces)), longest]
        large = np.flatnonzero(length > limit)
        room = most - len(faces)
        if not len(large) or room <= 0:
            return vertices, faces, sides, source
        large = large[np.argsort(-length[large], kind="stable")[:room]]
        turn = (longest[large, None] + np.arange(3)) % 3  # the longest side goes from the first corner to the second
        a, b, c = np.take_along_axis(faces[large], turn, axis=1).T
        ab, bc, ca = ((sides[large] >> turn[:, k]) & 1 for k in range(3))
        pairs, middle = np.unique(np.minimum(a, b) << 32 | np.maximum(a, b), return_inverse=True)
        m = len(vertices) + middle
        vertices = np.concatenate([vertices, (vertices[pairs >> 32] + vertices[pairs & 0xFFFFFFFF]) / 2])
        faces[large], sides[large] = np.stack([a, m, c], axis=1), ab | ca << 2
        faces = np.concatenate([faces, np.stack([m, b, c], axis=1)])
        sides = np.concatenate([sides, ab | bc << 1])
        source = np.concatenate([source, source[large]])
