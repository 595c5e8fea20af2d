"""A walk through a study as its raters will see it, of which nothing is stored.

The questions follow from the study alone, so every request finds them again. They are the first rater's, with the practice and only the
first few that count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from django.utils import timezone

from leaderboard.models import PracticeQuestion, Question, Rater, Study
from leaderboard.studies.live import history, panel, practice, question_choice, views
from leaderboard.studies.live.answer import checked
from leaderboard.studies.live.ask import expected, fresh_left
from leaderboard.studies.live.design_matrix import Subject
from leaderboard.studies.live.question_choice import Known, Overlap
from leaderboard.studies.live.views import State
from submissions.errors import Refused

MAX_QUESTIONS = 12
NOBODY = 0  # the id of a rater whom the database does not know


def rater_of(study: Study) -> Rater:
    """A rater who is in no database."""
    return Rater(study=study, name="nobody")


def questions(study: Study) -> list[PracticeQuestion | Question]:
    """The practice questions, and the first ones of those that count, with tokens by which `question_of` finds them again."""
    subject, rater = Subject(study), rater_of(study)
    if not subject.live:
        raise Refused("None of the study's entries can be shown yet; look at it again when they are scored.", "no_entries")
    grid, trials = subject.grid, practice.plan(subject, rater)
    free = np.repeat(subject.live_units[:, None], grid.samples, axis=1)
    told = [(row.left_id, row.right_id, row.sample_id) for row in trials if row.is_gold]
    free.ravel()[subject.cells(told)] = False
    count = min(MAX_QUESTIONS, fresh_left(study, 0, int(free.sum())))
    known = Known(free, np.zeros(free.shape, dtype=np.int64), np.zeros((grid.entries,) * 2), subject.gold, subject.live_units)
    # Nobody has answered yet, so a plan that chooses by what answers tell begins as a balanced one does.
    way = study.plan if study.plan == Study.Plan.EXHAUSTIVE else Study.Plan.BALANCED
    overlap = Overlap(study.common_share, study.answers_per_question)
    rows: list[PracticeQuestion | Question] = list(trials)
    for number, cell in enumerate(question_choice.questions(grid, known, way, count, study.gold_share, study.seed, NOBODY, overlap)):
        turned = subject.is_pairs and question_choice.is_flipped(study.seed, NOBODY, number)
        rows.append(Question(study=study, rater=rater, number=number, **subject.shown(cell, turned)))
    for place, row in enumerate(rows):
        row.token = f"preview-{place}"
    return rows


def question_of(study: Study, token: str) -> PracticeQuestion | Question | None:
    """The question of that token; None for no such one."""
    return next((row for row in questions(study) if row.token == token), None)


def state(study: Study, base: str, place: int = 0) -> State:
    """State of the rating page at the question of that place, as `views.state`; its pictures are below `base`."""
    rows = questions(study)
    trials = sum(isinstance(row, PracticeQuestion) for row in rows)
    at, following = (*rows[place : place + 2], None, None)[:2]
    answered = max(0, place - trials)
    rater, now = rater_of(study), timezone.now()
    return views.described(study, rater, now) | {
        "progress": history.progress(rater, answered, len(rows) - trials, now),
        "question": views.question_json(study, at, base),
        "following": views.question_json(study, following, base) if place >= trials else None,
        "done": at is None,
        "undo": rows[place - 1].token if place > trials else None,
        "completion": panel.completion(study) if at is None else None,
        "practice": [place + 1, trials] if place < trials else None,
        "preview": {"total": expected(Subject(study))},
    }


def after_answer(study: Study, base: str, token: str, answers: Mapping[str, object]) -> State:
    """The state after that answer, which is forgotten. `Refused` for one that no rater could give."""
    rows = questions(study)
    place = _place(rows, token)
    given, row = checked(study, NOBODY, answers), rows[place]
    content = state(study, base, place + 1)
    return content | {"feedback": practice.feedback(study, row, given) if isinstance(row, PracticeQuestion) else None}


def after_undo(study: Study, base: str, token: str) -> State:
    """The state with the question of that token before the rater again."""
    return state(study, base, _place(questions(study), token))


def _place(rows: Sequence[PracticeQuestion | Question], token: str) -> int:
    """The place of the question of that token; `Refused` where there is none."""
    place = next((n for n, row in enumerate(rows) if row.token == token), None)
    if place is None:
        raise Refused("This is not one of the preview's questions; load the page again.", "no_question")
    return place
