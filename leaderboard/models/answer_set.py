"""Answers of people that were brought into a study as one set: scores on any scale, means or pairs, with values of metrics."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

from django.db import models
from django.utils import timezone

from leaderboard.evidence import canonical, record_file
from leaderboard.evidence.manifest import Manifest
from leaderboard.evidence.reading import Reading
from leaderboard.models.study import Study
from leaderboard.stats.evidence.record import FORMAT, STATISTICS, EvidenceRecord
from submissions import worker_notify
from submissions.choices import TextChoices
from submissions.leases import Leased, LeasedQuerySet


class AnswerSetQuerySet(LeasedQuerySet):
    def waiting(self) -> Self:
        return self.filter(state=AnswerSet.State.WAITING).order_by("id")


class AnswerSet(Leased):
    """The answers of a study that are no rows of its own, and the record of all that is computed of them; the row is the request for it.

    `packed` is an archive of the canonical tables and their manifest: raters are numbers there, and the files that were brought in are not
    kept. `reproduction` holds the numbers that the publication prints beside what the same files give.
    """

    class State(TextChoices):
        WAITING = "waiting", "Being computed"
        DONE = "done", "Computed"
        FAILED = "failed", "Failed"

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="answer_set")
    is_of_results = models.BooleanField(default=False, editable=False)  # it comes with the phase's imported figures
    packed = models.BinaryField()
    reproduction = models.JSONField(null=True)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING, db_index=True)
    wanted = models.CharField(max_length=80)  # what it is to be of: the statistics' version, and the phase's scores where these are used
    made_of = models.CharField(max_length=80, blank=True)  # what `content` is of
    content = models.JSONField(null=True)
    finished_at = models.DateTimeField(null=True)

    doing = "analysing this study"
    objects = AnswerSetQuerySet.as_manager()

    def __str__(self) -> str:
        return f"answers of {self.study} ({self.state})"

    @cached_property
    def record(self) -> EvidenceRecord | None:
        """The record in `content`; None before there is one, and while one of an older format is computed again."""
        if self.content is None or self.content.get("evidence") != FORMAT:
            return None
        return record_file.of_plain(self.content, str(self.study))

    def unpacked(self) -> tuple[Manifest, Reading]:
        """The manifest of the canonical tables, and the tables."""
        return canonical.unpack(bytes(self.packed))

    @classmethod
    def request_outdated(cls) -> int:
        """Ask for every record that is not of the current statistics, or not of the phase's scores as they are; how many wait."""
        for row in cls.objects.select_related("study__phase").defer("packed", "content"):
            if row.wanted != (wanted := cls.stamp(row.study, row.wanted.endswith("/"))):
                cls.objects.filter(pk=row.pk).unleased().update(wanted=wanted, state=cls.State.WAITING, **cls.ANEW)
        return cls.objects.waiting().unleased().count()

    @staticmethod
    def stamp(study: Study, has_metrics: bool) -> str:
        """Version that a record is to be of. That of a set with values of metrics ends in a slash: it needs none of the phase's scores."""
        version = f"{FORMAT}.{STATISTICS}"
        return f"{version}/" if has_metrics else f"{version}/{study.scored_under or '-'}"

    def finish(self, content: dict[str, Any]) -> bool:
        """Keep the content, under the current token only; False where the lease was lost."""
        done = {"state": self.State.DONE, "content": content, "made_of": self.wanted, "finished_at": timezone.now()}
        is_stored = bool(self.under_lease().filter(state=self.State.WAITING).update(**done, **self.ANEW))
        if is_stored:
            self.study.phase.touch_board()
            worker_notify.after_commit("boards")
        return is_stored
