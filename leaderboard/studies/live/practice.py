"""Practice: a few questions before those that count. They are asked and answered on the same page, and their answers are no votes.

Where a study has pairs of known order, practice begins with some of them, and says after each what is known. The rater is not asked such a
pair on such a sample again, having been told the answer. At most half of them are used, so that the others can still tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

import numpy as np

from evaluation.properties.corruptions import KINDS
from leaderboard.models import PracticeQuestion, Rater, Study, StudyVote
from leaderboard.models.study import conditions
from leaderboard.stats.mos_table import Rating
from leaderboard.stats.votes import Ints, Vote
from leaderboard.studies.live.design_matrix import Subject, gold_pairs

DAMAGED = ", which was damaged on purpose"


def plan(subject: Subject, rater: Rater) -> list[PracticeQuestion]:
    """The practice questions of a rater, not stored: the same whenever they are planned again of the same entries."""
    study, grid = subject.study, subject.grid
    rng = np.random.default_rng([study.seed, rater.pk or 0, 19])
    is_live, is_gold = subject.live_units, subject.gold
    cells: list[int] = []
    gold = _cells(np.flatnonzero(is_live & is_gold), grid.samples, rng)
    cells += gold[: min(study.practice_questions, len(gold) // 2)]
    plain = _cells(np.flatnonzero(is_live & ~is_gold), grid.samples, rng)
    cells += plain[: study.practice_questions - len(cells)]
    rows = []
    for number, cell in enumerate(cells):
        shown = subject.shown(cell, subject.is_pairs and rng.random() < 0.5)
        rows.append(PracticeQuestion(study=study, rater=rater, number=number, is_gold=bool(is_gold[cell // grid.samples]), **shown))
    return rows


def _cells(units: Ints, samples: int, rng: np.random.Generator) -> list[int]:
    """All cells of these units in an order drawn by lot, in which every unit comes once before any comes again."""
    units = rng.permutation(units)
    turns = [rng.permutation(samples) for _ in units]
    return [int(unit) * samples + int(turn[k]) for k in range(samples) for unit, turn in zip(units, turns, strict=True)]


def open_practice(study: Study, rater: Rater) -> list[PracticeQuestion]:
    """Practice questions that the rater has still to answer, in their order; none on entries that are not asked about any more."""
    if not study.practice_questions:
        return []
    rows = list(rater.practice.filter(answered_at=None).order_by("number"))
    subject = Subject(study, rater) if rows else None
    return [row for row in rows if subject and subject.asks(row)]


def known_cells(subject: Subject, rater: Rater) -> Ints:
    """The cells of live entries whose order a rater has been told: they are not asked again."""
    rows = list(rater.practice.filter(is_gold=True).values_list("left_id", "right_id", "sample_id"))
    cells = subject.cells(rows)
    return cells[subject.live_units[cells // subject.n_samples]] if len(cells) else cells


def feedback(study: Study, question: PracticeQuestion, answers: Mapping[str, object]) -> str:
    """Sentence on the known order of a pair, after an answer on the leading criterion; for any other question, that nothing is known."""
    if not question.is_gold:
        return "There is no right answer here; what you see is what counts."
    kind, better = next(
        (row.gold_kind, row.pk)
        for row, other in gold_pairs(list(study.entries.all()))
        if {row.pk, other.pk} == {question.left_id, question.right_id}
    )
    side, other = ("left", "right") if better == question.left_id else ("right", "left")
    known = f"{DAMAGED} more heavily" if kind in KINDS else ""
    said = answers.get(study.main_criterion)
    if said == side:
        return f"Yes: the {side} one is known to be better than the {other} one{known}."
    begin = "The two are not equal" if said == StudyVote.Choice.TIE else "Look again"
    return f"{begin}: the {side} one is known to be better than the {other} one{known}. Compare both with the reference."


def store(study: Study, question: PracticeQuestion, answers: Mapping[str, object], seconds: float | None, now: datetime) -> None:
    """Store an answer, unless there is one already. Call it under the rater's lock."""
    PracticeQuestion.objects.filter(pk=question.pk, answered_at=None).update(answers=dict(answers), seconds=seconds, answered_at=now)


def exported(study: Study) -> Iterator[Vote | Rating]:
    """The answers to practice questions in the form of votes or opinion scores, rater by rater: for a file of their own."""
    rows = PracticeQuestion.objects.filter(study=study, answered_at__isnull=False).select_related("rater", "left", "right", "sample")
    for row in rows.order_by("rater_id", "number"):
        given = conditions(row.number + 1, row.answered_at, None, None, None, "", row.rater.came_by)
        each = None if row.seconds is None else round(row.seconds / max(1, len(row.answers)), 3)
        for criterion, value in row.answers.items():
            about = (row.sample.name, row.rater.group, criterion, study.slug)
            if row.right is None:
                yield Rating(row.rater.name, row.left.label, float(value), *about, seconds=each, **given)
            else:
                gold = "1" if row.is_gold else ""
                yield Vote(row.rater.name, row.left.label, row.right.label, value, *about, seconds=each, gold=gold, **given)
