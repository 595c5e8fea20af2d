"""Progress of an entry: position, items done, time left. Read-only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, Min, OuterRef, Q, Sum
from django.utils import timezone

from evaluation.models import ComputeBudget, Evaluation, EvaluationBatch, Part, part_plan
from evaluation.models.evaluation import Backlogs
from evaluation.work.sandbox import PATIENCE
from evaluation.work.waits import Service
from submissions import database_clock
from submissions.entry_states import Reason, Why
from submissions.models import Phase, Status, Submission
from submissions.wording import count

PART_FIELDS = (
    *("state", "slugs", "start", "stop", "attempts", "scored", "losses", "lease_token", "lease_until", "started_at"),
    *("evaluation_id", "device", "turn", "lacking_since"),
)
ESTIMATED_FROM = 20  # before one item of so many is done, the estimate of the time left is a rough one


@dataclass(frozen=True)
class Standing:
    """Progress of an entry. `position` counts from 1 among entries nobody works on yet (None while it is worked on, or when it is done).
    `seconds_left` is an estimate from its own pace so far; `is_rough` marks an estimate from its first items. `max_seconds_left` is the
    longest that a running part may still take before it is stopped. `losses` counts workers that were lost while they had the entry or one
    of its parts; the lost work is tried again in `retry_in` seconds."""

    done: int
    total: int
    attempts: int
    position: int | None
    seconds_left: float | None
    losses: int = 0
    retry_in: float | None = None
    is_rough: bool = False
    max_seconds_left: float | None = None
    waits_for: tuple[Why, ...] = ()  # while nobody works on it and it is not done

    @property
    def times_lost(self) -> str:
        return count(self.losses)

    @property
    def percent(self) -> float:
        return 100.0 * self.done / self.total if self.total else 0.0


class _Parts:
    """The parts of an entry, rows of `PART_FIELDS`; `open` are the parts that are not done, `at_work` the open parts that a worker has
    begun."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self.total = sum(row.stop - row.start for row in rows)
        self.done = sum(row.stop - row.start if row.state == Part.State.DONE else row.scored for row in rows)
        self.attempts = max((row.attempts for row in rows), default=0)
        self.open = [row for row in rows if row.state == Part.State.WAITING]
        self.losses = max((row.losses for row in self.open), default=0)
        self.at_work = [row for row in self.open if row.lease_token and row.started_at]
        # While somebody is at a part of it, it is being scored.
        self.wait = bool(self.open) and not any(row.lease_token for row in self.open)

    def seconds_left(self, begun: datetime | None, now: datetime) -> float | None:
        """Estimate from the pace so far; None before the first item is done, and after the last."""
        if begun is None or not 0 < self.done < self.total:
            return None
        return (now - begun).total_seconds() * (self.total - self.done) / self.done


def _waiting():
    """Entries that nobody has begun to work on: received, or in parts of which none has started."""
    begun = Part.objects.filter(evaluation__submission=OuterRef("pk"), started_at__isnull=False)
    return Submission.objects.filter(Q(status=Status.RECEIVED) | (Q(status=Status.SCORING) & ~Exists(begun)))


def standing(submission: Submission, now: datetime | None = None) -> Standing:
    """Position, progress and estimate of one entry, under the batch its board shows."""
    return standings([submission], now)[submission.pk]


def standings(submissions: Sequence[Submission], now: datetime | None = None) -> dict[int, Standing]:
    """`standing` of several entries, in as many queries as for one."""
    now = now or database_clock.read()  # leases, and the moments at which parts were begun, are by that clock
    queued = {it.pk for it in submissions if it.status in (Status.RECEIVED, Status.SCORING)}
    positions = {pk: place for place, pk in enumerate(_in_turn(), 1) if pk in queued} if queued else {}
    current = Evaluation.objects.filter(submission__in=submissions, batch__state=EvaluationBatch.State.CURRENT)
    evaluations = {it.submission_id: it for it in current}
    parts: dict[int, list[Any]] = {it.pk: [] for it in evaluations.values()}
    for part in Part.objects.filter(evaluation__in=parts).values_list(*PART_FIELDS, named=True):
        parts[part.evaluation_id].append(part)
    service = Service()
    exhausted = ComputeBudget.exhausted() if any(it.status == Status.SCORING for it in submissions) else ()
    found = {}
    for it in submissions:
        evaluation, position = evaluations.get(it.pk), positions.get(it.pk)
        if evaluation is None:
            retry_in = _retry_in([it], now)
            waits = service.waits(it.phase.challenge_id, (), position, retry_in) if it.status == Status.RECEIVED else ()
            found[it.pk] = Standing(0, 0, it.attempts, position, None, it.losses, retry_in, waits_for=waits)
            continue
        own = _Parts(parts[evaluation.pk])
        left = own.seconds_left(evaluation.started_at, now)
        # The time of the very first items is mostly the time to start.
        is_rough = left is not None and own.total > own.done * ESTIMATED_FROM
        most = _max_seconds_left(evaluation.batch_id, own.at_work, now)
        retry_in, waits = _retry_in(own.open, now), ()
        if it.status == Status.SCORING and own.wait:
            over = it.phase.challenge_id in exhausted
            waits = (Why(Reason.BUDGET),) if over else service.waits(it.phase.challenge_id, own.open, position, retry_in)
        found[it.pk] = Standing(own.done, own.total, own.attempts, position, left, own.losses, retry_in, is_rough, most, waits)
    return found


def _max_seconds_left(batch_id: int, at_work: Sequence[Any], now: datetime) -> float | None:
    """Seconds until the last of these parts would be stopped for taking too long."""
    if not at_work:
        return None
    batch = EvaluationBatch.objects.select_related("reference__phase__challenge", "phase").get(pk=batch_id)
    ends = [PATIENCE * part_plan.seconds_allowed(batch, part.slugs, part.start, part.stop) for part in at_work]
    return max(0.0, *(end - (now - part.started_at).total_seconds() for end, part in zip(ends, at_work, strict=True)))


def _retry_in(rows: Sequence[Any], now: datetime) -> float | None:
    """Seconds until the first of the rows that wait because their worker was lost is tried again; None where one is tried now."""
    lost = [row for row in rows if row.losses]
    if not lost or any(row.lease_token for row in lost):
        return None
    return max(0.0, min((row.lease_until - now).total_seconds() if row.lease_until else 0.0 for row in lost))


def _in_turn() -> list[int]:
    """Entries that nobody works on yet, in the order in which workers will reach them. The order is by the first turn of an entry's parts,
    or by the turn that its parts would get now if it has none yet."""
    found: dict[int, float] = {}
    clocks: dict[str, float] = {}  # turns on different devices are of different clocks

    def note(pk: int, device: str, turn: float) -> None:
        if device not in clocks:
            clocks[device] = Part.objects.clock(device)
        found[pk] = min(found.get(pk, math.inf), turn - clocks[device])

    begun = Part.objects.filter(evaluation=OuterRef("evaluation"), started_at__isnull=False)
    cut = Part.objects.filter(~Exists(begun), state=Part.State.WAITING, evaluation__batch__state=EvaluationBatch.State.CURRENT)
    cut = cut.filter(evaluation__submission__status=Status.SCORING).order_by()
    for row in cut.values_list("evaluation__submission", "device").annotate(first=Min("turn")):
        note(*row)
    received = list(Submission.objects.filter(status=Status.RECEIVED).order_by("turn", "id"))
    current = EvaluationBatch.objects.filter(state=EvaluationBatch.State.CURRENT, phase__in={it.phase_id for it in received})
    batches = {batch.phase_id: batch for batch in current.select_related("reference__phase__challenge", "phase")}
    pieces = {phase: part_plan.priced(batch) for phase, batch in batches.items() if batch.reference}
    for device in {piece.device for each in pieces.values() for piece in each}:
        clocks.setdefault(device, Part.objects.clock(device))
    # Waiting work of each team in each phase, by device; also of teams without any.
    backlogs: dict[tuple[int, int], Backlogs] = {}
    for it in received:
        backlogs[it.phase_id, it.team_id] = {device: (clock, 0.0, 0) for device, clock in clocks.items()}
    if received:
        waiting = Part.objects.filter(state=Part.State.WAITING, device__in=clocks, evaluation__batch__in=batches.values()).order_by()
        shares = waiting.values_list("evaluation__batch__phase", "evaluation__submission__team", "device")
        for phase, team, device, seconds, entries in shares.annotate(seconds=Sum("cost"), entries=Count("evaluation", distinct=True)):
            if (phase, team) in backlogs:
                backlogs[phase, team][device] = clocks[device], seconds, entries
    for it in received:
        own = Evaluation(submission=it, batch=batches.get(it.phase_id))
        parts = own.cut(pieces.get(it.phase_id, ()), backlogs[it.phase_id, it.team_id])
        found.setdefault(it.pk, 0.0 if not parts else math.inf)
        for part in parts:
            note(it.pk, part.device, part.turn)
    return sorted(found, key=lambda pk: (found[pk], pk))


def depth(phase: Phase | None = None, now: datetime | None = None) -> tuple[int, float]:
    """Number of entries that wait (of a phase, or in all), and the age in seconds of the oldest."""
    waiting = _waiting() if phase is None else _waiting().filter(phase=phase)
    oldest = waiting.aggregate(at=Min("received_at"))["at"]
    return waiting.count(), _age(oldest, now)


def oldest_waiting(now: datetime | None = None) -> dict[str, float]:
    """Seconds since the oldest work came that nobody has begun, by its kind: entries to be validated, and the parts of an
    evaluation for a device, of which none has been begun."""
    begun = Part.objects.filter(evaluation=OuterRef("evaluation"), device=OuterRef("device"), started_at__isnull=False)
    parts = Part.objects.filter(~Exists(begun), state=Part.State.WAITING, evaluation__state=Evaluation.State.RUNNING)
    received = Submission.objects.filter(status=Status.RECEIVED).aggregate(at=Min("received_at"))["at"]
    cut = parts.order_by().aggregate(at=Min("evaluation__created_at"))["at"]
    return {"validation": _age(received, now), "scoring": _age(cut, now)}


def oldest_in_progress(now: datetime | None = None) -> dict[str, float]:
    """Age in seconds of the oldest unfinished work of each kind, since its start; of validation, since the entry was received."""
    at_work = Submission.objects.filter(status__in=[Status.CLAIMED, Status.VALIDATING]).aggregate(at=Min("received_at"))["at"]
    running = Evaluation.objects.filter(state=Evaluation.State.RUNNING).aggregate(at=Min("started_at"))["at"]
    return {"validation": _age(at_work, now), "scoring": _age(running, now)}


def _age(since: datetime | None, now: datetime | None) -> float:
    return max(0.0, ((now or timezone.now()) - since).total_seconds()) if since else 0.0
