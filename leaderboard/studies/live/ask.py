"""The questions of a rater, now and next. Rows of questions are made a few at a time, ahead of the rater."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.db import transaction
from django.utils import timezone

from leaderboard.models import Question, Rater, Study
from leaderboard.studies.live import history, practice, question_choice
from leaderboard.studies.live.design_matrix import Subject
from leaderboard.studies.live.history import Past
from leaderboard.studies.live.question_choice import ALONE, Known, Overlap

AHEAD = 8  # questions planned at once: what raters say meanwhile cannot change them any more
APART = 10  # questions between one and its repeat, where there are so many


@dataclass(frozen=True)
class Standing:
    """Progress of a rater: what is asked now and next, and how many questions there are for them in all."""

    current: Question | None
    following: Question | None
    answered: int
    total: int
    last: Question | None  # whose answer can be taken back


def standing(study: Study, rater: Rater, now: datetime | None = None) -> Standing:
    """Plans more where less than two questions are left, and notes when the current one was first shown."""
    now = now or timezone.now()
    subject = Subject(study, rater)
    waiting = _unanswered(rater)
    if len(_in_turn(subject, waiting)) < 2:
        with transaction.atomic():
            # Two tabs of one rater plan one after the other; the second finds what the first has planned.
            Rater.objects.select_for_update().get(pk=rater.pk)
            waiting = _unanswered(rater)
            if len(_in_turn(subject, waiting)) < 2:
                waiting += _plan(subject, rater, waiting)
    turn = _in_turn(subject, waiting)
    current, following = (*turn[:2], None, None)[:2]
    if current is not None and current.shown_at is None:
        Question.objects.filter(pk=current.pk, shown_at=None).update(shown_at=now)
    last = None
    if current is None or current.reopened_at is None:
        answered = Question.objects.filter(rater=rater, answered_at__isnull=False)
        last = answered.only("token").order_by("-answered_at", "-number").first()
    # Questions that were answered, and all there are for the rater, with those that have no row yet.
    own = history.of(rater)
    answered_n = expected_n = len(own) - len(waiting)
    if turn:
        units = own.cells[~own.again] // subject.n_samples
        asked = int(subject.live_units[units].sum())
        # Of what dropped out, only what was answered counts. Those whose answer they know since their practice they are not asked.
        made = len(units) - sum(row.repeat_of_id is None and not subject.asks(row) for row in waiting)
        n_known = len(practice.known_cells(subject, rater)) if study.practice_questions else 0
        fresh = fresh_left(study, made, subject.n_cells(subject.live) - asked - n_known)
        repeats = question_choice.repeats_of(made + fresh, share_of_repeats(study)) - int(own.again.sum())
        expected_n += len(turn) + fresh + max(0, repeats)
    return Standing(current, following, answered_n, expected_n, last)


def open_questions(study: Study, rater: Rater) -> list[Question]:
    """The rater's unanswered questions on entries that they are asked about, in the order they are asked: one taken back first."""
    return _in_turn(Subject(study, rater), _unanswered(rater))


def _unanswered(rater: Rater) -> list[Question]:
    return list(Question.objects.filter(rater=rater, answered_at=None))


def _in_turn(subject: Subject, waiting: Sequence[Question]) -> list[Question]:
    return sorted(filter(subject.asks, waiting), key=lambda row: (row.reopened_at is None, row.number))


def share_of_repeats(study: Study) -> float:
    return study.repeat_share if study.kind == Study.Kind.PAIRS else 0.0


def fresh_left(study: Study, made: int, free: int) -> int:
    """The number of fresh questions still to be asked of a rater who has `made` of them and could be asked `free` others."""
    return free if study.questions_per_rater is None else max(0, min(study.questions_per_rater - made, free))


def expected(subject: Subject, own: Set[int] = frozenset()) -> int:
    """The number of questions for a rater who begins now, repeats included; `own` are the ids of entries of their own."""
    fresh = fresh_left(subject.study, 0, subject.n_cells(subject.live - own))
    return fresh + question_choice.repeats_of(fresh, share_of_repeats(subject.study))


def _plan(subject: Subject, rater: Rater, waiting: Sequence[Question]) -> list[Question]:
    """Make the rows of the next few questions; none where all have been asked. Call it under the rater's lock."""
    desk = _Desk(subject, rater, waiting)
    rows: list[Question] = []
    fresh = desk.fresh()
    while len(rows) < AHEAD:
        row = desk.repeat(force=False)
        if row is None and (cell := next(fresh, None)) is not None:
            row = desk.question(cell)
        if row is None and (row := desk.repeat(force=True)) is None:
            break
        rows.append(row)
    if rows:
        Question.objects.bulk_create(rows)
        history.keep(rater, desk.own.with_asked(desk.asked))
    return rows


class _Desk:
    """The state in which the next questions of a rater are planned."""

    def __init__(self, subject: Subject, rater: Rater, waiting: Sequence[Question]) -> None:
        self.subject, self.study, self.rater, self.grid = subject, subject.study, rater, subject.grid
        self.own = history.checked(subject, rater)
        self.asked: list[int] = []  # as `Past.asked` keeps it, of the questions planned now
        dropped = np.array([question.number for question in waiting if not subject.asks(question)], dtype=np.int64)
        fresh = ~self.own.again
        self.n_gold = int(subject.gold[self.own.cells[fresh] // self.grid.samples].sum())
        fresh[dropped] = False
        self.firsts = np.flatnonzero(fresh)  # numbers of the questions that can be asked again
        self.n_fresh = len(self.firsts)
        self.repeated = set(self.own.cells[self.own.again].tolist())
        self.n_repeats = len(self.repeated)
        self.share = share_of_repeats(self.study)

    @property
    def number(self) -> int:
        """Number of the next question."""
        return len(self.own) + len(self.asked)

    def fresh(self) -> Iterator[int]:
        """The cells of as many fresh questions as may be planned now; none is looked for before it is needed."""
        free = np.repeat(self.subject.live_units[:, None], self.grid.samples, axis=1)
        free.ravel()[self.own.cells] = False
        free.ravel()[practice.known_cells(self.subject, self.rater)] = False
        count = min(AHEAD, fresh_left(self.study, self.n_fresh, int(free.sum())))
        if not count:
            return
        study, grid = self.study, self.grid
        # Where everything is asked, it does not matter what others were.
        alone = study.plan == Study.Plan.EXHAUSTIVE and study.questions_per_rater is None and not study.gold_share
        everybody = Past() if alone else history.of_all(study)
        wins = history.wins(grid, everybody if study.plan == Study.Plan.INFORMATIVE else Past())
        asked, live = history.times_asked(grid, everybody), self.subject.live_units
        crown = self.subject.crown if study.plan == Study.Plan.FIRST else None
        known = Known(free, asked, wins, self.subject.gold, live, self.n_fresh, self.n_gold, crown)
        overlap = ALONE if alone else Overlap(study.common_share, study.answers_per_question)
        yield from question_choice.questions(grid, known, study.plan, count, study.gold_share, study.seed, self.rater.pk, overlap)

    def repeat(self, force: bool) -> Question | None:
        """The next repeated question if one is due, or if no new question is left (`force`) and a repeat is still owed."""
        due = question_choice.repeats_due(self.n_fresh, self.share, self.study.seed, self.rater.pk, self.n_repeats)
        owed = self.n_repeats < question_choice.repeats_of(self.n_fresh, self.share)
        if not (owed if force else due):
            return None
        cells = self.own.cells[self.firsts]
        is_open = self.subject.live_units[cells // self.grid.samples] & ~np.isin(cells, list(self.repeated))
        numbers = self.firsts[is_open]
        far = numbers[numbers + APART <= self.number]
        if not len(far) and force:
            far = numbers[: (len(numbers) + 1) // 2]
        if not len(far):
            return None
        seed = [self.study.seed, self.rater.pk, 13, self.n_repeats]
        rng = np.random.default_rng(seed)
        before = Question.objects.get(rater=self.rater, number=int(far[rng.integers(len(far))]))
        # Every second repeat is reversed; a coin of each rater says whether the first one is.
        reverse = (self.n_repeats + int(np.random.default_rng(seed[:3]).integers(2))) % 2 == 0
        left, right = (before.right_id, before.left_id) if reverse else (before.left_id, before.right_id)
        row = Question(
            study=self.study,
            rater=self.rater,
            number=self.number,
            sample_id=before.sample_id,
            left_id=left,
            right_id=right,
            swapped=before.swapped != reverse,
            repeat_of=before,
            is_gold=before.is_gold,
        )
        cell = int(self.own.cells[before.number])
        self.repeated.add(cell)
        self.n_repeats += 1
        self.asked.append(-1 - cell)
        return row

    def question(self, cell: int) -> Question:
        """The fresh question on a cell, its sides turned or not."""
        turned = self.subject.is_pairs and question_choice.is_flipped(self.study.seed, self.rater.pk, self.number)
        is_gold, shown = bool(self.subject.gold[cell // self.grid.samples]), self.subject.shown(cell, turned)
        row = Question(study=self.study, rater=self.rater, number=self.number, swapped=turned, is_gold=is_gold, **shown)
        self.n_fresh += 1
        self.asked.append(cell)
        return row
