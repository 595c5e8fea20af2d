"""Acts of organizers, kept for organizers to read."""

from __future__ import annotations

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.utils import timezone

from submissions.models.user import User


class AuditEntry(models.Model):
    """One act of an organizer: who, what, on which thing, with the values before and after."""

    challenge = models.ForeignKey("submissions.Challenge", on_delete=models.CASCADE, related_name="audit")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    action = models.CharField(max_length=60)  # "submission.hide", "phase.edit", ...
    target = models.CharField(max_length=200)
    detail = models.JSONField(default=dict, encoder=DjangoJSONEncoder)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at", "-id"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.action} {self.target}"

    @classmethod
    def record(cls, challenge: models.Model | None, actor: User | None, action: str, target: object, **detail) -> AuditEntry:
        """Write one line of a challenge, or of none; call it in the transaction that does the act."""
        actor = actor if actor is not None and actor.pk else None
        return cls.objects.create(challenge=challenge, actor=actor, action=action, target=str(target)[:200], detail=detail)
