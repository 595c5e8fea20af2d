"""Distances to the triangles of a surface themselves, and differences of the directions that two surfaces face."""

from __future__ import annotations

import numpy as np

from evaluation.metrics.mesh import closest, parameters
from evaluation.metrics.mesh.distances import empty, gaps
from evaluation.metrics.mesh.pair import MeshPair
from evaluation.metrics.result import MetricResult
from evaluation.metrics.spec import MetricSpec


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


SPECS = (
    parameters.length(
        key="p2s",
        title="Point to surface distance",
        doc="Mean distance from points of the predicted surface to the reference's surface itself; what is missing costs nothing.",
        paper="PIFu, ICCV 2019",
        function=p2s,
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
        doc="How far the surfaces face the same way: one minus the absolute cosine between the normals of a point and of the nearest "
        "point of the other surface, averaged over both directions. Faces turned inside out cost nothing.",
        paper=parameters.LOCASE,
        function=normal_difference,
        formula="(mean (1 - |n(A) · n(nearest B)|) + mean (1 - |n(B) · n(nearest A)|)) / 2",
    ),
)
