"""Answers of people that were brought into a study as one set: scores on any scale, means or pairs, with values of metrics."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django.db import models
from pydantic import TypeAdapter

from leaderboard.evidence import canonical, record_file
from leaderboard.evidence.manifest import Manifest
from leaderboard.evidence.reading import Reading
from leaderboard.models.computed import Computed
from leaderboard.models.study import Study
from leaderboard.stats.evidence.record import FORMAT, STATISTICS, EvidenceRecord
from leaderboard.stats.evidence.reproduction import Reproduction
from submissions import worker_notify

READER: TypeAdapter[Reproduction] = TypeAdapter(Reproduction)


class AnswerSet(Computed):
    """The answers of a study that are no rows of its own, and the record of all that is computed of them; the row is the request for it.

    `packed` is an archive of the canonical tables and their manifest: raters are numbers there, and the files that were brought in are not
    kept. `reproduction` holds the numbers that the publication prints beside what the same files give.
    """

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="answer_set")
    is_of_results = models.BooleanField(default=False, editable=False)  # it comes with the phase's imported figures
    packed = models.BinaryField()
    reproduction = models.JSONField(null=True)

    doing = "analysing this study"

    def __str__(self) -> str:
        return f"answers of {self.study} ({self.state})"

    @cached_property
    def record(self) -> EvidenceRecord | None:
        """The record in `content`; None before there is one, and while one of an older format is computed again."""
        if self.content is None or self.content.get("evidence") != FORMAT:
            return None
        return record_file.of_plain(self.content, str(self.study))

    @property
    def reproduced(self) -> Reproduction | None:
        """The record in `reproduction`."""
        return None if self.reproduction is None else READER.validate_python(self.reproduction)

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

    def finish(self, content: Mapping[str, Any]) -> bool:
        """Keep the content, and have the phase ranked with it; False where the lease was lost."""
        if is_stored := super().finish(content):
            self.study.phase.touch_board()
            worker_notify.after_commit("boards")
        return is_stored
