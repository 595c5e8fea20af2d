"""Analyses of studies that share items or raters, as one: they are no evidence of their own (AGREEMENT §Q, "Over studies")."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property

from django.db import models

from leaderboard.models.computed import Computed
from leaderboard.records.study import Summary
from leaderboard.stats.votes import VERSION
from submissions.models.user import hash_secret

MAX_MEMBERS = 50  # of a set that is analysed together


class JointAnalysis(Computed):
    """Analysis of the answers of some studies together: its samples are items, and its raters are accounts. The row is the request for it.
    `members` are the ids of the studies, in order."""

    members = models.CharField(max_length=1000, unique=True)

    doing = "analysing these studies together"

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
