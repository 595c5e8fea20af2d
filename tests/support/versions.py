"""An upgrade in a test: from here on the service has another version of a metric."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from evaluation.metrics import registry
from evaluation.metrics.registry import OtherDefinition
from evaluation.work import child
from evaluation.work.sandbox import JobFailed, sandbox


def set_version(monkeypatch: pytest.MonkeyPatch, key: str, by: int = 1) -> int:
    """Give metric `key` a version that is `by` higher, for this process and what it scores; returns it. The scoring process would
    have the version of the files, so its jobs are done here."""
    spec = registry.get(key)
    spec = replace(spec, version=spec.version + by)
    monkeypatch.setattr(registry, "REGISTRY", MappingProxyType({**registry.REGISTRY, key: spec}))
    monkeypatch.setattr(sandbox, "run", _run)
    return spec.version


def _run(folder: Path, job: dict, heartbeat: Callable[[], bool], *limits: float) -> dict:
    try:
        return json.loads(json.dumps(child.JOBS[job["kind"]](folder, json.loads(json.dumps(job)))))
    except OtherDefinition as error:
        raise JobFailed("definition", str(error)) from None
