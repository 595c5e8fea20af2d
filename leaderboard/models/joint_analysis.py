"""Analyses of studies that share items or raters, as one: they are no evidence of their own (AGREEMENT §Q, "Over studies")."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any, Self

from django.db import models
from django.utils import timezone

from leaderboard.records.study import Summary
from leaderboard.stats.votes import VERSION
from submissions.choices import TextChoices
from submissions.leases import Leased, LeasedQuerySet
from submissions.models.user import hash_secret

MAX_MEMBERS = 50  # of a set that is analysed together


class JointAnalysisQuerySet(LeasedQuerySet):
    def waiting(self) -> Self:
        return self.filter(state=JointAnalysis.State.WAITING).order_by("id")


class JointAnalysis(Leased):
    """Analysis of the answers of some studies together: its samples are items, and its raters are accounts. The row is the request for it.
    `members` are the ids of the studies, in order."""

    class State(TextChoices):
        WAITING = "waiting", "Being computed"
        DONE = "done", "Computed"
        FAILED = "failed", "Failed"

    members = models.CharField(max_length=1000, unique=True)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING, db_index=True)
    wanted = models.CharField(max_length=80)  # what it is to be of: the analyses of its members, and the code's version
    made_of = models.CharField(max_length=80, blank=True)  # what `content` is of
    content = models.JSONField(null=True)
    finished_at = models.DateTimeField(null=True)

    doing = "analysing these studies together"
    objects = JointAnalysisQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "joint analyses"

    def __str__(self) -> str:
        return f"studies {self.members} together ({self.state})"

    @property
    def ids(self) -> list[int]:
        return [int(one) for one in self.members.split(",")]

    @cached_property
    def summary(self) -> Summary | None:
        return Summary.read(self.content)

    @classmethod
    def stamp(cls, members: Collection[int], made_of: Mapping[int, str]) -> str:
        """Fingerprint of an analysis of these studies, where the analyses of each are of `made_of`."""
        return f"{hash_secret(' '.join(f'{one}:{made_of[one]}' for one in sorted(members)))[:60]}/{VERSION}"

    @classmethod
    def request(cls, sets: Collection[Collection[int]], made_of: Mapping[int, str]) -> None:
        """Ask for each of these sets' analyses that is missing or older than its studies, and drop the analyses of all other sets."""
        stamps = {",".join(map(str, sorted(one))): cls.stamp(one, made_of) for one in sets if len(one) <= MAX_MEMBERS}
        known = dict(cls.objects.values_list("members", "wanted"))
        cls.objects.bulk_create(
            (cls(members=one, wanted=stamp) for one, stamp in stamps.items() if one not in known), ignore_conflicts=True
        )
        for one, wanted in known.items():
            rows = cls.objects.filter(members=one).unleased()
            if one not in stamps:
                rows.delete()
            elif wanted != stamps[one]:
                rows.update(wanted=stamps[one], state=cls.State.WAITING, **cls.ANEW)

    def finish(self, content: dict[str, Any]) -> bool:
        """Keep the content, under the current token only; False where the lease was lost."""
        done = {"state": self.State.DONE, "content": content, "made_of": self.wanted, "finished_at": timezone.now()}
        return bool(self.under_lease().filter(state=self.State.WAITING).update(**done, **self.ANEW))
