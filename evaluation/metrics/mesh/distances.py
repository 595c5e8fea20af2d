"""Distances between samples of two surfaces: chamfer and F-score.

A is the prediction's sample, B the reference's; `a` are the distances from A to the nearest of B, `b` the other way.
A prediction of points without faces takes its vertices as A (flag points_only); one without vertices gets the worst value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.metrics.mesh import parameters
from evaluation.metrics.mesh.pair import Cloud, MeshPair
from evaluation.metrics.mesh.sampling import WORTH_A_CARD
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.spec import MetricSpec, Param
from evaluation.networks import cards

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
    if min(len(points), len(others.points)) >= WORTH_A_CARD and (device := cards.card()):
        from evaluation.metrics.mesh import on_card  # loads torch

        try:
            rows = on_card.nearest_rows(points, others.points, device)
        except RuntimeError as error:
            if not on_card.out_of_memory(error):  # somebody else fills the card
                raise
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


SPECS = (
    parameters.length(
        key="chamfer_l1",
        title="Chamfer distance (L1)",
        doc="Mean distance from points of one surface to the nearest point of the other, averaged over both directions.",
        paper=parameters.OSIM,
        function=chamfer_l1,
        formula="(mean a + mean b) / 2, where a are the distances from samples of the prediction to the nearest sample of the reference, "
        "b those the other way",
    ),
    parameters.length(
        key="chamfer_l2",
        title="Chamfer distance (L2, squared)",
        worst="gt_diagonal_squared",
        doc="Mean squared distance from points of one surface to the nearest point of the other, summed over both directions.",
        paper=parameters.OSIM,
        function=chamfer_l2,
        formula="mean a² + mean b²",
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
                doc="A point this near to the other surface, or nearer, counts; a fraction of the reference's longest side, "
                "or metres with normalize=none.",
            ),
            *parameters.SURFACE,
        ),
        worst="0",
        doc="Harmonic mean of the share of the predicted surface near the reference and the share of the reference near the prediction.",
        paper=parameters.OSIM,
        function=mesh_fscore,
        formula="2 P R / (P + R), P the share of a ≤ threshold, R the share of b ≤ threshold",
    ),
)
