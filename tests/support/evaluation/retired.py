"""A phase from before: with a column on weights that are retired by now."""

from __future__ import annotations

from evaluation.models import EvaluationBatch, PhaseMetric
from submissions.models import Phase


def add_column(phase: Phase, slug: str, key: str) -> None:
    """Put a column on the in-house weights into the phase and its current batch, as they were before these were retired."""
    metric = PhaseMetric.objects.create(phase=phase, slug=slug, key=key, params={"weights": "plumbline-small"}, position=9)
    batch = EvaluationBatch.current(phase)
    batch.metrics = [*batch.metrics, metric.snapshot()]
    batch.save(update_fields=["metrics"])
