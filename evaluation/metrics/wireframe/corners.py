"""Corner precision, recall, F1 and offset.

Corners (all vertices, isolated ones included) of prediction and reference are matched one to one
on their Euclidean distance; a matched pair is a hit if it is no more than `tau` metres apart.
The four metrics take the parameters of `match_corners` and share its result on one pair.
"""

from __future__ import annotations

from typing import Any

from evaluation.metrics.result import MetricResult
from evaluation.metrics.wireframe.matching import Matching, comes_first, match
from evaluation.metrics.wireframe.pair import Pair

DEFAULT_TAU = 0.5  # metres


def match_corners(
    pair: Pair,
    tau: float = DEFAULT_TAU,
    matching: str = "hungarian_raw",
    drop_isolated: bool = False,
    merge_tol: float | None = None,
) -> Matching:
    """The hits between the canonical corners of the pair (indices into `pair.corners`)."""

    def compute() -> Matching:
        distance = pair.corner_distances(merge_tol, drop_isolated)
        return match(distance, pair.limit(tau), matching, swap=not comes_first(*pair.corners(merge_tol, drop_isolated)))

    return pair.once(("corner matching", tau, matching, drop_isolated, merge_tol), compute)


def corner_precision(pair: Pair, **params: Any) -> MetricResult:
    """Hits over predicted corners, in [0, 1]; 1 if both sides are empty, 0 if one is."""
    return match_corners(pair, **params).precision()


def corner_recall(pair: Pair, **params: Any) -> MetricResult:
    """Hits over reference corners, in [0, 1]; 1 if both sides are empty, 0 if one is."""
    return match_corners(pair, **params).recall()


def corner_f1(pair: Pair, **params: Any) -> MetricResult:
    """Harmonic mean of the two, in [0, 1]; 1 if both sides are empty, 0 if one is."""
    return match_corners(pair, **params).f1()


def corner_offset(pair: Pair, **params: Any) -> MetricResult:
    """Mean distance of the hits in metres, in [0, tau]; tau without a hit, 0 if both sides are empty.

    The part `distance_sum` (metres) over `tp` gives the figure over several items.
    """
    tau = params.get("tau", DEFAULT_TAU)
    hits = match_corners(pair, **params)
    total = pair.to_metres(hits.distance.sum())
    without_hits = tau if hits.n_pred or hits.n_ref else 0.0
    value = total / len(hits.distance) if len(hits.distance) else without_hits
    return MetricResult(value, hits.status, parts={**hits.parts, "distance_sum": total})
