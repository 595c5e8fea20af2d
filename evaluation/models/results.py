"""Published figures: the table that a results-only phase ranks, and how it becomes entries and scores."""

from __future__ import annotations

import hashlib

import numpy as np
from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from evaluation import result_tables
from evaluation.metrics.aggregation import unit_matrix
from evaluation.models.batch import EvaluationBatch
from evaluation.models.definition import told_apart
from evaluation.models.evaluation import Evaluation
from evaluation.models.score import Score
from submissions import worker_notify
from submissions.entry_fields import Door, through
from submissions.errors import Refused
from submissions.models import AuditEntry, Phase, Status, Submission, Team, User

MAX_BYTES = 1_000_000


class ResultTable(models.Model):
    """One version of a phase's table: its text as it was given, and how it is read.

    A phase with one takes no uploads. Each row is an entry of the service's own team, without files; a row that a newer
    table no longer has is withdrawn, and one that comes back is the same entry again.
    """

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="result_tables")
    version = models.PositiveIntegerField()
    text = models.TextField()
    sha256 = models.CharField(max_length=64)
    file_name = models.CharField(max_length=160)
    layout = models.JSONField()  # evaluation.result_tables.Layout
    items = models.JSONField(default=list, blank=True)  # of a table with values of items: these, and the group of each
    groups = models.JSONField(default=list, blank=True)
    opinions = models.JSONField(null=True, blank=True)  # the columns that hold mean opinions, see leaderboard.bundle.results
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["phase", "version"]
        constraints = [models.UniqueConstraint(fields=["phase", "version"], name="result_table_version_once")]

    def __str__(self) -> str:
        return f"{self.phase} results v{self.version}"

    @property
    def read_layout(self) -> result_tables.Layout:
        return result_tables.Layout.from_dict(self.layout)

    def table(self) -> result_tables.Table:
        return result_tables.read(self.text, self.read_layout)

    @classmethod
    def of(cls, phase: Phase) -> ResultTable | None:
        """The newest version, which is the one in force."""
        return cls.objects.filter(phase=phase).order_by("-version").first()

    @classmethod
    def put(
        cls, phase: Phase, text: str, layout: result_tables.Layout, file_name: str, opinions: dict | None = None, actor: User | None = None
    ) -> ResultTable:
        """Keep the table as the phase's newest version and rank what it holds. Raises `ResultsError` where it cannot be read."""
        table = result_tables.read(text, layout)
        digest = hashlib.sha256(text.encode()).hexdigest()
        with transaction.atomic():
            phase.lock()
            if phase.submissions.sent().exclude(evaluations__kind=Evaluation.Kind.IMPORTED).exists():
                raise Refused(
                    "This phase has entries of teams, so it ranks no imported figures; make another phase for them.", "has_entries"
                )
            version = (cls.objects.filter(phase=phase).aggregate(n=models.Max("version"))["n"] or 0) + 1
            row = cls.objects.create(
                phase=phase,
                version=version,
                text=text,
                sha256=digest,
                file_name=file_name,
                layout=layout.to_dict(),
                items=list(table.items),
                groups=list(table.groups),
                opinions=opinions,
                created_by=actor,
            )
            batch = row._batch(table, layout, actor)
            for submission, it in zip(row._entries(table, actor), table.rows, strict=True):
                row._score(submission, batch, it)
            AuditEntry.record(phase.challenge, actor, "phase.import", phase, table=digest[:16], rows=len(table.rows), batch=batch.pk)
            phase.touch_board()
            worker_notify.after_commit("boards")
        return row

    def _batch(self, table: result_tables.Table, layout: result_tables.Layout, actor: User | None) -> EvaluationBatch:
        """The batch that takes over from the one before: nothing has to be computed for it."""
        EvaluationBatch.objects.filter(phase=self.phase, state=EvaluationBatch.State.CURRENT).update(state=EvaluationBatch.State.RETIRED)
        columns = [
            result_tables.column_of(it, position, decimals, self.sha256, bool(table.items))
            for position, (it, decimals) in enumerate(zip(layout.columns, table.decimals, strict=True))
        ]
        return EvaluationBatch.objects.create(
            phase=self.phase,
            results=self,
            metrics=[column.to_dict() for column in told_apart(columns)],
            state=EvaluationBatch.State.CURRENT,
            reason="imported figures",
            created_by=actor,
            switched_at=timezone.now(),
        )

    def _entries(self, table: result_tables.Table, actor: User | None) -> list[Submission]:
        """An entry for each row, in their order."""
        known = {it.method_name: it for it in Submission.objects.filter(phase=self.phase).sent()}
        team = _team(self.phase) if table.rows else None
        number = max((it.number for it in Submission.objects.filter(phase=self.phase).only("number")), default=0)
        now, found = timezone.now(), []
        for row in table.rows:
            it = known.pop(row.method, None)
            if it is None:
                number += 1
                it = Submission(phase=self.phase, team=team, number=number, uploaded_by=actor, received_at=now, notified_at=now)
            it.status, it.withdrawn_at, it.finished_at = Status.SCORED, None, it.finished_at or now
            it.method_name, it.description = row.method, row.detail
            for field in through(Door.RESULTS):
                setattr(it, field.name, row.links.get(field.public, ""))
            it.file_name, it.sha256 = self.file_name, ""
            it.save()
            found.append(it)
        Submission.objects.filter(pk__in=[it.pk for it in known.values()], withdrawn_at__isnull=True).update(withdrawn_at=now)
        return found

    @staticmethod
    def _score(submission: Submission, batch: EvaluationBatch, row: result_tables.ResultRow) -> None:
        """Keep a row's values, and values of items if the table has them; intervals are made with the ranking."""
        now = timezone.now()
        vectors = np.array(row.vectors, dtype=np.float64) if row.vectors else None
        units = None if vectors is None else unit_matrix(vectors, batch.groups, names=batch.item_ids)
        evaluation = Evaluation.objects.create(
            submission=submission, batch=batch, kind=Evaluation.Kind.IMPORTED, state=Evaluation.State.DONE, started_at=now, finished_at=now
        )
        Score.objects.bulk_create(
            Score(
                evaluation=evaluation,
                slug=column.slug,
                key="",
                fingerprint=column.fingerprint,
                value=value,
                **({} if vectors is None or units is None else {"vector": vectors[n].tobytes(), "n": int(np.isfinite(units[n]).sum())}),
            )
            for n, (column, value) in enumerate(zip(batch.columns, row.values, strict=True))
        )


def _team(phase: Phase) -> Team:
    """The team of the challenge that has the imported entries. Nobody is in it."""
    known = Team.objects.filter(challenge=phase.challenge, submissions__evaluations__kind=Evaluation.Kind.IMPORTED).first()
    return known or Team.without_members(phase.challenge, "Imported results")
