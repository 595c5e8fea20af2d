"""Looks at first place that were planned before a study opened."""

from __future__ import annotations

from collections.abc import Collection
from typing import Self

from django.db import models
from django.utils import timezone

from leaderboard.models.study import Study
from leaderboard.records.interim_analyses import InterimAnalyses
from leaderboard.records.study import HIDDEN_NAME, PlannedLook
from leaderboard.stats.planning import look
from leaderboard.stats.records import StudySummary


class InterimAnalysis(models.Model):
    """Result of one of a study's planned looks, of the main criterion: never changed afterwards, whatever answers come or go.

    `answers` counted then, of so many `raters` on so many `samples`; `entry` was first (none where nobody preferred any), and
    `untold` are those that were not told from it. First place is settled where there are none.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="looks")
    number = models.PositiveSmallIntegerField()  # from 1 to the study's `planned_looks`
    made_at = models.DateTimeField(default=timezone.now)
    answers = models.PositiveIntegerField()
    raters = models.PositiveIntegerField()
    samples = models.PositiveIntegerField()
    entry = models.CharField(max_length=200)
    untold = models.JSONField(default=list)

    class Meta:
        ordering = ["study", "number"]
        verbose_name_plural = "interim analyses"
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="study_look_once")]

    def __str__(self) -> str:
        return f"look {self.number} of {self.study}"

    @property
    def is_settled(self) -> bool:
        return not self.untold

    def record(self, hidden: Collection[str] = ()) -> PlannedLook:
        """The look as exports and the API tell it; entries with `hidden` labels are not named."""
        return PlannedLook(
            number=self.number,
            at=self.made_at,
            answers=self.answers,
            raters=self.raters,
            samples=self.samples,
            settled=self.is_settled,
            first=HIDDEN_NAME if self.entry in hidden else self.entry,
            not_told_from_first=[HIDDEN_NAME if label in hidden else label for label in self.untold],
        )

    @classmethod
    def that_ended(cls, study: Study) -> Self | None:
        """The look at which a study ended as planned: first place was settled, or all planned answers were in."""
        looks = list(study.looks.all())
        return looks[-1] if looks and (looks[-1].is_settled or looks[-1].number >= study.planned_looks) else None

    @classmethod
    def so_far(cls, study: Study, answers: int | None, hidden: Collection[str] = ()) -> InterimAnalyses | None:
        """The looks of a study as far as they were taken, of which so many `answers` count; None where none are planned."""
        if not study.planned_looks:
            return None
        last = next((look.record(hidden) for look in reversed(study.looks.all())), None)
        due = cls.due_at(study, 1 + (last.number if last else 0))
        return InterimAnalyses(study.planned_looks, last, due, answers, study.state == Study.State.CLOSED, study.noun)

    @classmethod
    def due_at(cls, study: Study, number: int) -> int:
        """The answers from which on a look is due: looks lie at equal steps, the last at all planned answers."""
        return -(-number * (study.planned_answers or 0) // study.planned_looks)

    @classmethod
    def take(cls, study: Study, summary: StudySummary) -> InterimAnalysis | None:
        """The look that is due by the newest figures, stored; None where none is, or it is too early for any. A look that was passed over
        while figures were computed is not made up for: that the next one is as strict as all together keeps the 5 %.

        Call it in the transaction that stores the figures, and close the study after a look that ends it.
        """
        if not study.planned_looks or study.state != Study.State.OPEN:
            return None
        due = [n for n in range(1, study.planned_looks + 1) if summary.answers >= cls.due_at(study, n)]
        last = study.looks.aggregate(models.Max("number"))["number__max"] or 0
        if not due or due[-1] <= last:
            return None
        first = summary.first_place
        others: dict[str, float | None] = {} if first is None else {rival.entry: rival.p for rival in first.others}
        apart = study.damaged | ({first.entry} if first else set())
        others |= dict.fromkeys({entry.label for entry in study.entries.live()} - apart - set(others))
        found = look(others, study.planned_looks, summary.raters_counted, summary.samples_counted)
        if found.reason is not None or not others:
            return None
        return cls.objects.create(
            study=study,
            number=due[-1],
            answers=summary.answers,
            raters=summary.raters_counted,
            samples=summary.samples_counted,
            entry=first.entry if first else "",
            untold=sorted(found.open),
        )
