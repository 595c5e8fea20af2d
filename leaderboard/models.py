"""What the world sees: immutable rankings."""

from __future__ import annotations

import json
import zlib
from functools import lru_cache

from django.db import models
from django.utils import timezone

from evaluation.models import EvaluationBatch
from submissions.models import Phase


class Snapshot(models.Model):
    """An immutable ranking of a phase, with an address of its own; what pages and exports read.

    Two audiences: the public's holds what the board may show to those who may see it, the
    organizers' holds hidden and late entries too. `payload` is compressed JSON (see
    `leaderboard.boards`); it never changes, so decoded copies are shared within a process.
    """

    class Audience(models.TextChoices):
        PUBLIC = "public", "Public"
        ORGANIZERS = "organizers", "Organizers"

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="snapshots")
    audience = models.CharField(max_length=10, choices=Audience)
    batch = models.ForeignKey(EvaluationBatch, on_delete=models.PROTECT, related_name="+")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the payload and its phase; its address.")
    revision = models.PositiveBigIntegerField(help_text="Phase.board_revision it was made from.")
    n_entries = models.PositiveIntegerField()
    n_teams = models.PositiveIntegerField()
    payload = models.BinaryField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["phase", "audience", "digest"], name="snapshot_once")]
        indexes = [models.Index(fields=["phase", "audience", "-created_at"])]

    def __str__(self) -> str:
        return f"{self.phase} {self.short}"

    @property
    def short(self) -> str:
        return self.digest[:8]

    @property
    def content(self) -> dict:
        """The decoded payload; treat it as read-only."""
        return decode(self.pk, bytes(self.payload))


@lru_cache(maxsize=32)
def decode(pk: int, payload: bytes) -> dict:
    return json.loads(zlib.decompress(payload))
