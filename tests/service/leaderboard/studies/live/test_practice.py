"""Practice before the questions that count, and criteria in an order of each rater's own."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client

from leaderboard.models import PracticeQuestion, Question, StudyVote
from leaderboard.studies.analysis import recount
from leaderboard.studies.live import practice
from leaderboard.studies.live.design_matrix import Subject
from tests.support.leaderboard.studies.live import making
from tests.support.leaderboard.studies.live.of_a_file import challenge, own_copy, people, phase, rows, stored

__all__ = ["challenge", "own_copy", "people", "phase", "rows", "stored"]  # the fixtures


def begun(study) -> tuple[Client, dict]:
    client = Client()
    client.post(f"/rate/{study.key}/join/", {"agree": "yes"})
    return client, client.get(f"/rate/{study.key}/next").json()


def sent(client, study, state, value="left", **more) -> dict:
    answers = {"question": state["question"]["id"], "answers": making.same_answer(study, value), "seconds": 2.0, **more}
    return client.post(f"/rate/{study.key}/answer", answers, content_type="application/json").json()


def test_practice_comes_first_says_what_is_known_and_is_no_vote(phase, people, rows):
    study = making.live(phase, people.organizer, rows, practice_questions=3, gold=(rows[0], rows[3]))
    client, state = begun(study)
    trials = list(PracticeQuestion.objects.select_related("left", "right"))
    assert [row.is_gold for row in trials] == [True, False, False], "of two known questions one is left to tell by"
    (known,) = [row for row in trials if row.is_gold]
    better = "left" if known.left.label == rows[0].method_name else "right"
    for n in range(3):
        assert (state["practice"], state["question"]["id"], state["following"], state["undo"]) == ([n + 1, 3], trials[n].token, None, None)
        assert client.post(f"/rate/{study.key}/undo", {"question": trials[n].token}, content_type="application/json").status_code in (
            200,
            409,
        )
        state = sent(client, study, state, "tie" if n == 0 else "left")
        wanted = f"The two are not equal: the {better} one is known to be better" if n == 0 else "There is no right answer here"
        assert wanted in state["feedback"]
        again = sent(client, study, {"question": {"id": trials[n].token}}, "right")
        assert again["feedback"] == state["feedback"], "the first answer stands"
    assert (state["practice"], state["progress"]["answered"]) == (None, 0)
    assert not StudyVote.objects.exists() and recount() == 0
    # What they were told is not asked; the total says so, and all are asked.
    assert state["progress"]["total"] == 11
    n = 0
    while state["question"]:
        state, n = sent(client, study, state), n + 1
    assert n == 11 and state["progress"] == state["progress"] | {"answered": 11, "total": 11}
    pair = {known.left_id, known.right_id}
    assert not [q for q in Question.objects.filter(sample=known.sample) if {q.left_id, q.right_id} == pair]
    assert StudyVote.objects.filter(is_gold=True).count() == 1

    client.force_login(people.organizer)
    place = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/live/"
    text = b"".join(client.get(f"{place}practice.csv").streaming_content).decode()
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [(line["order"], line["choice"], line["gold"]) for line in lines] == [("1", "tie", "1"), ("2", "left", ""), ("3", "left", "")]
    study.raters.get().leave()
    assert not PracticeQuestion.objects.exists()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("better", "Yes: the {better} one is known to be better than the {worse} one"),
        ("worse", "Look again: the {better} one is known to be better than the {worse} one"),
        ("tie", "The two are not equal: the {better} one is known to be better than the {worse} one"),
    ],
)
def test_feedback_says_what_is_known_whatever_side_it_stands_on(phase, people, rows, said, words):
    study = making.live(phase, people.organizer, rows, practice_questions=1, gold=(rows[0], rows[3]))
    first, last = study.entries.get(label=rows[0].method_name), study.entries.get(label=rows[3].method_name)
    sample = study.samples.first()
    for left, right, side in ((first, last, "left"), (last, first, "right")):
        other = {"left": "right", "right": "left"}[side]
        question = PracticeQuestion(study=study, sample=sample, left=left, right=right, is_gold=True)
        choice = {"better": side, "worse": other, "tie": "tie"}[said]
        assert practice.feedback(study, question, {"overall": choice}).startswith(words.format(better=side, worse=other))


def test_practice_of_scores_is_of_ordinary_entries_and_goes_on_where_it_stopped(phase, people, rows):
    study = making.live(phase, people.organizer, rows, kind="opinions", practice_questions=2)
    client, state = begun(study)
    state = sent(client, study, state, 4)
    assert state["feedback"] and state["practice"] == [2, 2]
    assert client.get(f"/rate/{study.key}/next").json()["practice"] == [2, 2]
    wrong = client.post(
        f"/rate/{study.key}/answer",
        {"question": state["question"]["id"], "answers": making.same_answer(study, 6)},
        content_type="application/json",
    )
    assert wrong.status_code == 400
    state = sent(client, study, state, 5)
    assert state["practice"] is None and state["progress"]["total"] == 8


def test_an_entry_that_drops_out_is_practised_on_no_more(phase, people, rows):
    study = making.live(phase, people.organizer, rows[:3], practice_questions=4)
    rater = making.rater(study)
    assert len(practice.open_practice(study, rater)) == 4
    rows[0].withdraw()
    left = practice.open_practice(study, rater)
    assert [row for row in left if not Subject(study, rater).asks(row)] == [] and len(left) < 4


def test_criteria_come_in_an_order_of_each_raters_own_which_exports_tell(phase, people, rows):
    criteria = [{"key": key, "title": key, "text": key} for key in ("overall", "edges", "corners", "tidy")]
    study = making.live(phase, people.organizer, rows, criteria=criteria, shuffles_criteria=True)
    orders = set()
    for _ in range(6):
        client, state = begun(study)
        asked = [one["key"] for one in state["study"]["criteria"]]
        assert sorted(asked) == sorted(one["key"] for one in criteria)
        orders.add(tuple(asked))
        again = client.get(f"/rate/{study.key}/next").json()
        assert [one["key"] for one in again["study"]["criteria"]] == asked
        sent(client, study, state, viewport_width=1280, viewport_height=800, device="touch")
        rater = study.raters.latest("pk")
        votes = [vote for vote in study.votes() if vote.rater == rater.name]
        assert [(vote.criterion, vote.step) for vote in votes] == [(key, str(n)) for n, key in enumerate(asked, start=1)]
        assert {(vote.viewport_width, vote.viewport_height, vote.device) for vote in votes} == {("1280", "800", "touch")}
    assert len(orders) > 1


@pytest.mark.parametrize(
    ("sent_along", "kept"),
    [
        ({}, ("", "", "")),
        ({"viewport_width": "1280", "viewport_height": 800.5, "device": "Mozilla/5.0"}, ("1280", "", "")),
        ({"viewport_width": -1, "viewport_height": True, "device": ["mouse"]}, ("", "", "")),
        ({"viewport_width": 10**9, "viewport_height": 600, "device": "keyboard"}, ("", "600", "keyboard")),
    ],
)
def test_of_an_answers_conditions_only_sizes_and_kinds_are_kept(phase, people, rows, sent_along, kept):
    study = making.live(phase, people.organizer, rows)
    client, state = begun(study)
    assert "detail" not in sent(client, study, state, **sent_along)
    (vote,) = study.votes()
    assert (vote.viewport_width, vote.viewport_height, vote.device) == kept
