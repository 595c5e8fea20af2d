"""Questions to raters, and their answers."""

from __future__ import annotations

import secrets

from django.db import models
from django.db.models import F, Q

from leaderboard.models.entry import StudyEntry, StudySample
from leaderboard.models.rater import Rater
from submissions.choices import TextChoices


def new_token() -> str:
    """An opaque name, of a question or a study's rating pages, that nobody can guess."""
    return secrets.token_urlsafe(18)


class Question(models.Model):
    """One thing a rater is asked: a pair of entries on a sample as it is shown, or one entry (`right` is none).

    Rows are made a few at a time, ahead of the rater, see `leaderboard.studies.live.ask`. `swapped` says that the sides
    were turned against the order of the entries; `repeat_of` is the earlier question that is asked again.
    """

    study = models.ForeignKey("leaderboard.Study", on_delete=models.CASCADE, related_name="questions")
    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="questions")
    number = models.PositiveIntegerField()
    sample = models.ForeignKey(StudySample, on_delete=models.CASCADE, related_name="+")
    left = models.ForeignKey(StudyEntry, on_delete=models.CASCADE, related_name="+")
    right = models.ForeignKey(StudyEntry, on_delete=models.CASCADE, null=True, related_name="+")
    swapped = models.BooleanField(default=False)
    repeat_of = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="+")
    is_gold = models.BooleanField(default=False)
    token = models.CharField(max_length=40, unique=True, default=new_token)
    shown_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)
    reopened_at = models.DateTimeField(null=True)  # its answer was taken back
    seconds_before = models.FloatField(default=0.0)  # that the answers took which were taken back

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["rater", "number"], name="question_number_once"),
            models.CheckConstraint(condition=Q(right__isnull=True) | ~Q(left=F("right")), name="question_between_two"),
        ]
        indexes = [
            models.Index(fields=["rater", "number"], condition=Q(answered_at__isnull=True), name="question_open"),
            models.Index(fields=["rater", "answered_at"]),
        ]

    def __str__(self) -> str:
        return f"question {self.number} of {self.rater}"


class PracticeQuestion(models.Model):
    """A question before those that count. Its answer is kept here, by criterion, and is no vote: it counts nowhere."""

    study = models.ForeignKey("leaderboard.Study", on_delete=models.CASCADE, related_name="+")
    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="practice")
    number = models.PositiveSmallIntegerField()
    sample = models.ForeignKey(StudySample, on_delete=models.CASCADE, related_name="+")
    left = models.ForeignKey(StudyEntry, on_delete=models.CASCADE, related_name="+")
    right = models.ForeignKey(StudyEntry, on_delete=models.CASCADE, null=True, related_name="+")
    is_gold = models.BooleanField(default=False)
    token = models.CharField(max_length=40, unique=True, default=new_token)
    answers = models.JSONField(default=dict)
    seconds = models.FloatField(null=True)
    answered_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["rater", "number"]
        constraints = [models.UniqueConstraint(fields=["rater", "number"], name="practice_number_once")]

    def __str__(self) -> str:
        return f"practice {self.number} of {self.rater}"


class Answer(models.Model):
    """Conditions under which an answer was given, as exports have them; unknown where it was brought from elsewhere without them.

    `order` is the place of the question among the rater's, and `step` the place of the criterion among the question's, both from 1.
    The window is measured in pixels of CSS. The device is the one of the question's last answer.
    """

    class Device(TextChoices):
        MOUSE = "mouse", "Mouse"
        TOUCH = "touch", "Touch"
        KEYBOARD = "keyboard", "Keyboard"

    seconds = models.FloatField(null=True)
    order = models.PositiveIntegerField(null=True)
    step = models.PositiveSmallIntegerField(null=True)
    given_at = models.DateTimeField(null=True)
    viewport_width = models.PositiveIntegerField(null=True)
    viewport_height = models.PositiveIntegerField(null=True)
    device = models.CharField(max_length=8, choices=Device, blank=True)

    class Meta:
        abstract = True


class StudyVote(Answer):
    """One answer, as it was shown: `choice` is left, right or tie of the two entries.

    `question` is none where the vote was brought from elsewhere. A question has one vote on each criterion. `is_gold` and the
    conditions stand here too: votes from elsewhere have no other place for them.
    """

    class Choice(TextChoices):
        LEFT = "left", "Left"
        RIGHT = "right", "Right"
        TIE = "tie", "Equal"

    study = models.ForeignKey("leaderboard.Study", on_delete=models.CASCADE, related_name="study_votes")
    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="votes")
    question = models.ForeignKey(Question, on_delete=models.CASCADE, null=True, blank=True, related_name="votes")
    sample = models.CharField(max_length=240, blank=True)
    left = models.ForeignKey(StudyEntry, on_delete=models.CASCADE, related_name="+")
    right = models.ForeignKey(StudyEntry, on_delete=models.CASCADE, related_name="+")
    choice = models.CharField(max_length=5, choices=Choice)
    swapped = models.CharField(max_length=8, blank=True)
    repeat_of = models.CharField(max_length=40, blank=True)
    criterion = models.CharField(max_length=60, blank=True)
    is_gold = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(left=F("right")), name="study_vote_between_two"),
            models.CheckConstraint(condition=Q(choice__in=["left", "right", "tie"]), name="study_vote_choice"),
            models.UniqueConstraint(fields=["question", "criterion"], name="study_vote_once"),
        ]
        indexes = [models.Index(fields=["study", "criterion"])]

    def __str__(self) -> str:
        return f"{self.left} {self.choice} {self.right}"


class Opinion(Answer):
    """A score on the study's scale that a rater gave one entry on one sample, on one criterion."""

    study = models.ForeignKey("leaderboard.Study", on_delete=models.CASCADE, related_name="opinions")
    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="opinions")
    question = models.ForeignKey(Question, on_delete=models.CASCADE, null=True, blank=True, related_name="opinions")
    sample = models.CharField(max_length=240, blank=True)
    entry = models.ForeignKey(StudyEntry, on_delete=models.CASCADE, related_name="+")
    criterion = models.CharField(max_length=60, blank=True)
    score = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question", "criterion"], name="opinion_once"),
        ]
        indexes = [models.Index(fields=["study", "criterion", "entry"])]

    def __str__(self) -> str:
        return f"{self.entry} {self.score:g}"
