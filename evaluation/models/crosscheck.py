"""Checks of remote workers: other workers repeat some of their parts, and differences are investigated.

A second worker repeats every part of a token until TRUSTED_FROM of its parts agreed, and later the token's share of them. The draw is
made when the result is there, so the worker cannot know it beforehand. If two results differ, both are on hold, and so are all results
of these tokens since their last agreement. Then the service's own worker does the part, or an organizer decides. Wrong results are
repeated. Parts in hand of such a token's workers go to a second worker too, and count for nothing once the token was wrong.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

import structlog
from django.utils import timezone

from evaluation.metrics.tolerance import same
from evaluation.models.program import MetricProgram
from evaluation.models.remote_worker import PartRecord, WorkerToken, note_agreement
from evaluation.programs import results

log = structlog.get_logger(__name__)

TRUSTED_FROM = 50  # parts in which a second worker found the same
Verdict = PartRecord.Verdict
_random = secrets.SystemRandom()


class CheckedPart(Protocol):
    """A part, as far as checking its results goes; see `evaluation.models.evaluation.Part`."""

    pk: Any
    evaluation: Any
    token: Any
    records: Any
    lease_token: Any
    worker: Any
    device: Any
    start: Any
    stop: Any

    def leave_to_service(self, own_only: bool) -> None: ...


def settle(part: CheckedPart, result: Mapping[str, Any], made: Mapping[str, Any]) -> bool:
    """Keep a worker's result of a part as a record, and decide: True if this `result` is valid, False if another worker is to do the part.

    Call it under the phase's lock, as the part's holder; `made` are the record's own columns. Where others did the part before, their
    records get their verdicts.
    """
    token, before = part.token, list(_open(part))
    if token is not None:
        token.refresh_from_db()  # it may have come into doubt since its worker was asked
    record = PartRecord(
        part=part,
        batch_id=part.evaluation.batch_id,
        submission_id=part.evaluation.submission_id,
        token=token,
        fence=part.lease_token,
        worker=part.worker,
        device=part.device,
        n_items=part.stop - part.start,
        verdict=Verdict.OWN,
        **made,
    )
    if token is None:
        record.save()
        for one in before:
            _agree(one) if is_same(one.result, result, part) else _wrong(one)
        return True
    if token.wrong_at is not None:  # what its workers had in hand when it was found out
        record.verdict = Verdict.VOID
        record.save()
        return False
    if not before:
        second = token.agreed < TRUSTED_FROM or token.held_at is not None or _random.random() < token.share
        record.verdict, record.result = (Verdict.PENDING, dict(result)) if second else (Verdict.UNCHECKED, None)
        record.save()
        return not second
    (first,) = before  # two that differ are left to the service
    record.verdict, record.result = Verdict.PENDING, dict(result)
    record.save()
    if is_same(first.result, result, part):
        _agree(first)
        _agree(record)
        return True
    for one in (first, record):
        PartRecord.objects.filter(pk=one.pk).update(verdict=Verdict.DISPUTED)
        log.error("two workers differ", part=part.pk, worker=one.worker, token=str(one.token))
        if one.token:
            hold(one.token)
    part.leave_to_service(True)
    return False


def decide(part: CheckedPart, right: PartRecord | None) -> dict[str, Any] | None:
    """An organizer decides a dispute where no worker of the service does: the record that is right, or None where neither is. Returns the
    valid result."""
    result = None
    for one in list(_open(part)):
        if right is not None and one.pk == right.pk:
            result = one.result
            _agree(one)
        else:
            _wrong(one)
    part.leave_to_service(False)
    return result


def _open(part: CheckedPart) -> Iterable[PartRecord]:
    return part.records.filter(verdict__in=[Verdict.PENDING, Verdict.DISPUTED]).select_related("token").order_by("id")


def _agree(record: PartRecord) -> None:
    was_disputed = record.verdict == Verdict.DISPUTED
    PartRecord.objects.filter(pk=record.pk).update(verdict=Verdict.AGREED, result=None)
    if record.token is None:
        return
    note_agreement(record.token, record.finished_at)
    if was_disputed or record.token.held_at:
        _release(record.token)
    covered = PartRecord.objects.filter(token=record.token, verdict=Verdict.UNCHECKED, finished_at__lte=record.finished_at)
    parts = [one.part for one in covered.select_related("part__evaluation") if one.part]
    covered.update(verdict=Verdict.COVERED)
    for evaluation in {part.evaluation_id: part.evaluation for part in parts}.values():
        evaluation.forget_results()


def _wrong(record: PartRecord) -> None:
    """A worker's value was wrong: its token gets no more parts, and others repeat its parts since its last agreement."""
    PartRecord.objects.filter(pk=record.pk).update(verdict=Verdict.WRONG, result=None)
    token = record.token
    if token is None:
        return
    log.error("a worker from outside was wrong", token=str(token), worker=record.worker, part=record.part_id)
    now = timezone.now()
    WorkerToken.objects.filter(pk=token.pk).update(wrong_at=now, held_at=token.held_at or now)
    token.refresh_from_db()
    doubted = list(_since_agreement(token, Verdict.UNCHECKED, Verdict.HELD))
    PartRecord.objects.filter(pk__in=[one.pk for one in doubted]).update(verdict=Verdict.VOID)
    waiting = PartRecord.objects.filter(token=token, verdict=Verdict.PENDING)
    waiting.update(verdict=Verdict.VOID, result=None)
    for one in doubted:
        if one.part is not None:
            one.part.do_again()


def hold(token: WorkerToken) -> None:
    """Something of the token is in doubt: hold back what it did since its last agreement, and give it nothing meanwhile."""
    WorkerToken.objects.filter(pk=token.pk, held_at__isnull=True).update(held_at=timezone.now())
    token.refresh_from_db()
    for one in list(_since_agreement(token, Verdict.UNCHECKED)):
        PartRecord.objects.filter(pk=one.pk).update(verdict=Verdict.HELD)
        if one.part is not None:
            one.part.hold()


def _release(token: WorkerToken) -> None:
    """The token was right: its results on hold become valid, unless another difference of it is open."""
    if PartRecord.objects.filter(token=token, verdict=Verdict.DISPUTED).exists() or token.wrong_at:
        return
    WorkerToken.objects.filter(pk=token.pk).update(held_at=None)
    held = list(PartRecord.objects.filter(token=token, verdict=Verdict.HELD).select_related("part__evaluation"))
    PartRecord.objects.filter(pk__in=[one.pk for one in held]).update(verdict=Verdict.UNCHECKED)
    for one in held:
        if one.part is not None:
            one.part.release()


def _since_agreement(token: WorkerToken, *verdicts: str) -> Iterable[PartRecord]:
    since = token.agreed_at or datetime.min.replace(tzinfo=UTC)
    found = PartRecord.objects.filter(token=token, verdict__in=verdicts, finished_at__gt=since)
    return found.select_related("part__evaluation__batch", "part__evaluation__submission__phase").order_by("id")


def is_same(first: Mapping[str, Any] | None, second: Mapping[str, Any], part: CheckedPart) -> bool:
    """Return whether two results of a part agree: the same columns, items and statuses, and numbers within each metric's tolerance."""
    if first is None or first.keys() != second.keys():
        return False
    columns = {column.slug: column for column in part.evaluation.batch.columns}
    for slug, column in columns.items():
        if slug not in first:
            continue
        sides = first[slug], second[slug]
        if column.is_program:
            (program,) = MetricProgram.of_columns([column])
            # An error may name an address of memory.
            tolerance, sides = program.spec.tolerance, (_without_sentences(first[slug]), _without_sentences(second[slug]))
        else:
            tolerance = column.spec.tolerance_with(column.params)
        if not same(*sides, tolerance):
            return False
    return first.keys() <= columns.keys()


def _without_sentences(said: Any) -> Any:
    """A result of a metric program without what it says in words."""
    if isinstance(said, Mapping):
        return {name: _without_sentences(value) for name, value in said.items()}
    if isinstance(said, list | tuple):
        return [_without_sentences(one) for one in said if not (isinstance(one, str) and one.startswith(results.SENTENCES))]
    return said
