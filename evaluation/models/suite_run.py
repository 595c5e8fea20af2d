"""Runs of suites of tests: the sanity tests of a metric, and the acceptance test of a column, which is a suite over a phase's own
references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Self

from django.db import models
from django.utils import timezone

from evaluation.metrics import registry
from evaluation.models.definition import Reference
from evaluation.models.program import MetricProgram
from evaluation.models.runs import Run
from evaluation.properties.gate import design as gate
from evaluation.properties.suite import SANITY, Suite, Table
from submissions import worker_notify
from submissions.choices import TextChoices
from submissions.entry_states import Why
from submissions.leases import LeasedQuerySet


class SuiteRunQuerySet(LeasedQuerySet):
    def sanity_tests(self) -> Self:
        return self.filter(reference__isnull=True)

    def acceptance_tests(self) -> Self:
        return self.filter(reference__isnull=False)

    def without_results(self) -> Self:
        """Rows without the columns that may be large."""
        return self.defer("rows", "at", "results", "pictures")

    def waiting(self, device: str | None = None) -> Self:
        """Runs that want another slice; those that had least come first, so that a slow metric does not hold up the others. Those of a
        device alone, where one is named: of gpu are the metric programs that need a graphics card."""
        rows = self.filter(state=SuiteRun.State.WAITING).order_by("seconds", "id")
        if device is None:
            return rows
        on_cards = [f"{scope}/{key}" for scope, key in MetricProgram.objects.on_cards().values_list("scope", "key").distinct()]
        return rows.filter(key__in=on_cards) if device == "gpu" else rows.exclude(key__in=on_cards)

    def overdue(self, seconds: float) -> Self:
        """Runs that have had no slice for that long, because entries came first all the time."""
        return self.waiting().filter(touched_at__lt=timezone.now() - timezone.timedelta(seconds=seconds))

    def request(self, wanted: Iterable[SuiteRun]) -> int:
        """Store the `wanted` runs that these rows lack, begin runs of an older suite again, and drop waiting rows that are no longer
        wanted. Returns how many were stored or begun again. Two calls at the same moment make each row once."""
        asked = {one.identity: one for one in wanted}
        known = {one.identity: one for one in self.without_results()}
        missing = [one for identity, one in asked.items() if identity not in known]
        self.model._default_manager.bulk_create(missing, ignore_conflicts=True)
        dropped = [one.pk for identity, one in known.items() if identity not in asked and one.state == SuiteRun.State.WAITING]
        self.filter(pk__in=dropped).unleased().delete()
        again = sum(one.restart() for identity, one in known.items() if identity in asked and one.version != one.suite.version)
        if missing or again:
            worker_notify.after_commit("work")
        return len(missing) + again


class SuiteRun(Run):
    """One run of a suite for one fingerprint: the acceptance test on a `reference`, or the sanity tests where there is none.

    A worker does it slice by slice. Measurements of a slice are stored at its end, under the lease, so a worker that dies loses at most one
    slice. Once an acceptance test is judged its column follows the verdict; then the pictures of each scene's first view are made, for its
    page.
    """

    class State(TextChoices):
        WAITING = "waiting", "Under way"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    reference = models.ForeignKey(Reference, null=True, on_delete=models.CASCADE, related_name="suite_runs")
    unit_scale = models.FloatField(default=1.0)
    fingerprint = models.CharField(max_length=64)
    key = models.CharField(max_length=105)  # in the registry
    params = models.JSONField()  # all of them, as resolved
    version = models.CharField(max_length=16)  # of the suite
    state = models.CharField(max_length=8, choices=State, default=State.WAITING, db_index=True)
    # As in evaluation.properties.suite.Progress. Sanity tests need no rows any more once their table is there.
    rows = models.JSONField(default=list)
    at = models.JSONField(default=list)
    results = models.JSONField(default=list)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    judged_at = models.DateTimeField(null=True)
    pictures = models.JSONField(default=dict)  # by scene: [damage, width, height] of each picture made of its first view
    seconds = models.FloatField(default=0.0)  # worked so far
    touched_at = models.DateTimeField(default=timezone.now)

    doing = "testing this metric"
    objects = SuiteRunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["reference", "unit_scale", "fingerprint"], name="acceptance_test_once"),
            models.UniqueConstraint(fields=["fingerprint"], condition=models.Q(reference=None), name="sanity_tests_once"),
        ]

    def __str__(self) -> str:
        return f"{self.suite.title} of {self.key} {self.fingerprint[:12]} ({self.state})"

    @property
    def suite(self) -> Suite:
        return SANITY if self.reference_id is None else gate.ACCEPTANCE

    @property
    def identity(self) -> tuple[int | None, float, str]:
        """Reference, unit and fingerprint, of which there is one run each."""
        return self.reference_id, self.unit_scale, self.fingerprint

    def about(self) -> dict[str, object]:
        return {"metric": self.key} if self.reference is None else {"metric": self.key, "phase": self.reference.phase}

    def restart(self) -> bool:
        """Test again from the start: by a newer suite, or after a failure that an operator has looked at."""
        blank = {"at": [], "rows": [], "results": [], "pictures": {}, "done": 0, "seconds": 0.0, "finished_at": None, "judged_at": None}
        rows = type(self).objects.filter(pk=self.pk).unleased()
        return bool(rows.update(version=self.suite.version, state=self.State.WAITING, **blank, **self.ANEW))

    def keep(self, found: Mapping[str, Any], seconds: float) -> bool:
        """Keep the progress that a slice of so many seconds made; after the last one boards are made again. False: the lease was lost,
        nothing was written."""
        values, now = dict(found) | {"seconds": self.seconds + seconds}, timezone.now()
        judged = len(found["results"]) == len(self.scene_names)
        if judged:
            values |= {"judged_at": now}
        if judged and self.reference is None:
            values |= {"rows": [], "state": self.State.DONE, "finished_at": now}
        taken = self._write(values)
        if taken and judged and self.reference is not None:
            self.reference.phase.touch_board()
            worker_notify.after_commit("boards")
        return taken

    def keep_pictures(self, scene: str, made: Sequence[Sequence[Any]]) -> bool:
        """Name the pictures that were made of a scene. False: the lease was lost."""
        return self._write({"pictures": {**self.pictures, scene: made}})

    def finish(self) -> bool:
        """No pictures are missing any more. False: the lease was lost."""
        return self._write({"state": self.State.DONE, "finished_at": timezone.now()})

    def _write(self, values: Mapping[str, Any]) -> bool:
        rows = self.under_lease().filter(state=self.State.WAITING)
        return bool(rows.update(touched_at=timezone.now(), **values, **self.ANEW))

    def take_over(self, rows: Sequence[gate.Row], verdicts: Sequence[gate.SceneVerdict]) -> bool:
        """Take over scores from another test on this very reference. A worker that has begun finds its lease lost. False once judged."""
        values = {"rows": [asdict(row) for row in rows], "results": [one.to_dict() for one in verdicts], "judged_at": timezone.now()}
        unjudged = type(self).objects.filter(pk=self.pk, judged_at=None)
        return bool(unjudged.update(at=[len(verdicts), 0], done=len(rows), total=len(rows), **values, **self.ANEW))

    def give_up(self, why: Why, detail: str) -> None:
        super().give_up(why, detail)
        if self.reference is not None:
            self.reference.phase.touch_board()

    def picture_key(self, scene: str, damage: str) -> str:
        """Storage key of the picture of a damage of that scene's first view, the same one for all acceptance tests of its kind."""
        kind = gate.kind_of(self.spec, self.params)
        return f"trials/{self.reference_id}/{self.version.replace('/', '-')}-{kind}-{self.scene_names.index(scene)}-{damage}.webp"

    @property
    def scene_names(self) -> list[str]:
        """Return what gets a result of its own, in order: "" for simulated models, and for all references together."""
        return [""] if self.reference is None else gate.scenes_of(self.spec, self.params, self.reference.item_ids)

    @property
    def spec(self) -> registry.MetricSpec:
        return registry.get(self.key)

    @property
    def percent(self) -> float:
        return 100.0 if self.judged_at else 100.0 * self.done / self.total if self.total else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Work that is left, at the pace so far; None while that is unknown."""
        return self.seconds * (self.total - self.done) / self.done if self.done else None

    @property
    def table(self) -> Table | None:
        """The table of the sanity tests, once it is there."""
        return Table.from_dict(self.results[0]) if self.reference_id is None and self.results else None

    @property
    def verdicts(self) -> list[gate.SceneVerdict]:
        """The verdict of the acceptance test on each scene that is done."""
        return [gate.SceneVerdict.from_dict(one) for one in self.results]

    @property
    def scores(self) -> list[gate.Row]:
        """Every score of the acceptance test so far."""
        return [gate.Row(**row) for row in self.rows]
