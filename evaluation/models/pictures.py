"""The pictures of a scene of an entry, made by workers once: who asked for which, and how far they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone

from evaluation.models.evaluation import Evaluation
from evaluation.pictures import names
from submissions import wake
from submissions.leases import Leased, LeasedQuerySet

Made = Mapping[str, names.Made]  # by item


class PictureRunQuerySet(LeasedQuerySet):
    def waiting(self) -> Self:
        """Runs that want another slice; those that have least come first, so that whoever opens a scene soon sees something."""
        return self.filter(state=PictureRun.State.WAITING).order_by("n_made", "id")


class PictureRun(Leased):
    """The pictures of one scene of one evaluation. The row is the request: a page makes it where there is none.

    A worker takes it slice by slice, the views in the order in which they are shown; what a slice made is stored before it
    is noted here, under the lease, so that a worker that dies loses one slice at most. `made` holds what there is: by item,
    by name of the picture, its width and height. Nothing that lies under a `key` ever changes.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "Being made"
        DONE = "done", "Made"
        FAILED = "failed", "Failed"

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="picture_runs")
    scene = models.CharField(max_length=120)
    items = models.JSONField()  # ids, in the order in which they are made
    digest = models.CharField(max_length=64)  # of all that the pictures depend on
    state = models.CharField(max_length=8, choices=State, default=State.WAITING, db_index=True)
    made = models.JSONField(default=dict)
    n_made = models.PositiveIntegerField(default=0)  # items
    failure = models.CharField(max_length=400, blank=True)  # a sentence for people
    failure_detail = models.TextField(blank=True)  # the traceback, for operators only
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    objects = PictureRunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["evaluation", "scene"], name="pictures_once_per_scene")]

    def __str__(self) -> str:
        return f"pictures of {self.scene} in {self.evaluation_id} ({self.state})"

    @classmethod
    def request(cls, evaluation: Evaluation, scene: str, items: Sequence[str]) -> Self:
        """The run of that scene, made where there is none; anew where what it depends on is another than it was. `items` are the ids
        of its views, in the order in which they are wanted. Doing it twice at once makes one row."""
        run, is_new = cls.objects.get_or_create(
            evaluation=evaluation, scene=scene, defaults={"items": list(items), "digest": digest(evaluation, items)}
        )
        if not is_new and run.digest != digest(evaluation, run.items):
            is_new = run.restart()
            run.refresh_from_db()
        if is_new:
            wake.after_commit("work")
        return run

    def restart(self) -> bool:
        """Make all pictures anew: of an older kind, or after a failure that an operator has looked at."""
        free = {"failure": "", "failure_detail": "", "finished_at": None, "attempts": 0, "lease_token": None, "lease_until": None}
        blank = {"made": {}, "n_made": 0, "state": self.State.WAITING, "digest": digest(self.evaluation, self.items)}
        return bool(type(self).objects.filter(pk=self.pk).unleased().update(**blank, **free))

    @property
    def left(self) -> list[str]:
        """Ids of the views whose pictures are still to be made."""
        return [item for item in self.items if item not in self.made]

    def key(self, item: str, name: str) -> str:
        """Where the storage has that picture."""
        return f"pictures/{self.evaluation.submission_id}/{self.digest}/{self.items.index(item)}-{name}.webp"

    def keep(self, made: Made) -> bool:
        """A slice went well: note what it made and let go. False: the lease was lost, nothing was written."""
        every = {**self.made, **made}
        is_done = len(every) == len(self.items)
        state = {"state": self.State.DONE, "finished_at": timezone.now()} if is_done else {}
        return bool(
            self.under_lease().filter(state=self.State.WAITING).update(
                made=every, n_made=len(every), attempts=0, failure="", failure_detail="", lease_token=None, lease_until=None, **state
            )
        )  # fmt: skip

    def give_up_or_retry(self, sentence: str, detail: str, final: bool = False) -> None:
        """A slice failed: leave it to the next worker, or fail the run after the last attempt at this slice."""
        values = {"failure": sentence[:400], "failure_detail": detail, "lease_token": None}
        if final or self.attempts >= settings.MAX_ATTEMPTS:
            self.under_lease().update(state=self.State.FAILED, lease_until=None, finished_at=timezone.now(), **values)
        else:
            self.under_lease().update(lease_until=timezone.now() + timedelta(seconds=self.attempts), **values)


def digest(evaluation: Evaluation, items: Sequence[str]) -> str:
    """Of all that the pictures of these items depend on."""
    batch = evaluation.batch
    columns = [[metric["slug"], metric["fingerprint"]] for metric in batch.metrics]
    facts = [names.VERSION, evaluation.submission.artifact_key, batch.reference.key, batch.unit_scale, sorted(columns), list(items)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()
