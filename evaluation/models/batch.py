"""A batch: everything of a phase scored under one reference and one set of metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from evaluation.metrics import registry
from evaluation.metrics.column import Column
from evaluation.metrics.scoring import MetricRequest
from evaluation.models import part_plan
from evaluation.models.definition import PhaseMetric, Reference, told_apart
from submissions import worker_notify
from submissions.choices import TextChoices
from submissions.entry_states import Reason, Why
from submissions.errors import Refused
from submissions.models import AuditEntry, Phase, Status, Submission, User
from submissions.storage import stored_files


@dataclass(frozen=True)
class Outdated:
    """A column of a batch with values of another version of its metric: `version`, None for newer code (after an upgrade was reverted),
    while this code has `current`. `computed` says that this code computes that version too, so that a newer entry has its value there, and
    `corrected` what later versions mend, as in "flat faces"."""

    slug: str
    key: str
    version: int | None
    current: int | None
    computed: bool = False
    corrected: str = ""

    @property
    def sentence(self) -> str:
        if self.version is None:
            has = "no such metric" if self.current is None else f"version {self.current}"
            return f"Values of {self.key} of a version that this service does not know; it has {has}."
        what = f"corrects {self.corrected}" if self.corrected else "is current"
        return f"Values of {self.key} version {self.version}; version {self.current} {what}."


def sentences(outdated: Iterable[Outdated]) -> list[str]:
    """Return sentences on these columns: one for a metric that is in several with the same version."""
    return list(dict.fromkeys(column.sentence for column in outdated))


class EvaluationBatch(models.Model):
    """The phase's board shows its current batch. A re-evaluation is a new batch that becomes the
    current one in a single step, when every entry has been scored under it or was excluded.

    A batch of imported figures has a table of results instead of a reference, and items and groups where that
    table has them.
    """

    class State(TextChoices):
        BUILDING = "building", "Being scored"
        CURRENT = "current", "Shown on the board"
        RETIRED = "retired", "Replaced"
        CANCELLED = "cancelled", "Cancelled"

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="batches")
    reference = models.ForeignKey(Reference, on_delete=models.PROTECT, null=True, blank=True, related_name="batches")
    results = models.ForeignKey("evaluation.ResultTable", on_delete=models.PROTECT, null=True, blank=True, related_name="batches")
    metrics = models.JSONField()  # `columns` as JSON, in order
    unit_scale = models.FloatField(default=1.0, help_text="Metres per unit, as the phase had it.")
    state = models.CharField(max_length=10, choices=State, default=State.BUILDING)
    reason = models.CharField(max_length=240, blank=True)
    by_hand = models.BooleanField(default=False, editable=False)  # when all is scored, it waits for organizers to switch to it
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    switched_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "evaluation batches"
        constraints = [
            models.UniqueConstraint(fields=["phase"], condition=models.Q(state="current"), name="one_current_batch"),
            models.UniqueConstraint(fields=["phase"], condition=models.Q(state="building"), name="one_building_batch"),
            models.CheckConstraint(condition=models.Q(reference__isnull=True) ^ models.Q(results__isnull=True), name="batch_of_one_source"),
        ]

    def __str__(self) -> str:
        return f"{self.phase} batch {self.pk} ({self.state})"

    @property
    def columns(self) -> list[Column]:
        """Columns that it has values of, in order."""
        return [Column.of(one) for one in self.metrics]

    @property
    def is_live(self) -> bool:
        """Return whether anybody looks at its scores, or will."""
        return self.state in (self.State.CURRENT, self.State.BUILDING)

    @property
    def item_ids(self) -> list[str]:
        return self.reference.item_ids if self.reference is not None else self.results.items if self.results is not None else []

    @property
    def groups(self) -> list[str]:
        """One per item."""
        return self.reference.groups if self.reference is not None else self.results.groups if self.results is not None else []

    def items_of(self, scenes: Collection[str] | None) -> np.ndarray:
        """bool[items]: whether an item is of these scenes; all are where None are named."""
        if scenes is None or self.reference is None:
            return np.ones(len(self.item_ids), dtype=bool)
        scene_of = self.reference.family.group_of
        return np.array([scene_of(item) in scenes for item in self.item_ids], dtype=bool)

    @property
    def version(self) -> int:
        """The version of the reference, or of the table of results."""
        return self.results.version if self.reference is None else self.reference.version

    @classmethod
    def current(cls, phase: Phase) -> EvaluationBatch | None:
        return cls.objects.filter(phase=phase, state=cls.State.CURRENT).select_related("reference", "results").first()

    @classmethod
    def live(cls, phase: Phase) -> models.QuerySet:
        """The batches a new entry is scored under: the current one and the one being built."""
        return cls.objects.filter(phase=phase, state__in=[cls.State.CURRENT, cls.State.BUILDING]).select_related("reference", "results")

    @classmethod
    def latest(cls, phase: Phase) -> EvaluationBatch | None:
        """Return the batch of the latest decision: the one being built, else the current one."""
        return max(cls.live(phase), key=lambda batch: batch.state == cls.State.BUILDING, default=None)

    @classmethod
    def is_prepared(cls, phase: Phase) -> bool:
        """Return whether a re-evaluation of entries that were read again waits for the organizers to switch to it or drop it."""
        return cls.objects.filter(phase=phase, state=cls.State.BUILDING, by_hand=True).exists()

    @classmethod
    def relabel(cls, phase: Phase) -> None:
        """Take over what changes no number into the live batches: titles, weights, order, and which
        metric is primary. Their columns and fingerprints stay."""
        shown = {metric.slug: metric for metric in PhaseMetric.objects.filter(phase=phase)}
        for batch in cls.live(phase):
            columns = told_apart([shown[one.slug].labelled(one) if one.slug in shown else one for one in batch.columns])
            batch.metrics = [column.to_dict() for column in sorted(columns, key=lambda column: column.position)]
            batch.save(update_fields=["metrics"])
        phase.touch_board()

    @classmethod
    def publish_manifest(cls, phase: Phase) -> None:
        """Write the phase's manifest from its current batch and its limits as they are now."""
        current = cls.current(phase)
        if current is not None and current.reference is not None:
            phase.refresh_from_db()
            manifest = current.reference.manifest([one for one in current.columns if not one.is_retired]).to_dict()
            Phase.objects.filter(pk=phase.pk).update(manifest_data=manifest)

    @classmethod
    def start(
        cls,
        phase: Phase,
        *,
        reference: Reference | None = None,
        reason: str = "",
        actor: User | None = None,
        read_anew: Mapping[int, str] | None = None,
    ) -> EvaluationBatch:
        """Plan the scoring of all entries under `reference` (the current one by default) and the phase's current metrics. Quota, times and
        the number of entries do not change.

        A batch still being built is cancelled: the newest definition wins. Without an entry to score, the new batch becomes the current one
        immediately.

        `read_anew` are the storage keys of entries' items that were read again from their files, by entry: the batch scores these, and
        waits for organizers to switch to it. They pass from a batch that is cancelled to the new one, which waits too unless a person
        (`actor`) has begun it.
        """
        with transaction.atomic():
            # The same lock as in Evaluation.begin: an entry accepted meanwhile joins either way.
            phase.lock()
            # Columns that are no longer computed take no new values; a new order is made without them.
            columns = told_apart([metric.column() for metric in PhaseMetric.objects.filter(phase=phase) if not metric.is_retired])
            old = cls.current(phase)
            reference = reference or (old.reference if old else phase.references.order_by("-version").first())
            if not phase.is_measured_here:
                raise Refused("This phase ranks imported figures, so there is nothing to score; import its table again.", "imported")
            if reference is None:
                raise Refused("This phase has no reference; add one before its entries can be scored.", "no_reference")
            if not columns:
                raise Refused("This phase has no metric; add one before its entries can be scored.", "no_metric")
            artifacts = dict(read_anew or {})
            for stale in cls.objects.filter(phase=phase, state=cls.State.BUILDING):
                passed = stale.evaluations.exclude(artifact_key="")
                artifacts = dict(passed.values_list("submission_id", "artifact_key")) | artifacts
                passed.update(artifact_key="")
                stale.cancel()
            phase.refresh_from_db(fields=["unit_scale"])
            batch = cls.objects.create(
                phase=phase,
                reference=reference,
                metrics=[column.to_dict() for column in columns],
                unit_scale=phase.unit_scale,
                reason=reason[:240],
                by_hand=bool(read_anew) or (bool(artifacts) and actor is None),
                created_by=actor,
            )
            members = Submission.objects.filter(phase=phase, status__in=[Status.SCORED, Status.SCORING]).exclude(artifact_key="")
            batch.evaluations.make_all(members.order_by("received_at", "id"), batch)
            for entry, key in artifacts.items():
                batch.evaluations.filter(submission=entry).update(artifact_key=key)
            AuditEntry.record(phase.challenge, actor, "phase.reevaluate", phase, reason=reason, reference=reference.version, batch=batch.pk)
            batch.switch_if_complete()
            worker_notify.after_commit("work", "gpu")
        return batch

    def outdated(self) -> list[Outdated]:
        """The columns with values of an earlier version of their metric, in the board's order, without metrics that are no longer
        computed. Imported figures have no such columns."""
        found = []
        for column in self.columns:
            if column.key and not column.is_retired and not column.is_current:
                spec, version = registry.find(column.key), column.version
                later = [one.corrected for one in spec.earlier if one.version >= version] if spec is not None and version else []
                current, is_computed = spec.version if spec else None, column.computed is not None
                found.append(Outdated(column.slug, column.key, version, current, is_computed, " and ".join(later)))
        return found

    def not_computed(self) -> list[Outdated]:
        """The columns of another version than this code computes: a newer entry has no value there."""
        return [column for column in self.outdated() if not column.computed]

    def retired(self) -> list[str]:
        """The slugs of the columns that are no longer computed: their values stay, and new entries are scored without them."""
        return [column.slug for column in self.columns if column.is_retired]

    def scores_without(self, lost: Collection[Outdated]) -> bool:
        """Return whether entries are scored without these columns, of versions that are not computed; they wait for a re-evaluation. A
        batch that is being built must be whole to be shown, and columns of newer code are left to workers that have it."""
        return not lost or (self.state == self.State.CURRENT and all(column.version is not None for column in lost))

    @classmethod
    def all_outdated(cls) -> list[EvaluationBatch]:
        """Return the phases' latest batches that have outdated columns, which a re-evaluation would replace."""
        live = cls.objects.filter(state__in=[cls.State.CURRENT, cls.State.BUILDING], reference__isnull=False)
        rows = live.select_related("phase__challenge", "reference").order_by(
            "phase__challenge__slug", "phase__position", "phase_id", "state"
        )
        latest = {batch.phase_id: batch for batch in sorted(rows, key=lambda batch: batch.state == cls.State.BUILDING)}
        return [batch for batch in rows if latest[batch.phase_id] is batch and batch.outdated()]

    def requests(self, without: Collection[str] = ()) -> list[MetricRequest]:
        """Return the requests to score, in the board's order."""
        return [MetricRequest(one.slug, one.key, one.params, one.version) for one in self.columns if one.slug not in without]

    def cache_key(self, slugs: list[str], start: int, stop: int) -> str:
        """Storage key of the data prepared for the computed ones of these columns, over items [start, stop) of the reference."""
        lost = {column.slug for column in self.not_computed()} | set(self.retired())
        fingerprints = [one.fingerprint for one in self.columns if one.slug in slugs and one.slug not in lost]
        return self.reference.cache_key(self.unit_scale, fingerprints, self.reference.item_ids[start:stop])

    def cache_keys(self) -> list[str]:
        """The keys of all parts that an entry is cut into; none without a reference."""
        plan = [] if self.reference is None else part_plan.plan_parts(self)
        return [self.cache_key(slugs, start, stop) for _, slugs, start, stop in plan]

    @staticmethod
    def forget_caches(batches: Iterable[EvaluationBatch], needed: Iterable[EvaluationBatch] = ()) -> None:
        """Delete what was prepared for `batches`, except what the `needed` ones use too, when the transaction is done."""
        unused = {key for batch in batches for key in batch.cache_keys()}
        if not unused:
            return
        keys = sorted(unused - {key for batch in needed for key in batch.cache_keys()})

        def delete() -> None:
            for key in keys:
                stored_files.try_delete(key)

        transaction.on_commit(delete)

    def members(self) -> models.QuerySet:
        return self.evaluations.exclude(state="cancelled")

    def progress(self) -> dict[str, int]:
        """Numbers of entries: done, failed and in all."""
        states = list(self.members().values_list("state", flat=True))
        return {"done": sum(s in ("done", "excluded") for s in states), "failed": states.count("failed"), "total": len(states)}

    def parts_progress(self) -> dict[str, int]:
        """Numbers of parts of its members: done, and with those that wait in all. Failed and dropped batches are neither."""
        states = list(self.members().filter(parts__state__in=("waiting", "done")).values_list("parts__state", flat=True))
        return {"done": states.count("done"), "total": len(states)}

    def switch_if_complete(self, by_hand: bool = False) -> bool:
        """Make this the current batch if every member is done or excluded. A failed member blocks
        the switch until an operator retries or excludes it. One that waits for organizers switches `by_hand` alone."""
        with transaction.atomic():
            self.phase.lock()
            self.refresh_from_db()
            if self.by_hand and not by_hand:
                return False
            if self.state != self.State.BUILDING or self.members().exclude(state__in=["done", "excluded"]).exists():
                return False
            now = timezone.now()
            retired = list(type(self).objects.filter(phase_id=self.phase_id, state=self.State.CURRENT))
            type(self).objects.filter(pk__in=[batch.pk for batch in retired]).update(state=self.State.RETIRED)
            self.forget_caches(retired, needed=[self])
            self.state, self.switched_at = self.State.CURRENT, now
            self.save(update_fields=["state", "switched_at"])
            # Items that were read again are the entries' own from now on.
            for evaluation in self.evaluations.exclude(artifact_key="").select_related("submission"):
                transaction.on_commit(partial(stored_files.try_delete, evaluation.submission.artifact_key))
                Submission.objects.filter(pk=evaluation.submission_id).update(artifact_key=evaluation.artifact_key)
            self.evaluations.update(artifact_key="")
            # An entry that was still being scored under the old batch is scored under this one, or,
            # left out of it, has nowhere left to be scored.
            pending = Submission.objects.filter(phase_id=self.phase_id, status=Status.SCORING)
            for submission in pending.filter(evaluations__batch=self, evaluations__state="done"):
                submission.complete()
            for submission in pending.filter(evaluations__batch=self, evaluations__state="excluded"):
                submission.fail(Why(Reason.LEFT_OUT))
            self.publish_manifest(self.phase)
            self.phase.touch_board()
            worker_notify.after_commit("boards")
        return True

    def cancel(self) -> None:
        """Drop a batch that is being built; what it scored stays, unshown."""
        with transaction.atomic():
            # The same lock as in switch_if_complete: a batch that has just become the current one stays it.
            self.phase.lock()
            self.refresh_from_db(fields=["state"])
            if self.state != self.State.BUILDING:
                raise Refused("Only a batch that is still being scored can be cancelled.", "not_building")
            self.state = self.State.CANCELLED
            self.save(update_fields=["state"])
            for evaluation in self.evaluations.running():
                evaluation.drop()
            for evaluation in self.evaluations.exclude(artifact_key=""):
                transaction.on_commit(partial(stored_files.try_delete, evaluation.artifact_key))
            self.evaluations.update(artifact_key="")
