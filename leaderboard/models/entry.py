"""The entries that a study compares, and on which samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import Case, Q, Value, When

from leaderboard.stats.labels import DAMAGED
from submissions.models import Submission
from submissions.models.status import STANDING, UNFLAGGED
from submissions.visibility import through

if TYPE_CHECKING:
    from leaderboard.models.rater import Rater

# Not left out, and neither withdrawn, hidden, disqualified nor unscored.
LIVE = Q(left_out_at=None) & through("submission", STANDING & UNFLAGGED)


class StudyEntryQuerySet(models.QuerySet):
    def live(self) -> Self:
        """Entries that questions are asked about."""
        return self.filter(LIVE)

    def own_of(self, rater: Rater) -> Self:
        """Entries of a team that the person is in, or that they have uploaded for one: they are never asked about those.

        Where no account is the rater's, of those that were logged in at their browser.
        """
        users = rater.kept_from.values("pk") if rater.user_id is None else [rater.user_id]
        return self.filter(Q(submission__team__memberships__user__in=users) | Q(submission__uploaded_by__in=users)).distinct()

    def marked(self) -> Self:
        """All, each with `is_live`."""
        return self.annotate(is_live=Case(When(LIVE, then=Value(True)), default=Value(False)))


class StudyEntry(models.Model):
    """An entry that was compared: a label, and the submission it stands for where it is one of the phase's.

    `artifact` is empty for entries of teams and baselines. In a study of this service it names what a worker makes for the study
    ("perturb:low", "empty"); the submission exists once it is made. For imported answers it is the label in their file, one of
    `leaderboard.stats.labels.DAMAGED`, and nothing is made.
    Entries of one `gold_kind` have a known order: a smaller `gold_order` is better.
    """

    study = models.ForeignKey("leaderboard.Study", on_delete=models.CASCADE, related_name="entries")
    label = models.CharField(max_length=200)
    submission = models.ForeignKey(Submission, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    artifact = models.CharField(max_length=40, blank=True)
    gold_kind = models.CharField(max_length=40, blank=True)
    gold_order = models.PositiveSmallIntegerField(null=True, blank=True)
    left_out_at = models.DateTimeField(null=True, blank=True)  # by an organizer; withdrawn entries drop out by themselves

    objects = StudyEntryQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "label"], name="study_entry_once")]
        verbose_name_plural = "study entries"

    def __str__(self) -> str:
        return self.label

    @property
    def damage(self) -> str:
        """Its kind of damage, of `leaderboard.stats.labels.DAMAGED`, where it is no entry of a team or baseline; else empty."""
        return self.artifact if self.artifact in ("", *DAMAGED) else "corruption"


class StudySample(models.Model):
    """A group of the reference that raters are shown."""

    study = models.ForeignKey("leaderboard.Study", on_delete=models.CASCADE, related_name="samples")
    name = models.CharField(max_length=240)
    order = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["order", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="study_sample_once")]

    def __str__(self) -> str:
        return self.name
