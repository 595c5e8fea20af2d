"""Structural average precision: how well the confidence of predicted edges ranks the right ones."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.spec import Source
from evaluation.metrics.wireframe import parameters
from evaluation.metrics.wireframe.pair import Pair

BLOCK = 500_000  # pairs of edges worked on at a time, which bounds memory


def sap3d(pair: Pair, delta_1: float, delta_2: float, delta_3: float, merge_tol: float | None) -> MetricResult:
    """Mean over three distances (metres) of the average precision of the predicted edges, in [0, 1].

    From the most confident edge on (equal ones in lexicographic order) each takes the nearest
    reference edge, by the summed squared distances of their ends. It is a hit if that is less than
    2 delta**2 (by more than rounding) and no hit took that edge before. 0 without predicted edges, and 0, as not
    applicable, where the entry gives no confidences: a metric that an entry cannot be measured by
    is no better for it. No value where the reference has no edge.
    """
    pred, ref = pair.segments(merge_tol)
    if not len(ref):
        return MetricResult(None, Status.NOT_APPLICABLE, ("degenerate_gt",))
    if not len(pred):
        return MetricResult(0.0, Status.EMPTY_PRED)
    scores = pair.segment_scores(merge_tol)
    if scores is None:
        return MetricResult(0.0, Status.NOT_APPLICABLE, ("no_edge_score",))
    by_score = np.argsort(-scores, kind="stable")
    distance, nearest = nearest_edges(pred.ends[by_score], ref.ends, pair.slack)
    limits = [pair.to_file(delta) * math.sqrt(2) for delta in (delta_1, delta_2, delta_3)]
    values = [average_precision(distance < limit - pair.slack(limit), nearest, len(ref)) for limit in limits]
    parts = {f"sap_{number}": value for number, value in enumerate(values, start=1)}
    return MetricResult(float(np.mean(values)), parts=parts)


def nearest_edges(edges: np.ndarray, others: np.ndarray, slack: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """For each of edges[A, 2, 3] the root of the least summed squared distance of ends to one of others[B, 2, 3], and its row.

    The ends are paired the better way round. If several rows are as near as the nearest, up to `slack` of its distance, the first counts.
    """
    distance, nearest = np.empty(len(edges)), np.empty(len(edges), dtype=np.int64)
    rows = max(1, BLOCK // len(others))
    for first in range(0, len(edges), rows):
        block = edges[first : first + rows, None]
        straight = ((block - others) ** 2).sum(axis=(-1, -2))
        crossed = ((block - others[:, ::-1]) ** 2).sum(axis=(-1, -2))
        both = np.sqrt(np.minimum(straight, crossed))
        least = both.min(axis=1)
        distance[first : first + rows] = least
        nearest[first : first + rows] = (both <= (least + slack(least))[:, None]).argmax(axis=1)
    return distance, nearest


def average_precision(near: np.ndarray, nearest: np.ndarray, n_ref: int) -> float:
    """The area under precision over recall, precision made to fall with recall.

    near bool[A] and nearest int64[A] from the most confident edge on: whether it is near enough to
    the reference edge it takes. An edge that was taken is no hit for a later one.
    """
    hit = np.zeros(len(near), dtype=bool)
    candidates = np.flatnonzero(near)
    hit[candidates[np.unique(nearest[candidates], return_index=True)[1]]] = True
    hits = np.cumsum(hit)
    precision = hits / np.arange(1, len(hit) + 1)
    best = np.maximum.accumulate(precision[::-1])[::-1]
    return float(best[hit].sum() / n_ref)


PLACE = 80  # in lists of metrics of its kind
SPECS = (
    parameters.share(
        key="sap3d",
        title="Structural AP",
        params=(
            parameters.tau(
                "delta_1",
                "The first of three distances d. An edge is a hit if the squared distances of its two ends sum to less than 2 d². The "
                "papers use 5, 10 and 15 pixels in an image of 128 × 128, and 0.03, 0.05 and 0.07 in their own coordinate frame.",
                Source.OURS,
                0.25,
            ),
            parameters.tau("delta_2", "The second of the three distances.", Source.OURS, 0.5),
            parameters.tau("delta_3", "The third of the three distances.", Source.OURS, 1.0),
            parameters.MERGE,
        ),
        doc="Average precision of the predicted edges in the order of their confidence, averaged over three distances. The "
        "metric needs the edges' confidences (edge_score). An entry without confidences gets 0, the worst value, and its "
        "items are marked as not applicable.",
        origin=parameters.WIRE_PARSING,
        function=sap3d,
        examples=("SAME_DRAWING_TWO_SCORES", "CUTTING_EDGES_TWO_COSTS"),
        formula="⅓ Σ_δ Σ_k (R_k − R_{k−1}) max_{j≥k} P_j; TP: min_g (‖a − u‖² + ‖b − v‖²) < 2δ², each g once",
    ),
)
