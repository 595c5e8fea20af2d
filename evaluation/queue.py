"""Where an entry stands: position, progress, time left. Read-only."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, Min, OuterRef, Q
from django.utils import timezone

from evaluation.models import Evaluation, EvaluationBatch, Part
from submissions.models import Status, Submission

ESTIMATED_FROM = 20  # one item of so many must be done before the time left is estimated


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
    return standings([submission], now)[submission.pk]


def standings(submissions: Sequence[Submission], now: datetime | None = None) -> dict[int, Standing]:
    """`standing` of several entries, in as many queries as for one."""
    now = now or timezone.now()
    positions = _positions([it for it in submissions if it.status in (Status.RECEIVED, Status.SCORING)])
    current = Evaluation.objects.filter(submission__in=submissions, batch__state=EvaluationBatch.State.CURRENT)
    evaluations = {it.submission_id: it for it in current}
    parts: dict[int, list[tuple]] = {it.pk: [] for it in evaluations.values()}
    columns = ("evaluation_id", "state", "start", "stop", "attempts", "scored")
    for pk, *part in Part.objects.filter(evaluation__in=parts).values_list(*columns):
        parts[pk].append(tuple(part))
    found = {}
    for it in submissions:
        evaluation, position = evaluations.get(it.pk), positions.get(it.pk)
        if evaluation is None:
            found[it.pk] = Standing(0, 0, it.attempts, position, None)
        else:
            found[it.pk] = _under_way(evaluation, parts[evaluation.pk], position, now)
    return found


def _under_way(evaluation: Evaluation, parts: list[tuple], position: int | None, now: datetime) -> Standing:
    """`parts` as (state, start, stop, attempts, scored)."""
    total = sum(stop - start for _, start, stop, *_ in parts)
    done = sum(stop - start if state == Part.State.DONE else scored for state, start, stop, _, scored in parts)
    left = None
    # What the very first items took is mostly what it took to start.
    if done < total <= done * ESTIMATED_FROM and evaluation.started_at:
        left = (now - evaluation.started_at).total_seconds() * (total - done) / done
    return Standing(done, total, max((attempts for *_, attempts, _ in parts), default=0), position, left)


def _positions(submissions: Sequence[Submission]) -> dict[int, int]:
    """Places from 1 in the queue, of those that are in it."""
    waiting = dict(_waiting().filter(pk__in=[it.pk for it in submissions]).values_list("pk", "received_at")) if submissions else {}
    if not waiting:
        return {}
    if len(waiting) == 1:  # a page that follows one entry need not fetch the queue
        ((pk, received),) = waiting.items()
        return {pk: _waiting().filter(received_at__lt=received).count() + 1}
    queue = sorted(_waiting().filter(received_at__lt=max(waiting.values())).order_by().values_list("received_at", flat=True))
    return {pk: bisect_left(queue, received) + 1 for pk, received in waiting.items()}


def depth(phase=None, now: datetime | None = None) -> tuple[int, float]:
    """How many entries wait (of a phase, or in all), and the age in seconds of the oldest."""
    waiting = _waiting() if phase is None else _waiting().filter(phase=phase)
    oldest = waiting.aggregate(at=Min("received_at"))["at"]
    return waiting.count(), ((now or timezone.now()) - oldest).total_seconds() if oldest else 0.0
