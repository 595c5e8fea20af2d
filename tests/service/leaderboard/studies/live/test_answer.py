"""Questions and answers over HTTP, and what must not happen: doubled, lost, late, or somebody else's."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.models import Opinion, Question, Rater, Study, StudyAnalysis, StudyVote
from leaderboard.models.rater import Tally
from leaderboard.stats import votes as voting
from leaderboard.stats.votes import Vote
from leaderboard.studies.analysis import analyse_due
from leaderboard.studies.live import access, campaign
from leaderboard.studies.live.artifacts import CORRUPTIONS
from leaderboard.studies.live.design_matrix import gold_pairs
from tests.support.leaderboard.studies.live import making
from tests.support.leaderboard.studies.live.of_a_file import challenge, own_copy, people, phase, rows, stored
from tests.support.pages import coded

__all__ = ["challenge", "own_copy", "people", "phase", "rows", "stored"]  # the fixtures


class Desk:
    """A rater at a browser."""

    def __init__(self, study, client: Client | None = None) -> None:
        self.study, self.client = study, client or Client()

    def join(self, path: str | None = None, **more):
        return self.client.post(path or f"/rate/{self.study.key}/join/", {"agree": "yes", **more})

    def next(self) -> dict:
        found = self.client.get(f"/rate/{self.study.key}/next")
        assert found.status_code == 200, found.content
        return found.json()

    def post(self, act: str, **content):
        return self.client.post(f"/rate/{self.study.key}/{act}", json.dumps(content), content_type="application/json")

    def answer(self, token: str, value: object = "left", seconds: object = 1.5, status: int = 200) -> dict:
        found = self.post("answer", question=token, answers=making.same_answer(self.study, value), seconds=seconds)
        assert found.status_code == status, found.content
        return found.json()

    def undo(self, token: str) -> dict:
        return self.post("undo", question=token).json()

    @property
    def rater(self) -> Rater:
        return self.study.raters.get(joined_at__isnull=False)


@pytest.fixture
def study(phase, people, rows):
    return making.live(phase, people.organizer, rows)


@pytest.fixture
def desk(study):
    desk = Desk(study)
    assert desk.join().status_code == 302
    return desk


def test_a_whole_study_is_answered_and_every_vote_is_there_as_it_was_shown(desk, study):
    state, seen = desk.next(), []
    assert state["progress"] == {"answered": 0, "total": 12, "since_break": 0, "per_hour": None, "seconds_left": None}
    while not state["done"]:
        question, following = state["question"], state["following"]
        seen.append(question["id"])
        state = desk.answer(question["id"], ("left", "right", "tie")[len(seen) % 3])
        assert (state["question"] or {}).get("id") == (following or {}).get("id")  # what was announced comes
    assert len(set(seen)) == 12
    assert state["progress"]["answered"] == state["progress"]["total"] == 12
    assert state["question"] is state["following"] is None
    votes = list(StudyVote.objects.order_by("question__number"))
    for n, (vote, question) in enumerate(zip(votes, Question.objects.order_by("number"), strict=True), 1):
        assert (vote.left_id, vote.right_id, vote.sample) == (question.left_id, question.right_id, question.sample.name)
        assert vote.choice == ("left", "right", "tie")[n % 3]
        assert vote.swapped == ("1" if vote.left_id > vote.right_id else "")
        assert (vote.criterion, vote.repeat_of, vote.given_at is not None) == ("overall", "", True)
    assert len(voting.canonical(study.votes()).counted()) == 12


def test_a_double_click_stores_one_vote(desk):
    token = desk.next()["question"]["id"]
    first, second = desk.answer(token), desk.answer(token)
    assert first == second
    assert StudyVote.objects.count() == 1


def test_of_two_tabs_the_first_answer_stands_and_the_second_is_told(desk):
    token = desk.next()["question"]["id"]
    desk.answer(token, "left")
    state = desk.answer(token, "right")
    assert state["note"] is not None and [vote.choice for vote in StudyVote.objects.all()] == ["left"]
    assert state["question"]["id"] != token


def test_the_following_question_may_be_answered_from_another_tab_but_none_further_on(desk):
    state = desk.next()
    later = Question.objects.get(number=5)
    desk.answer(later.token, status=409)
    after = desk.answer(state["following"]["id"])
    assert after["question"]["id"] == state["question"]["id"]
    assert StudyVote.objects.count() == 1


def test_going_back_reopens_the_last_question_without_its_answer(desk):
    first = desk.next()["question"]["id"]
    state = desk.answer(first, "left")
    assert state["undo"] == first
    state = desk.undo(first)
    assert state["question"]["id"] == first
    assert (state["undo"], state["progress"]["answered"]) == (None, 0)
    assert not StudyVote.objects.exists()
    assert desk.undo(first)["question"]["id"] == first  # pressed twice
    state = desk.answer(first, "right")
    assert [vote.choice for vote in StudyVote.objects.all()] == ["right"]
    assert (state["undo"], state["note"]) == (first, None)


def test_an_answer_can_be_taken_back_though_a_question_that_was_reopened_has_dropped_out(desk, study):
    first = desk.next()["question"]["id"]
    desk.answer(first)
    desk.undo(first)
    Question.objects.get(token=first).left.submission.withdraw()
    token = desk.next()["question"]["id"]
    assert desk.answer(token)["undo"] == token != first
    assert (desk.undo(token)["note"], desk.next()["question"]["id"]) == (None, token)
    assert not StudyVote.objects.exists()


def test_only_the_last_answer_can_be_taken_back(desk):
    first = desk.next()["question"]["id"]
    second = desk.answer(first)["question"]["id"]
    desk.answer(second)
    assert desk.undo(first)["note"] is not None and StudyVote.objects.count() == 2
    assert desk.undo(second)["note"] is None
    assert desk.undo(first)["note"] is not None
    assert StudyVote.objects.count() == 1


def test_a_vote_after_the_study_closed_is_not_taken_and_the_rater_is_told(desk, study, people):
    token = desk.next()["question"]["id"]
    campaign.close(study, people.organizer)
    state = desk.answer(token)
    assert state["closed"] == type(study).objects.get().closed_sentence() != "" and state["question"] is None
    assert not StudyVote.objects.exists()
    campaign.open_study(study, people.organizer)
    assert desk.next()["question"]["id"] == token  # reopened, it goes on there


def test_a_study_opens_and_closes_by_its_clock(desk, study):
    token = desk.next()["question"]["id"]
    study.closes_at = timezone.now() - timedelta(seconds=1)
    study.save()
    assert desk.answer(token)["closed"]
    study.opens_at, study.closes_at = timezone.now() + timedelta(days=1), None
    study.save()
    before = desk.next()
    assert before["closed"] == study.closed_sentence() and before["question"] is None
    assert not StudyVote.objects.exists()


def test_a_rater_removed_mid_way_says_no_more_and_their_votes_count_until_somebody_says_otherwise(desk, study, people):
    token = desk.answer(desk.next()["question"]["id"])["question"]["id"]
    campaign.remove_rater(desk.rater, people.organizer, "answers at random")
    state = desk.answer(token)
    assert state["closed"] and state["question"] is None and StudyVote.objects.count() == 1
    assert len(list(study.votes(counted=True))) == 1
    before = type(study).objects.get().revision
    campaign.count_rater(desk.rater, people.organizer, False)
    assert list(study.votes(counted=True)) == []
    assert len(list(study.votes())) == 1  # kept, and exported
    assert type(study).objects.get().revision > before
    campaign.readmit_rater(desk.rater, people.organizer)
    assert desk.next()["question"]["id"] == token


class TestLeaving:
    """Raters who leave take their answers along: they are deleted, and how many they were is all that is kept."""

    @pytest.fixture
    def left(self, desk, study):
        desk.answer(desk.next()["question"]["id"])
        desk.answer(desk.next()["question"]["id"])
        desk.next()
        desk.client.post(f"/rate/{study.key}/leave/", {"act": "withdraw"})

    def test_nothing_is_left_of_what_they_were_asked_and_said(self, desk, study, people, left):
        assert "is deleted" in desk.next()["closed"]
        for left_over in (study.study_votes, study.opinions, study.questions, Tally.objects.filter(rater__study=study)):
            assert not left_over.exists()
        assert (study.withdrawn(), study.raters.get(pk=desk.rater.pk).withdrawn) == (2, 2)
        with pytest.raises(campaign.Refused, check=coded("left")):
            campaign.count_rater(desk.rater, people.organizer, True)
        with pytest.raises(campaign.Refused, check=coded("left")):
            campaign.readmit_rater(desk.rater, people.organizer)

    def test_leaving_again_changes_nothing(self, desk, study, left):
        before = type(study).objects.get().revision
        study.raters.get(pk=desk.rater.pk).leave()
        assert (study.withdrawn(), type(study).objects.get().revision) == (2, before)

    def test_what_follows_is_computed_anew_and_the_count_is_told(self, client, desk, study, left):
        StudyAnalysis.request_missing()
        assert not study.analyses.exists(), "nobody has answered any more"
        type(study).objects.update(is_public=True)
        here = f"{study.phase.challenge.slug}/{study.phase.slug}"
        assert client.get(f"/challenges/{here}/people/{study.slug}/").context["withdrawn"] == 2
        assert client.get(f"/challenges/{here}/people/{study.slug}/analysis.json").json()["withdrawn"] == 2
        listed = client.get(f"/api/v1/challenges/{here.replace('/', '/phases/')}/studies").json()["items"]
        assert [one["withdrawn"] for one in listed] == [2]

    def test_rows_that_were_only_marked_go_with_the_upgrade(self, desk, study):
        for _ in range(2):
            desk.answer(desk.next()["question"]["id"])
        study.raters.filter(pk=desk.rater.pk).update(left_at=timezone.now())
        import_module("leaderboard.migrations.0014_withdrawn_answers").delete_withdrawn(apps, None)
        assert study.withdrawn() == 2
        assert not study.study_votes.exists() and not study.questions.exists() and not Tally.objects.exists()


@pytest.mark.parametrize("how", ["withdraw", "disqualify", "hide", "leave_out"])
def test_an_entry_that_drops_out_is_asked_about_no_more_and_no_vote_is_lost(desk, study, people, rows, how):
    token = desk.next()["question"]["id"]
    shown = Question.objects.get(token=token)
    desk.answer(token)
    entry = shown.left
    second = desk.next()["question"]["id"]
    if how == "leave_out":
        campaign.leave_out(entry, people.organizer, True)
    elif how == "withdraw":
        entry.submission.withdraw()
    else:
        getattr(entry.submission, how)(people.organizer, "a reason")
    state, answered = desk.next(), 1
    while not state["done"]:
        asked = Question.objects.get(token=state["question"]["id"])
        assert entry not in (asked.left, asked.right)
        state, answered = desk.answer(state["question"]["id"]), answered + 1
    # Three entries are left: 3 pairs on 2 samples, and the answer from before, which stays.
    assert answered == 7
    assert state["progress"]["total"] == 7
    assert StudyVote.objects.filter(question=shown).exists()
    if Question.objects.get(token=second).answered_at is None:
        desk.answer(second)  # it was on the screen when the entry went: what its rater says is kept
        assert StudyVote.objects.count() == 8


def test_repeats_come_later_half_of_them_turned_and_count_as_repeats(phase, people, rows):
    study = making.live(phase, people.organizer, rows, repeat_share=0.5)
    desk = Desk(study)
    desk.join()
    state = desk.next()
    assert state["progress"]["total"] == 18
    while not state["done"]:
        state = desk.answer(state["question"]["id"])
    assert state["progress"]["answered"] == 18
    again = list(Question.objects.exclude(repeat_of=None).select_related("repeat_of"))
    assert len({row.repeat_of_id for row in again}) == 6
    turned = [(row.left_id, row.right_id) == (row.repeat_of.right_id, row.repeat_of.left_id) for row in again]
    assert sum(turned) == 3
    for row, is_turned in zip(again, turned, strict=True):
        assert is_turned or (row.left_id, row.right_id) == (row.repeat_of.left_id, row.repeat_of.right_id)
        assert row.sample_id == row.repeat_of.sample_id
        assert row.swapped == (row.left_id > row.right_id)
        assert row.number > row.repeat_of.number + 1
        assert row.votes.get().repeat_of == str(row.repeat_of.number + 1)
    votes = list(study.votes())
    assert sorted(int(vote.order) for vote in votes) == list(range(1, 19))
    first = {vote.order: {vote.left, vote.right} for vote in votes}
    assert [vote for vote in votes if vote.repeat_of and first[vote.repeat_of] != {vote.left, vote.right}] == []
    found = voting.canonical(study.votes())
    assert (len(found), len(found.counted())) == (18, 12)


def test_gold_pairs_are_the_lowest_and_the_highest_damage_of_a_kind(phase, people, rows):
    study = making.live(phase, people.organizer, rows, opened=False, artifacts=CORRUPTIONS, gold=(rows[0], rows[3]))
    pairs = {(better.label, worse.label) for better, worse in gold_pairs(list(study.entries.all()))}
    kinds = ("deform", "perturb", "add", "remove")
    assert pairs == {(f"{kind}_low", f"{kind}_high") for kind in kinds} | {("secret-method-0", "secret-method-3")}


def test_answers_to_pairs_of_known_order_say_how_good_a_rater_is_and_count_in_no_figure(phase, people, rows, client):
    study = making.live(phase, people.organizer, rows, gold=(rows[0], rows[3]), repeat_share=0.25)
    desk = Desk(study)
    desk.join()
    state = desk.next()
    while not state["done"]:
        state = desk.answer(state["question"]["id"])
    known = Question.objects.filter(is_gold=True)
    fresh = known.filter(repeat_of=None).count()
    assert fresh == 2 and {vote.question_id for vote in StudyVote.objects.filter(is_gold=True)} == set(known.values_list("pk", flat=True))
    while analyse_due():
        pass
    found = study.analyses.get().content
    assert (found["votes"], found["counted"], found["questions"]) == (15, 10, 10)
    met = [row["wins"] + row["ties"] + row["losses"] for row in sorted(found["scales"], key=lambda row: row["method"])]
    assert met == [4, 6, 6, 4]  # the pair of known order is not among what either of its two was asked in
    (line,) = found["reliability"]["raters"]
    assert line["gold_pairs"] == fresh and line["gold"] is not None
    client.force_login(people.organizer)
    sent = client.get(reverse("study_votes", args=[phase.challenge.slug, phase.slug, study.slug]))
    lines = list(csv.DictReader(io.StringIO(b"".join(sent.streaming_content).decode())))
    assert [line["gold"] for line in lines].count("1") == known.count() and list(lines[0])[-8:-5] == ["gold", "order", "at"]
    questions = {str(row.number + 1): row for row in Question.objects.all()}
    for line in lines:
        assert line["at"] == questions[line["order"]].answered_at.isoformat(timespec="seconds")
        assert (line["gold"] == "1") == questions[line["order"]].is_gold


def test_answers_of_before_are_filled_from_their_questions(phase, people, rows):
    pairs = making.live(phase, people.organizer, rows, gold=(rows[0], rows[3]))
    scores = making.live(phase, people.organizer, rows, kind="opinions", slug="scores")
    for study in (pairs, scores):
        desk = Desk(study)
        desk.join()
        token = desk.next()["question"]["id"]
        for _ in range(3):
            token = desk.answer(token, "left" if study == pairs else 4)["question"]["id"]
    elsewhere = Study.import_votes(
        phase, None, [Vote("r", "x", "y", "left", gold="1", order="7")], slug="elsewhere", title="Which?", question="Which is better?"
    )
    before = [list(study.votes()) + list(study.ratings()) for study in (pairs, scores, elsewhere)]
    assert {row.order for row in before[1]} == {"1", "2", "3"}
    StudyVote.objects.filter(study=pairs).update(order=None, is_gold=False)
    Opinion.objects.update(order=None)
    import_module("leaderboard.migrations.0016_gold_and_order_of_answers").fill_from_questions(apps, None)
    assert [list(study.votes()) + list(study.ratings()) for study in (pairs, scores, elsewhere)] == before


def test_opinions_are_stored_one_to_each_criterion(phase, people, rows):
    study = making.live(phase, people.organizer, rows, kind="opinions", plan="balanced", questions_per_rater=5)
    desk = Desk(study)
    desk.join()
    state = desk.next()
    assert (state["progress"]["total"], len(state["study"]["criteria"])) == (5, 5)
    for wrong in (0, 6, True, 2.5, "4"):
        desk.answer(state["question"]["id"], wrong, status=400)
    assert not Opinion.objects.exists()
    desk.answer(state["question"]["id"], 4, seconds=0.5)
    found = list(Opinion.objects.values_list("criterion", "score", "seconds"))
    assert sorted(found) == sorted((key, 4, 0.1) for key in making.same_answer(study, 4))
    while not state["done"]:
        state = desk.answer(state["question"]["id"], 3)
    assert Opinion.objects.count() == 25
    assert not StudyVote.objects.exists()


@pytest.mark.parametrize(
    "answers", [{}, {"overall": "up"}, {"overall": 1}, {"overall": ["left"]}, {"overall": "left", "more": "left"}, "left", None]
)
def test_what_is_no_answer_is_refused_and_nothing_is_stored(desk, answers):
    token = desk.next()["question"]["id"]
    found = desk.post("answer", question=token, answers=answers)
    assert found.status_code == 400
    assert "overall" in found.json()["detail"]
    assert not StudyVote.objects.exists()
    assert desk.next()["question"]["id"] == token


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "{",
        "[" * 9_000,
        '{"question": 3}',
        '{"answers": {}}',
        '{"question": "' + "x" * 20_000 + '"}',
        r'{"question": "a\u0000"}',
        r'{"question": "\ud83d"}',
    ],
)
def test_what_is_no_json_of_an_answer_is_refused(desk, study, body):
    found = desk.client.post(f"/rate/{study.key}/answer", body, content_type="application/json")
    assert found.status_code == 400


@pytest.mark.parametrize(
    ("said", "kept"), [(2.5, 2.5), (0, 0.0), (-1, None), ("5", None), (None, None), (float("nan"), None), (10_000, 61.0), (True, None)]
)
def test_an_answer_took_no_longer_than_since_it_was_shown(desk, said, kept):
    token = desk.next()["question"]["id"]
    before = timezone.now()
    Question.objects.filter(token=token).update(shown_at=before - timedelta(seconds=60))
    desk.answer(token, seconds=said)
    passed = (timezone.now() - before).total_seconds()
    found = StudyVote.objects.get().seconds
    assert found == kept if kept is None or kept <= 60 else kept <= found <= kept + passed + 0.01


def test_undo_keeps_the_clock(desk):
    """The answer that counts took as long as both of them: who looks again looks longer, and nobody seems to answer in no time."""
    token = desk.next()["question"]["id"]
    Question.objects.filter(token=token).update(shown_at=timezone.now() - timedelta(seconds=60))
    desk.answer(token, "left", seconds=7.5)
    for n, value in enumerate(("right", "left"), start=1):
        desk.undo(token)
        desk.answer(token, value, seconds=0.5)
        vote = StudyVote.objects.get()
        assert (vote.choice, vote.seconds) == (value, 7.5 + 0.5 * n)


def test_after_an_undo_no_more_time_passes_than_since_then(desk):
    token = desk.next()["question"]["id"]
    Question.objects.filter(token=token).update(shown_at=timezone.now() - timedelta(seconds=60))
    desk.answer(token, seconds=7.5)
    desk.undo(token)
    desk.answer(token, seconds=40)
    assert 7.5 <= StudyVote.objects.get().seconds < 7.5 + 10


def test_a_time_that_is_not_known_stays_so_after_an_undo(desk):
    token = desk.next()["question"]["id"]
    desk.answer(token, seconds=None)
    desk.undo(token)
    desk.answer(token, seconds=None)
    assert StudyVote.objects.get().seconds is None


def test_nobody_answers_for_somebody_else(study, desk):
    token = desk.next()["question"]["id"]
    other = Desk(study)
    assert other.post("answer", question=token, answers={"overall": "left"}).status_code == 403
    other.join()
    other.answer(token, status=409)
    assert other.undo(token)["note"] is not None
    assert not StudyVote.objects.exists()


def test_answers_need_the_token_against_forged_requests(study):
    desk = Desk(study, Client(enforce_csrf_checks=True))
    desk.client.get(f"/rate/{study.key}/join/")
    csrf = desk.client.cookies["csrftoken"].value
    assert desk.client.post(f"/rate/{study.key}/join/", {"agree": "yes"}).status_code == 403
    desk.client.post(f"/rate/{study.key}/join/", {"agree": "yes", "csrfmiddlewaretoken": csrf})
    token = desk.next()["question"]["id"]
    assert desk.post("answer", question=token, answers={"overall": "left"}).status_code == 403
    assert not StudyVote.objects.exists()


def test_a_rater_goes_on_where_they_stopped_with_their_own_link_on_another_device(study, desk):
    state = desk.answer(desk.next()["question"]["id"])
    page = desk.client.get(f"/rate/{study.key}/leave/").content.decode()
    link = re.search(r">http://testserver(/rate/[^<]+)</pre>", page).group(1)
    elsewhere = Desk(study)
    assert elsewhere.client.get(link).status_code == 302
    assert elsewhere.next()["question"]["id"] == state["question"]["id"]
    assert Desk(study).client.get(f"/rate/{study.key}/as/wrong/").status_code == 404


def test_a_rater_with_an_account_goes_on_wherever_they_log_in(study, people):
    desk = Desk(study)
    desk.client.force_login(people.stranger)
    desk.join()
    state = desk.answer(desk.next()["question"]["id"])
    elsewhere = Desk(study)
    elsewhere.client.force_login(people.stranger)
    assert elsewhere.next()["question"]["id"] == state["question"]["id"]
    assert elsewhere.join().status_code == 302
    assert study.raters.count() == 1


def test_a_break_and_the_rate_follow_the_sitting(study, people):
    from leaderboard.studies.live import answer as answering
    from leaderboard.studies.live import history

    rater = making.rater(study)
    start = timezone.now()
    for n in range(5):
        token = making.at(study, rater).current.token
        answering.answer(study, rater, token, {"overall": "left"}, 10, start + timedelta(seconds=10 * n))
    rater.refresh_from_db()
    now = start + timedelta(seconds=41)
    assert history.progress(rater, 5, 12, now) == {"answered": 5, "total": 12, "since_break": 5, "per_hour": 360, "seconds_left": 70}
    assert history.progress(rater, 5, 12, now + timedelta(minutes=5))["since_break"] == 0
    token = making.at(study, rater).current.token
    answering.answer(study, rater, token, {"overall": "left"}, 10, start + timedelta(hours=1))
    rater.refresh_from_db()
    assert rater.sitting_answers == 1


def test_judges_are_no_people_of_the_study(study):
    """A judge model's row takes no place among the raters that a study has room for."""
    study.most_raters = 1
    study.save()
    Rater.objects.create(study=study, name="judge", kind=Rater.Kind.JUDGE, joined_at=timezone.now())
    making.rater(study)
    with pytest.raises(access.Refused, check=coded("enough_raters")):
        making.rater(study)
