"""Analyses of a study's votes, computed in the background: a row for each criterion, which is also the request for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, Self

from django.db import models
from django.utils import timezone

from leaderboard.models.computed import Computed
from leaderboard.models.judge import JudgeRun
from leaderboard.models.study import Study
from leaderboard.records.study import Summary
from submissions import worker_notify
from submissions.visibility import board_is_out, organized_by, visible_challenges


class StudyAnalysis(Computed):
    """Everything computed of a study's answers on one criterion; the row is the request for it.

    `content` is a `Summary`, of what `Study.stamp` names.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="analyses")
    criterion = models.CharField(max_length=60, blank=True)

    doing = "analysing this study"

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "criterion"], name="study_analysis_once")]
        verbose_name_plural = "study analyses"

    def __str__(self) -> str:
        return f"{self.study} {self.criterion or 'all'} ({self.state})"

    @classmethod
    def main(cls, study: Study) -> Self | None:
        """A study's analysis on boards: the leading criterion of those that are computed."""
        computed = {row.criterion: row for row in study.analyses.all() if row.summary is not None}
        return computed[study.leading(computed)] if computed else None

    @classmethod
    def main_summary(cls, study: Study, hidden_ids: Collection[int]) -> Summary | None:
        """Summary of a study's analysis on boards, without these entries; None before there is one."""
        analysis = cls.main(study)
        return analysis.summary.without(study.hidden_labels(hidden_ids)) if analysis is not None and analysis.summary is not None else None

    @staticmethod
    def summaries(rows: Iterable[StudyAnalysis], study: Study, hidden: Collection[str]) -> dict[str, Summary]:
        """Summaries in a study's rows, by criterion in the order of the study, without the entries of the labels `hidden`."""
        done = {row.criterion: row.summary.without(hidden) for row in rows if row.summary is not None}
        return {name: done[name] for name in study.in_order(done)}

    @cached_property
    def summary(self) -> Summary | None:
        """Summary in `content`; None before there is any, and while one of an older version is computed again."""
        return Summary.read(self.content)

    @classmethod
    def seen_by(cls, user: Any, **studies: Any) -> list[Self]:
        """The leading analysis of each study (of those that `studies` filters) that `user` may see, the newest first and without its
        content. People who see its phase's leaderboard see a study if it is public; organizers always do. Two queries or three, however
        many there are."""
        rows = cls.objects.filter(study__phase__challenge__in=visible_challenges(user), content__isnull=False, **studies)
        own = set(organized_by(user).values_list("pk", flat=True))
        rows = rows.filter(models.Q(study__is_public=True) | models.Q(study__phase__challenge__in=own))
        now = timezone.now()
        found: dict[int, dict[str, Self]] = {}
        for row in rows.select_related("study__phase__challenge").defer("content").order_by("-finished_at", "-id"):
            study = row.study
            if study.phase.challenge_id in own or (study.state != Study.State.DRAFT and board_is_out(study.phase, now)):
                found.setdefault(study.pk, {})[row.criterion] = row
        return [each[next(iter(each.values())).study.leading(each)] for each in found.values()]

    @classmethod
    def request_missing(cls) -> int:
        """Ask for every analysis that is not there, or not of the votes and scores as they are now; how many."""
        asked = 0
        for study in Study.objects.select_related("phase"):
            wanted = f"{study.stamp}{JudgeRun.stamp(study)}"
            criteria = study.judged_criteria()
            known = {row.criterion: row for row in cls.objects.filter(study=study).defer("content")}
            # The leading one is worked on first: until it is there, boards speak by another.
            missing = sorted(study.in_order(criteria - set(known)), key=lambda name: name != study.leading(criteria))
            if missing:  # else it would be a transaction that writes nothing
                cls.objects.bulk_create((cls(study=study, criterion=name, wanted=wanted) for name in missing), ignore_conflicts=True)
            stale = [row.pk for name, row in known.items() if name in criteria and row.wanted != wanted]
            again = cls.objects.filter(pk__in=stale).unleased().update(wanted=wanted, state=cls.State.WAITING, **cls.ANEW)
            asked += len(missing) + again
            gone = [row.pk for name, row in known.items() if name not in criteria]
            if gone and cls.objects.filter(pk__in=gone).unleased().delete()[0]:
                study.phase.touch_board()  # the last who had answered has left
                worker_notify.after_commit("boards")
        return asked

    def finish(self, content: Mapping[str, Any]) -> bool:
        """Keep the content, and have the phase ranked with it; False where the lease was lost."""
        if is_stored := super().finish(content):
            self.study.phase.touch_board()
            worker_notify.after_commit("boards")
        return is_stored
