"""Raters, and the links that invite them."""

from __future__ import annotations

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from submissions.choices import TextChoices


class StudyInvitation(models.Model):
    """A link that lets people into a study; its token is kept hashed."""

    study = models.ForeignKey("leaderboard.Study", on_delete=models.CASCADE, related_name="invitations")
    token_hash = models.CharField(max_length=64, unique=True)
    note = models.CharField(max_length=120, blank=True, help_text="Whom it is for; organizers see it.")
    group = models.CharField(max_length=60, blank=True)
    most_uses = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: no limit.")
    expires_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.note or 'invitation'} to {self.study}"


class Rater(models.Model):
    """Rater of a study. Names are for organizers; pages show numbers.

    A person is known by their account, or by a key that only their browser and their own link have (kept hashed). `kept_from` are the
    accounts that were logged in at a browser with that key. These accounts are asked nothing about their own entries; for organizers the
    rater stays a number, and no other browser of the account finds the rater. One whom an organizer has listed has not joined until they
    say so. The votes of a removed rater count unless an organizer says otherwise (`is_counted`). If a rater leaves, their questions and
    answers are deleted; only their number is kept (`withdrawn`), and the hash of their id in a panel, so that they cannot take part again
    (`panel_hash`). `came_by` names the link they came by. `setup` holds their answers about eyesight, and their browser's report on its
    screen, when they joined (see `leaderboard.studies.live.rater_setup`).
    """

    class Kind(TextChoices):
        PERSON = "person", "Person"
        JUDGE = "judge", "Judge model"

    study = models.ForeignKey("leaderboard.Study", on_delete=models.CASCADE, related_name="raters")
    name = models.CharField(max_length=120)
    group = models.CharField(max_length=60, blank=True)
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.PERSON)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    key_hash = models.CharField(max_length=64, blank=True)
    kept_from = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+", blank=True)
    invitation = models.ForeignKey(StudyInvitation, on_delete=models.SET_NULL, null=True, blank=True, related_name="raters")
    panel = models.JSONField(default=dict, blank=True)  # parameters of the address they came by, by name
    panel_id = models.CharField(max_length=100, blank=True)  # the first of them: who they are to their panel
    panel_hash = models.CharField(max_length=64, blank=True, db_index=True)  # of that and the challenge; stays when they leave
    came_by = models.CharField(max_length=140, blank=True)
    setup = models.JSONField(default=dict, blank=True)
    joined_at = models.DateTimeField(null=True, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)  # takes no more part, whoever decided that
    left_at = models.DateTimeField(null=True, blank=True)  # left for good, with what they said: nobody brings that back
    withdrawn = models.PositiveIntegerField(default=0, help_text="Answers that were deleted when they left.")
    is_counted = models.BooleanField(default=True)
    finished_at = models.DateTimeField(null=True, blank=True)  # there was nothing left to ask them
    # The sitting ends with a pause; see `leaderboard/studies/live/progress.py`.
    sitting_from = models.DateTimeField(null=True, blank=True)
    sitting_answers = models.PositiveIntegerField(default=0)
    answered_last = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="study_rater_once"),
            models.UniqueConstraint(fields=["study", "user"], name="study_rater_of_account_once"),
            models.UniqueConstraint(fields=["study", "panel_id"], condition=~Q(panel_id=""), name="study_rater_of_panel_once"),
            models.UniqueConstraint(fields=["key_hash"], condition=~Q(key_hash=""), name="study_rater_key_once"),
        ]

    def __str__(self) -> str:
        return self.name

    def leave(self) -> None:
        """Leave for good and take everything along. Figures of the remaining answers are computed again."""
        with transaction.atomic():
            study = self.study.locked()
            if Rater.objects.select_for_update().get(pk=self.pk).left_at is not None:
                return
            answered = self.questions.filter(Q(votes__isnull=False) | Q(opinions__isnull=False))
            now, withdrawn = timezone.now(), answered.distinct().count()
            Rater.objects.filter(pk=self.pk).update(
                removed_at=now, left_at=now, is_counted=False, withdrawn=withdrawn, panel={}, panel_id="", setup={}
            )
            self.kept_from.clear()  # nothing more is asked, so nobody need know whose browser it was
            self.practice.all().delete()
            self.votes.all().delete()
            self.opinions.all().delete()
            self.questions.all().delete()
            Tally.objects.filter(rater=self.pk).delete()
            study.touch_votes()


class Tally(models.Model):
    """A rater's questions and answers in brief, see `leaderboard.studies.live.history`. To plan a question, these rows of all raters are
    read instead of their questions and votes. It is written under the rater's lock, with the rows that it is of.
    """

    rater = models.OneToOneField(Rater, on_delete=models.CASCADE, related_name="tally")
    asked = models.BinaryField(default=bytes)
    said = models.BinaryField(default=bytes)  # on the study's main criterion; of opinions nothing is kept here

    class Meta:
        verbose_name_plural = "tallies"

    def __str__(self) -> str:
        return f"tally of {self.rater}"
