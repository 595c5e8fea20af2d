"""Property tables of metrics with parameters that none ships for: measured here, in the background."""

from __future__ import annotations

from typing import Self

from django.db import models
from django.utils import timezone

from evaluation.metrics import registry
from evaluation.models.definition import PhaseMetric
from evaluation.models.program import MetricProgram
from evaluation.models.runs import Run
from evaluation.properties import bundled_tables
from evaluation.properties.suite import SUITE_VERSION, Table, tests_of
from submissions import worker_notify
from submissions.choices import TextChoices
from submissions.leases import LeasedQuerySet


class PropertyRunQuerySet(LeasedQuerySet):
    def waiting(self, device: str | None = None) -> Self:
        """Runs that want another slice; those that had least come first, so that a slow metric does not hold up the others. Those of a
        device alone, where one is named: of gpu are the metric programs that need a graphics card."""
        rows = self.filter(state=PropertyRun.State.WAITING).order_by("seconds", "id")
        if device is None:
            return rows
        on_cards = [f"{scope}/{key}" for scope, key in MetricProgram.objects.on_cards().values_list("scope", "key").distinct()]
        return rows.filter(key__in=on_cards) if device == "gpu" else rows.exclude(key__in=on_cards)


class PropertyRun(Run):
    """One run of the property suite for one fingerprint.

    A worker takes it slice by slice, when nothing else is to be done; what a slice has measured is
    kept at its end, under the lease, so a worker that dies loses one slice at most.
    """

    class State(TextChoices):
        WAITING = "waiting", "Being measured"
        DONE = "done", "Measured"
        FAILED = "failed", "Failed"

    fingerprint = models.CharField(max_length=64, unique=True)
    key = models.CharField(max_length=105)  # in the registry
    params = models.JSONField()  # all of them, as resolved
    suite_version = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=8, choices=State, default=State.WAITING, db_index=True)
    # Both as in evaluation.properties.slices.Progress, emptied when the table is there.
    outcomes = models.JSONField(default=list)
    pending = models.JSONField(default=list)
    done = models.PositiveIntegerField(default=0)  # tests of single models
    total = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)  # worked so far
    passed = models.PositiveSmallIntegerField(null=True)  # k and n of "k of n"
    of = models.PositiveSmallIntegerField(null=True)
    table = models.JSONField(null=True)

    doing = "measuring this metric"
    objects = PropertyRunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.key} {self.fingerprint[:12]} ({self.state})"

    @classmethod
    def request_missing(cls) -> int:
        """A run for every metric of a phase that has neither a shipped table nor a run, and a new
        start for runs of an older suite; how many. Runs that nothing asks for any more are dropped.
        Two calls at the same moment make each row once."""
        wanted = {}
        for metric in PhaseMetric.objects.order_by("id"):
            try:
                fingerprint, params = metric.fingerprint, metric.resolved
            except (registry.UnknownMetric, registry.ParamError):
                continue  # of a metric, or a parameter, that is no more
            if not metric.is_retired and is_measurable(metric.spec) and not bundled_tables.tables(fingerprint):
                wanted[fingerprint] = (metric.key, params)
        for program in MetricProgram.objects.newest():
            if is_measurable(program.spec):
                params = registry.resolve_params(program.full_key, {})
                wanted[registry.fingerprint(program.full_key, params)] = (program.full_key, params)
        known = set(cls.objects.filter(fingerprint__in=wanted).values_list("fingerprint", flat=True))
        missing = [
            cls(fingerprint=fingerprint, key=key, params=params, suite_version=SUITE_VERSION)
            for fingerprint, (key, params) in wanted.items()
            if fingerprint not in known
        ]
        cls.objects.bulk_create(missing, ignore_conflicts=True)
        cls.objects.waiting().unleased().exclude(fingerprint__in=wanted).delete()
        stale = cls.objects.filter(fingerprint__in=wanted).exclude(suite_version=SUITE_VERSION)
        again = sum(run.restart() for run in stale)
        if missing or again:
            worker_notify.after_commit("work")
        return len(missing) + again

    def about(self) -> dict[str, object]:
        return {"metric": self.key}

    def restart(self) -> bool:
        """Measure again from the start: under a newer suite, or after a failure that an operator has looked at."""
        blank = {"outcomes": [], "pending": [], "done": 0, "total": 0, "seconds": 0.0, "passed": None, "of": None, "table": None}
        rows = type(self).objects.filter(pk=self.pk).unleased()
        return bool(rows.update(suite_version=SUITE_VERSION, state=self.State.WAITING, finished_at=None, **blank, **self.ANEW))

    def keep(self, outcomes: list[dict], pending: list, n_models: int, seconds: float) -> bool:
        """A slice went well: keep what it measured and let go. False: the lease was lost, nothing was written."""
        per_model = len(tests_of(registry.get(self.key).family))
        return bool(
            self.under_lease()
            .filter(state=self.State.WAITING)
            .update(
                outcomes=outcomes,
                pending=pending,
                done=sum(map(len, outcomes)),
                total=n_models * per_model,
                seconds=self.seconds + seconds,
                **self.ANEW,
            )
        )

    def finish(self, table: Table) -> bool:
        """Keep the table, under the current token only; False where that was lost."""
        return bool(
            self.under_lease()
            .filter(state=self.State.WAITING)
            .update(
                state=self.State.DONE,
                table=table.to_dict(),
                passed=table.passed,
                of=table.of,
                outcomes=[],
                pending=[],
                done=models.F("total"),
                finished_at=timezone.now(),
                lease_token=None,
                lease_until=None,
            )
        )

    @property
    def percent(self) -> float:
        return 100.0 * self.done / self.total if self.total else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Work that is left, at the pace so far; None while that is unknown."""
        return self.seconds * (self.total - self.done) / self.done if self.done else None

    def as_table(self) -> Table | None:
        """The table, once it is there."""
        return Table.from_dict(self.table) if self.table else None


def is_measurable(spec: registry.MetricSpec) -> bool:
    """Return whether workers run the suite for such a metric: it has tests and a value for a single model, whose pictures have no
    prompts, and needs no accelerator, unless it is a metric program, which workers with a card measure."""
    return (spec.device == "cpu" or spec.is_program) and spec.level != "set" and not spec.wants_prompts and bool(tests_of(spec.family))
