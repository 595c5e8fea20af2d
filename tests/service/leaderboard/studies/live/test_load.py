"""What is kept in brief says the same as the rows it is of."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.models import Question, Tally
from leaderboard.studies.live import campaign, load
from leaderboard.studies.live.answer import answer, take_back
from leaderboard.studies.live.grid import Subject
from leaderboard.studies.live.history import EQUAL, FIRST, NOTHING, SECOND
from tests.support.leaderboard.studies.live import making


@pytest.fixture
def study(phase, people):
    return making.live(phase, people.organizer, making.entries(phase, people), plan="informative", repeat_share=0.3)


def go_on(study, rater, choices) -> None:
    for choice in choices:
        answer(study, rater, making.at(study, rater).current.token, making.same_answer(study, choice), 1.0)


def assert_is_of_the_rows(study, rater) -> None:
    kept = load.of(rater)
    anew = load.recounted(Subject(study), rater)
    assert (kept.asked.tolist(), kept.said.tolist()) == (anew.asked.tolist(), anew.said.tolist())
    assert len(anew) == rater.questions.count()


def test_answers_and_what_was_taken_back_are_in_it(study):
    rater = making.rater(study)
    go_on(study, rater, ["left", "right", "tie"] * 4)
    assert_is_of_the_rows(study, rater)
    assert (load.of(rater).said != NOTHING).sum() == 12
    take_back(study, rater, making.at(study, rater).last.token)
    assert (load.of(rater).said != NOTHING).sum() == 11
    assert_is_of_the_rows(study, rater)
    making.at(study, rater)
    go_on(study, rater, ["left"])
    assert_is_of_the_rows(study, rater)
    assert (load.of(rater).asked < 0).sum() == Question.objects.exclude(repeat_of=None).count() > 0


def test_a_choice_is_of_the_entries_and_not_of_the_sides():
    assert [load.said_of(3, 8, choice) for choice in ("left", "tie", "right", None)] == [FIRST, EQUAL, SECOND, NOTHING]
    assert [load.said_of(8, 3, choice) for choice in ("left", "tie", "right", None)] == [SECOND, EQUAL, FIRST, NOTHING]


def test_only_people_who_count_are_in_what_planning_reads(study, people):
    one, other = making.rater(study), making.rater(study)
    go_on(study, one, ["left"])
    go_on(study, other, ["right"])
    both = len(load.of_all(study))
    campaign.count_rater(other, people.organizer, False)
    assert len(load.of_all(study)) == len(load.of(one)) < both


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
    assert not load.of(rater).said.any()


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
    assert not any('FROM "leaderboard_studyvote"' in sql for sql in read)
    assert all('"rater_id" =' in sql for sql in read if 'FROM "leaderboard_question"' in sql)
