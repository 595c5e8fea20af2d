"""Immutable rankings."""

from __future__ import annotations

import hashlib
import zlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from threading import Lock
from typing import Any, Self

from django.db import models
from django.db.models import Case, OuterRef, Subquery, Value, When
from django.utils import timezone

from evaluation.models import EvaluationBatch
from leaderboard.records.board import Board
from leaderboard.records.front import Front
from submissions import database_clock
from submissions.choices import TextChoices
from submissions.models import Phase
from submissions.visibility import hidden_ids


@dataclass(frozen=True)
class Seen:
    """A ranking as a viewer may see it: which one, the entries that are not to be shown any more, and whether what people say is left out.
    Equal ones show the same, so whatever is computed from one is kept under it."""

    pk: int
    digest: str
    hidden_ids: frozenset[int] = frozenset()
    hides_people: bool = False

    @property
    def board(self) -> Board:
        """The ranking, less what is not to be shown any more, which mostly is nothing; treat it as read-only."""
        return _redacted(self) if self.hidden_ids or self.hides_people else read_board(self.pk, self.digest)


class Snapshot(models.Model):
    """An immutable ranking of a phase, with an address of its own; what pages and exports read.

    Two audiences: the public's holds what the board may show to those who may see it, the
    organizers' holds hidden and late entries too. `payload` is compressed JSON (see
    `leaderboard.records.board`); it never changes, so the boards read from it are shared within a process.
    `revision` only says up to which change of the phase the ranking is known to hold. A ranking that equals an
    earlier one is not stored twice: the earlier one is the current one again, from the last time in `again_at` on.
    Where the form of rankings has changed since it was made, `earlier_forms` has its bytes and its earlier digest.
    """

    class Audience(TextChoices):
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
    again_at = models.JSONField(default=list, blank=True, help_text="When it became the current ranking again, as ISO times.")
    opened_at = models.DateTimeField(null=True, help_text="When somebody first opened it by its address; it stays for good then.")

    hidden_ids: frozenset[int] = frozenset()  # entries not to be shown; set where an old ranking is read
    hides_people = False  # whether its study is not to be shown any more; set there too

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["phase", "audience", "digest"], name="snapshot_once")]
        indexes = [
            models.Index(fields=["phase", "audience", "-created_at"]),
            models.Index(fields=["phase", "audience", "-revision", "-id"], name="snapshot_newest"),
            models.Index(fields=["phase", "audience", "-id"], name="snapshot_last_made"),
        ]

    def __str__(self) -> str:
        return f"{self.phase} {self.short}"

    @property
    def short(self) -> str:
        return self.digest[:8]

    @property
    def current_from(self) -> list[datetime]:
        """Times at which it became the current ranking; at the first it was made."""
        return [self.created_at, *map(datetime.fromisoformat, self.again_at)]

    @property
    def seen(self) -> Seen:
        """The ranking, less what is not to be shown any more, as a key."""
        return Seen(self.pk, self.digest, self.hidden_ids, self.hides_people)

    @property
    def board(self) -> Board:
        """The ranking, less what is not to be shown any more; treat it as read-only."""
        return self.seen.board

    @property
    def front(self) -> Front | None:
        """Summary for lists of challenges; None where nobody is first, or where that may not be shown any more."""
        return Front.model_validate(self.lead).without(self.hidden_ids, self.hides_people) if self.lead else None

    @property
    def withdrawn(self) -> int:
        """The number of answers withdrawn since that its figures of people rest on."""
        people = self.board.people
        study = self.phase.studies.filter(pk=people.study.id).first() if people else None
        return study.withdrawn(since=people.at) if people and study else 0

    @classmethod
    def current(cls, phase: Phase, audience: str) -> Self | None:
        """The newest ranking for that audience, without its payload; None before the first."""
        newest = cls._light().filter(phase=phase, audience=audience).order_by("-revision", "-id").first()
        if newest is not None:
            newest.redact_since(phase)
        return newest

    @classmethod
    def newest_of(cls, audiences: Mapping[int, str]) -> models.QuerySet:
        """The newest rankings of several phases, without their payloads: `audiences` says by the key of a phase whose. The database is
        asked once a phase for the key of its newest ranking; asked of each ranking, the time would grow with the square of those kept."""
        organizing = [pk for pk, audience in audiences.items() if audience == cls.Audience.ORGANIZERS]
        whose = Case(When(pk__in=organizing, then=Value(cls.Audience.ORGANIZERS)), default=Value(cls.Audience.PUBLIC))
        kept = cls.objects.filter(phase=OuterRef("pk"), audience=OuterRef("whose")).order_by("-revision", "-id")
        phases = Phase.objects.filter(pk__in=audiences).order_by().annotate(whose=whose, newest=Subquery(kept.values("pk")[:1]))
        return cls._light().filter(pk__in=phases.values("newest")).order_by()

    @classmethod
    def newest(cls, audiences: Mapping[int, str]) -> dict[int, Self]:
        """The same by the key of the phase, with people's figures hidden if their study is shown no more. Entries that must not be shown
        any more are not left out: the caller asks only about the others. Two queries for any number of phases, and a third if a
        ranking has not been read lately."""
        found = {row.phase_id: row for row in cls.newest_of(audiences)}
        boards = read_board.many([(row.pk, row.digest) for row in found.values()])
        studies = {board.people.study.id for board in boards.values() if board.people is not None}
        public = Phase.objects.filter(studies__in=studies, studies__is_public=True)
        shown = set(public.values_list("studies", flat=True)) if studies else set()
        for row in found.values():
            people = boards[row.pk].people
            row.hides_people = row.audience == cls.Audience.PUBLIC and people is not None and people.study.id not in shown
        return found

    @classmethod
    def get(cls, phase: Phase, digest: str) -> Self | None:
        """The snapshot at that address (the whole digest, or its first eight characters or more).

        It never changes, but entries that have been hidden, disqualified or frozen out since are
        redacted in the public's.
        """
        if len(digest) < 8:
            return None
        # Both audiences hold the same bytes only by chance; the public's is the one to show then.
        # Said as a range too, which the index of the constraint answers: rankings may be thousands.
        within = {"digest__gte": digest, "digest__lt": f"{digest}g", "digest__startswith": digest}
        rows = cls._light().filter(phase=phase, audience__in=cls.Audience.values)
        snapshot = rows.filter(**within).order_by("-audience", "id").first()
        if snapshot is None:  # an address from before the form of rankings changed
            form = EarlierForm.objects.filter(snapshot__phase=phase, **within).order_by("-snapshot__audience", "id").first()
            snapshot = rows.filter(pk=form.snapshot_id).first() if form is not None else None
        if snapshot is not None:
            snapshot.redact(phase)
        return snapshot

    @classmethod
    def open(cls, phase: Phase, digest: str) -> Self | None:
        """`get` for a visitor of the ranking's address: they may have cited it, so it is kept from then on."""
        snapshot = cls.get(phase, digest)
        if snapshot is None or snapshot.opened_at is not None:
            return snapshot
        snapshot.opened_at = timezone.now()
        return snapshot if cls.objects.filter(pk=snapshot.pk).update(opened_at=snapshot.opened_at) else None

    def content(self, digest: str) -> bytes:
        """The bytes that `digest` is of: this ranking's own, or its earlier form. They hold whatever is hidden by now, too."""
        found = self if self.digest.startswith(digest) else self.earlier_forms.filter(digest__startswith=digest).get()
        return zlib.decompress(bytes(found.payload))

    def redact(self, phase: Phase) -> None:
        """Leave out of the public's ranking what may not be shown any more."""
        if self.audience == self.Audience.PUBLIC:
            self.hidden_ids = hidden_ids(phase)
            people = read_board(self.pk, self.digest).people
            self.hides_people = people is not None and not phase.studies.filter(pk=people.study.id, is_public=True).exists()

    def redact_since(self, phase: Phase) -> None:
        """Redact a ranking if something was decided since it was made, and the next one is not made yet."""
        if self.revision < phase.board_revision:
            self.redact(phase)

    @classmethod
    def keep(cls, phase: Phase, batch: EvaluationBatch, board: Board, front: Front | None) -> Self:
        """Store a ranking of the phase, with its summary, unless the same was kept before: then that snapshot is the current one again."""
        data, lead = board.to_json(), front.model_dump(mode="json") if front is not None else {}
        digest = hashlib.sha256(f"{phase.pk}\n".encode() + data).hexdigest()
        snapshot, made = cls.objects.get_or_create(
            phase=phase,
            audience=board.audience,
            digest=digest,
            defaults={
                "batch": batch,
                "revision": phase.board_revision,
                "n_entries": board.n_entries,
                "n_teams": board.n_teams,
                "lead": lead,
                "payload": zlib.compress(data),
                "created_at": database_clock.read(),  # the next ranking waits a while from then on, whichever worker makes it
            },
        )
        if not made:
            values: dict[str, Any] = {"revision": phase.board_revision}
            newest = cls.objects.filter(phase=phase, audience=board.audience).order_by("-revision", "-id").values_list("pk", flat=True)
            if newest.first() != snapshot.pk:
                values["again_at"] = [*snapshot.again_at, database_clock.read().isoformat()]
            # Only while it has the revision that was read: another worker may make the same ranking.
            cls.objects.filter(pk=snapshot.pk, revision=snapshot.revision, revision__lt=phase.board_revision).update(**values)
            if snapshot.lead != lead:  # of before there was more to say of a board
                cls.objects.filter(pk=snapshot.pk).update(lead=lead)
            try:
                snapshot.refresh_from_db(fields=["revision", "again_at"])
            except cls.DoesNotExist:  # an old one, which was pruned a moment ago
                return cls.keep(phase, batch, board, front)
        return snapshot

    @classmethod
    def _light(cls) -> models.QuerySet:
        return cls.objects.defer("payload").select_related("batch")


class EarlierForm(models.Model):
    """A ranking as it was stored before the form of rankings changed: `digest` is of these bytes, and an address of the ranking too."""

    # Old rankings go by one statement that asks whether somebody opened them, which a cascade would split: `prune` removes what is left.
    snapshot = models.ForeignKey(Snapshot, on_delete=models.DO_NOTHING, db_constraint=False, related_name="earlier_forms")
    digest = models.CharField(max_length=64, db_index=True)
    payload = models.BinaryField()
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.snapshot} as {self.digest[:8]}"


class BoardCache:
    """Boards of snapshots' payloads, the last ones kept. A payload, by far the largest column, is fetched on a miss only, and several
    missing ones at once. The digest is in the key because a database that was rolled back gives the same number again."""

    def __init__(self, maxsize: int) -> None:
        self.maxsize, self.misses = maxsize, 0
        self._boards: OrderedDict[tuple[int, str], Board] = OrderedDict()
        self._lock = Lock()

    def __call__(self, pk: int, digest: str) -> Board:
        return self.many([(pk, digest)])[pk]

    def many(self, keys: Sequence[tuple[int, str]]) -> dict[int, Board]:
        """Boards by the keys of their snapshots; `Snapshot.DoesNotExist` where one was pruned meanwhile."""
        with self._lock:
            found = {key: self._boards[key] for key in keys if key in self._boards}
        missing = dict(key for key in keys if key not in found)
        if missing:
            rows = Snapshot.objects.filter(pk__in=missing).values_list("pk", "payload")
            read = {(pk, missing[pk]): Board.from_json(zlib.decompress(bytes(payload))) for pk, payload in rows}
            if len(read) < len(missing):
                raise Snapshot.DoesNotExist
            found |= read
        with self._lock:
            self.misses += len(missing)
            for key in keys:
                self._boards[key] = found[key]
                self._boards.move_to_end(key)
            while len(self._boards) > self.maxsize:
                self._boards.popitem(last=False)
        return {pk: found[pk, digest] for pk, digest in keys}

    def cache_clear(self) -> None:
        with self._lock:
            self._boards.clear()
            self.misses = 0


read_board = BoardCache(maxsize=32)


@lru_cache(maxsize=32)
def _redacted(seen: Seen) -> Board:
    board = read_board(seen.pk, seen.digest).redacted(seen.hidden_ids)
    return board.model_copy(update={"people": None}) if seen.hides_people else board
