"""A rater's history: questions and answers in brief (a few bytes a question), the rows that hold them, and progress and pace.

The lock of its rater must be held to write a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self, TypedDict

import numpy as np
from django.db.models import Max
from numpy.typing import NDArray

from leaderboard.models import Question, Rater, Study, StudyVote, Tally
from leaderboard.stats.votes import Floats, Ints
from leaderboard.studies.live.design_matrix import Subject
from leaderboard.studies.live.question_choice import Grid

NOTHING, FIRST, EQUAL, SECOND = range(4)  # what was said of a cell: which entry of its unit is better
POINTS = np.array([0.0, 1.0, 0.5, 0.0])  # of the first entry
PAUSE = timedelta(minutes=5)  # a sitting ends with it
MIN_ANSWERS = 3  # answers of a sitting, before which it has no rate


@dataclass(frozen=True, eq=False)
class Past:
    """One rater's questions in the order of their numbers.

    `asked` int32[N] is the cell (see `plan`), or -1 - cell where it was asked again; `said` uint8[N] the answer, NOTHING
    where there is none (yet). The bytes of both are little-endian.
    """

    asked: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    said: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, dtype=np.uint8))

    @classmethod
    def read(cls, asked: bytes, answers: bytes) -> Self:
        return cls(np.frombuffer(asked, dtype="<i4").astype(np.int32), np.frombuffer(answers, dtype=np.uint8))

    def written(self) -> tuple[bytes, bytes]:
        return self.asked.astype("<i4").tobytes(), self.said.tobytes()

    def with_asked(self, more: Sequence[int]) -> Past:
        """With more questions at its end, unanswered."""
        asked = np.concatenate([self.asked, np.array(more, dtype=np.int32)])
        return Past(asked, np.concatenate([self.said, np.zeros(len(more), dtype=np.uint8)]))

    def __len__(self) -> int:
        return len(self.asked)

    @property
    def cells(self) -> Ints:
        return np.where(self.asked < 0, -1 - self.asked, self.asked).astype(np.int64)

    @property
    def again(self) -> NDArray[np.bool_]:
        return self.asked < 0


def together(pasts: Sequence[Past]) -> Past:
    """All questions of several raters."""
    if not pasts:
        return Past()
    return Past(np.concatenate([past.asked for past in pasts]), np.concatenate([past.said for past in pasts]))


def times_asked(grid: Grid, past: Past) -> Ints:
    """Times each cell [U, S] was asked, repeats apart."""
    fresh = past.asked[~past.again]
    return np.bincount(fresh, minlength=grid.units * grid.samples).reshape(grid.units, grid.samples)


def wins(grid: Grid, past: Past) -> Floats:
    """Times each entry was preferred to each other one [M, M]; being equal is half a win of both."""
    m, answered = grid.entries, past.said != NOTHING
    unit, points = past.cells[answered] // grid.samples, POINTS[past.said[answered]]
    i, j = grid.first[unit], grid.second[unit]
    counts = np.bincount(i * m + j, points, m * m) + np.bincount(j * m + i, 1 - points, m * m)
    return np.asarray(counts, dtype=np.float64).reshape(m, m)


# --- rows


def of(rater: Rater) -> Past:
    """A rater's past; empty if they were asked nothing."""
    row = Tally.objects.filter(rater=rater).values_list("asked", "said").first()
    return Past.read(*row) if row else Past()


def of_all(study: Study) -> Past:
    """The past of all people who count."""
    rows = Tally.objects.filter(rater__study=study, rater__is_counted=True, rater__kind=Rater.Kind.PERSON)
    return together([Past.read(*row) for row in rows.values_list("asked", "said")])


def checked(subject: Subject, rater: Rater) -> Past:
    """A rater's past as `of` gives it, but made again from the rows where it is not of all their questions."""
    past, last = of(rater), rater.questions.aggregate(last=Max("number"))["last"]
    return past if len(past) == (0 if last is None else last + 1) else recounted(subject, rater)


def recounted(subject: Subject, rater: Rater) -> Past:
    """A rater's past, of their questions and votes, and kept."""
    rows = list(rater.questions.order_by("number").values_list("id", "left_id", "right_id", "sample_id", "repeat_of_id"))
    cells = subject.cells([row[1:4] for row in rows])
    asked = np.where([row[4] is not None for row in rows], -1 - cells, cells) if rows else cells
    votes = StudyVote.objects.filter(rater=rater, criterion=subject.study.main_criterion, question__isnull=False)
    choices = dict(votes.values_list("question_id", "choice"))
    verdicts = [verdict_of(left, right, choices.get(pk)) for pk, left, right, *_ in rows]
    past = Past(asked.astype(np.int32), np.array(verdicts, dtype=np.uint8))
    keep(rater, past)
    return past


def keep(rater: Rater, past: Past) -> None:
    asked, answers = past.written()
    Tally.objects.update_or_create(rater=rater, defaults={"asked": asked, "said": answers})


def note(rater: Rater, question: Question, choice: str | None) -> None:
    """Store the answer to a question about a pair, or that it is open again (None)."""
    row = Tally.objects.filter(rater=rater).only("said").first()
    if row is None or question.number >= len(row.said):
        return  # it is made again when more is planned
    verdicts = bytearray(row.said)
    verdicts[question.number] = verdict_of(question.left_id, question.right_id, choice)
    Tally.objects.filter(pk=row.pk).update(said=bytes(verdicts))


def verdict_of(left: int, right: int | None, choice: str | None) -> int:
    """Verdict of a choice on a pair whatever its sides: entries stand in the order of their ids."""
    if choice is None or right is None:
        return NOTHING
    if choice == StudyVote.Choice.TIE:
        return EQUAL
    return FIRST if (choice == StudyVote.Choice.LEFT) == (left < right) else SECOND


# --- progress


def session_started(rater: Rater, now: datetime) -> tuple[datetime, int]:
    """Beginning of the sitting in which the rater answers at `now`, and the number of its answers with this one."""
    if rater.answered_last is None or rater.sitting_from is None or now - rater.answered_last >= PAUSE:
        return now, 1
    return rater.sitting_from, rater.sitting_answers + 1


class Progress(TypedDict):
    """Answered of so many; of the sitting that goes on its answers and its rate, and how long the rest takes at that."""

    answered: int
    total: int
    since_break: int
    per_hour: int | None
    seconds_left: int | None


def progress(rater: Rater, answered: int, total: int, now: datetime) -> Progress:
    on = rater.answered_last is not None and rater.sitting_from is not None and now - rater.answered_last < PAUSE
    since = rater.sitting_answers if on else 0
    per_hour = seconds_left = None
    if on and since >= MIN_ANSWERS:
        spent = (rater.answered_last - rater.sitting_from).total_seconds()
        each = max(spent / (since - 1), 0.1)
        per_hour, seconds_left = round(3600 / each), round(each * max(0, total - answered))
    return {"answered": answered, "total": total, "since_break": since, "per_hour": per_hour, "seconds_left": seconds_left}
