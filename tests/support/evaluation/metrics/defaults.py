"""A metric as a test calls it: with the defaults that its spec holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evaluation.metrics.registry import get, resolve_params
from evaluation.metrics.result import MetricResult


def with_defaults(key: str, version: int | None = None, **usual: Any) -> Callable[..., MetricResult]:
    """The metric's function (or that of an earlier version), with `usual` or else the default for each parameter that a call leaves out."""

    def call(pair: Any, *given: Any, **named: Any) -> MetricResult:
        spec = get(key).at(version)
        assert spec is not None
        in_order = dict(zip((param.name for param in spec.params), given, strict=False))
        return spec.function(pair, **{**resolve_params(key, usual), **in_order, **named})

    call.__name__ = key
    return call
