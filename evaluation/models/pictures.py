"""Pictures of a scene of an entry, made once by workers: which were requested by whom, and their progress."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Self

from django.db import models
from django.utils import timezone

from evaluation.images import names
from evaluation.models.evaluation import Evaluation
from evaluation.models.runs import Run
from submissions import worker_notify
from submissions.choices import TextChoices
from submissions.leases import LeasedQuerySet

Made = Mapping[str, names.Made]  # by item


class PictureRunQuerySet(LeasedQuerySet):
    def waiting(self) -> Self:
        """Runs that want another slice; those with the least come first, so that a visitor of a scene soon sees something."""
        return self.filter(state=PictureRun.State.WAITING).order_by("n_made", "id")


class PictureRun(Run):
    """The pictures of one scene of one evaluation. The row is the request: a page makes it if there is none.

    A worker takes it slice by slice, the views in the order in which they are shown; what a slice made is stored before it
    is noted here, under the lease, so that a worker that dies loses one slice at most. `made` holds what there is: by item,
    by name of the picture, its width and height. Nothing that lies under a `key` ever changes.
    """

    class State(TextChoices):
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

    doing = "making these pictures"
    objects = PictureRunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["evaluation", "scene"], name="pictures_once_per_scene")]

    def __str__(self) -> str:
        return f"pictures of {self.scene} in {self.evaluation_id} ({self.state})"

    @classmethod
    def request(cls, evaluation: Evaluation, scene: str, items: Sequence[str]) -> Self:
        """The run of that scene, made if there is none, and restarted if its inputs have changed. `items` are the ids
        of its views, in the order in which they are wanted. Two calls at the same moment make one row."""
        run, is_new = cls.objects.get_or_create(
            evaluation=evaluation, scene=scene, defaults={"items": list(items), "digest": digest(evaluation, items)}
        )
        if not is_new and run.digest != digest(evaluation, run.items):
            is_new = run.restart()
            run.refresh_from_db()
        if is_new:
            worker_notify.after_commit("work")
        return run

    def about(self) -> dict[str, object]:
        return {"entry": self.evaluation.submission_id, "phase": self.evaluation.submission.phase, "scene": self.scene}

    def restart(self) -> bool:
        """Make all pictures again: of an older kind, or after a failure that an operator has looked at."""
        blank = {"made": {}, "n_made": 0, "state": self.State.WAITING, "digest": digest(self.evaluation, self.items)}
        return bool(type(self).objects.filter(pk=self.pk).unleased().update(**blank, finished_at=None, **self.ANEW))

    @property
    def left(self) -> list[str]:
        """Ids of the views whose pictures are still to be made."""
        return [item for item in self.items if item not in self.made]

    def key(self, item: str, name: str) -> str:
        """Storage key of that picture."""
        return f"pictures/{self.evaluation.submission_id}/{self.digest}/{self.items.index(item)}-{name}.webp"

    def keep(self, made: Made) -> bool:
        """A slice went well: note what it made and let go. False: the lease was lost, nothing was written."""
        every = {**self.made, **made}
        is_done = len(every) == len(self.items)
        state = {"state": self.State.DONE, "finished_at": timezone.now()} if is_done else {}
        return bool(self.under_lease().filter(state=self.State.WAITING).update(made=every, n_made=len(every), **state, **self.ANEW))


def digest(evaluation: Evaluation, items: Sequence[str]) -> str:
    """The digest of all that the pictures of these items depend on."""
    batch = evaluation.batch
    columns = [[column.slug, column.fingerprint] for column in batch.columns]
    facts = [names.VERSION, evaluation.artifact, batch.reference.key, batch.unit_scale, sorted(columns), list(items)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()
