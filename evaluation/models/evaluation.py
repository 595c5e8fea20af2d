"""One scoring of one submission, the parts it is cut into, and how it closes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Self

import structlog
from django.db import models, transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from evaluation.metrics import scoring
from evaluation.metrics.column import Column
from evaluation.metrics.result import SampleScores
from evaluation.metrics.shared import TOGETHER
from evaluation.models import crosscheck, part_plan
from evaluation.models.batch import EvaluationBatch
from evaluation.models.remote_worker import ComputeBudget, PartRecord, WorkerToken
from evaluation.models.runs import Deferrable
from evaluation.models.score import Score
from submissions import database_clock, fair_share, worker_notify
from submissions.choices import TextChoices
from submissions.entry_states import Why
from submissions.errors import Refused
from submissions.formats import box_alignment
from submissions.leases import Failable, LeasedQuerySet
from submissions.models import AuditEntry, Phase, Status, Submission, User

log = structlog.get_logger(__name__)

# By device: the clock, and what waits of one share of the workers, in seconds, and of how many entries.
Backlogs = dict[str, tuple[float, float, int]]


class EvaluationQuerySet(models.QuerySet):
    def running(self) -> Self:
        return self.filter(state=Evaluation.State.RUNNING)

    def make_all(self, submissions: Iterable[Submission], batch: EvaluationBatch) -> None:
        """Make many entries' evaluations under one batch, in that order."""
        backlogs: Backlogs = {}
        for submission in submissions:
            Evaluation.make(submission, batch, backlogs)


class Evaluation(Failable):
    """One scoring of one submission under one batch (its reference and metric definitions)."""

    class State(TextChoices):
        RUNNING = "running", "Being scored"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        EXCLUDED = "excluded", "Excluded"
        CANCELLED = "cancelled", "Cancelled"

    class Kind(TextChoices):
        SCORED = "scored", "Scored here"
        IMPORTED = "imported", "Brought from elsewhere"

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="evaluations")
    batch = models.ForeignKey(EvaluationBatch, on_delete=models.CASCADE, related_name="evaluations")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.SCORED)
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING, db_index=True)
    n_items = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    artifact_key = models.CharField(max_length=255, blank=True, editable=False)  # the entry's items, if its file was read again for this
    diagnosis = models.CharField(
        max_length=8, blank=True, editable=False
    )  # see `submissions.formats.box_alignment.diagnosis`; empty: not looked at

    objects = EvaluationQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["submission", "batch"], name="evaluated_once_per_batch")]

    def __str__(self) -> str:
        return f"{self.submission} under batch {self.batch_id} ({self.state})"

    @classmethod
    def begin(cls, submission: Submission, artifact_key: str, missing: list[str], warnings: list[str]) -> bool:
        """Validation accepted the entry: cut it into parts under each live batch. False if the
        lease was lost meanwhile; then nothing was written."""
        with transaction.atomic():
            submission.phase.lock()
            if not submission.accept(artifact_key, missing, warnings):
                return False
            submission.refresh_from_db()
            for batch in EvaluationBatch.live(submission.phase):
                cls.make(submission, batch)
        return True

    @classmethod
    @transaction.atomic
    def make(cls, submission: Submission, batch: EvaluationBatch, backlogs: Backlogs | None = None) -> Evaluation:
        """The evaluation and its parts: metrics by device times slices of samples. A retry after a
        failure starts the same evaluation again. A caller that makes many of a batch gives `backlogs`, empty at first."""
        before = cls.objects.filter(submission=submission, batch=batch)
        artifact = next(iter(before.values_list("artifact_key", flat=True)), "")
        before.delete()
        evaluation = cls.objects.create(submission=submission, batch=batch, n_items=len(batch.item_ids), artifact_key=artifact)
        parts = evaluation.cut(part_plan.priced(batch), {} if backlogs is None else backlogs)
        Part.objects.bulk_create(parts)
        n_cpu = sum(part.device == "cpu" for part in parts)
        if n_cpu:
            worker_notify.after_commit("work", times=min(n_cpu, 4))
        if n_cpu < len(parts):
            worker_notify.after_commit("gpu")
        return evaluation

    def cut(self, pieces: Sequence[part_plan.Piece], backlogs: Backlogs) -> list[Part]:
        """Its parts in their turns, not saved, behind `backlogs` of a device, or without one behind the waiting parts of the same share;
        `backlogs` is updated."""
        parts = [
            Part(evaluation=self, device=it.device, slugs=it.slugs, start=it.start, stop=it.stop, cost=it.cost, turn=0.0) for it in pieces
        ]
        for device in {part.device for part in parts}:
            mine = [part for part in parts if part.device == device]
            if device not in backlogs:
                share = Part.objects.waiting(device).of_same_share(self)
                backlogs[device] = Part.objects.clock(device), *fair_share.backlog(share, "evaluation")
            clock, seconds, ahead = backlogs[device]
            costs = [part.cost for part in mine]
            for part, turn in zip(mine, fair_share.turns(clock, seconds, ahead, costs), strict=True):
                part.turn = turn
            backlogs[device] = clock, seconds + sum(costs), ahead + 1
        return parts

    @property
    def artifact(self) -> str:
        """Storage key of the entry's items that are scored here."""
        return self.artifact_key or self.submission.artifact_key

    def waiting(self) -> list[Column]:
        """The batch's columns that it has no score in though it is done: the code had another version of the metric, and the phase is
        to be re-evaluated. Imported figures have none such, and columns that are no longer computed wait for nothing."""
        if self.state != self.State.DONE or self.batch.reference_id is None:
            return []
        scored = {score.slug for score in self.scores.all()} | set(self.batch.retired())
        return [column for column in self.batch.columns if column.slug not in scored]

    @staticmethod
    def lock_phase(pk: int) -> None:
        """Lock the phase. The end of a scoring writes to parts, evaluations, entries and the phase, in more than one order. So,
        as for every change of a phase and its entries, the phase's lock comes first."""
        for phase in Phase.objects.filter(batches__evaluations=pk):
            phase.lock()

    def _locked(self, *related: str) -> Evaluation:
        """This row as it is now, and `related` ones, under the phase's lock."""
        self.lock_phase(self.pk)
        return Evaluation.objects.select_for_update(of=("self",)).select_related(*related).get(pk=self.pk)

    def close_if_complete(self) -> bool:
        """Write all scores and the final state if no part is left, in one transaction.

        The phase is locked first: of two workers that finish the last two parts together, the
        second sees both parts done, and only one finds the evaluation still running.
        """
        with transaction.atomic():
            locked = self._locked("batch__reference", "submission__phase")
            if locked.state != self.State.RUNNING or locked.parts.exclude(state=Part.State.DONE).exists():
                return False
            if locked.submission.status == Status.CANCELLED:
                locked.drop()
                return False
            reference, lost = locked.batch.reference, locked.batch.not_computed()
            if not locked.batch.scores_without(lost):
                if not locked.batch.is_live:
                    locked.drop()
                return False
            results = list(locked.parts.order_by("start").values_list("result", flat=True))
            # This step computes too, so a column that a part or this code leaves out waits for a re-evaluation, without a score.
            waiting = {column.slug for column in lost} | {slug for result in results for slug, data in result.items() if data is None}
            scored = [{slug: SampleScores.from_dict(data) for slug, data in result.items() if slug not in waiting} for result in results]
            finished = scoring.finish(locked.batch.requests(without=waiting), scored, reference.item_ids, reference.groups)
            Score.write(locked.pk, locked.batch.columns, finished, _cost(locked))
            locked.state, locked.finished_at = self.State.DONE, timezone.now()
            fits: dict[str, str] = {}  # parts of other metrics are of the same items
            for labels in locked.parts.values_list("fits", flat=True):
                fits |= labels or {}
            locked.diagnosis = box_alignment.diagnosis(fits.values())
            locked.save(update_fields=["state", "finished_at", "diagnosis"])
            locked.forget_results()
            if locked.batch.state == EvaluationBatch.State.CURRENT:
                if not locked.submission.complete():  # it was scored already, and left out of this batch
                    locked.submission.phase.touch_board()
                    worker_notify.after_commit("boards")
            else:
                locked.batch.switch_if_complete()
        return True

    def forget_results(self) -> None:
        """Drop what the parts hold: the scores' vectors have it. Not while one of them may still be found wrong, because valid results are
        then needed again."""
        doubted = PartRecord.objects.filter(part__evaluation=self, verdict__in=[PartRecord.Verdict.UNCHECKED, PartRecord.Verdict.HELD])
        if self.state == self.State.DONE and not doubted.exists():
            self.parts.update(result=None, fits=None)

    def reopen(self) -> bool:
        """Take back the scores of a finished scoring, because a part of it is in doubt; it closes again when that is settled. False
        where nobody looks at them any more, or it is not done."""
        with transaction.atomic():
            locked = self._locked("batch", "submission__phase")
            if locked.state != self.State.DONE or not locked.batch.is_live:
                return locked.state == self.State.RUNNING
            locked.scores.all().delete()
            locked.state, locked.finished_at = self.State.RUNNING, None
            locked.save(update_fields=["state", "finished_at"])
            if locked.batch.state == EvaluationBatch.State.CURRENT:
                entry = Submission.objects.filter(pk=locked.submission_id, status=Status.SCORED)
                entry.update(status=Status.SCORING, finished_at=None)
                locked.submission.phase.touch_board()
                worker_notify.after_commit("boards")
        return True

    def fail(self, why: Why, detail: str) -> None:
        """A part failed for good: so does this evaluation, and the entry with it unless it stays
        scored under the current batch."""
        with transaction.atomic():
            locked = self._locked("batch", "submission")
            if locked.state != self.State.RUNNING:
                return
            locked.state, locked.finished_at = self.State.FAILED, timezone.now()
            failed = self.failed_by(why, detail)
            for name, value in failed.items():
                setattr(locked, name, value)
            locked.save(update_fields=["state", "finished_at", *failed])
            locked.parts.filter(state=Part.State.WAITING).update(state=Part.State.DROPPED, **Part.UNHELD)
            if locked.batch.state == EvaluationBatch.State.CURRENT:
                locked.submission.fail(why, detail)

    def retry(self) -> None:
        """Score a failed member of a batch again, at an organizer's word: it asks no quota."""
        with transaction.atomic():
            self.lock_phase(self.pk)
            submission, batch = self.submission, self.batch
            if batch.state == EvaluationBatch.State.CURRENT and submission.status == Status.FAILED:
                submission.requeue()
            else:
                Evaluation.make(submission, batch)

    def exclude(self) -> None:
        """Leave a failed member out, so that its batch can become the current one."""
        with transaction.atomic():
            self.lock_phase(self.pk)
            Evaluation.objects.filter(pk=self.pk, state=self.State.FAILED).update(state=self.State.EXCLUDED)
            self.batch.switch_if_complete()

    def drop(self) -> None:
        """Stop scoring: the entry was cancelled, or the batch was."""
        with transaction.atomic():
            self.lock_phase(self.pk)
            Evaluation.objects.filter(pk=self.pk, state=self.State.RUNNING).update(state=self.State.CANCELLED, finished_at=timezone.now())
            self.parts.exclude(state=Part.State.DONE).update(state=Part.State.DROPPED, **Part.UNHELD)


def _cost(evaluation: Evaluation) -> dict[str, float]:
    """Milliseconds per item of each metric, over all parts, with an equal share of work that metrics share. A metric that was not timed is
    left out."""
    total: dict[str, float] = {}
    for seconds in evaluation.parts.values_list("seconds", flat=True):
        for name, spent in (seconds or {}).items():
            slugs = name.split(TOGETHER)
            for slug in slugs:
                total[slug] = total.get(slug, 0.0) + spent / len(slugs)
    return {slug: 1000 * spent / evaluation.n_items for slug, spent in total.items()} if evaluation.n_items else {}


class PartQuerySet(LeasedQuerySet):
    def waiting(self, device: str) -> Self:
        """Parts to be done on `device`, in their turn."""
        return self.filter(state=Part.State.WAITING, device=device).order_by("turn", "id")

    def affordable(self) -> Self:
        """Parts of challenges that have budget left."""
        exhausted = ComputeBudget.exhausted()
        if not exhausted:
            return self
        running = Evaluation.objects.running().filter(batch__phase__challenge__in=exhausted).values_list("pk", flat=True)
        return self.exclude(evaluation_id__in=list(running))

    def for_token(self, token: WorkerToken, queue: str) -> Self:
        """Free parts of a queue that a worker of the token may do. They belong to its challenge, no worker of the token did them before,
        and the service need not decide them. A part that one of its workers left goes to others, unless nobody else works, or the others
        lacked something for it."""
        own = self.waiting(queue).unleased().filter(own_only=False, evaluation__batch__phase__challenge=token.challenge_id)
        done = PartRecord.objects.filter(part=OuterRef("pk"), token=token)
        own = own.filter(~Exists(done))
        left = token.parts_left.filter(state=Part.State.WAITING, lacking_since=None)
        return own.exclude(pk__in=token.left_to_others(queue, list(left.values_list("pk", flat=True)))) if left.exists() else own

    def stalled(self, now: datetime | None = None) -> list[Part]:
        """Parts of remote workers that have used more than half of the time for their next item."""
        now = now or database_clock.read()
        held = self.held(now).filter(state=Part.State.WAITING, token__isnull=False, progressed_at__isnull=False)
        held = held.select_related("token__challenge", "evaluation__submission").order_by("started_at")
        return [part for part in held if now - part.progressed_at > (part.ends_at - part.progressed_at) / 2]

    def clock(self, device: str) -> float:
        return fair_share.clock(self.waiting(device), self.filter(state=Part.State.DONE, device=device))

    def of_same_share(self, evaluation: Evaluation) -> Self:
        """Parts that share a share of the workers with this evaluation: its team's in its phase, or, while a batch is being built, all of
        that batch, because no team caused it."""
        mine = self.filter(evaluation__batch=evaluation.batch_id)
        is_current = evaluation.batch.state == EvaluationBatch.State.CURRENT
        return mine.filter(evaluation__submission__team=evaluation.submission.team_id) if is_current else mine


class Part(Deferrable):
    """A slice of an evaluation that one worker does: some metrics over items [start, stop)."""

    class State(TextChoices):
        WAITING = "waiting", "Waiting"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        DROPPED = "dropped", "Dropped"
        HELD = "held", "Held back"  # done by a worker from outside that is in doubt

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="parts")
    device = models.CharField(max_length=8, default="cpu")
    slugs = models.JSONField()
    start = models.PositiveIntegerField()
    stop = models.PositiveIntegerField()
    turn = models.FloatField(default=0.0)  # the least comes first, see submissions.fair_share
    cost = models.FloatField(default=0.0)  # seconds that it takes, as far as was known
    state = models.CharField(max_length=8, choices=State, default=State.WAITING, db_index=True)
    result = models.JSONField(null=True)  # by slug, None of a column that waits for a re-evaluation; kept until the closing transaction
    fits = models.JSONField(null=True)  # by item: how it fit the reference, see `submissions.formats.box_alignment`; kept as long
    seconds = models.JSONField(null=True)  # by slug: what the part cost here, no part of the result
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    scored = models.PositiveIntegerField(default=0)  # items that the attempt under way has behind it

    token = models.ForeignKey(WorkerToken, on_delete=models.SET_NULL, null=True, related_name="parts")  # of whose worker has it
    own_only = models.BooleanField(default=False)  # two workers from outside differ, and the service decides
    # Of the lease of a remote worker, by the service's own plan: its end, whatever the worker reports, the seconds that one item may take,
    # and when an item was last done.
    due_at = models.DateTimeField(null=True)
    item_seconds = models.FloatField(default=0.0)
    progressed_at = models.DateTimeField(null=True)
    left_by = models.ManyToManyField(WorkerToken, related_name="parts_left")  # whose workers had it and brought nothing

    GIVEN_BACK = {"scored": 0, "token": None}
    objects = PartQuerySet.as_manager()

    class Meta:
        ordering = ["evaluation_id", "start"]
        indexes = [models.Index(fields=["state", "device", "turn", "id"])]

    def __str__(self) -> str:
        return f"part {self.start}:{self.stop} of {self.evaluation_id}"

    @property
    def doing(self) -> str:  # type: ignore[override]  # of this row, where other kinds of rows have one word for all
        return f"scoring items {self.start + 1} to {self.stop}"

    @property
    def ends_at(self) -> datetime | None:
        """Moment at which the lease of a remote worker ends unless one more item is done. Each item has its time; the first also has the
        time to begin. All of them end by `due_at`."""
        if self.due_at is None or self.progressed_at is None:  # claimed from a service of an older version
            return self.lease_until
        begin = 0.0 if self.scored else part_plan.BEGIN_SECONDS
        return min(self.due_at, self.progressed_at + timedelta(seconds=begin + self.item_seconds))

    def seconds_held(self, now: datetime | None = None) -> float:
        """Seconds since its worker began it."""
        return ((now or database_clock.read()) - self.started_at).total_seconds() if self.started_at else 0.0

    @property
    def n_items(self) -> int:
        return self.stop - self.start

    def lose(self, what: str, now: datetime | None = None) -> bool:
        """The service's own worker: handled like every leased row. A missing result of a remote worker says nothing about the part: it is
        no loss and no attempt, so that no number of them fails an entry, and others may take the part immediately."""
        if self.token_id is None:
            return super().lose(what, now)
        rows = self.under_lease() if now is None else self.under_lease().filter(lease_until__lte=now)
        if not rows.update(attempts=F("attempts") - 1, **self.UNHELD, **self.GIVEN_BACK):
            return False
        log.warning("a remote worker lost its part", part=self.pk, worker=self.worker, scored=self.scored, seconds=self.seconds_held(now))
        WorkerToken.note_left(self.token_id, self.pk, in_vain=True)
        worker_notify.after_commit("work" if self.device == "cpu" else "gpu")
        return True

    def finish(self, result: dict, seconds: dict[str, float] | None = None, fits: Mapping[str, str] | None = None, **made: Any) -> bool:
        """Keep the result, its cost and how its items fit the reference, under the current token only. Close the evaluation if it was the
        last. False: the lease was lost, and nothing was written. `made` are further columns of its record: seconds of cores and of cards,
        the environment.

        The result of a worker from outside may have to wait for a second worker's: see `crosscheck`.
        """
        with transaction.atomic():
            Evaluation.lock_phase(self.evaluation_id)
            held = self.under_lease().filter(state=self.State.WAITING)
            if not held.exists():
                return False
            if not crosscheck.settle(self, result, {"seconds": seconds or {}, **made}):
                held.update(attempts=0, started_at=None, **self.UNHELD, **self.GIVEN_BACK)
                worker_notify.after_commit("work" if self.device == "cpu" else "gpu")
                return True
            self._keep(held, result, seconds, fits)
        return True

    def _keep(self, rows: models.QuerySet, result: dict, seconds: dict[str, float] | None, fits: Mapping[str, str] | None = None) -> None:
        kept = rows.update(
            state=self.State.DONE,
            result=result,
            seconds=seconds,
            fits=dict(fits or {}),
            finished_at=timezone.now(),
            **self.UNHELD,
        )
        if kept:
            self.evaluation.close_if_complete()

    def decide(self, right: PartRecord | None, actor: User | None) -> None:
        """An organizer says which of two results that differ is right, or that neither is."""
        with transaction.atomic():
            Evaluation.lock_phase(self.evaluation_id)
            if not self.records.filter(verdict=PartRecord.Verdict.DISPUTED).exists():
                raise Refused("This difference is settled already; look at the page again.", "settled")
            said = f"{right.worker} of {right.token}" if right is not None else "neither"
            entry = self.evaluation.submission
            AuditEntry.record(entry.phase.challenge, actor, "worker.decide", entry, part=self.pk, right=said)
            result = crosscheck.decide(self, right)
            if result is not None and right is not None:
                rows = type(self).objects.filter(pk=self.pk, state=self.State.WAITING)
                self._keep(rows, result, right.seconds)

    def leave_to_service(self, own_only: bool) -> None:
        """Let only the service's own workers do the part, or others too."""
        type(self).objects.filter(pk=self.pk).update(own_only=own_only)

    def hold(self) -> None:
        """Its worker is in doubt: no score uses it until that is settled."""
        with transaction.atomic():
            if self.evaluation.reopen():
                type(self).objects.filter(pk=self.pk, state=self.State.DONE).update(state=self.State.HELD)

    def release(self) -> None:
        """Its worker was right after all."""
        with transaction.atomic():
            Evaluation.lock_phase(self.evaluation_id)
            if type(self).objects.filter(pk=self.pk, state=self.State.HELD).update(state=self.State.DONE):
                self.evaluation.close_if_complete()

    def do_again(self) -> None:
        """Its worker was wrong: have somebody else do it."""
        with transaction.atomic():
            if self.evaluation.reopen():
                done = type(self).objects.filter(pk=self.pk, state__in=[self.State.DONE, self.State.HELD])
                again = {
                    "state": self.State.WAITING,
                    "result": None,
                    "seconds": None,
                    "fits": None,
                    "started_at": None,
                    "finished_at": None,
                }
                done.update(**again, **self.ANEW, **self.GIVEN_BACK)
                worker_notify.after_commit("work" if self.device == "cpu" else "gpu")

    def give_up(self, why: Why, detail: str) -> None:
        """Fail the part for good, and its evaluation with it."""
        why = replace(why, numbers={**why.numbers, "first": self.start + 1, "last": self.stop})
        with transaction.atomic():
            Evaluation.lock_phase(self.evaluation_id)
            failed = self.under_lease().update(state=self.State.FAILED, **self.UNHELD, **self.failed_by(why, detail))
            if failed:
                self.evaluation.fail(why, detail)
