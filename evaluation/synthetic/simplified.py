"""Wireframes and meshes that say less than their source: what simple methods would hand in. Pure and deterministic."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial import ConvexHull, QhullError

from submissions.formats.arrays import Mesh, Wireframe

BOX_EDGES = [(a, b) for a in range(8) for b in range(a + 1, 8) if (a ^ b).bit_count() == 1]
FLAT = 1e-6  # metres; hull faces whose normals differ by less share a plane


def bounding_box(source: Wireframe) -> Wireframe:
    """The 8 corners and 12 edges of the axis-parallel box around `source`."""
    low, high = source.vertices.min(axis=0), source.vertices.max(axis=0)
    corners = np.array([[high[k] if corner >> k & 1 else low[k] for k in range(3)] for corner in range(8)])
    return _wireframe(corners, BOX_EDGES)


def convex_hull(source: Wireframe) -> Wireframe:
    """The convex hull of the vertices: its corners, and the edges between faces of different planes.

    Falls back to the bounding box where all vertices lie in one plane and no hull exists.
    """
    centre = source.vertices.mean(axis=0)
    try:
        hull = ConvexHull(source.vertices - centre)
    except QhullError:
        return bounding_box(source)
    planes: dict[tuple[int, int], list[np.ndarray]] = {}
    for triangle, plane in zip(hull.simplices, hull.equations, strict=True):
        for a, b in ((0, 1), (1, 2), (0, 2)):
            edge = (int(min(triangle[a], triangle[b])), int(max(triangle[a], triangle[b])))
            planes.setdefault(edge, []).append(plane[:3])
    edges = [edge for edge, normals in planes.items() if len(normals) < 2 or np.linalg.norm(normals[0] - normals[1]) > FLAT]
    return _used_only(source.vertices, sorted(edges))


def convex_hull_mesh(source: Mesh) -> Mesh:
    """The convex hull of the vertices as a closed mesh whose faces turn outwards. ValueError where all lie in one plane."""
    centre = source.vertices.mean(axis=0)
    try:
        hull = ConvexHull(source.vertices - centre)
    except QhullError:
        raise ValueError("the vertices lie in one plane, so they have no hull with a volume") from None
    a, b, c = hull.points[hull.simplices].transpose(1, 0, 2)
    turned = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces = np.where(turned[:, None], hull.simplices[:, ::-1], hull.simplices)
    used, renumbered = np.unique(faces, return_inverse=True)
    return Mesh(source.vertices[used], renumbered.reshape(-1, 3).astype(np.int64))


def merged(source: Wireframe, distance: float) -> Wireframe:
    """Vertices closer than `distance` metres (single linkage) become one, at their mean."""
    if len(source.vertices) < 2:
        return source
    label = fcluster(linkage(source.vertices - source.vertices.mean(axis=0), "single"), distance, "distance") - 1
    vertices = np.stack([source.vertices[label == k].mean(axis=0) for k in range(label.max() + 1)])
    edges = {(min(a, b), max(a, b)) for a, b in label[source.edges].tolist() if a != b}
    return _wireframe(vertices, sorted(edges))


def shortest_dropped(source: Wireframe, share: float) -> Wireframe:
    """Without the shortest `share` (0 to 1) of its edges, and without the vertices left alone."""
    ends = source.vertices[source.edges]
    length = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    kept = np.sort(np.argsort(length, kind="stable")[round(share * len(length)) :])
    return _used_only(source.vertices, source.edges[kept].tolist())


def jittered(source: Wireframe, sigma: float, seed: int) -> Wireframe:
    """Every vertex moved by normal noise of `sigma` metres per axis."""
    noise = np.random.Generator(np.random.PCG64(seed)).normal(scale=sigma, size=source.vertices.shape)
    return _wireframe(source.vertices + noise, source.edges.tolist())


def sampled_points(source: Wireframe, n: int, sigma: float, seed: int) -> np.ndarray:
    """float64[n, 3]: points spread over the edges by length, with normal noise of `sigma` metres."""
    rng = np.random.Generator(np.random.PCG64(seed))
    ends = source.vertices[source.edges]
    length = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    chosen = rng.choice(len(ends), size=n, p=length / length.sum())
    along = rng.uniform(size=(n, 1))
    return ends[chosen, 0] * (1 - along) + ends[chosen, 1] * along + rng.normal(scale=sigma, size=(n, 3))


def _used_only(vertices: np.ndarray, edges: list[Any]) -> Wireframe:
    """Wireframe of these edges and just the vertices they use."""
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    used, renumbered = np.unique(pairs, return_inverse=True)
    return _wireframe(vertices[used], renumbered.reshape(-1, 2).tolist())


def _wireframe(vertices: np.ndarray, edges: list[Any]) -> Wireframe:
    return Wireframe(
        vertices=np.asarray(vertices, dtype=np.float64).reshape(-1, 3),
        edges=np.asarray(edges, dtype=np.int64).reshape(-1, 2),
        edge_score=None,
    )
