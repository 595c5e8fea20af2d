"""The small wireframes that the worked examples use, and ways to disturb them."""

from __future__ import annotations

import numpy as np

from evaluation.metrics.wireframe.pair import Pair
from submissions.formats.wireframe.wireframe_files import Wireframe


def wireframe(vertices, edges=()) -> Wireframe:
    return Wireframe(np.array(vertices, dtype=float).reshape(-1, 3), np.array(edges, dtype=np.int64).reshape(-1, 2))


SQ = wireframe([(0, 0, 0), (4, 0, 0), (4, 3, 0), (0, 3, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)])
SPLIT = wireframe([(0, 0, 0), (2, 0, 0), (4, 0, 0), (4, 3, 0), (0, 3, 0)], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)])
TRI = wireframe([(0, 0, 0), (4, 0, 0), (4, 3, 0)], [(0, 1), (1, 2), (0, 2)])
EMPTY = wireframe([])


def segment(a, b) -> Wireframe:
    return wireframe([a, b], [(0, 1)])


def without_last_edge(frame: Wireframe) -> Wireframe:
    return Wireframe(frame.vertices, frame.edges[:-1])


def moved(frame: Wireframe, by) -> Wireframe:
    return Wireframe(frame.vertices + np.array(by, dtype=float), frame.edges)


def turned(frame: Wireframe, degrees: float) -> Wireframe:
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return Wireframe(frame.vertices @ np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]]), frame.edges)


def shuffled(frame: Wireframe, seed: int) -> Wireframe:
    """The same wireframe with vertices, edges and the ends of edges in another order."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(frame.vertices))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    edges = place[frame.edges][rng.permutation(len(frame.edges))]
    return Wireframe(frame.vertices[order], np.where(rng.random((len(edges), 1)) < 0.5, edges, edges[:, ::-1]))


def noisy(frame: Wireframe, sigma: float, seed: int) -> Wireframe:
    return Wireframe(frame.vertices + np.random.default_rng(seed).normal(0, sigma, frame.vertices.shape), frame.edges)


def random_wireframe(seed: int, n_vertices: int = 12, n_edges: int = 15, size: float = 6.0) -> Wireframe:
    rng = np.random.default_rng(seed)
    edges = [rng.choice(n_vertices, 2, replace=False) for _ in range(n_edges)]
    return wireframe(rng.uniform(0, size, (n_vertices, 3)), edges)


def value(metric, prediction: Wireframe, reference: Wireframe, unit_scale: float = 1.0, **params) -> float:
    """The metric's value for a fresh pair."""
    return metric(Pair.of(prediction, reference, unit_scale), **params).value


def degenerate_wireframe(seed: int) -> Wireframe:
    """On a coarse grid: double, isolated, collinear and flat vertices, self-loops, repeated and zero-length edges, or nothing."""
    rng = np.random.default_rng(seed)
    n_vertices = int(rng.choice([0, 1, 2, 3, 5, 8, 12]))
    vertices = rng.integers(0, rng.choice([1, 2, 4]), (n_vertices, 3)) * rng.choice([0.125, 0.5, 2.0])
    vertices[:, rng.random(3) < 0.2] = 0.0
    n_edges = int(rng.integers(0, 2 * n_vertices + 1))
    return wireframe(vertices, rng.integers(0, max(n_vertices, 1), (n_edges, 2)))
