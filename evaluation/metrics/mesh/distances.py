"""Distances between two surfaces: chamfer and F-score by samples; the largest one; those to triangles, and how far directions differ.

A is the prediction's sample, B the reference's; `a` are the distances from A to the nearest of B, `b` the other way.
A prediction of points without faces takes its vertices as A (flag points_only); one without vertices gets the worst value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from evaluation.metrics import papers
from evaluation.metrics.mesh import closest, parameters
from evaluation.metrics.mesh.pair import Cloud, MeshPair
from evaluation.metrics.mesh.sampling import WORTH_A_CARD
from evaluation.metrics.mesh.surface import Surface
from evaluation.metrics.papers import Origin
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.spec import MetricSpec, Param, Source
from evaluation.networks import graphics_card

WORKERS = 2  # threads of a search; the numbers do not depend on it
RELATIVE_TOLERANCE = 1e-9
SPACING_STEPS = 4


@dataclass(frozen=True, eq=False)
class Gaps:
    """`a` float64[A] and `b` float64[B] in the reference's frame, with the row of the nearest sample on the other side."""

    a: np.ndarray
    b: np.ndarray
    a_nearest: np.ndarray
    b_nearest: np.ndarray
    flags: tuple[str, ...] = ()


def nearest(points: np.ndarray, others: Cloud) -> tuple[np.ndarray, np.ndarray]:
    """(distance float64[N], row int64[N]) of the nearest of `others` to each point."""
    if min(len(points), len(others.points)) >= WORTH_A_CARD and (device := graphics_card.card()):
        from evaluation.metrics.mesh import on_gpu

        rows = on_gpu.if_it_fits(lambda: on_gpu.nearest_rows(points, others.points, device))
        if rows is None:
            rows = others.tree.query(points, workers=WORKERS)[1]
        x, y, z = (points - others.points[rows]).T
        return np.sqrt(x * x + y * y + z * z), rows
    return others.tree.query(points, workers=WORKERS)


def gaps(pair: MeshPair, n: int, seed0: int, align: str) -> Gaps | None:
    """The distances between `n` samples of each side; None where the prediction has no vertex."""

    def compute() -> Gaps | None:
        pred = pair.prediction_cloud(n, seed0, align)
        if pred is None:
            return None
        ref = pair.reference_cloud(n, seed0)
        (a, a_nearest), (b, b_nearest) = nearest(pred.points, ref), nearest(ref.points, pred)
        return Gaps(a, b, a_nearest, b_nearest, () if pred.faces is not None else ("points_only",))

    return pair.once(("gaps", n, seed0, align), compute)


def chamfer_l1(pair: MeshPair, n: int, normalize: str, align: str, seed0: int) -> MetricResult:
    """(mean a + mean b) / 2; 0 for equal surfaces.

    Parts: `accuracy` (mean a), `completeness` (mean b) and the means of their squares, from which every other
    convention follows.
    """
    found = gaps(pair, n, seed0, align)
    if found is None:
        return empty(pair.diagonal(normalize))
    parts = _means(found, pair.length(normalize))
    value = (parts["accuracy"] + parts["completeness"]) / 2
    return MetricResult(value, flags=found.flags, parts=parts | pair.alignment_parts(align, normalize))


def chamfer_l2(pair: MeshPair, n: int, normalize: str, align: str, seed0: int) -> MetricResult:
    """mean a^2 + mean b^2, a sum of squared lengths; parts as for chamfer_l1."""
    found = gaps(pair, n, seed0, align)
    if found is None:
        return empty(pair.diagonal(normalize) ** 2)
    parts = _means(found, pair.length(normalize))
    value = parts["mean_a2"] + parts["mean_b2"]
    return MetricResult(value, flags=found.flags, parts=parts | pair.alignment_parts(align, normalize))


def mesh_fscore(pair: MeshPair, threshold: float, n: int, normalize: str, align: str, seed0: int) -> MetricResult:
    """Harmonic mean of the share of a and the share of b within the threshold, in [0, 1]; 0 if both are 0."""
    found = gaps(pair, n, seed0, align)
    if found is None:
        return empty(0.0)
    tau = threshold / pair.length(normalize)
    limit = tau + RELATIVE_TOLERANCE * max(tau, 1.0) + SPACING_STEPS * pair.spacing
    precision, recall = float(np.mean(found.a <= limit)), float(np.mean(found.b <= limit))
    value = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    parts = {"precision": precision, "recall": recall} | pair.alignment_parts(align, normalize)
    return MetricResult(value, flags=found.flags, parts=parts)


def empty(worst: float) -> MetricResult:
    """The result of a valid prediction that has nothing in it the metric looks at."""
    return MetricResult(worst, Status.EMPTY_PRED)


def _means(found: Gaps, length: float) -> dict[str, float]:
    a, b = found.a * length, found.b * length
    means = {"accuracy": a, "completeness": b, "mean_a2": a**2, "mean_b2": b**2}
    return {name: float(np.mean(values)) for name, values in means.items()}


def p2s(pair: MeshPair, n: int, normalize: str, align: str, seed0: int) -> MetricResult:
    """Mean distance from samples of the prediction to the reference's triangles; part `p2s_max` is the largest.

    A prediction of points without faces is taken at its vertices (flag points_only).
    """
    pred, near = pair.prediction_cloud(n, seed0, align), gaps(pair, n, seed0, align)
    if pred is None or near is None:
        return empty(pair.diagonal(normalize))
    ref = pair.reference
    found = pair.once(("to reference", n, seed0, align), lambda: closest.distances(pred.points, ref.points, ref.faces))
    # Never further than the nearest sample of the reference: on needles of faces the triangle's own figure loses digits.
    found = np.minimum(found, near.a) * pair.length(normalize)
    parts = {"p2s_max": float(found.max())} | pair.alignment_parts(align, normalize)
    return MetricResult(float(found.mean()), flags=() if pred.faces is not None else ("points_only",), parts=parts)


def normal_difference(pair: MeshPair, n: int, align: str, seed0: int) -> MetricResult:
    """Mean of 1 - |cosine| between the normals of each sample and the nearest one of the other side, in [0, 1].

    Averaged over both directions, which are the parts `pred2gt` and `gt2pred`. Which side of a face is out does not
    count. 1 for a prediction without faces.
    """
    pred, ref = pair.prediction(align), pair.reference
    if not len(pred):
        return empty(1.0)
    found, cloud = gaps(pair, n, seed0, align), pair.prediction_cloud(n, seed0, align)
    assert found is not None and cloud is not None  # it has faces
    there = pred.normals()[cloud.faces]
    here = ref.normals()[pair.reference_cloud(n, seed0).faces]
    means = {"pred2gt": _turn(there, here[found.a_nearest]), "gt2pred": _turn(here, there[found.b_nearest])}
    value = (means["pred2gt"] + means["gt2pred"]) / 2
    return MetricResult(value, parts=means | pair.alignment_parts(align, "gt_unit"))


def _turn(normals: np.ndarray, others: np.ndarray) -> float:
    """Mean of 1 - |cosine| of unit vectors; exactly 0 for equal or opposite ones."""
    apart, summed = (np.einsum("ij,ij->i", d, d) for d in (normals - others, normals + others))
    return float(np.mean(np.minimum(np.minimum(apart, summed) / 2, 1.0)))


FIRST = 256  # places that are measured at first
FINE = 1e-5  # of the reference's longest side
ROUNDING = 1e-12  # places that are further by no more than this share are as far
MISSED = 0.01  # a place that is further by no more than this share is not looked for
# So many faces are looked at, the most promising ones, and so many of their pieces cut into four, so many times.
FACES, PIECES, ROUNDS = 1 << 16, 1 << 15, 12


def uhd(pair: MeshPair, n: int, normalize: str, align: str, seed0: int) -> MetricResult:
    """Largest distance from the reference, its samples, its vertices and what lies between, to the prediction's surface.

    Part `uhd_pred2gt` is the same the other way. A prediction of points without faces is taken at its vertices.
    """
    on_pred = pair.prediction_cloud(n, seed0, align)
    if on_pred is None:
        return empty(pair.diagonal(normalize))

    def compute() -> tuple[float, float]:
        pred, ref, on_ref = pair.prediction(align), pair.reference, pair.reference_cloud(n, seed0)
        if not len(pred):  # its cloud is all there is of it
            there = max(float(nearest(points, on_pred)[0].max()) for points in (on_ref.points, ref.points))
            return there, float(closest.distances(on_pred.points, ref.points, ref.faces).max())
        return _largest(ref, on_ref, pred, on_pred), _largest(pred, on_pred, ref, on_ref)

    there, back = (distance * pair.length(normalize) for distance in pair.once(("largest gaps", n, seed0, align), compute))
    flags = () if on_pred.faces is not None else ("points_only",)
    return MetricResult(there, flags=flags, parts={"uhd_pred2gt": back} | pair.alignment_parts(align, normalize))


def _largest(side: Surface, samples: Cloud, other: Surface, cloud: Cloud) -> float:
    """The largest distance from one surface, of which there are samples, to another, of which there is a cloud of points.

    The triangle nearest to the middle of a piece of a face bounds the distance of the whole piece. No place of the piece is
    further from that triangle than its furthest corner. So only pieces that could be the furthest are measured.
    """
    assert samples.faces is not None  # they lie on a surface
    search = closest.to_triangles(other.points, other.faces)
    triangles = other.points[other.faces]
    corners = side.points[side.faces]
    apart, places, rows = search(corners.mean(axis=1))
    reach = _reach(corners, places, triangles[rows])
    of_vertices = np.full(len(side.points), np.inf)
    np.minimum.at(of_vertices, side.faces, reach)
    of_faces = reach.max(axis=1)
    # Samples are no further than their face's corners, nor than they are from the place that is nearest to its middle.
    near = np.minimum(of_faces[samples.faces], np.linalg.norm(samples.points - places[samples.faces], axis=1))

    def furthest(bounds: np.ndarray) -> float:
        """The largest distance of the samples and vertices, none of which is further than its bound."""
        places, found, wanted = np.concatenate([samples.points, side.points]), 0.0, FIRST
        while len(bounds):
            part = np.argpartition(bounds, -wanted)[-wanted:] if wanted < len(bounds) else np.arange(len(bounds))
            found = max(found, float(np.minimum(search(places[part])[0], bounds[part]).max()))
            bounds[part] = 0.0
            left = bounds > found * (1 + ROUNDING)
            places, bounds, wanted = places[left], bounds[left], 4 * wanted
        return found

    bounds = np.concatenate([near, of_vertices])
    largest = furthest(bounds.copy())
    if largest < FINE:  # On needles of faces a triangle's own figure loses so many digits; what both surfaces hold is no way apart.
        held = nearest(samples.points, cloud)[0], scipy.spatial.cKDTree(other.points).query(side.points, workers=WORKERS)[0]
        largest = furthest(np.minimum(bounds, np.concatenate(held)))
    if not largest:
        return 0.0
    # No place is further than another by more than the way between them, so the bounds of its corners bound what lies within a face.
    chosen = np.flatnonzero(of_faces > largest) if len(side) <= FACES else np.arange(len(side))
    if not len(chosen):
        return largest
    used, renumbered = np.unique(side.faces[chosen], return_inverse=True)
    by_points = [nearest(side.points[used], cloud)[0], scipy.spatial.cKDTree(other.points).query(side.points[used], workers=WORKERS)[0]]
    sides = np.linalg.norm(corners[chosen] - np.roll(corners[chosen], 1, axis=1), axis=2)  # of each corner to the one before it
    bounds = (np.min(by_points, axis=0)[renumbered.reshape(-1, 3)] + np.maximum(sides, np.roll(sides, -1, axis=1))).min(axis=1)
    chosen = chosen[_highest(bounds, largest, FACES)]
    pieces, places, rows = corners[chosen], places[chosen], rows[chosen]
    for _ in range(ROUNDS):
        could = _reach(pieces, places, triangles[rows]).max(axis=1) > largest * (1 + ROUNDING)
        pieces = pieces[could]
        if not len(pieces):
            break
        middles = pieces.mean(axis=1)
        apart, places, rows = search(middles)
        largest = max(largest, float(apart.max()))
        chosen = _highest(apart + np.linalg.norm(pieces - middles[:, None], axis=2).max(axis=1), largest, PIECES)
        pieces, places, rows = _quarters(pieces[chosen]), np.tile(places[chosen], (4, 1)), np.tile(rows[chosen], 4)
    return largest


def _reach(pieces: np.ndarray, places: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """float64[K, 3]: how far each corner of pieces[K, 3, 3] is at most from triangles[K, 3, 3], each of which has the place[K, 3]."""
    a = triangles[:, :1]
    u, v, w = triangles[:, 1:2] - a, triangles[:, 2:] - a, pieces - a
    uu, uv, vv, wu, wv = (np.einsum("kij,kij->ki", *pair) for pair in ((u, u), (u, v), (v, v), (w, u), (w, v)))
    with np.errstate(divide="ignore", invalid="ignore"):
        second, third = (vv * wu - uv * wv) / (uu * vv - uv * uv), (uu * wv - uv * wu) / (uu * vv - uv * uv)
        # A point beyond a side is measured to a place of the triangle that need not be the nearest, so this is an upper bound.
        weights = np.maximum(np.stack([1 - second - third, second, third]), 0.0)
        weights /= weights.sum(axis=0)
        found = np.linalg.norm(w - weights[1, ..., None] * u - weights[2, ..., None] * v, axis=2)
    # On needles that figure loses digits; a corner that both have is no way from the triangle.
    to_corners = np.linalg.norm(pieces[:, :, None] - triangles[:, None], axis=3).min(axis=2)
    return np.fmin(np.fmin(found, to_corners), np.linalg.norm(pieces - places[:, None], axis=2))


def _highest(bounds: np.ndarray, largest: float, most: int) -> np.ndarray:
    """Rows of the highest bounds, at most so many, of those that leave room for more than `largest`."""
    rows = np.flatnonzero(bounds > largest * (1 + MISSED))
    return rows[np.argsort(-bounds[rows], kind="stable")[:most]]


def _quarters(triangles: np.ndarray) -> np.ndarray:
    """float64[4 K, 3, 3]: triangles[K, 3, 3] cut at the middles of their sides."""
    a, b, c = np.moveaxis(triangles, 1, 0)
    ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
    return np.concatenate([np.stack(part, axis=1) for part in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])


PLACE = 10  # in lists of metrics of its kind
SPECS = (
    parameters.length(
        key="chamfer_l1",
        title="Chamfer distance (L1)",
        doc="Mean distance from points of one surface to the nearest point of the other, averaged over both directions.",
        origin=parameters.OSIM,
        function=chamfer_l1,
        examples=("MISSING_SIDE_WEIGHS_LESS", "INSIDE_OUT"),
        formula="(mean a + mean b) / 2, where a are the distances from samples of the prediction to the nearest sample of the reference, "
        "b those the other way",
        of_points=True,
    ),
    parameters.length(
        key="chamfer_l2",
        title="Chamfer distance (L2, squared)",
        worst="gt_diagonal_squared",
        doc="Mean squared distance from points of one surface to the nearest point of the other, summed over both directions.",
        origin=parameters.OSIM,
        function=chamfer_l2,
        examples=("STRAY_TRIANGLE", "INSIDE_OUT"),
        formula="mean a² + mean b²",
        of_points=True,
    ),
    MetricSpec(
        key="mesh_fscore",
        title="Surface F-score",
        family="mesh",
        higher_is_better=True,
        bounds=(0.0, 1.0),
        unit="",
        params=(
            Param(
                "threshold",
                0.05,
                "float",
                low=0.0,
                positive=True,
                doc="A point counts if it is at most this far from the other surface: a fraction of the reference's longest side, or "
                "metres with normalize=none. The OSIM paper prints 0.05 and no unit.",
                source=Source.PAPER,
            ),
            *parameters.SURFACE,
        ),
        worst="0",
        doc="Harmonic mean of the share of the predicted surface near the reference and the share of the reference near the prediction.",
        origin=parameters.OSIM,
        function=mesh_fscore,
        examples=("HAIR_DECIDES_EVERYTHING", "SATURATION"),
        formula="2 P R / (P + R), P the share of a ≤ threshold, R the share of b ≤ threshold",
        of_points=True,
    ),
    parameters.length(
        key="uhd",
        title="Unidirectional Hausdorff distance",
        doc=(
            "Largest distance from a point of the reference to the prediction's surface. The distance is measured from sample "
            "points and vertices of the reference to the triangles of the prediction. Points between the sample points are measured too "
            "if they may be further away by more than 1 %."
        ),
        origin=parameters.LOCASE,
        function=uhd,
        examples=("EXTRA_PARTS_UNSEEN", "WORST_POINT_DECIDES"),
        formula="max over points b of the reference (samples, vertices and what lies between) of min ‖b − p‖, p on the prediction's "
        "triangles",
        version=2,
    ),
    parameters.length(
        key="p2s",
        title="Point to surface distance",
        doc="Mean distance from points of the predicted surface to the reference's surface itself; missing parts cost nothing.",
        origin=Origin((papers.PIFU,)),
        function=p2s,
        examples=("MISSING_PARTS_UNSEEN",),
        formula="mean over samples p of the prediction of min |p - q|, q on the reference's triangles",
    ),
    MetricSpec(
        key="normal_difference",
        title="Normal difference",
        family="mesh",
        higher_is_better=False,
        bounds=(0.0, 1.0),
        unit="",
        params=(parameters.SAMPLES, parameters.ALIGN, parameters.SEED),
        worst="1",
        doc="How differently the surfaces are oriented: one minus the absolute cosine between the normals of a point and of the "
        "nearest point on the other surface, averaged over both directions. Faces turned inside out cost nothing.",
        origin=parameters.LOCASE,
        function=normal_difference,
        examples=("PLACE_UNSEEN",),
        formula="(mean (1 - |n(A) · n(nearest B)|) + mean (1 - |n(B) · n(nearest A)|)) / 2",
    ),
)
