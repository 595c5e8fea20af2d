"""Distances between the edges of two wireframes as curves: chamfer and Hausdorff.

Both curves are sampled at n points and each point is taken to the nearest sample of the other.
Isolated vertices play no part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.seeds import generator
from evaluation.metrics.wireframe.canon import Segments
from evaluation.metrics.wireframe.pair import Pair


@dataclass(frozen=True, eq=False)
class Gaps:
    """float64[n] each: from every sample to the nearest one on the other side, in metres."""

    pred2gt: np.ndarray
    gt2pred: np.ndarray


def ecd_chamfer(
    pair: Pair,
    n: int = 10_000,
    sampling: str = "stratified",
    seed0: int = 0,
    merge_tol: float | None = None,
    one_sided: str = "off",
) -> MetricResult:
    """Mean of the two directed mean distances, in metres; `one_sided` takes only one of them.

    0 for equal geometry and for two wireframes without length; the bounding box diagonal of the
    other one if exactly one has no length.
    """
    gaps = _gaps("ecd_chamfer", pair, n, sampling, seed0, merge_tol)
    if isinstance(gaps, MetricResult):
        return gaps
    parts = {"pred2gt": float(gaps.pred2gt.mean()), "gt2pred": float(gaps.gt2pred.mean())}
    both = (parts["pred2gt"] + parts["gt2pred"]) / 2
    return MetricResult(both if one_sided == "off" else parts[one_sided], parts=parts)


def wf_hausdorff(
    pair: Pair,
    n: int = 10_000,
    sampling: str = "stratified",
    seed0: int = 0,
    merge_tol: float | None = None,
) -> MetricResult:
    """Largest distance of a sample of either wireframe to the other, in metres.

    Wireframes without length count as for ecd_chamfer.
    """
    gaps = _gaps("wf_hausdorff", pair, n, sampling, seed0, merge_tol)
    if isinstance(gaps, MetricResult):
        return gaps
    parts = {"pred2gt": float(gaps.pred2gt.max()), "gt2pred": float(gaps.gt2pred.max())}
    return MetricResult(max(parts.values()), parts=parts)


def sample_points(edges: Segments, positions: np.ndarray) -> np.ndarray:
    """float64[n, 3]: the points at `positions` in [0, 1) of the arc length of all edges in a row.

    Edges follow one another in the order of `edges`, whose total length must not be 0.
    """
    lengths = edges.lengths
    reached = np.cumsum(lengths)
    along = positions * reached[-1]
    edge = np.minimum(np.searchsorted(reached, along, side="right"), len(lengths) - 1)
    share = np.clip((along - (reached[edge] - lengths[edge])) / lengths[edge], 0.0, 1.0)
    start, end = edges.ends[edge, 0], edges.ends[edge, 1]
    return start + share[:, None] * (end - start)


def stratified_positions(n: int) -> np.ndarray:
    """The middles of n equal steps of [0, 1]."""
    return (np.arange(n) + 0.5) / n


def _gaps(metric: str, pair: Pair, n: int, sampling: str, seed0: int, merge_tol: float | None) -> Gaps | MetricResult:
    """The nearest-sample distances, or the result where a side has no length."""
    pred, ref = pair.segments(merge_tol)
    if not len(pred) and not len(ref):
        return MetricResult(0.0, Status.EMPTY_PRED)
    if not len(pred):
        return MetricResult(pair.reference_diagonal, Status.EMPTY_PRED)
    if not len(ref):
        return MetricResult(pair.prediction_diagonal)
    seed = (metric, seed0) if sampling == "random" else None

    def compute() -> Gaps:
        positions = stratified_positions(n) if seed is None else generator(*seed).random(n)
        a, b = sample_points(pred, positions), sample_points(ref, positions)
        return Gaps(_nearest(pair, a, b), _nearest(pair, b, a))

    return pair.once(("sample gaps", n, seed, merge_tol), compute)


def _nearest(pair: Pair, points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Metres from each point to the nearest of `others`."""
    return cKDTree(others).query(points)[0] * pair.unit_scale
