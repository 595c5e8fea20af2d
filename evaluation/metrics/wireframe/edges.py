"""Edge precision, recall and F1.

Canonical non-degenerate edges of prediction and reference are matched one to one on their
Hausdorff distance; a matched pair is a hit if that is no more than `tau_edge` metres. Edges that
share a corner often have the same Hausdorff distance, so that several assignments have the same
total; of them the one whose ends are nearest is taken, or rounding would choose. The three
metrics take the parameters of `match_edges` and share its result on one pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.result import MetricResult
from evaluation.metrics.spec import Micro, Param, Source, Symmetry
from evaluation.metrics.wireframe import parameters
from evaluation.metrics.wireframe.matching import Matching, comes_first, match
from evaluation.metrics.wireframe.pair import Pair

SAMPLED_POINTS = 20
BLOCK = 500_000  # point-segment pairs worked on at a time, which bounds memory


def match_edges(pair: Pair, tau_edge: float, hausdorff: str, matching: str, merge_tol: float | None) -> Matching:
    """The hits between the canonical edges of the pair (indices into `pair.segments`)."""
    pred, ref = (found.ends for found in pair.segments(merge_tol))

    def compute() -> Matching:
        distance = segment_hausdorff(pred, ref) if hausdorff == "exact" else sampled_hausdorff(pred, ref)
        return match(distance, pair.limit(tau_edge), matching, swap=not comes_first(pred, ref), second=ends_apart(pred, ref))

    return pair.once(("edge matching", tau_edge, hausdorff, matching, merge_tol), compute)


def edge_precision(pair: Pair, **params: Any) -> MetricResult:
    """Hits over predicted edges, in [0, 1]; 1 if both sides have no edge, 0 if one has none."""
    return match_edges(pair, **params).precision()


def edge_recall(pair: Pair, **params: Any) -> MetricResult:
    """Hits over reference edges, in [0, 1]; 1 if both sides have no edge, 0 if one has none."""
    return match_edges(pair, **params).recall()


def edge_f1(pair: Pair, **params: Any) -> MetricResult:
    """Harmonic mean of the two, in [0, 1]; 1 if both sides have no edge, 0 if one has none."""
    return match_edges(pair, **params).f1()


def segment_hausdorff(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """float64[A, B]: Hausdorff distance of every segment of a[A, 2, 3] to every one of b[B, 2, 3].

    The distance to a segment is a convex function, so over another segment it is largest at one
    of its ends: four distances from a point to a segment give the exact value.
    """
    to_b = np.maximum(_point_segment(a[:, 0], b), _point_segment(a[:, 1], b))
    to_a = np.maximum(_point_segment(b[:, 0], a), _point_segment(b[:, 1], a))
    return np.maximum(to_b, to_a.T)


def sampled_hausdorff(a: np.ndarray, b: np.ndarray, points: int = SAMPLED_POINTS) -> np.ndarray:
    """float64[A, B]: the same between `points` equally spaced points on each segment, ends included."""
    step = np.linspace(0.0, 1.0, points)[:, None]
    on_a = a[:, None, 0] * (1 - step) + a[:, None, 1] * step
    on_b = b[:, None, 0] * (1 - step) + b[:, None, 1] * step
    distance = np.empty((len(a), len(b)))
    for row, cloud in enumerate(on_a):
        gaps = scipy.spatial.distance.cdist(cloud, on_b.reshape(-1, 3)).reshape(points, len(b), points)
        distance[row] = np.maximum(gaps.min(axis=2).max(axis=0), gaps.min(axis=0).max(axis=1))
    return distance


def ends_apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """float64[A, B]: sqrt(|a0 - b0|^2 + |a1 - b1|^2) of segments a[A, 2, 3] and b[B, 2, 3], the nearer way round.

    It does not add up over corners, as the sum of the two distances would, with the same ties.
    """
    gaps = scipy.spatial.distance.cdist(a.reshape(-1, 3), b.reshape(-1, 3), "sqeuclidean").reshape(len(a), 2, len(b), 2)
    return np.sqrt(np.minimum(gaps[:, 0, :, 0] + gaps[:, 1, :, 1], gaps[:, 0, :, 1] + gaps[:, 1, :, 0]))


def _point_segment(points: np.ndarray, lines: np.ndarray) -> np.ndarray:
    """float64[N, S]: distance of points[N, 3] to segments[S, 2, 3], none of them of length 0."""
    start, along = lines[:, 0], lines[:, 1] - lines[:, 0]
    squared = (along * along).sum(-1)
    distance = np.empty((len(points), len(lines)))
    rows = max(1, BLOCK // max(1, len(lines)))
    for first in range(0, len(points), rows):
        offset = points[first : first + rows, None] - start
        share = np.clip((offset * along).sum(-1) / squared, 0.0, 1.0)
        distance[first : first + rows] = np.linalg.norm(offset - share[..., None] * along, axis=-1)
    return distance


_PARAMS = (
    parameters.tau(
        "tau_edge",
        "Two matched edges are a hit if their Hausdorff distance is at most this. Building3D uses 0.1 in its own coordinate frame.",
        Source.OURS,
    ),
    Param(
        "hausdorff",
        "exact",
        "choice",
        choices=("exact", "sampled20"),
        doc="exact closed form, or 20 equally spaced points on each segment as in Building3D.",
        source=Source.OURS,
    ),
    parameters.MATCHING,
    parameters.MERGE,
)
_HITS = "TP = #{matched (p, g) : max(sup_{x∈p} d(x, g), sup_{y∈g} d(y, p)) ≤ τ_edge}"

PLACE = 20  # in lists of metrics of its kind
SPECS = (
    parameters.share(
        key="edge_precision",
        title="Edge precision",
        params=_PARAMS,
        doc="Share of predicted edges that lie within tau_edge (Hausdorff distance) of the reference edge they are matched to.",
        origin=parameters.BUILDING3D,
        function=edge_precision,
        examples=("ONE_EDGE_ENOUGH", "CUT"),
        micro=Micro("edge_precision_micro", "tp", ("n_pred",)),
        formula=f"TP / |P|, {_HITS}",
        version=2,
    ),
    parameters.share(
        key="edge_recall",
        title="Edge recall",
        params=_PARAMS,
        doc="Share of reference edges that have a matched predicted edge within tau_edge.",
        origin=parameters.BUILDING3D,
        function=edge_recall,
        examples=("WRONG_EDGES_FREE", "CUT"),
        micro=Micro("edge_recall_micro", "tp", ("n_gt",)),
        formula=f"TP / |G|, {_HITS}",
        version=2,
    ),
    parameters.share(
        key="edge_f1",
        title="Edge F1",
        params=_PARAMS,
        doc="Harmonic mean of edge precision and edge recall.",
        origin=Origin(
            (papers.BUILDING3D, papers.WIREFRAMES), "defined by the Building3D paper, recommended by the paper on human preferences"
        ),
        function=edge_f1,
        examples=("CUT", "CLIFF"),
        symmetry=Symmetry.EXACT,
        micro=Micro("edge_f1_micro", "tp", ("n_pred", "n_gt"), factor=2.0),
        formula=f"2 TP / (|P| + |G|), {_HITS}",
        version=2,
    ),
)
