"""Immutable rankings."""

from __future__ import annotations

import hashlib
import json
import zlib
from datetime import datetime
from functools import lru_cache
from typing import Self

from django.db import models
from django.utils import timezone

from evaluation.models import EvaluationBatch
from leaderboard.boards import build, rows
from submissions.models import Phase
from submissions.visibility import hidden_ids


class Snapshot(models.Model):
    """An immutable ranking of a phase, with an address of its own; what pages and exports read.

    Two audiences: the public's holds what the board may show to those who may see it, the
    organizers' holds hidden and late entries too. `payload` is compressed JSON (see
    `leaderboard.boards`); it never changes, so decoded copies are shared within a process.
    `revision` only says up to which change of the phase the ranking is known to hold.
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
    lead = models.JSONField(default=dict, help_text="Who is first, for lists of challenges; empty where nobody is.")
    payload = models.BinaryField()
    created_at = models.DateTimeField(default=timezone.now)
    opened_at = models.DateTimeField(null=True, help_text="When somebody first opened it by its address; it stays for good then.")

    withheld: frozenset[int] = frozenset()  # entries not to be shown; set where an old ranking is read
    hides_people = False  # whether its study is not to be shown any more; set there too

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
        """The decoded payload, less what is `withheld`; treat it as read-only."""
        decoded = decode(self.pk, self.digest)
        if self.hides_people:
            decoded = decoded | {"people": None}
        return build.withheld(decoded, self.withheld) if self.withheld else decoded

    @property
    def withdrawn(self) -> int:
        """How many of the judgements that its figures of people rest on were withdrawn since."""
        told = self.content.get("people")
        study = self.phase.studies.filter(pk=told["study"]["id"]).first() if told else None
        return study.withdrawn(since=datetime.fromisoformat(told["at"])) if study else 0

    @classmethod
    def current(cls, phase: Phase, audience: str) -> Self | None:
        """The newest ranking for that audience, without its payload; None before the first."""
        found = cls._light().filter(phase=phase, audience=audience).order_by("-revision", "-id").first()
        if found is not None and found.revision < phase.board_revision:
            found.withhold(phase)  # something was decided since, and the next ranking is not made yet
        return found

    @classmethod
    def get(cls, phase: Phase, digest: str) -> Self | None:
        """The snapshot at that address (the whole digest, or its first eight characters or more).

        It never changes, but entries that have been hidden, disqualified or frozen out since are
        withheld from the public's.
        """
        if len(digest) < 8:
            return None
        # Both audiences hold the same bytes only by chance; the public's is the one to show then.
        found = cls._light().filter(phase=phase, digest__startswith=digest).order_by("-audience", "id").first()
        if found is not None:
            found.withhold(phase)
        return found

    @classmethod
    def open(cls, phase: Phase, digest: str) -> Self | None:
        """`get` for somebody who came by the address: whoever has that may have cited it, so it is kept from then on."""
        found = cls.get(phase, digest)
        if found is None or found.opened_at is not None:
            return found
        found.opened_at = timezone.now()
        return found if cls.objects.filter(pk=found.pk).update(opened_at=found.opened_at) else None

    def withhold(self, phase: Phase) -> None:
        """Leave out of the public's ranking what may not be shown any more."""
        if self.audience == self.Audience.PUBLIC:
            self.withheld = hidden_ids(phase)
            told = decode(self.pk, self.digest).get("people")
            self.hides_people = bool(told) and not phase.studies.filter(pk=told["study"]["id"], is_public=True).exists()

    @classmethod
    def make(cls, phase: Phase, audience: str, now: datetime | None = None) -> Self | None:
        """Rank the phase as it stands. The same ranking as one kept before is not kept twice: that
        snapshot becomes the current one again. None while the phase cannot be scored."""
        while True:
            phase.refresh_from_db()
            payload = build.build(phase, audience, now)
            if payload is None:
                return None
            batch = EvaluationBatch.current(phase)
            if batch is not None and batch.pk == payload["batch"]:
                return cls._keep(phase, audience, batch, payload)
            # The batch was switched while we read; what we read mixes the two.

    @classmethod
    def make_all(cls, phase: Phase, now: datetime | None = None) -> None:
        """Rank the phase for both audiences, with one computation where they see the same."""
        public = cls.make(phase, cls.Audience.PUBLIC, now)
        if public is not None and build.hides_nothing(phase, now):
            cls._keep(phase, cls.Audience.ORGANIZERS, public.batch, public.content | {"audience": build.ORGANIZERS})
        else:
            cls.make(phase, cls.Audience.ORGANIZERS, now)

    @classmethod
    def _keep(cls, phase: Phase, audience: str, batch: EvaluationBatch, payload: dict) -> Self:
        data = json.dumps(payload, separators=(",", ":"), allow_nan=False).encode()
        digest = hashlib.sha256(f"{phase.pk}\n".encode() + data).hexdigest()
        snapshot, made = cls.objects.get_or_create(
            phase=phase, audience=audience, digest=digest,
            defaults={
                "batch": batch, "revision": phase.board_revision, "n_entries": payload["n_entries"],
                "n_teams": payload["n_teams"], "lead": rows.lead(payload), "payload": zlib.compress(data),
            },
        )  # fmt: skip
        if not made:
            cls.objects.filter(pk=snapshot.pk, revision__lt=phase.board_revision).update(revision=phase.board_revision)
            try:
                snapshot.refresh_from_db(fields=["revision"])
            except cls.DoesNotExist:  # an old one, which was pruned a moment ago
                return cls._keep(phase, audience, batch, payload)
        return snapshot

    @classmethod
    def _light(cls) -> models.QuerySet:
        return cls.objects.defer("payload").select_related("batch")


@lru_cache(maxsize=32)
def decode(pk: int, digest: str) -> dict:
    """The payload of a snapshot, fetched on a miss only: it is by far the largest column. The
    digest is in the key because a database that was rolled back gives the same number again."""
    return json.loads(zlib.decompress(bytes(Snapshot.objects.values_list("payload", flat=True).get(pk=pk))))
