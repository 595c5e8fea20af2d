"""A rater's history in brief, and that it says the same as the rows it is of."""

from __future__ import annotations

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.models import Question, Tally
from leaderboard.studies.live import campaign, history
from leaderboard.studies.live.answer import answer, take_back
from leaderboard.studies.live.design_matrix import Subject
from leaderboard.studies.live.history import EQUAL, FIRST, NOTHING, SECOND, Past
from leaderboard.studies.live.question_choice import Grid
from tests.support.leaderboard.studies.live import making

GRID = Grid.pairs(3, 2)  # units 01, 02, 12 on two samples: cells 0 to 5


def past_of(*rows: tuple[int, int]) -> Past:
    asked, said = zip(*rows, strict=True)
    return Past(np.array(asked, dtype=np.int32), np.array(said, dtype=np.uint8))


def test_a_past_is_five_bytes_a_question_and_comes_back_as_it_was():
    one = past_of((5, FIRST), (-1, SECOND), (1_000_000, NOTHING))
    asked, said = one.written()
    assert (len(asked), len(said)) == (12, 3)
    again = Past.read(asked, said)
    assert again.asked.tolist() == [5, -1, 1_000_000] and again.said.tolist() == [FIRST, SECOND, NOTHING]


def test_what_was_asked_again_keeps_its_cell():
    one = past_of((0, FIRST), (-1, FIRST), (4, EQUAL))
    assert one.cells.tolist() == [0, 0, 4]
    assert one.again.tolist() == [False, True, False]


def test_more_questions_come_at_the_end_and_are_unanswered():
    one = past_of((0, FIRST)).with_asked([3, -1])
    assert one.asked.tolist() == [0, 3, -1] and one.said.tolist() == [FIRST, NOTHING, NOTHING]
    assert len(Past().with_asked([])) == 0


def test_cells_are_counted_over_raters_and_repeats_are_not():
    both = history.together([past_of((0, FIRST), (5, NOTHING), (-1, FIRST)), past_of((0, SECOND), (2, EQUAL))])
    assert history.times_asked(GRID, both).tolist() == [[2, 0], [1, 0], [0, 1]]
    assert history.times_asked(GRID, history.together([])).sum() == 0


def test_wins_are_of_what_was_said_and_a_tie_is_half_of_one_to_both():
    one = past_of((0, FIRST), (1, SECOND), (2, EQUAL), (5, FIRST), (-1, FIRST), (4, NOTHING))
    # 01: twice 0 (one of them asked again), once 1; 02: equal; 12: once 1
    assert history.wins(GRID, one) == pytest.approx(np.array([[0, 2, 0.5], [1, 0, 1], [0.5, 0, 0]]))


@pytest.fixture
def study(phase, people):
    return making.live(phase, people.organizer, making.entries(phase, people), plan="informative", repeat_share=0.3)


def go_on(study, rater, choices) -> None:
    for choice in choices:
        answer(study, rater, making.at(study, rater).current.token, making.same_answer(study, choice), 1.0)


def assert_is_of_the_rows(study, rater) -> None:
    kept = history.of(rater)
    anew = history.recounted(Subject(study), rater)
    assert (kept.asked.tolist(), kept.said.tolist()) == (anew.asked.tolist(), anew.said.tolist())
    assert len(anew) == rater.questions.count()


def test_answers_and_what_was_taken_back_are_in_it(study):
    rater = making.rater(study)
    go_on(study, rater, ["left", "right", "tie"] * 4)
    assert_is_of_the_rows(study, rater)
    assert (history.of(rater).said != NOTHING).sum() == 12
    take_back(study, rater, making.at(study, rater).last.token)
    assert (history.of(rater).said != NOTHING).sum() == 11
    assert_is_of_the_rows(study, rater)
    making.at(study, rater)
    go_on(study, rater, ["left"])
    assert_is_of_the_rows(study, rater)
    assert (history.of(rater).asked < 0).sum() == Question.objects.exclude(repeat_of=None).count() > 0


def test_a_choice_is_of_the_entries_and_not_of_the_sides():
    assert [history.verdict_of(3, 8, choice) for choice in ("left", "tie", "right", None)] == [FIRST, EQUAL, SECOND, NOTHING]
    assert [history.verdict_of(8, 3, choice) for choice in ("left", "tie", "right", None)] == [SECOND, EQUAL, FIRST, NOTHING]


def test_only_people_who_count_are_in_what_planning_reads(study, people):
    one, other = making.rater(study), making.rater(study)
    go_on(study, one, ["left"])
    go_on(study, other, ["right"])
    both = len(history.of_all(study))
    campaign.count_rater(other, people.organizer, False)
    assert len(history.of_all(study)) == len(history.of(one)) < both


@pytest.mark.parametrize("broken", ["missing", "short"])
def test_one_that_is_not_of_all_questions_is_made_anew_before_more_is_planned(study, broken):
    rater = making.rater(study)
    go_on(study, rater, ["left"] * 3)
    rows = Tally.objects.filter(rater=rater)
    rows.delete() if broken == "missing" else rows.update(asked=bytes(4), said=bytes(1))
    go_on(study, rater, ["right"] * 8)
    assert_is_of_the_rows(study, rater)
    numbers = list(rater.questions.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(len(numbers)))


def test_opinions_are_counted_and_nothing_is_kept_of_what_was_said(phase, people):
    study = making.live(phase, people.organizer, making.entries(phase, people), kind="opinions", plan="balanced")
    rater = making.rater(study)
    go_on(study, rater, [3, 4])
    assert_is_of_the_rows(study, rater)
    assert not history.of(rater).said.any()


def test_planning_reads_no_questions_or_votes_of_other_raters(study):
    others = [making.rater(study) for _ in range(3)]
    for rater in others:
        go_on(study, rater, ["left"] * 5)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        making.at(study, making.rater(study))
    read = [one["sql"] for one in asked if one["sql"].startswith("SELECT")]
    assert any('FROM "leaderboard_tally"' in sql for sql in read)
    assert [sql for sql in read if 'FROM "leaderboard_studyvote"' in sql] == []
    assert [sql for sql in read if 'FROM "leaderboard_question"' in sql and '"rater_id" =' not in sql] == []
