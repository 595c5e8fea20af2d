"""The 3D view's scene of wireframes, with every edge and vertex classified. PURE.

The classes come from the evaluation's own matching with the phase's own thresholds, so drawn
matches are counted matches. Coordinates are sent relative to an `origin`, the centre of the
reference's bounding box, that is subtracted here in float64. A graphics card has float32, whose
steps are half a metre at projected coordinates of some million metres.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evaluation.metrics import registry
from evaluation.metrics.wireframe import canon
from evaluation.metrics.wireframe.corners import match_corners
from evaluation.metrics.wireframe.edges import match_edges
from evaluation.metrics.wireframe.pair import Pair
from submissions.formats.wireframe.wireframe_files import Wireframe

VERSION = 1  # of all that is computed here; what is stored carries it
MATCHED, MISSED, EXTRA = "matched", "missed", "extra"


def scene(
    reference: Wireframe,
    predictions: Sequence[tuple[str, Wireframe | None]],
    columns: Sequence[tuple[str, Mapping[str, Any]]],
    unit: str = "m",
    unit_scale: float = 1.0,
) -> dict[str, Any]:
    """The viewer's JSON for one item: the reference under one or two named predictions.

    `columns` are a batch's (key, params): the first edge and the first corner metric give the thresholds, their defaults without one. With
    two predictions the reference is classed by the first.
    """
    pairs = [Pair.of(prediction, reference, unit_scale) for _, prediction in predictions]
    centre = pairs[0].centre if pairs else Pair.of(None, reference, unit_scale).centre
    classes = [classified(pair, columns) for pair in pairs]
    ref_edges, ref_vertices = (classes[0][2], classes[0][3]) if classes else (None, None)
    models = [_model("reference", "reference", reference, centre, ref_edges, ref_vertices)]
    for (name, prediction), role, (edges, vertices, _, _) in zip(predictions, ("prediction", "prediction_b"), classes, strict=False):
        if prediction is not None:
            models.append(_model(name, role, prediction, centre, edges, vertices))
    return {"unit": unit, "origin": [float(v) for v in centre], "models": models}


def classified(pair: Pair, columns: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[list, list, list, list]:
    """Classes of (predicted edges, predicted vertices, reference edges, reference vertices), each in
    the order of the file; None for an edge the metrics do not look at (doubled, or of no length)."""
    edge, corner = thresholds(columns)
    hits = match_edges(pair, **edge)
    pred, ref = pair.segments(edge["merge_tol"])
    pred_edges = _edges(len(pair.pred_edges), pred.source, hits.pred, EXTRA)
    ref_edges = _edges(len(pair.ref_edges), ref.source, hits.ref, MISSED)
    # Vertices are all shown, so none is merged or left out before they are matched.
    corners = match_corners(pair, corner["tau"], corner["matching"], drop_isolated=False, merge_tol=None)
    pred_vertices = _vertices(pair.pred_vertices, pair.pred_edges, corners.pred, EXTRA)
    return pred_edges, pred_vertices, ref_edges, _vertices(pair.ref_vertices, pair.ref_edges, corners.ref, MISSED)


def thresholds(columns: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of the edge and of the corner matching that the phase scores with."""
    resolved = []
    for stem in ("edge", "corner"):
        keys = [f"{stem}_{name}" for name in ("f1", "precision", "recall")] + ([] if stem == "edge" else ["corner_offset"])
        given = [params for wanted in keys for key, params in columns if key == wanted]
        resolved.append(registry.resolve_params(keys[0], given[0] if given else {}))
    return resolved[0], resolved[1]


def _edges(n: int, source: np.ndarray, hits: np.ndarray, otherwise: str) -> list[str | None]:
    classes: list[str | None] = [None] * n
    matched = set(hits.tolist())
    for segment, row in enumerate(source.tolist()):
        classes[row] = MATCHED if segment in matched else otherwise
    return classes


def _vertices(vertices: np.ndarray, edges: np.ndarray, hits: np.ndarray, otherwise: str) -> list[str]:
    order = canon.lexicographic(vertices, edges)[2]
    classes = [otherwise] * len(vertices)
    for index in order[hits].tolist():
        classes[index] = MATCHED
    return classes


def _model(name: str, role: str, frame: Wireframe, centre: np.ndarray, edges: list | None, vertices: list | None) -> dict[str, Any]:
    return {
        "name": name,
        "role": role,
        "vertices": (frame.vertices - centre).tolist(),
        "edges": frame.edges.tolist(),
        "vertex_class": vertices,
        "edge_class": edges,
    }
