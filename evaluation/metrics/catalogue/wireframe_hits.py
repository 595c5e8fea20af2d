"""The wireframe metrics that count hits: corners, edges, and edges by confidence."""

from __future__ import annotations

from evaluation.metrics.catalogue.wireframe_parameters import (
    BUILDING3D,
    HOHO,
    ISOLATED,
    MATCHING,
    MERGE,
    WIRE_PARSING,
    distance,
    share,
    tau,
)
from evaluation.metrics.spec import MetricSpec, Micro, Param

_CORNER = (tau("tau", "A pair of corners this far apart or nearer is a hit."), MATCHING, ISOLATED, MERGE)
_EDGE = (
    tau("tau_edge", "A pair of edges whose Hausdorff distance is this or less is a hit."),
    Param(
        "hausdorff",
        "exact",
        "choice",
        choices=("exact", "sampled20"),
        doc="exact closed form, or 20 equally spaced points on each segment as in Building3D.",
    ),
    MATCHING,
    MERGE,
)
_HIT = {"corner": "‖p − g‖ ≤ τ", "edge": "max(sup_{x∈p} d(x, g), sup_{y∈g} d(y, p)) ≤ τ_edge"}
_RATIO = {"precision": "TP / |P|", "recall": "TP / |G|", "f1": "2 TP / (|P| + |G|)"}


def _counting(stem: str, name: str, title: str, params: tuple[Param, ...], doc: str) -> MetricSpec:
    denominators: dict[str, tuple[str, ...]] = {"precision": ("n_pred",), "recall": ("n_gt",), "f1": ("n_pred", "n_gt")}
    numerator, denominator, factor = "tp", denominators[name], 2.0 if name == "f1" else 1.0
    key = f"{stem}_{name}"
    return share(
        key=key,
        title=title,
        params=params,
        doc=doc,
        paper=HOHO if stem == "corner" else BUILDING3D,
        function=f"{stem}s.{key}",
        micro=Micro(f"{key}_micro", numerator, denominator, factor),
        formula=f"{_RATIO[name]}, TP = #{{matched (p, g) : {_HIT[stem]}}}",
        version=2 if stem == "edge" else 1,
    )


CORNERS = (
    _counting(
        "corner",
        "precision",
        "Corner precision",
        _CORNER,
        "Share of predicted corners that lie within tau of the reference corner they are matched to.",
    ),
    _counting(
        "corner",
        "recall",
        "Corner recall",
        _CORNER,
        "Share of reference corners that have a matched predicted corner within tau.",
    ),
    _counting("corner", "f1", "Corner F1", _CORNER, "Harmonic mean of corner precision and corner recall."),
    distance(
        key="corner_offset",
        title="Corner offset",
        params=_CORNER,
        worst="tau",
        doc="Mean distance of the corners that are hits; tau where there is none.",
        paper=BUILDING3D,
        function="corners.corner_offset",
        micro=Micro("corner_offset_micro", "distance_sum", ("tp",)),
        formula="(1 / TP) Σ ‖p − g‖ over matched (p, g) with ‖p − g‖ ≤ τ",
    ),
)

EDGES = (
    _counting(
        "edge",
        "precision",
        "Edge precision",
        _EDGE,
        "Share of predicted edges within tau_edge (Hausdorff distance) of the reference edge they are matched to.",
    ),
    _counting(
        "edge",
        "recall",
        "Edge recall",
        _EDGE,
        "Share of reference edges that have a matched predicted edge within tau_edge.",
    ),
    _counting("edge", "f1", "Edge F1", _EDGE, "Harmonic mean of edge precision and edge recall."),
)

CONFIDENCES = (
    share(
        key="sap3d",
        title="Structural AP",
        params=(
            tau("delta_1", "The first of three distances: squared distances of a hit's ends sum to less than twice its square.", 0.25),
            tau("delta_2", "The second of the three distances.", 0.5),
            tau("delta_3", "The third of the three distances.", 1.0),
            MERGE,
        ),
        doc="Average precision of the predicted edges in the order of their confidence, averaged over three distances. "
        "It needs the edges' confidences (edge_score); an entry that gives none gets 0, the worst value, "
        "and its items are marked as ones it does not apply to.",
        paper=WIRE_PARSING,
        function="sap.sap3d",
        formula="⅓ Σ_δ Σ_k (R_k − R_{k−1}) max_{j≥k} P_j; TP: min_g (‖a − u‖² + ‖b − v‖²) < 2δ², each g once",
    ),
)  # fmt: skip
