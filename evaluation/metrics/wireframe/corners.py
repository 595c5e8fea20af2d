"""Corner precision, recall, F1 and offset.

Corners (all vertices, isolated ones included) of prediction and reference are matched one to one
on their Euclidean distance; a matched pair is a hit if it is no more than `tau` metres apart.
The four metrics take the parameters of `match_corners` and share its result on one pair.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.result import MetricResult
from evaluation.metrics.spec import Micro, Source, Symmetry
from evaluation.metrics.wireframe import parameters
from evaluation.metrics.wireframe.matching import Matching, comes_first, match
from evaluation.metrics.wireframe.pair import Pair


def match_corners(pair: Pair, tau: float, matching: str, drop_isolated: bool, merge_tol: float | None) -> Matching:
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
    hits = match_corners(pair, **params)
    total = pair.to_metres(hits.distance.sum())
    without_hits = params["tau"] if hits.n_pred or hits.n_ref else 0.0
    value = total / len(hits.distance) if len(hits.distance) else without_hits
    return MetricResult(value, hits.status, parts={**hits.parts, "distance_sum": total})


_PARAMS = (
    parameters.tau(
        "tau",
        "Two matched corners are a hit if they are at most this far apart. 0.5 m is the default of the HoHo scorer; the paper on human "
        "preferences gives no value.",
        Source.CODE,
    ),
    parameters.MATCHING,
    parameters.ISOLATED,
    parameters.MERGE,
)
_HITS = "TP = #{matched (p, g) : ‖p − g‖ ≤ τ}"

PLACE = 10  # in lists of metrics of its kind
SPECS = (
    parameters.share(
        key="corner_precision",
        title="Corner precision",
        params=_PARAMS,
        doc="Share of predicted corners that lie within tau of the reference corner they are matched to.",
        origin=parameters.HOHO,
        function=corner_precision,
        examples=("EDGES_UNSEEN", "ONE_CORNER_ENOUGH"),
        micro=Micro("corner_precision_micro", "tp", ("n_pred",)),
        formula=f"TP / |P|, {_HITS}",
    ),
    parameters.share(
        key="corner_recall",
        title="Corner recall",
        params=_PARAMS,
        doc="Share of reference corners that have a matched predicted corner within tau.",
        origin=parameters.HOHO,
        function=corner_recall,
        examples=("EDGES_UNSEEN", "WRONG_CORNERS_FREE"),
        micro=Micro("corner_recall_micro", "tp", ("n_gt",)),
        formula=f"TP / |G|, {_HITS}",
    ),
    parameters.share(
        key="corner_f1",
        title="Corner F1",
        params=_PARAMS,
        doc="Harmonic mean of corner precision and corner recall.",
        origin=Origin((papers.WIREFRAMES,), f"recommended by this paper, defined by the {parameters.HOHO.note}"),
        function=corner_f1,
        examples=("EDGES_UNSEEN", "LOST_HITS"),
        symmetry=Symmetry.EXACT,
        micro=Micro("corner_f1_micro", "tp", ("n_pred", "n_gt"), factor=2.0),
        formula=f"2 TP / (|P| + |G|), {_HITS}",
    ),
    parameters.distance(
        key="corner_offset",
        title="Corner offset",
        params=(replace(_PARAMS[0], source=Source.PEER), *_PARAMS[1:]),  # Building3D has a threshold in a frame of its own
        worst="tau",
        doc="Mean distance of the corners that are hits; tau if there is none.",
        origin=parameters.BUILDING3D,
        function=corner_offset,
        examples=("REWARDS_FINDING_LESS", "OFFSETS_WITHOUT_EDGES"),
        micro=Micro("corner_offset_micro", "distance_sum", ("tp",)),
        formula="(1 / TP) Σ ‖p − g‖ over matched (p, g) with ‖p − g‖ ≤ τ",
    ),
)
