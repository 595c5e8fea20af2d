"""Many at once: tabs, clicks, raters, and organizers in between. Nothing is doubled and nothing lost."""

from __future__ import annotations

import pytest

from leaderboard.models import Question, Rater, StudyVote
from leaderboard.studies.live import access, campaign
from leaderboard.studies.live.answer import answer, take_back
from leaderboard.studies.live.ask import standing
from submissions.errors import Refused
from tests.support.at_once import together
from tests.support.factories import UserFactory
from tests.support.leaderboard.studies.live import making

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study(phase, people):
    return making.live(phase, people.organizer, making.entries(phase, people))


def fresh(rater: Rater) -> Rater:
    return Rater.objects.get(pk=rater.pk)


def test_a_click_that_arrives_eight_times_is_one_vote(study):
    rater = making.rater(study)
    token = making.at(study, rater).current.token
    said = together([lambda: answer(study, fresh(rater), token, {"overall": "left"}, 1.0)] * 8)
    assert said == [""] * 8
    assert StudyVote.objects.count() == 1
    assert Rater.objects.get().sitting_answers == 1


def test_of_different_answers_at_once_one_stands_and_the_others_are_told(study):
    rater = making.rater(study)
    token = making.at(study, rater).current.token
    choices = ("left", "right", "tie")
    said = together([lambda c=c: answer(study, fresh(rater), token, {"overall": c}, 1.0) for c in choices])
    kept = StudyVote.objects.get().choice
    assert [choice for choice, words in zip(choices, said, strict=True) if not words] == [kept]


def test_tabs_that_ask_at_once_plan_each_question_once(study):
    rater = making.rater(study)
    tokens = together([lambda: standing(study, fresh(rater)).current.token] * 6)
    assert len(set(tokens)) == 1
    rows = list(Question.objects.values_list("number", flat=True).order_by("number"))
    assert rows == list(range(len(rows)))


def test_raters_at_once_lose_nothing(study):
    raters = [making.rater(study) for _ in range(4)]

    def go_through(rater: Rater) -> int:
        n = 0
        while (question := standing(study, fresh(rater)).current) is not None:
            answer(study, fresh(rater), question.token, {"overall": "tie"}, 1.0)
            n += 1
        return n

    assert together([lambda r=r: go_through(r) for r in raters]) == [12] * 4
    assert StudyVote.objects.count() == 48
    keys = {(v.rater_id, v.sample, *sorted((v.left_id, v.right_id))) for v in StudyVote.objects.all()}
    assert len(keys) == 48


def test_an_answer_and_its_taking_back_at_once_leave_one_of_the_two(study):
    rater = making.rater(study)
    first = making.at(study, rater).current.token
    answer(study, fresh(rater), first, {"overall": "left"}, 1.0)
    back = [lambda: take_back(study, fresh(rater), first)] * 3
    together(back + [lambda: answer(study, fresh(rater), first, {"overall": "right"}, 1.0)] * 3)
    question = Question.objects.get(token=first)
    assert StudyVote.objects.filter(question=question).count() == (question.answered_at is not None)
    assert StudyVote.objects.count() <= 1


def test_who_is_removed_while_answering_is_heard_before_or_not_at_all(study, people):
    rater = making.rater(study)
    token = making.at(study, rater).current.token
    said = together(
        [
            lambda: answer(study, fresh(rater), token, {"overall": "left"}, 1.0),
            lambda: campaign.remove_rater(fresh(rater), people.organizer, "a reason"),
        ]
    )
    assert StudyVote.objects.count() == (said[0] == "")
    with pytest.raises(Refused):
        answer(study, fresh(rater), token, {"overall": "left"}, 1.0)
    assert fresh(rater).removed_at is not None


def test_never_more_raters_join_than_there_is_room_for(study):
    study.most_raters = 3
    study.save()
    said = together([lambda: access.join(study, None).rater.name] * 8)
    assert said.count("enough_raters") == 5
    assert sorted(name for name in said if name != "enough_raters") == ["rater 01", "rater 02", "rater 03"]


def test_never_more_of_a_group_join_than_its_quota(study, people):
    study.group_quotas = {"experts": 2}
    study.save()
    invitation, _ = campaign.invite(study, people.organizer, group="experts")
    said = together([lambda n=n: access.join(study, None, invitation if n % 2 else None, "experts").rater.group for n in range(8)])
    assert said.count("enough_raters") == 6 and said.count("experts") == 2
    assert together([lambda: access.join(study, None, group="crowd").rater.group] * 3) == ["crowd"] * 3


def test_one_number_of_a_panel_is_one_rater_however_many_browsers_come(study):
    study.panel_parameters = ["PID"]
    study.save()
    said = together([lambda: access.join(study, None, query={"PID": "p1"}).rater.pk] * 6)
    assert said.count("returned") == 5 and study.raters.count() == 1


def test_tabs_that_practise_at_once_keep_the_first_answer(study):
    study.practice_questions = 1
    study.save()
    rater = making.rater(study)
    token = rater.practice.get().token
    together([lambda c=c: answer(study, fresh(rater), token, {"overall": c}, 1.0) for c in ("left", "right", "tie")])
    kept = rater.practice.get()
    assert kept.answered_at is not None and kept.answers["overall"] in ("left", "right", "tie") and not StudyVote.objects.exists()


def test_an_invitation_is_used_as_often_as_it_says(study, people):
    invitation, _ = campaign.invite(study, people.organizer, most_uses=2)
    said = together([lambda: access.join(study, None, invitation).rater.pk] * 6)
    assert said.count("invite_over") == 4
    assert study.raters.count() == 2


def test_clicks_on_one_form_are_one_rater(study, people):
    invitation, _ = campaign.invite(study, people.organizer, most_uses=1)
    key = access.new_key()
    said = together([lambda: access.join(study, None, invitation, key=key).rater.pk] * 5)
    assert len(set(said)) == 1
    assert study.raters.count() == 1


def test_one_account_in_several_tabs_is_one_rater(study, people):
    said = together([lambda: access.join(study, people.stranger).rater.pk] * 5)
    assert len(set(said)) == 1
    assert study.raters.count() == 1


def test_listed_accounts_join_while_an_organizer_leaves_their_votes_out(study, people):
    """Both acts write the study and the rater; taken in two orders, on PostgreSQL one of them would be broken off."""
    for _ in range(3):
        users = [UserFactory() for _ in range(4)]
        listed = [campaign.list_account(study, people.organizer, user) for user in users]
        joins = [lambda user=user: access.join(study, user).rater.pk for user in users]
        said = together([*joins, *(lambda one=one: campaign.count_rater(one, people.organizer, False) for one in listed)])
        assert said == [one.pk for one in listed] + [None] * 4
        assert [one for one in map(fresh, listed) if not (one.joined_at and not one.is_counted)] == []


def test_raters_answer_join_and_leave_while_the_study_is_closed_and_opened(study, people):
    raters = [making.rater(study) for _ in range(3)]
    tokens = [making.at(study, rater).current.token for rater in raters]
    acts = [lambda r=r, t=t: answer(study, fresh(r), t, {"overall": "left"}, 1.0) for r, t in zip(raters, tokens, strict=True)]
    acts += [lambda r=r: fresh(r).leave() for r in raters[:2]]
    acts += [lambda: access.join(study, None).rater.name, lambda: campaign.close(study, people.organizer)]
    said = together(acts)
    assert {one for one in said[:3] if one} <= {"study_closed", "no_question"}
    assert StudyVote.objects.count() == said[2:3].count("")
    assert sum(fresh(rater).withdrawn for rater in raters[:2]) == said[:2].count(""), "answers are deleted and counted, or refused"
    assert said[5] == "study_closed" or said[5].startswith("rater")
    assert [fresh(rater).is_counted for rater in raters] == [False, False, True]
