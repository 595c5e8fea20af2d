"""Participation in a challenge: which rules somebody accepted, and whether they were let in."""

from __future__ import annotations

import hmac
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from submissions.choices import TextChoices
from submissions.errors import Refused
from submissions.models.audit import AuditEntry
from submissions.models.challenge import Challenge
from submissions.models.user import User


class Admission(TextChoices):
    PENDING = "pending", "Waiting for an organizer"
    ADMITTED = "admitted", "Admitted"
    DECLINED = "declined", "Declined"


class Participation(models.Model):
    """A person takes part in a challenge. Somebody whom a link has let into a private challenge
    has a row without accepted rules: they may see it, and nothing more."""

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="participations")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="participations")
    admission = models.CharField(max_length=10, choices=Admission, default=Admission.PENDING)
    rules_version = models.CharField(max_length=20, blank=True)
    rules_accepted_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["created_at"]
        constraints = [models.UniqueConstraint(fields=["challenge", "user"], name="participates_once")]

    def __str__(self) -> str:
        return f"{self.user} in {self.challenge}"

    @classmethod
    def of(cls, challenge: Challenge, user: Any) -> Participation | None:
        return cls.objects.filter(challenge=challenge, user=user).first() if user.is_authenticated else None

    @property
    def has_accepted(self) -> bool:
        """Return whether the rules in force are the ones accepted."""
        return self.rules_accepted_at is not None and self.rules_version == self.challenge.rules_version

    @property
    def is_waiting(self) -> bool:
        """Return whether it is an organizer's turn."""
        return self.has_accepted and self.admission == Admission.PENDING and self.challenge.needs_approval

    @property
    def must_accept(self) -> bool:
        """Return whether the person must accept the rules: they never did, accepted an earlier version, or accepted while organizers had
        to approve them, which is no longer so."""
        pending = self.admission == Admission.PENDING and not self.challenge.needs_approval
        return self.admission != Admission.DECLINED and (not self.has_accepted or pending)

    @classmethod
    def enter(cls, challenge: Challenge, user: Any, key: str) -> Participation:
        """Let `user` see a private challenge by its link. `Refused` with any other key."""
        if not opens(challenge, key):
            raise Refused("This link is no longer valid. Ask the organizers for the current one.", "wrong_key")
        return cls.objects.get_or_create(challenge=challenge, user=user)[0]

    @classmethod
    def accept_rules(cls, challenge: Challenge, user: Any, version: str) -> Participation:
        """Accept `version` of the rules, which must be the one in force: nobody accepts a text they have not seen. If organizers need
        not approve participants, this also admits the person."""
        if version != challenge.rules_version:
            raise Refused(
                f"The rules are at version {challenge.rules_version} now and you were about to accept version {version}; "
                "read them again and accept.",
                "rules_changed",
            )
        with transaction.atomic():
            cls.objects.get_or_create(challenge=challenge, user=user)
            it = cls.objects.select_for_update().get(challenge=challenge, user=user)
            it.challenge = challenge
            if it.admission == Admission.DECLINED:
                raise Refused("The organizers have declined your participation; write to them if you think that is a mistake.", "declined")
            if not it.must_accept:
                return it
            it.rules_version, it.rules_accepted_at = version, timezone.now()
            if not challenge.needs_approval:
                it.admission = Admission.ADMITTED
            it.save(update_fields=["rules_version", "rules_accepted_at", "admission"])
        return it

    def decide(self, actor: User | None, admission: Admission) -> None:
        """An organizer admits or declines this person."""
        with transaction.atomic():
            before = {"admission": self.admission}
            self.admission, self.decided_by, self.decided_at = admission, actor, timezone.now()
            self.save(update_fields=["admission", "decided_by", "decided_at"])
            after = {"admission": admission.value}
            AuditEntry.record(self.challenge, actor, f"participation.{admission.value}", self.user, before=before, after=after)


def opens(challenge: Challenge, key: str) -> bool:
    """Return whether `key` is the access link of a private challenge."""
    private = challenge.visibility == Challenge.Visibility.PRIVATE and bool(challenge.access_key)
    return private and hmac.compare_digest(key.encode(), challenge.access_key.encode())
