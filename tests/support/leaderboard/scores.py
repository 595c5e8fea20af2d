"""Scored entries without a worker: rows as the closing transaction writes them, with chosen values."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache

import numpy as np
from django.utils import timezone

from evaluation.metrics import registry
from evaluation.metrics.aggregation import summarise
from evaluation.metrics.result import SampleScores
from evaluation.metrics.runner import MetricRequest, score_items
from evaluation.models import Evaluation, EvaluationBatch, Score
from leaderboard.records.board import Board
from submissions.formats.arrays import Mesh, Wireframe
from submissions.kinds import FAMILIES
from submissions.models import Phase, Status, Submission, Team
from submissions.storage import stored_files
from tests.support.factories import METRICS, gables, perturbed


def entry(phase: Phase, team: Team, values: Mapping[str, Sequence[float | None]], *, at: datetime | None = None, **fields) -> Submission:
    """A scored entry with these per-item values by slug; a metric left out has no score."""
    at = at or timezone.now()
    number = Submission.objects.filter(phase=phase).count() + 1
    given = {"method_name": f"method {number}", "file_name": "entry.zip", "size": 1, "sha256": "", **fields}
    submission = Submission.objects.create(
        phase=phase, team=team, number=number, status=Status.SCORED, created_at=at, received_at=at, finished_at=at, **given
    )
    batch = EvaluationBatch.current(phase)
    evaluation = Evaluation.objects.create(submission=submission, batch=batch, state="done", n_items=len(batch.reference.item_ids))
    batch.metrics = [metric for metric in batch.metrics if metric["slug"] in values]
    evaluation.batch = batch
    Score.write(evaluation.pk, evaluation.batch.columns, {slug: samples(batch, slug, row) for slug, row in values.items()})
    phase.touch_board()
    return submission


def houses(phase: Phase, team: Team, n: int, scale: float, seed: int, **fields) -> Submission:
    """A scored entry of the phase's first metrics, sent for `gables(n)` with so much damage: its files, and the values they have."""
    return with_files(entry(phase, team, _measured(n, scale, seed), **fields), perturbed(gables(n), scale, seed))


@cache
def _measured(n: int, scale: float, seed: int) -> dict[str, tuple[float | None, ...]]:
    """Values of METRICS by slug."""
    requests = [MetricRequest(metric["slug"], metric["key"], {}) for metric in METRICS]
    found = score_items(perturbed(gables(n), scale, seed), gables(n), requests)
    return {slug: scores.values for slug, scores in found.items()}


def samples(batch: EvaluationBatch, slug: str, values: Sequence[float | None]):
    """(SampleScores, Summary) of one metric."""
    reference = batch.reference
    key = next(metric["key"] for metric in batch.metrics if metric["slug"] == slug)
    scores = SampleScores(slug, tuple(reference.item_ids), tuple(values), ("ok",) * len(values), ({},) * len(values), ((),) * len(values))
    return scores, summarise(registry.get(key), values, scores.statuses, scores.parts, reference.groups)


def spread(mean: float, n: int = 4, width: float = 0.02) -> list[float]:
    """`n` values around `mean`, whose mean it is."""
    return [float(v) for v in mean + width * np.linspace(-1, 1, n)]


def with_files(submission: Submission, items: Mapping[str, Wireframe | Mesh]) -> Submission:
    """Give an entry its parsed items, as validation would have stored them."""
    key = f"artifacts/{submission.pk}-{secrets.token_hex(8)}.npz"  # what lies under a key never changes
    stored_files.store().save_bytes(key, FAMILIES[submission.phase.challenge.family].pack(dict(items)))
    Submission.objects.filter(pk=submission.pk).update(artifact_key=key)
    submission.refresh_from_db()
    return submission


def as_json(board: Board) -> str:
    return board.to_json().decode()
