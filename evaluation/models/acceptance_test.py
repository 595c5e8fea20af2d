"""Acceptance test of a column before it may rank: known damages of the phase's own references, scored in the background."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from django.db import models
from django.utils import timezone

from evaluation.metrics import registry
from evaluation.models.batch import EvaluationBatch, is_retired
from evaluation.models.definition import Reference
from evaluation.models.runs import Run
from evaluation.networks import weights
from evaluation.networks.gate import design as gate
from evaluation.networks.gate.gate_sentences import passed_words, refused_words
from submissions import worker_notify
from submissions.choices import TextChoices
from submissions.entry_states import Why
from submissions.leases import LeasedQuerySet


@dataclass(frozen=True)
class Standing:
    """The standing of a column of a batch: may it rank, and the sentence that says so.

    `scenes` are those it ranks by, where it does not rank by all. `id` is that of the row whose page has the evidence, if there is one.
    """

    state: str  # "passed", "refused", "waiting", "failed", "outdated" or "retired"
    sentence: str
    id: int | None = None
    scenes: tuple[str, ...] | None = None

    @property
    def ranks(self) -> bool:
        return self.state == "passed"


class AcceptanceTestQuerySet(LeasedQuerySet):
    def waiting(self) -> Self:
        """Acceptance tests that want another slice, the least tried first."""
        return self.filter(state=AcceptanceTest.State.WAITING).order_by("seconds", "id")

    def overdue(self, seconds: float) -> Self:
        """Acceptance tests that have had no slice for that long, because entries came first all the time."""
        return self.waiting().filter(touched_at__lt=timezone.now() - timezone.timedelta(seconds=seconds))


class AcceptanceTest(Run):
    """One acceptance test of one fingerprint on one reference.

    A worker does it slice by slice, a view or reference at a time; what a slice has scored is kept under the lease, so that a worker that
    dies loses one slice at most. `at` is where it continues: the number of the scene and of the subject within it. Once all scenes are
    judged the column follows the verdict; then the pictures of each scene's first view are made, for the test's page.
    """

    class State(TextChoices):
        WAITING = "waiting", "Being tried"
        DONE = "done", "Tried"
        FAILED = "failed", "Failed"

    reference = models.ForeignKey(Reference, on_delete=models.CASCADE, related_name="acceptance_tests")
    unit_scale = models.FloatField(default=1.0)
    fingerprint = models.CharField(max_length=64)
    key = models.CharField(max_length=63)  # in the registry
    params = models.JSONField()  # all of them, as resolved
    version = models.CharField(max_length=16)  # of the gate
    state = models.CharField(max_length=8, choices=State, default=State.WAITING, db_index=True)
    at = models.JSONField(default=list)
    rows = models.JSONField(default=list)  # evaluation.networks.gate.acceptance_test.Row of each score
    scenes = models.JSONField(default=list)  # evaluation.networks.gate.acceptance_test.SceneVerdict of each scene that is done
    judged_at = models.DateTimeField(null=True)
    pictures = models.JSONField(default=dict)  # by scene: [damage, width, height] of each picture made of its first view
    done = models.PositiveIntegerField(default=0)  # scores
    total = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)  # worked so far
    touched_at = models.DateTimeField(default=timezone.now)

    doing = "trying this metric"
    objects = AcceptanceTestQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["reference", "unit_scale", "fingerprint"], name="trial_once_per_reference")]

    def __str__(self) -> str:
        return f"acceptance test of {self.key} on {self.reference} ({self.state})"

    @classmethod
    def request_missing(cls) -> int:
        """An acceptance test for every column of a live batch that needs one and has none, and a new start for those of an older gate; how
        many. Those that nothing asks for any more are dropped. Two calls at the same moment make each row once."""
        live = EvaluationBatch.objects.filter(
            state__in=[EvaluationBatch.State.CURRENT, EvaluationBatch.State.BUILDING], reference__isnull=False
        )
        wanted: dict[tuple[int, float, str], AcceptanceTest] = {}
        for batch in live.select_related("reference__phase__challenge"):
            for column in batch.metrics:
                if needs_acceptance_test(column) and not is_retired(column) and _may_rank(column) and registry.is_current(column):
                    identity = (batch.reference_id, batch.unit_scale, column["fingerprint"])
                    wanted.setdefault(identity, cls._of(batch, column))
        known = {(one.reference_id, one.unit_scale, one.fingerprint): one for one in cls.objects.defer("rows", "scenes", "pictures")}
        missing = [acceptance_test for identity, acceptance_test in wanted.items() if identity not in known]
        cls.objects.bulk_create(missing, ignore_conflicts=True)
        dropped = [one.pk for identity, one in known.items() if identity not in wanted and one.state == cls.State.WAITING]
        cls.objects.filter(pk__in=dropped).unleased().delete()
        stale = [one for identity, one in known.items() if identity in wanted and one.version != gate.VERSION]
        again = sum(one.restart() for one in stale)
        if missing or again:
            worker_notify.after_commit("work")
        return len(missing) + again

    @classmethod
    def _of(cls, batch: EvaluationBatch, column: Mapping[str, Any]) -> AcceptanceTest:
        spec = registry.get(column["key"])
        scenes = gate.scenes_of(spec, column["params"], batch.item_ids)
        total = len(scenes) * gate.MAX_VIEWS * gate.scores_per_subject(spec, column["params"])
        return cls(
            reference=batch.reference,
            unit_scale=batch.unit_scale,
            fingerprint=column["fingerprint"],
            key=column["key"],
            params=column["params"],
            version=gate.VERSION,
            total=total,
        )

    @classmethod
    def standings(cls, batch: EvaluationBatch) -> dict[str, Standing]:
        """The standings, by slug, of the columns that rank only after an acceptance test."""
        gated = [column for column in batch.metrics if needs_acceptance_test(column)]
        if not gated or batch.reference_id is None:
            return {}
        rows = cls.objects.filter(
            reference=batch.reference_id, unit_scale=batch.unit_scale, fingerprint__in=[column["fingerprint"] for column in gated]
        ).defer("rows", "pictures")
        found = {row.fingerprint: row for row in rows}
        noun = batch.phase.challenge.unit_noun
        return {column["slug"]: standing(column, found.get(column["fingerprint"]), noun) for column in gated}

    def about(self) -> dict[str, object]:
        return {"metric": self.key, "phase": self.reference.phase}

    def restart(self) -> bool:
        """Test again from the start: by a newer gate, or after a failure that an operator has looked at."""
        blank = {"at": [], "rows": [], "scenes": [], "pictures": {}, "done": 0, "seconds": 0.0, "finished_at": None, "judged_at": None}
        rows = type(self).objects.filter(pk=self.pk).unleased()
        return bool(rows.update(version=gate.VERSION, state=self.State.WAITING, **blank, **self.ANEW))

    def keep(self, rows: Sequence[gate.Row], verdict: gate.SceneVerdict | None, **values: Any) -> bool:
        """Keep the scores of a slice, and the verdict of a scene that it finished, and release the lease; the boards are made again after
        the last one. False: the lease was lost, nothing was written."""
        scenes = [*self.scenes, verdict.to_dict()] if verdict else self.scenes
        judged = verdict is not None and len(scenes) == len(self.scene_names)
        if judged:
            values["judged_at"] = timezone.now()
        taken = (
            self.under_lease()
            .filter(state=self.State.WAITING)
            .update(
                rows=[*self.rows, *map(asdict, rows)],
                scenes=scenes,
                touched_at=timezone.now(),
                **values,
                **self.ANEW,
            )
        )
        if taken and judged:
            self.reference.phase.touch_board()
            worker_notify.after_commit("boards")
        return bool(taken)

    def take_over(self, rows: Sequence[gate.Row], scenes: Sequence[gate.SceneVerdict]) -> bool:
        """Take over scores from another test on this very reference. A worker that has begun finds its lease lost. False once judged."""
        values = {"rows": [asdict(row) for row in rows], "scenes": [one.to_dict() for one in scenes], "judged_at": timezone.now()}
        unjudged = type(self).objects.filter(pk=self.pk, judged_at=None)
        return bool(unjudged.update(at=[len(scenes), 0], done=len(rows), total=len(rows), **values, **self.ANEW))

    def give_up(self, why: Why, detail: str) -> None:
        super().give_up(why, detail)
        self.reference.phase.touch_board()

    def picture_key(self, scene: str, damage: str) -> str:
        """Storage key of the picture of a damage of that scene's first view, the same one for all acceptance tests of its kind."""
        kind = gate.kind_of(self.spec, self.params)
        return f"trials/{self.reference_id}/{self.version.replace('/', '-')}-{kind}-{self.scene_names.index(scene)}-{damage}.webp"

    @property
    def scene_names(self) -> list[str]:
        """Return what gets a verdict of its own, in the order in which it is tried."""
        return gate.scenes_of(self.spec, self.params, self.reference.item_ids)

    @property
    def spec(self) -> registry.MetricSpec:
        return registry.get(self.key)

    @property
    def percent(self) -> float:
        return 100.0 if self.judged_at else 100.0 * self.done / self.total if self.total else 0.0

    @property
    def verdicts(self) -> list[gate.SceneVerdict]:
        """The verdict on each scene that is done."""
        return [gate.SceneVerdict.from_dict(one) for one in self.scenes]

    @property
    def table(self) -> list[gate.Row]:
        """Every score so far."""
        return [gate.Row(**row) for row in self.rows]


def needs_acceptance_test(column: Mapping[str, Any]) -> bool:
    """Return whether a column of a batch ranks only after an acceptance test. Imported figures are other people's, and need none."""
    spec = registry.find(column["key"]) if column["key"] and "imported" not in column else None
    return spec is not None and (bool(gate.kind_of(spec, column["params"])) or is_retired(column))


def standing(column: Mapping[str, Any], row: AcceptanceTest | None, noun: str = "scene") -> Standing:
    """Return whether a column may rank, by its acceptance test; `noun` is the challenge's word for a scene."""
    if is_retired(column):
        return Standing("retired", "No longer computed: its values stay and do not rank.")
    if not _may_rank(column):
        return Standing("refused", "Shown, not ranked: its weights miss requirements that their model card lists.")
    if row is None and not registry.is_current(column):
        return Standing(
            "outdated", ("Shown, not ranked: its values are of an older version without an acceptance test; re-evaluate the phase.")
        )
    if row is not None and row.judged_at:
        # Its scenes are all judged: it ranks by those that passed, if they are at least half.
        verdicts = row.verdicts
        passed = tuple(one.scene for one in verdicts if one.passed)
        if not passed or 2 * len(passed) < len(verdicts):
            return Standing("refused", refused_words(row.spec, row.params, verdicts), row.pk)
        return Standing(
            "passed", passed_words(row.spec, row.params, verdicts, noun), row.pk, passed if len(passed) < len(verdicts) else None
        )
    if row is None or row.state == AcceptanceTest.State.WAITING:
        return Standing(
            "waiting",
            f"Shown, not ranked yet: its acceptance test on the phase's own references is running ({row.percent if row else 0:.0f} %).",
            row.pk if row else None,
        )
    return Standing("failed", "Shown, not ranked: its acceptance test could not run.", row.pk)


def _may_rank(column: Mapping[str, Any]) -> bool:
    return weights.may_rank(registry.get(column["key"]), column["params"])
