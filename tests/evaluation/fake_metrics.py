"""Metrics that behave in ways no wireframe metric does, for tests of the runner."""

from __future__ import annotations

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
        "title": "Fake", "family": "wireframe", "higher_is_better": False, "bounds": (0.0, None), "unit": "", "params": (),
        "worst": "0", "doc": "", "paper": "", "function": f"{__name__}.{function.__name__}",
    }  # fmt: skip
    return MetricSpec(key=function.__name__, **{**given, **values})
