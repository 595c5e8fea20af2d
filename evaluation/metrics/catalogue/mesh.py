"""The mesh metrics there are."""

from __future__ import annotations

from evaluation.metrics.spec import MetricSpec

SPECS: tuple[MetricSpec, ...] = ()
