"""A phase from before: with a column that is no longer computed."""

from __future__ import annotations

from evaluation.metrics import registry
from evaluation.models import EvaluationBatch, PhaseMetric
from submissions.models import Phase


def add_column(phase: Phase, slug: str, key: str) -> None:
    """Put a column on weights that were removed into the phase and its current batch, as they were before."""
    metric = PhaseMetric.objects.create(phase=phase, slug=slug, key=key, params={"weights": "plumbline-small"}, position=9)
    batch = EvaluationBatch.current(phase)
    digest = "6f" * 32  # of the file, which is not here
    kept = {"weights_sha256": digest, "fingerprint": registry.fingerprint(key, metric.resolved, digest)}
    batch.metrics = [*batch.metrics, metric.column().to_dict() | kept]
    batch.save(update_fields=["metrics"])
