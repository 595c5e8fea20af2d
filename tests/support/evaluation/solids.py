"""The small meshes that the worked examples use, and ways to disturb them."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st

from evaluation.metrics.mesh.pair import MeshPair
from submissions.formats.arrays import Mesh

FAR = (6_500_000.5, -6_500_000.25, 6_500_000.125)
GRID = 2.0**-20  # coordinates on it survive a shift to FAR exactly


def mesh(vertices, faces=()) -> Mesh:
    return Mesh(np.array(vertices, dtype=float).reshape(-1, 3), np.array(faces, dtype=np.int64).reshape(-1, 3))


SQUARE = mesh([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)])
# A generic octahedron: no two of its eigenvalues coincide.
OCTAHEDRON = mesh(
    [(1, 0.1, 0), (-1.2, 0, 0.2), (0, 0.9, 0.1), (0.1, -1.1, 0), (0, 0.2, 1.3), (-0.2, 0, -0.8)],
    [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)],
)
TETRAHEDRON = mesh([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], [(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)])
EMPTY = mesh([])


def box(low=(0, 0, 0), high=(1, 1, 1)) -> Mesh:
    """A closed box, its faces turned outwards."""
    corners = np.array(list(product(*zip(low, high, strict=True))))
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return mesh(corners, [face for a, b, c, d in sides for face in ((a, b, c), (a, c, d))])


# Predictions in which nothing is a surface: missing, empty, points alone, and a face without an area.
NO_SURFACE = (None, EMPTY, mesh(box().vertices), mesh([(0, 0, 0), (1, 1, 1), (2, 2, 2)], [(0, 1, 2)]))


def sphere(n: int = 16, radius: float = 1.0, centre=(0, 0, 0)) -> Mesh:
    """A closed sphere of 2n meridians and n parallels."""
    theta = np.pi * np.arange(1, n) / n
    phi = np.pi * np.arange(2 * n) / n
    ring = np.stack([np.outer(np.sin(theta), np.cos(phi)), np.outer(np.sin(theta), np.sin(phi)), np.outer(np.cos(theta), phi * 0 + 1)], 2)
    points = np.concatenate([ring.reshape(-1, 3), [(0, 0, 1), (0, 0, -1)]]) * radius + centre
    at = lambda row, column: row * 2 * n + column % (2 * n)  # noqa: E731
    faces = [(len(points) - 2, at(0, k), at(0, k + 1)) for k in range(2 * n)]
    faces += [(len(points) - 1, at(n - 2, k + 1), at(n - 2, k)) for k in range(2 * n)]
    for row, k in product(range(n - 2), range(2 * n)):
        faces += [(at(row, k), at(row + 1, k), at(row + 1, k + 1)), (at(row, k), at(row + 1, k + 1), at(row, k + 1))]
    return mesh(points, faces)


def moved(shape: Mesh, by) -> Mesh:
    return Mesh(shape.vertices + np.array(by, dtype=float), shape.faces)


def union(*shapes: Mesh) -> Mesh:
    """The faces of several meshes as one mesh."""
    starts = np.cumsum([0, *(len(shape.vertices) for shape in shapes)])
    return mesh(
        np.concatenate([shape.vertices for shape in shapes]),
        np.concatenate([shape.faces + start for shape, start in zip(shapes, starts[:-1], strict=True)]),
    )


def scaled(shape: Mesh, by) -> Mesh:
    return Mesh(shape.vertices * by, shape.faces)


def turned(shape: Mesh, seed: int) -> Mesh:
    """Turned by a random rotation."""
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return Mesh(shape.vertices @ (q * np.linalg.det(q)).T, shape.faces)


def noisy(shape: Mesh, sigma: float, seed: int) -> Mesh:
    return Mesh(shape.vertices + np.random.default_rng(seed).normal(0, sigma, shape.vertices.shape), shape.faces)


def shuffled(shape: Mesh, seed: int) -> Mesh:
    """The same mesh with vertices, faces and the first corner of each face in another order."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(shape.vertices))
    faces = np.argsort(order)[shape.faces][rng.permutation(len(shape.faces))]
    turns = (np.arange(3) + rng.integers(0, 3, (len(faces), 1))) % 3
    return Mesh(shape.vertices[order], np.take_along_axis(faces, turns, axis=1))


def rounded(shape: Mesh) -> Mesh:
    """On a grid fine enough for every purpose, whose coordinates stay exact far from the origin."""
    return Mesh(np.round(shape.vertices / GRID) * GRID, shape.faces)


def random_soup(seed: int, n_vertices: int = 12, n_faces: int = 15) -> Mesh:
    """Random triangles over random points: open, crossing, without any order."""
    rng = np.random.default_rng(seed)
    return mesh(rng.uniform(-2, 2, (n_vertices, 3)), rng.integers(0, n_vertices, (n_faces, 3)))


def pair(prediction: Mesh | None, reference: Mesh, unit_scale: float = 1.0) -> MeshPair:
    return MeshPair.of(prediction, reference, unit_scale)


def value(metric, prediction: Mesh | None, reference: Mesh, unit_scale: float = 1.0, **params) -> float | None:
    """The metric's value for a fresh pair."""
    return metric(pair(prediction, reference, unit_scale), **params).value


_NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e-9, 1e-300, -0.0, 3.0, 1e7, -1e7, 2.0 / 3])


@st.composite
def odd_meshes(draw) -> Mesh:
    """Meshes that nobody would draw: doubled and flat faces, stray vertices, extreme coordinates; empty ones too."""
    n = draw(st.integers(0, 8))
    vertices = draw(st.lists(st.tuples(_NUMBERS, _NUMBERS, _NUMBERS), min_size=n, max_size=n))
    corner = st.integers(0, n - 1) if n else st.nothing()
    faces = draw(st.lists(st.tuples(corner, corner, corner), max_size=10)) if n else []
    return mesh(vertices, faces)
