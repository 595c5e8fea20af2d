"""The largest distance from one surface to another, to the triangles themselves.

Samples and vertices alone miss a place between them that is further: on scans with noise the value came out up to 9 % too
small. So the faces that could hold such a place are cut up, the most promising ones first.
"""

from __future__ import annotations

import numpy as np
import scipy

from evaluation.metrics.mesh import closest, parameters
from evaluation.metrics.mesh.distances import WORKERS, empty, gaps, nearest
from evaluation.metrics.mesh.pair import Cloud, MeshPair
from evaluation.metrics.mesh.surface import Surface
from evaluation.metrics.result import MetricResult

FIRST = 256  # places that are measured at first
MISSED = 0.01  # a place that is further by no more than this share is not looked for
# So many faces are looked at, the most promising ones, and so many of their pieces cut into four, so many times.
FACES, PIECES, ROUNDS = 1 << 16, 1 << 15, 12


def uhd(pair: MeshPair, n: int, normalize: str, align: str, seed0: int) -> MetricResult:
    """Largest distance from the reference, its samples, its vertices and what lies between, to the prediction's surface.

    Part `uhd_pred2gt` is the same the other way. A prediction of points without faces is taken at its vertices.
    """
    found = gaps(pair, n, seed0, align)
    if found is None:
        return empty(pair.diagonal(normalize))

    def compute() -> tuple[float, float]:
        pred, ref = pair.prediction(align), pair.reference
        on_pred, on_ref = pair.prediction_cloud(n, seed0, align), pair.reference_cloud(n, seed0)
        assert on_pred is not None  # it has gaps
        return _largest(ref, on_ref, found.b, pred, on_pred), _largest(pred, on_pred, found.a, ref, on_ref)

    there, back = (distance * pair.length(normalize) for distance in pair.once(("largest gaps", n, seed0, align), compute))
    return MetricResult(there, flags=found.flags, parts={"uhd_pred2gt": back} | pair.alignment_parts(align, normalize))


def _largest(side: Surface, samples: Cloud, near: np.ndarray, other: Surface, cloud: Cloud) -> float:
    """The largest distance from one surface, of which there are samples, to another, of which there is a cloud of points.

    `near` float64[N] is how far each sample is from the cloud; where the other surface has no face, it is its cloud.
    The points of the cloud and the other's own vertices lie on it, so the nearest of them bounds each distance, and only
    places that could be the furthest are measured for certain.
    """
    of_vertices = nearest(side.points, cloud)[0]
    if not len(other):
        return float(max(near.max(initial=0.0), of_vertices.max(initial=0.0)))
    of_vertices = np.minimum(of_vertices, scipy.spatial.cKDTree(other.points).query(side.points, workers=WORKERS)[0])
    places, bounds = np.concatenate([samples.points, side.points]), np.concatenate([near, of_vertices])
    distance = closest.to_mesh(other.points, other.faces)
    order = np.argsort(-bounds, kind="stable")
    largest, start, wanted = 0.0, 0, FIRST
    while start < len(order) and bounds[order[start]] > largest:
        part = order[start : start + wanted]
        # Never further than the bound: on needles of faces the triangle's own figure loses digits.
        largest = max(largest, float(np.minimum(distance(places[part]), bounds[part]).max()))
        start, wanted = start + wanted, 4 * wanted
    if not largest:
        return 0.0
    # No place is further than another by more than the way between them, so the bounds of its corners bound what lies within a face.
    corners = side.points[side.faces]
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)  # of each corner to the one before it
    bounds = (of_vertices[side.faces] + np.maximum(sides, np.roll(sides, -1, axis=1))).min(axis=1)
    pieces = corners[_highest(bounds, largest, FACES)]
    for _ in range(ROUNDS):
        if not len(pieces):
            break
        middles = pieces.mean(axis=1)
        apart = distance(middles)
        largest = max(largest, float(apart.max()))
        bounds = apart + np.linalg.norm(pieces - middles[:, None], axis=2).max(axis=1)
        pieces = _quarters(pieces[_highest(bounds, largest, PIECES)])
    return largest


def _highest(bounds: np.ndarray, largest: float, most: int) -> np.ndarray:
    """Rows of the highest bounds, at most so many, of those that leave room for more than `largest`."""
    rows = np.flatnonzero(bounds > largest * (1 + MISSED))
    return rows[np.argsort(-bounds[rows], kind="stable")[:most]]


def _quarters(triangles: np.ndarray) -> np.ndarray:
    """float64[4 K, 3, 3]: triangles[K, 3, 3] cut at the middles of their sides."""
    a, b, c = np.moveaxis(triangles, 1, 0)
    ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
    return np.concatenate([np.stack(part, axis=1) for part in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])


SPECS = (
    parameters.length(
        key="uhd",
        title="Unidirectional Hausdorff distance",
        doc="How far the worst point of the reference is missed by the prediction's surface. Samples and vertices are measured to the "
        "triangles themselves, and what lies between them where it may be further by more than a hundredth.",
        paper=parameters.LOCASE,
        function=uhd,
        formula="max over points b of the reference (samples, vertices and what lies between) of min ‖b − p‖, p on the prediction's "
        "triangles",
        version=2,
    ),
)
