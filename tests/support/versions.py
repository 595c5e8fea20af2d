"""An upgrade in a test: from here on the service has another version of a metric."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from evaluation.metrics import registry
from evaluation.metrics.registry import OtherDefinition
from evaluation.metrics.result import MetricResult
from evaluation.metrics.spec import Earlier
from evaluation.work import child
from evaluation.work.sandbox import JobFailed, sandbox


def set_version(monkeypatch: pytest.MonkeyPatch, key: str, by: int = 1, corrected: str = "") -> int:
    """Give metric `key` a version that is `by` higher, for this process and what it scores; returns it. Where what it has `corrected`
    is named, the version before is kept as an earlier one, and the new one gives half its values. The scoring process would have the
    version of the files, so its jobs are done here."""
    spec = registry.get(key)

    def halved(pair: Any, **params: Any) -> MetricResult:
        result = old(pair, **params)
        return replace(result, value=None if result.value is None else result.value / 2)

    if corrected:
        old = spec.function
        spec = replace(spec, function=halved, earlier=(*spec.earlier, Earlier(spec.version, old, corrected)))
    spec = replace(spec, version=spec.version + by)
    monkeypatch.setattr(registry, "REGISTRY", MappingProxyType({**registry.REGISTRY, key: spec}))
    monkeypatch.setattr(sandbox, "run", _run)
    return spec.version


def _run(folder: Path, job: dict, heartbeat: Callable[[], bool], *limits: float) -> dict:
    try:
        return json.loads(json.dumps(child.JOBS[job["kind"]](folder, json.loads(json.dumps(job)))))
    except OtherDefinition as error:
        raise JobFailed("definition", str(error)) from None
