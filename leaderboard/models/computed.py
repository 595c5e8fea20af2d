"""Content that is computed in the background, of which a row is also the request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from django.db import models
from django.utils import timezone

from submissions.choices import TextChoices
from submissions.leases import Leased, LeasedQuerySet


class ComputedQuerySet(LeasedQuerySet):
    def waiting(self) -> Self:
        return self.filter(state=Computed.State.WAITING).order_by("id")


class Computed(Leased):
    """A row that asks for content, and then has it; the old content stays until the new one is there."""

    class State(TextChoices):
        WAITING = "waiting", "Being computed"
        DONE = "done", "Computed"
        FAILED = "failed", "Failed"

    state = models.CharField(max_length=8, choices=State, default=State.WAITING, db_index=True)
    wanted = models.CharField(max_length=80)  # what it is to be of, and the version that computes it
    made_of = models.CharField(max_length=80, blank=True)  # what `content` is of
    content = models.JSONField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = ComputedQuerySet.as_manager()

    class Meta:
        abstract = True

    def finish(self, content: Mapping[str, Any]) -> bool:
        """Keep the content, under the current token only; False where the lease was lost."""
        done = {"state": self.State.DONE, "content": content, "made_of": self.wanted, "finished_at": timezone.now()}
        return bool(self.under_lease().filter(state=self.State.WAITING).update(**done, **self.ANEW))
