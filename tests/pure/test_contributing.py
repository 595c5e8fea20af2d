"""The example of a metric in CONTRIBUTING.md is true to the code."""

from __future__ import annotations

import inspect
import re

import pytest

from evaluation.metrics.scoring import MetricRequest, score_items
from tests import ROOT
from tests.support.evaluation.shapes import SQ, TRI


def test_the_metric_that_contributing_shows_can_be_scored(monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    shown: dict = {"__name__": "shown"}
    exec(compile(code, "CONTRIBUTING.md", "exec"), shown)
    (spec,) = shown["SPECS"]
    assert {param.name for param in spec.params} == set(inspect.signature(spec.function).parameters) - {"pair"}
    monkeypatch.setattr("evaluation.metrics.registry.REGISTRY", {spec.key: spec})
    scores = score_items({"a": TRI, "b": SQ}, dict.fromkeys("abc", SQ), [MetricRequest("s", spec.key, {})])["s"]
    assert scores.values == pytest.approx((abs(len(TRI.vertices) - len(SQ.vertices)) / len(SQ.vertices), 0.0, 1.0))
    assert scores.statuses == ("ok", "ok", "missing_pred")
