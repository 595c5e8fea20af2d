"""Remote workers: the tokens they show, who they are, and the cost of each part, done by any worker.

A worker from outside is believed as far as its results were done again by another: see `evaluation.models.crosscheck`.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Self

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models, transaction
from django.db.models import F, Q, Sum
from django.utils import timezone

from evaluation import library_versions
from evaluation.models.process import Process
from submissions import database_clock
from submissions.choices import TextChoices
from submissions.errors import Refused
from submissions.models import AuditEntry, Challenge, Submission, User
from submissions.models.user import hash_secret

QUEUES = ("cpu", "gpu")
USUAL_SHARE = 0.05  # of a token's parts that a second worker does, once it is trusted
LONGEST_DAYS = 366
AT_ONCE, MAX_AT_ONCE = 2, 1000  # parts that all workers of a token have at a time: usually, and at most
FIRST_WAIT, LONGEST_WAIT = 60.0, 86_400.0  # seconds that a token waits which brought nothing twice in a row, and at most
SEEN_SECONDS = 60.0  # how exact it is when a worker was last heard of


class TokenQuerySet(models.QuerySet):
    def live(self, now: datetime | None = None) -> Self:
        """Tokens whose workers are answered."""
        return self.filter(revoked_at__isnull=True, expires_at__gt=now or timezone.now())


class WorkerToken(models.Model):
    """Token that workers of one owner show to get parts of one challenge. Only its hash is kept; the key is shown once, when it is made.

    `agreed` counts parts in which a second worker found the same; `agreed_at` is when the newest of these was done. From a difference on,
    `held_at` says that its results since then are on hold, and `wrong_at` that it was wrong: then it gets no more parts.

    A worker with other versions of the libraries than the service gets no part, unless `other_versions` allows it.

    Its workers have at most `at_once` parts at a time, under any names. `in_vain` counts the leases that ended without a
    result since the last result. From the second on the token gets no part before `waits_until`, a pause that doubles each time.
    """

    PREFIX = "plumbw_"

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="worker_tokens")
    name = models.CharField(max_length=80)
    hint = models.CharField(max_length=12)  # the key's first characters, to distinguish keys
    token_hash = models.CharField(max_length=64, unique=True)
    queues = models.JSONField(default=list)  # of QUEUES
    share = models.FloatField(default=USUAL_SHARE, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)])
    at_once = models.PositiveSmallIntegerField(default=AT_ONCE, validators=[MinValueValidator(1), MaxValueValidator(MAX_AT_ONCE)])
    other_versions = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    worked_at = models.DateTimeField(null=True, blank=True)  # when a part was last given or brought back
    in_vain = models.PositiveSmallIntegerField(default=0)
    waits_until = models.DateTimeField(null=True, blank=True)
    agreed = models.PositiveIntegerField(default=0)
    agreed_at = models.DateTimeField(null=True, blank=True)
    held_at = models.DateTimeField(null=True, blank=True)
    wrong_at = models.DateTimeField(null=True, blank=True)

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"

    @classmethod
    def make(
        cls,
        challenge: Challenge,
        actor: User | None,
        name: str,
        queues: Sequence[str],
        days: int,
        share: float = USUAL_SHARE,
        at_once: int = AT_ONCE,
    ) -> tuple[WorkerToken, str]:
        """A new token and, this once, its key."""
        key = cls.PREFIX + secrets.token_urlsafe(32)
        with transaction.atomic():
            token = cls.objects.create(
                challenge=challenge,
                name=name,
                hint=key[: len(cls.PREFIX) + 4],
                token_hash=hash_secret(key),
                queues=[queue for queue in QUEUES if queue in queues],
                share=share,
                at_once=at_once,
                created_by=actor,
                expires_at=timezone.now() + timedelta(days=days),
            )
            after = {"queues": token.queues, "expires_at": token.expires_at, "share": share, "at_once": at_once}
            AuditEntry.record(challenge, actor, "worker.token", token, after=after | {"sees": "the hidden reference"})
        return token, key

    @classmethod
    def holder(cls, key: str, now: datetime | None = None) -> WorkerToken | None:
        """The live token that has this key; None for any other key."""
        # One small query: hundreds of workers that wait ask it again and again.
        return next(iter(cls.objects.live(now).filter(token_hash=hash_secret(key)).order_by()), None)

    def is_live(self, now: datetime | None = None) -> bool:
        return self.revoked_at is None and self.expires_at > (now or timezone.now())

    @property
    def is_trusted(self) -> bool:
        """Return whether it gets parts: nothing of it is in doubt."""
        return self.held_at is None and self.wrong_at is None

    def is_waiting(self, now: datetime | None = None) -> bool:
        """Return whether it gets no part yet, because its leases ended without a result."""
        return self.waits_until is not None and self.waits_until > (now or database_clock.read())

    @classmethod
    def note_left(cls, pk: int | None, part: int, in_vain: bool) -> None:
        """A worker of the token had the part of that key and brought neither a result nor a failure: the token gets this part again only
        where nobody else works. `in_vain`: it had the part for at least a lease. Leases that end while the token waits already make its
        wait no longer.
        """
        now = database_clock.read()
        with transaction.atomic():
            token = cls.objects.select_for_update(no_key=True).filter(pk=pk).first()
            if token is None:
                return
            token.parts_left.add(part)
            if not in_vain or token.is_waiting(now):
                return
            token.in_vain += 1
            if token.in_vain >= 2:
                seconds = min(FIRST_WAIT * 2 ** min(token.in_vain - 2, 20), LONGEST_WAIT)
                token.waits_until = now + timedelta(seconds=seconds)
            token.save(update_fields=["in_vain", "waits_until"])

    def note_result(self) -> None:
        """A worker of the token brought a result that was taken."""
        type(self).objects.filter(pk=self.pk).update(worked_at=timezone.now(), in_vain=0, waits_until=None)

    def left_to_others(self, queue: str, parts: list[int]) -> list[int]:
        """Parts of the given ones, which its workers left without a result, that another worker can do.

        That is a worker of the service, or one of another token of the challenge that gets parts and has neither done nor left this one.
        """
        if Process.objects.listeners()[queue]:
            return parts
        others = RemoteWorker.live().filter(token__challenge=self.challenge_id).exclude(token=self.pk).order_by()
        tokens = type(self).objects.filter(pk__in=others.values("token"))
        there = [token for token in tokens if queue in token.queues and token.is_trusted and not token.is_waiting()]
        had = set(self.parts_left.through.objects.filter(part__in=parts).values_list("part_id", "workertoken_id"))
        had.update(PartRecord.objects.filter(part__in=parts).values_list("part_id", "token_id"))
        return [part for part in parts if any((part, token.pk) not in had for token in there)]

    def revoke(self, actor: User | None) -> None:
        """Answer its workers no more; a part that one of them has is given to another worker when its lease ends, immediately if
        possible."""
        with transaction.atomic():
            if type(self).objects.filter(pk=self.pk, revoked_at__isnull=True).update(revoked_at=timezone.now()):
                AuditEntry.record(self.challenge, actor, "worker.revoke", self)
                for part in self.parts.filter(lease_token__isnull=False):
                    part.defer(0, token=None)

    def allow_other_versions(self, actor: User | None) -> None:
        """An organizer lets its workers compute with other versions of the libraries, which may change last digits."""
        with transaction.atomic():
            if type(self).objects.filter(pk=self.pk, other_versions=False).update(other_versions=True):
                AuditEntry.record(
                    self.challenge, actor, "worker.versions", self, before={"other_versions": False}, after={"other_versions": True}
                )

    def trust_again(self, actor: User | None) -> None:
        """An organizer has mended what was wrong: it gets parts again, each done twice as in its beginning."""
        with transaction.atomic():
            row = type(self).objects.select_for_update().get(pk=self.pk)
            if row.wrong_at is None:
                raise Refused("This token is not stopped, so there is nothing to allow again.", "not_stopped")
            type(self).objects.filter(pk=self.pk).update(wrong_at=None, held_at=None, agreed=0)
            AuditEntry.record(self.challenge, actor, "worker.trust", self, before={"wrong_at": row.wrong_at})


class RemoteWorker(models.Model):
    """One worker, as it calls itself, of a token: what it says it has, and when it was heard of."""

    token = models.ForeignKey(WorkerToken, on_delete=models.CASCADE, related_name="workers")
    name = models.CharField(max_length=120)
    machine = models.CharField(max_length=240, blank=True)
    capabilities = models.JSONField(default=dict)
    first_seen_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        ordering = ["-seen_at"]
        constraints = [models.UniqueConstraint(fields=["token", "name"], name="outside_worker_once")]

    def __str__(self) -> str:
        return f"{self.name} of {self.token}"

    @property
    def differences(self) -> dict[str, tuple[str, str]]:
        """Libraries whose version on the worker differs from the service's: (worker's version, service's version) by name."""
        return library_versions.differences(self.capabilities)

    @classmethod
    def hear(cls, token: WorkerToken, name: str, machine: str, capabilities: Mapping[str, Any]) -> None:
        """Note that it was heard of."""
        now = database_clock.now()
        values = {"machine": machine, "capabilities": dict(capabilities), "seen_at": now}
        cls.objects.update_or_create(token=token, name=name, defaults=values, create_defaults=values | {"first_seen_at": now})

    @classmethod
    def live(cls, now: datetime | None = None) -> models.QuerySet:
        """Workers heard of within a few minutes, of tokens that are answered."""
        since = (now or database_clock.now()) - timedelta(seconds=3 * SEEN_SECONDS)
        return cls.objects.filter(token__in=WorkerToken.objects.live(now), seen_at__gt=since)


class PartRecord(models.Model):
    """Record of one worker's work on one part: who, the cost, and the verdict on its result. The part itself may go; this stays."""

    class Verdict(TextChoices):
        OWN = "own", "By the service's own worker"
        UNCHECKED = "unchecked", "Taken without a second worker"
        COVERED = "covered", "Taken, and agreement came after it"
        PENDING = "pending", "Waits for a second worker"
        AGREED = "agreed", "A second worker found the same"
        DISPUTED = "disputed", "A second worker found something else"
        HELD = "held", "Held back after a difference"
        WRONG = "wrong", "Found wrong"
        VOID = "void", "Done again after a difference"
        FAILED = "failed", "Could not be done"

    part = models.ForeignKey("evaluation.Part", on_delete=models.SET_NULL, null=True, related_name="records")
    batch = models.ForeignKey("evaluation.EvaluationBatch", on_delete=models.CASCADE, related_name="records")
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="records")
    token = models.ForeignKey(WorkerToken, on_delete=models.SET_NULL, null=True, related_name="records")
    fence = models.UUIDField(unique=True)  # under which it was done
    worker = models.CharField(max_length=120)
    device = models.CharField(max_length=8)
    n_items = models.PositiveIntegerField()
    seconds = models.JSONField(default=dict)  # by slug
    core_seconds = models.FloatField(default=0.0)
    gpu_seconds = models.FloatField(default=0.0)
    environment = models.JSONField(default=dict)  # versions, as the worker says
    verdict = models.CharField(max_length=9, choices=Verdict, db_index=True)
    result = models.JSONField(null=True)  # while another is to be set beside it
    finished_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["token", "verdict", "finished_at"])]

    def __str__(self) -> str:
        return f"{self.n_items} items by {self.worker} ({self.verdict})"


class ComputeBudget(models.Model):
    """Most hours of cores and of graphics cards that a challenge's scoring may take in all; None is no limit."""

    challenge = models.OneToOneField(Challenge, on_delete=models.CASCADE, related_name="compute_budget")
    core_hours = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0.0)])
    gpu_hours = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0.0)])

    def __str__(self) -> str:
        return f"compute budget of {self.challenge}"

    @classmethod
    def set_for(cls, challenge: Challenge, core_hours: float | None, gpu_hours: float | None, actor: User | None) -> None:
        """Set both limits; what is under way ends."""
        with transaction.atomic():
            before = cls.objects.filter(challenge=challenge).values("core_hours", "gpu_hours").first()
            after = {"core_hours": core_hours, "gpu_hours": gpu_hours}
            cls.objects.update_or_create(challenge=challenge, defaults=after)
            AuditEntry.record(challenge, actor, "compute.budget", challenge, before=before, after=after)

    @classmethod
    def exhausted(cls) -> list[int]:
        """The challenges whose budget is used up, by primary key; one query where nobody has set a budget."""
        found = []
        for row in cls.objects.filter(Q(core_hours__isnull=False) | Q(gpu_hours__isnull=False)):
            spent = spent_by(row.challenge_id)
            limits = ((row.core_hours, spent["core_seconds"]), (row.gpu_hours, spent["gpu_seconds"]))
            if any(hours is not None and seconds >= 3600 * hours for hours, seconds in limits):
                found.append(row.challenge_id)
        return found


def spent_by(challenge_id: int) -> dict[str, float]:
    """Seconds of cores and of graphics cards that the challenge's parts have taken, done by any worker."""
    sums = PartRecord.objects.filter(batch__phase__challenge=challenge_id).aggregate(
        core_seconds=Sum("core_seconds"), gpu_seconds=Sum("gpu_seconds")
    )
    return {name: value or 0.0 for name, value in sums.items()}


def note_agreement(token: WorkerToken, at: datetime) -> None:
    """One more part of the token in which a second worker found the same; it was done `at`."""
    newest = max(at, token.agreed_at) if token.agreed_at else at
    WorkerToken.objects.filter(pk=token.pk).update(agreed=F("agreed") + 1, agreed_at=newest)
