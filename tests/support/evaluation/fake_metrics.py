"""Metrics that behave in ways no wireframe metric does, for tests of scoring."""

from __future__ import annotations

from evaluation.metrics.papers import Origin
from evaluation.metrics.registry import MetricSpec
from evaluation.metrics.result import MetricResult, Status


def null_where_the_reference_has_no_edge(pair) -> MetricResult:
    if not len(pair.ref_edges):
        return MetricResult(None, Status.NO_OBJECT)
    return MetricResult(1.0)


def vertices_missing_or_extra(pair) -> MetricResult:
    return MetricResult(float(abs(len(pair.pred_vertices) - len(pair.ref_vertices))))


def spec(function, **values) -> MetricSpec:
    given = {
        "title": "Fake",
        "family": "wireframe",
        "higher_is_better": False,
        "bounds": (0.0, None),
        "unit": "",
        "params": (),
        "worst": "0",
        "doc": "",
        "origin": Origin(),
        "function": function,
    }
    return MetricSpec(key=function.__name__, **{**given, **values})


def edges_of_a_group(pair) -> MetricResult:
    """Number of edges of the predictions of a group, found in two steps: each item brings its own."""
    return MetricResult(None, parts={"own": float(len(pair.pred_edges))}, partial={"edges": len(pair.pred_edges)})


def finish_edges(items, params) -> list[MetricResult]:
    """The same value for all; nothing where an item is missing and `params` say so."""
    if any(item.result.status == Status.MISSING_PRED for item in items) and params.get("whole"):
        return [MetricResult(None, Status.NOT_APPLICABLE) for _ in items]
    total = float(sum(item.result.partial["edges"] for item in items))
    return [MetricResult(total, parts=item.result.parts) for item in items]


def finish_each(items, params) -> list[MetricResult]:
    """Wrong on purpose: a value for each item."""
    return [MetricResult(float(place)) for place, _ in enumerate(items)]
