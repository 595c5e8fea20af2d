"""Teams, their members, and who has been let in."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from submissions.models.challenge import Challenge


class Team(models.Model):
    """A team of one challenge; someone alone has a team of one."""

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="teams")
    name = models.CharField(max_length=80)
    invite_hash = models.CharField(max_length=64, blank=True, help_text="Hash of the link that lets people join.")
    created_at = models.DateTimeField(default=timezone.now)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="teams")

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["challenge", "name"], name="team_name_once")]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person in a team. The challenge is repeated here so that the database itself holds
    'at most one team per person and challenge'."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="+")
    is_leader = models.BooleanField(default=False)
    joined_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["joined_at"]
        constraints = [models.UniqueConstraint(fields=["challenge", "user"], name="one_team_per_person")]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class TeamInvite(models.Model):
    """An invitation to one e-mail address."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invites")
    email = models.EmailField()
    token_hash = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.email} to {self.team}"


class Admission(models.TextChoices):
    PENDING = "pending", "Waiting for an organizer"
    ADMITTED = "admitted", "Admitted"
    DECLINED = "declined", "Declined"


class Participation(models.Model):
    """A person takes part in a challenge: which rules they accepted, and whether they were let in."""

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
