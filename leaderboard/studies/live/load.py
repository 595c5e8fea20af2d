"""Rows of what raters were asked and said in brief. Whoever writes one holds the lock of its rater."""

from __future__ import annotations

import numpy as np
from django.db.models import Max

from leaderboard.models import Question, Rater, Study, StudyVote, Tally
from leaderboard.studies.live import history
from leaderboard.studies.live.grid import Subject
from leaderboard.studies.live.history import Past


def of(rater: Rater) -> Past:
    """A rater's past; an empty one for who was asked nothing."""
    row = Tally.objects.filter(rater=rater).values_list("asked", "said").first()
    return Past.read(*row) if row else Past()


def of_all(study: Study) -> Past:
    """The past of all people who count."""
    rows = Tally.objects.filter(rater__study=study, rater__is_counted=True, rater__kind=Rater.Kind.PERSON)
    return history.together([Past.read(*row) for row in rows.values_list("asked", "said")])


def checked(subject: Subject, rater: Rater) -> Past:
    """A rater's past as `of` gives it, but made anew from the rows where it is not of all their questions."""
    found, last = of(rater), rater.questions.aggregate(last=Max("number"))["last"]
    return found if len(found) == (0 if last is None else last + 1) else recounted(subject, rater)


def recounted(subject: Subject, rater: Rater) -> Past:
    """A rater's past, of their questions and votes, and kept."""
    rows = list(rater.questions.order_by("number").values_list("id", "left_id", "right_id", "sample_id", "repeat_of_id"))
    cells = subject.cells([row[1:4] for row in rows])
    asked = np.where([row[4] is not None for row in rows], -1 - cells, cells) if rows else cells
    votes = StudyVote.objects.filter(rater=rater, criterion=subject.study.main_criterion, question__isnull=False)
    choices = dict(votes.values_list("question_id", "choice"))
    said = [said_of(left, right, choices.get(pk)) for pk, left, right, *_ in rows]
    found = Past(asked.astype(np.int32), np.array(said, dtype=np.uint8))
    keep(rater, found)
    return found


def keep(rater: Rater, found: Past) -> None:
    asked, said = found.written()
    Tally.objects.update_or_create(rater=rater, defaults={"asked": asked, "said": said})


def note(rater: Rater, question: Question, choice: str | None) -> None:
    """Keep what was said of a question of a pair, or that it is open again (None)."""
    row = Tally.objects.filter(rater=rater).only("said").first()
    if row is None or question.number >= len(row.said):
        return  # it is made anew when more is planned
    said = bytearray(row.said)
    said[question.number] = said_of(question.left_id, question.right_id, choice)
    Tally.objects.filter(pk=row.pk).update(said=bytes(said))


def said_of(left: int, right: int | None, choice: str | None) -> int:
    """What a choice says of a pair whatever its sides: entries stand in the order of their ids."""
    if choice is None or right is None:
        return history.NOTHING
    if choice == StudyVote.Choice.TIE:
        return history.EQUAL
    return history.FIRST if (choice == StudyVote.Choice.LEFT) == (left < right) else history.SECOND
