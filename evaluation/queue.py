"""Where an entry stands: position, progress, time left. Read-only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, Min, OuterRef, Q
from django.utils import timezone

from evaluation.models import Evaluation, EvaluationBatch, Part
from submissions.models import Status, Submission


@dataclass(frozen=True)
class Standing:
    """How far an entry is. `position` counts from 1 among entries nobody works on yet (None when
    it is being worked on or done); `seconds_left` is an estimate from its own pace so far."""

    done: int
    total: int
    attempts: int
    position: int | None
    seconds_left: float | None

    @property
    def percent(self) -> float:
        return 100.0 * self.done / self.total if self.total else 0.0


def _waiting():
    """Entries that nobody has begun to work on: received, or in parts of which none has started."""
    begun = Part.objects.filter(evaluation__submission=OuterRef("pk"), started_at__isnull=False)
    return Submission.objects.filter(Q(status=Status.RECEIVED) | (Q(status=Status.SCORING) & ~Exists(begun)))


def standing(submission: Submission, now: datetime | None = None) -> Standing:
    """Position, progress and estimate of one entry, under the batch its board shows."""
    now = now or timezone.now()
    waiting = _waiting()
    position = None
    if submission.status in (Status.RECEIVED, Status.SCORING) and waiting.filter(pk=submission.pk).exists():
        position = waiting.filter(received_at__lt=submission.received_at).count() + 1
    evaluation = Evaluation.objects.filter(submission=submission, batch__state=EvaluationBatch.State.CURRENT).first()
    if evaluation is None:
        return Standing(0, 0, submission.attempts, position, None)
    done, total = evaluation.progress()
    attempts = max(evaluation.parts.values_list("attempts", flat=True), default=0)
    left = None
    if done and done < total and evaluation.started_at:
        left = (now - evaluation.started_at).total_seconds() * (total - done) / done
    return Standing(done, total, attempts, position, left)


def depth(phase=None, now: datetime | None = None) -> tuple[int, float]:
    """How many entries wait (of a phase, or in all), and the age in seconds of the oldest."""
    waiting = _waiting() if phase is None else _waiting().filter(phase=phase)
    oldest = waiting.aggregate(at=Min("received_at"))["at"]
    return waiting.count(), ((now or timezone.now()) - oldest).total_seconds() if oldest else 0.0
