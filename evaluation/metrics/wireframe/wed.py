"""Wireframe edit distances: what it takes to turn the prediction into the reference.

WED = (T + cv_del n_del + cv_ins n_ins + ce (len_del + len_ins)) / L

T is the distance that assigned vertices are moved, n_del and n_ins count vertices deleted and inserted, len_del and len_ins are the lengths
of edges deleted and inserted, L is the reference's total length. The variants differ in how predicted vertices are assigned to reference
vertices. A vertex cost below 0 is a multiple of the reference's diameter, else it is in metres.

A reference without length cannot be divided by: that is the caller's error (DegenerateReference). If only merging its vertices leaves no
length, the metric does not apply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy

from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.spec import Param, Source
from evaluation.metrics.wireframe import canon, parameters
from evaluation.metrics.wireframe.canon import Graph
from evaluation.metrics.wireframe.edges import match_edges
from evaluation.metrics.wireframe.matching import assign, comes_first
from evaluation.metrics.wireframe.pair import Pair

NOWHERE = -1  # the assignment of a vertex that is deleted


class DegenerateReference(ValueError):
    """degenerate_gt: the reference has no edge with a length."""


@dataclass(frozen=True)
class Costs:
    """The cost model's parameters; vertex costs as given (see the module), 0 for what a metric does not do."""

    cv_ins: float = 0.0
    cv_del: float = 0.0
    ce: float = 1.0
    merge_cost: float = 0.0
    normalized: bool = True
    clip_to_empty: bool = False

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Costs:
        """Costs of a metric's parameters; others are ignored."""
        return cls(**{field.name: params[field.name] for field in fields(cls) if field.name in params})


@dataclass(frozen=True)
class Edit:
    """The changes made to the prediction; lengths in the unit of the files."""

    moved: float = 0.0
    deleted: int = 0
    inserted: int = 0
    merged: int = 0
    deleted_length: float = 0.0
    inserted_length: float = 0.0


def wed_prereg(pair: Pair, **params: Any) -> MetricResult:
    """The edit distance of S23DR 2024, after moving and scaling the prediction onto the reference.

    Hungarian assignment without a threshold; edges at a deleted vertex go free. `compat_index`
    repeats an error of the official code: with more predicted vertices than reference ones, it
    measures deleted edges at the wrong vertices. Only then does the file's order matter.
    """
    options, compat_index = _canonical(params), params["compat_index"]
    pred, ref = pair.graphs_as_given(**options) if compat_index else pair.graphs(**options)
    if len(pred.vertices) and len(ref.vertices):
        flat = pair.to_file(canon.DEGENERATE_LENGTH) + pair.rounding
        pred = Graph(registered(pred.vertices, ref.vertices, params["single_scale"], flat), pred.edges)
    distance = scipy.spatial.distance.cdist(pred.vertices, ref.vertices)
    rows, columns = assign(distance)
    target = _target(len(pred.vertices), rows, columns)
    measured = np.zeros_like(ref.vertices)
    measured[columns] = pred.vertices[: len(rows)] if compat_index else pred.vertices[rows]
    edit = _edit(pred, ref, target, distance[rows, columns].sum(), measured, dangling_free=True)
    return _result(pair, ref, edit, params)


def wed_mnn(pair: Pair, **params: Any) -> MetricResult:
    """The edit distance with vertices assigned that are each other's nearest; no threshold."""
    pred, ref = pair.graphs(**_canonical(params))
    distance = _distance(pair, params)
    target = np.full(len(pred.vertices), NOWHERE)
    moved = 0.0
    if len(pred.vertices) and len(ref.vertices):
        there, back = _nearest(pair, distance), _nearest(pair, distance.T)
        rows = np.flatnonzero(back[there] == np.arange(len(there)))
        target[rows] = there[rows]
        moved = distance[rows, there[rows]].sum()
    return _result(pair, ref, _edit(pred, ref, target, moved, ref.vertices), params)


def wed_nearest(pair: Pair, **params: Any) -> MetricResult:
    """The edit distance with every predicted vertex assigned to the nearest of the reference.

    None is deleted; those that share one are merged, at `merge_cost` for each beyond the first.
    """
    pred, ref = pair.graphs(**_canonical(params))
    distance = _distance(pair, params)
    target = np.full(len(pred.vertices), NOWHERE)
    moved = 0.0
    if len(pred.vertices) and len(ref.vertices):
        target = _nearest(pair, distance)
        moved = distance.min(axis=1).sum()
    return _result(pair, ref, _edit(pred, ref, target, moved, ref.vertices), params)


def wed_hungarian(pair: Pair, **params: Any) -> MetricResult:
    """The edit distance with Hungarian assignment of vertices; no registration, no threshold."""
    pred, ref = pair.graphs(**_canonical(params))
    distance = _distance(pair, params)
    rows, columns = assign(distance, swap=not comes_first(pred.vertices, ref.vertices))
    target = _target(len(pred.vertices), rows, columns)
    return _result(pair, ref, _edit(pred, ref, target, distance[rows, columns].sum(), ref.vertices), params)


def wed_ap(pair: Pair, tau_edge: float, merge_tol: float | None) -> MetricResult:
    """The edit distance of Building3D: edges within `tau_edge` metres are kept, others paid for.

    (T + len_del + len_ins) / L, where T takes each corner of a kept predicted edge to the nearest
    corner of a kept reference edge. 1 for a prediction without edges.
    """
    pred, ref = pair.segments(merge_tol)
    hits = match_edges(pair, tau_edge, "exact", "hungarian_raw", merge_tol)
    ends, ref_ends = (side.vertices for side in pair.graphs(merge_tol))
    corners, ref_corners = ends[np.unique(pred.corner[hits.pred])], ref_ends[np.unique(ref.corner[hits.ref])]
    edit = Edit(
        moved=float(scipy.spatial.distance.cdist(corners, ref_corners).min(axis=1).sum()) if len(corners) else 0.0,
        deleted_length=float(np.delete(pred.lengths, hits.pred).sum()),
        inserted_length=float(np.delete(ref.lengths, hits.ref).sum()),
    )
    status = Status.OK if len(pred) else Status.EMPTY_PRED
    return _valued(pair, edit, Costs(), float(ref.lengths.sum()), pair.graphs(merge_tol)[1], status, merge_tol)


def registered(pred: np.ndarray, ref: np.ndarray, single_scale: bool, flat: float = 0.0) -> np.ndarray:
    """`pred` float64[P, 3] with the mean and the spread of `ref` float64[G, 3].

    The spread is the standard deviation along each axis, 1 where no coordinate differs by more
    than `flat`; `single_scale` takes the length of the three instead.
    """
    spreads = []
    for points in (pred, ref):
        spread = np.where(np.ptp(points, axis=0) <= flat, 1.0, points.std(axis=0))
        spreads.append(np.linalg.norm(spread) if single_scale else spread)
    return (pred - pred.mean(axis=0)) / spreads[0] * spreads[1] + ref.mean(axis=0)


def _canonical(params: Mapping[str, Any]) -> dict[str, Any]:
    return {"merge_tol": params["merge_tol"], "drop_isolated": params["drop_isolated"]}


def _distance(pair: Pair, params: Mapping[str, Any]) -> np.ndarray:
    return pair.corner_distances(**_canonical(params))


def _nearest(pair: Pair, distance: np.ndarray) -> np.ndarray:
    """int64[rows]: the first column that is nearest, those that rounding alone sets apart taken as equal."""
    least = distance.min(axis=1, keepdims=True)
    return (distance <= least + pair.slack(least)).argmax(axis=1)


def _target(n: int, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    target = np.full(n, NOWHERE)
    target[rows] = columns
    return target


def _edit(pred: Graph, ref: Graph, target: np.ndarray, moved: float, measured: np.ndarray, dangling_free: bool = False) -> Edit:
    """The edit that an assignment asks for: `target` int64[P] is a reference vertex or NOWHERE.

    A predicted edge that becomes an edge of the reference stays. One whose ends become the same vertex costs nothing. Any other edge is
    deleted: between two assigned vertices once, with its length between `measured` float64[G, 3]; else (unless `dangling_free`) with the
    length it has when assigned vertices have been moved. Reference edges that none became are inserted.
    """
    assigned = target >= 0
    used = len(np.unique(target[assigned]))
    ends = np.sort(target[pred.edges], axis=1)
    whole = ends[:, 0] >= 0
    became = np.unique((ends[:, 0] * len(ref.vertices) + ends[:, 1])[whole & (ends[:, 0] != ends[:, 1])])
    wanted = ref.edges[:, 0] * len(ref.vertices) + ref.edges[:, 1]
    extra = became[~np.isin(became, wanted, assume_unique=True)]
    deleted = _total(measured, np.stack(np.divmod(extra, max(len(ref.vertices), 1)), axis=1))
    if not dangling_free and not whole.all():
        places = pred.vertices.copy()
        places[assigned] = ref.vertices[target[assigned]]
        deleted += _total(places, pred.edges[~whole])
    return Edit(
        moved=float(moved),
        deleted=int(len(target) - assigned.sum()),
        inserted=len(ref.vertices) - used,
        merged=int(assigned.sum()) - used,
        deleted_length=deleted,
        inserted_length=_total(ref.vertices, ref.edges[~np.isin(wanted, became, assume_unique=True)]),
    )


def _total(vertices: np.ndarray, edges: np.ndarray) -> float:
    return float(Graph(vertices, edges).lengths().sum())


def _result(pair: Pair, ref: Graph, edit: Edit, params: Mapping[str, Any]) -> MetricResult:
    status = Status.OK if len(pair.pred_vertices) else Status.EMPTY_PRED
    return _valued(pair, edit, Costs.of(params), _total(ref.vertices, ref.edges), ref, status, params["merge_tol"])


def _valued(pair: Pair, edit: Edit, costs: Costs, total: float, ref: Graph, status: Status, merge_tol: float | None) -> MetricResult:
    """The value of an edit; `total` is the reference's length."""
    if total == 0 and (costs.normalized or not len(ref.vertices)):
        if merge_tol is None:
            raise DegenerateReference("degenerate_gt: the reference has no edge with a length; give one that has")
        return MetricResult(None, Status.NOT_APPLICABLE, ("degenerate_gt",))
    insertion, deletion, merging = (
        -cost * ref.diameter if cost < 0 else pair.to_file(cost) for cost in (costs.cv_ins, costs.cv_del, costs.merge_cost)
    )
    value = edit.moved + deletion * edit.deleted + insertion * edit.inserted + merging * edit.merged
    value += costs.ce * (edit.deleted_length + edit.inserted_length)
    if costs.clip_to_empty:
        value = min(value, insertion * len(ref.vertices) + costs.ce * total)
    lengths = {
        "T": edit.moved,
        "len_del": edit.deleted_length,
        "len_ins": edit.inserted_length,
        "L": total,
        "diam": ref.diameter,
    }
    return MetricResult(
        value / total if costs.normalized else pair.to_metres(value),
        status,
        parts={"n_del": float(edit.deleted), "n_ins": float(edit.inserted)}
        | {name: pair.to_metres(length) for name, length in lengths.items()},
    )


_LARGEST = 1e6


def _vertex_cost(name: str, default: float, act: str, source: Source) -> Param:
    doc = f"Cost of {act}, in metres; a negative number is a multiple of the reference's diameter."
    return Param(name, default, "float", low=-_LARGEST, high=_LARGEST, doc=doc, source=source)


def _costs(source: Source) -> tuple[Param, Param, tuple[Param, ...]]:
    """Cost of inserting a vertex, of deleting one, and what else counts. The values are from the S23DR 2024 scorer, which is `source` for
    the metric: the wireframe paper prints none."""
    rest = (
        Param("ce", 1.0, "float", low=0.0, high=_LARGEST, doc="Cost of inserting or deleting a metre of edge, in metres.", source=source),
        Param("normalized", True, "bool", doc="Divide by the reference's total length; else the value is in metres.", source=source),
        Param("clip_to_empty", False, "bool", doc="Limit the cost to that of an empty prediction.", source=Source.OURS),
        parameters.ISOLATED,
        parameters.MERGE,
    )
    return _vertex_cost("cv_ins", -0.5, "inserting a vertex", source), _vertex_cost("cv_del", -0.25, "deleting a vertex", source), rest


_INSERT, _DELETE, _REST = _costs(Source.PEER)
_OFFICIAL_INSERT, _OFFICIAL_DELETE, _OFFICIAL_REST = _costs(Source.CODE)
_COST = "(T + c_del·n_del + c_ins·n_ins + c_e·(len_del + len_ins)) / L"
_TURNING = "Cost of turning the prediction into the reference, relative to the reference's length"

PLACE = 30  # in lists of metrics of its kind
SPECS = (
    parameters.distance(
        key="wed_prereg",
        title="Edit distance, registered",
        unit="",
        params=(
            _OFFICIAL_INSERT,
            _OFFICIAL_DELETE,
            *_OFFICIAL_REST,
            Param("single_scale", True, "bool", doc="Scale all axes alike when registering.", source=Source.CODE),
            Param(
                "compat_index",
                False,
                "bool",
                doc="Repeat an error of the official code: if the prediction has more vertices than the reference, deleted edges get "
                "wrong lengths.",
                source=Source.OURS,
            ),
        ),
        worst="empty_prediction",
        doc=f"{_TURNING}, after giving it the reference's mean and spread. "
        "Vertices are matched one to one whatever their distance; deleting the edges of a deleted vertex is free. "
        "Moving or scaling a prediction as a whole hardly costs anything.",
        origin=parameters.S23DR_2024,
        function=wed_prereg,
        examples=("WRONG_PLACE_WRONG_SIZE", "SPLIT_OR_LOST"),
        formula=f"{_COST}, p ← (p − μ_P) σ_G / σ_P + μ_G, matched by Hungarian",
    ),
    parameters.distance(
        key="wed_mnn",
        title="Edit distance, mutual nearest",
        unit="",
        params=(_INSERT, _DELETE, *_REST),
        worst="empty_prediction",
        doc=f"{_TURNING}. Vertices that are each other's nearest are moved onto each other. All other vertices, and then edges, are "
        "deleted or inserted.",
        origin=parameters.WIREFRAME,
        function=wed_mnn,
        examples=("SPLIT_OR_LOST", "WORSE_THAN_NOTHING"),
        formula=f"{_COST}, p ↔ g iff each is the other's nearest",
    ),
    parameters.distance(
        key="wed_nearest",
        title="Edit distance, nearest",
        unit="",
        params=(
            _INSERT,
            _vertex_cost("merge_cost", 0.0, "moving a predicted vertex to a reference vertex that already has one", Source.OURS),
            *_REST,
        ),
        worst="empty_prediction",
        doc=f"{_TURNING}. Every predicted vertex is moved to the nearest reference vertex, so several may become one; none is deleted.",
        origin=parameters.WIREFRAME,
        function=wed_nearest,
        examples=("CLUTTER_AROUND_CORNER_COLLAPSES", "WORSE_THAN_NOTHING"),
        formula="(T + c_ins·n_ins + c_merge·n_merged + c_e·(len_del + len_ins)) / L, T = Σ_p min_g ‖p − g‖",
    ),
    parameters.distance(
        key="wed_hungarian",
        title="Edit distance, Hungarian",
        unit="",
        params=(_INSERT, _DELETE, *_REST),
        worst="empty_prediction",
        doc=f"{_TURNING}. Vertices are matched one to one with the least total distance, whatever the distance of a pair.",
        origin=parameters.WIREFRAME,
        function=wed_hungarian,
        examples=("SPLIT_OR_LOST", "STRAY_MATCHED"),
        formula=f"{_COST}, matched by Hungarian on ‖p − g‖",
    ),
    parameters.distance(
        key="wed_ap",
        title="Edit distance, matched edges",
        unit="",
        params=(
            parameters.tau(
                "tau_edge",
                "Two matched edges are kept if their Hausdorff distance is at most this. Building3D uses 0.1 in its own coordinate frame.",
                Source.OURS,
            ),
            parameters.MERGE,
        ),
        worst="1",
        doc="Length of the edges to delete and to insert, plus the distance that corners of kept edges have to move, relative to the "
        "reference's length. Edges are matched as for edge F1. Unlike the published evaluator, the metric compares the prediction, not "
        "the labels, with the reference.",
        origin=parameters.BUILDING3D,
        function=wed_ap,
        examples=("LOOSE_CORNERS_FREE", "SPLIT_OR_LOST"),
        formula="(Σ_{p∈M_P} min_{g∈M_G} ‖p − g‖ + len_del + len_ins) / L",
        version=2,
    ),
)
