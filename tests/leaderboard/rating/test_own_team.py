"""Whoever has an account is never asked about entries of their own team."""

from __future__ import annotations

import pytest
from django.urls import reverse

from leaderboard.models import Opinion, Question, StudyVote
from leaderboard.rating.answer import answer
from leaderboard.rating.ask import expected, open_questions
from tests.factories import join as join_team
from tests.leaderboard.rating import making

WAYS = [("pairs", "exhaustive"), ("pairs", "balanced"), ("pairs", "informative"), ("opinions", "balanced")]
FRESH = {"pairs": 6 * 2, "opinions": 4 * 2}  # of four entries on two samples
FOREIGN = {"pairs": 1 * 2, "opinions": 2 * 2}  # two of the entries are of the owner's team


def live(phase, people, kind, plan, **values):
    return making.live(phase, people.organizer, making.entries(phase, people), kind=kind, plan=plan, **values)


def value(study):
    return 3 if study.kind == "opinions" else "left"


def go_through(study, rater) -> int:
    n = 0
    while (question := making.at(study, rater).current) is not None:
        assert answer(study, rater, question.token, making.same_answer(study, value(study)), 1.0) == ""
        n += 1
    return n


def teams_of(question) -> set[int]:
    return {entry.submission.team_id for entry in (question.left, question.right) if entry is not None}


def teams_shown(rater) -> set[int]:
    rows = rater.questions.values_list("left__submission__team", "right__submission__team")
    return {team for row in rows for team in row if team is not None}


@pytest.mark.parametrize(("kind", "plan"), WAYS)
def test_a_member_is_asked_about_the_others_alone_and_their_total_is_of_those(phase, people, kind, plan):
    study = live(phase, people, kind, plan)
    member, stranger, nobody = (making.rater(study, user) for user in (people.mate, people.stranger, None))
    assert making.at(study, member).total == expected(study, member) == FOREIGN[kind]
    assert making.at(study, stranger).total == expected(study, stranger) == making.at(study, nobody).total == FRESH[kind]
    assert (go_through(study, member), go_through(study, stranger)) == (FOREIGN[kind], FRESH[kind])
    assert teams_shown(member) == {people.other_team.pk}
    assert teams_shown(stranger) == {people.team.pk, people.other_team.pk}
    at = making.at(study, member)
    assert (at.current, at.answered, at.total) == (None, FOREIGN[kind], FOREIGN[kind])


def test_repeats_and_pairs_of_known_order_are_of_others_too(phase, people):
    rows = making.entries(phase, people, 6)
    study = making.live(phase, people.organizer, rows, repeat_share=0.5, gold_share=0.3, gold=(rows[0], rows[2]), plan="balanced")
    member = making.rater(study, people.owner)
    assert making.at(study, member).total == 6 + 3  # three pairs on two samples
    assert go_through(study, member) == 9
    assert teams_shown(member) == {people.other_team.pk}
    assert not member.questions.filter(is_gold=True).exists()


@pytest.mark.parametrize(("kind", "plan"), WAYS)
def test_who_joins_a_team_meanwhile_is_asked_nothing_more_about_it_and_no_answer_is_taken(phase, people, kind, plan):
    study = live(phase, people, kind, plan)
    rater = making.rater(study, people.stranger)
    while True:
        shown = making.at(study, rater).current
        if people.team.pk in teams_of(shown):
            break
        answer(study, rater, shown.token, making.same_answer(study, value(study)), 1.0)
    before = StudyVote.objects.count() + Opinion.objects.count()
    join_team(people.stranger, people.team)
    said = answer(study, rater, shown.token, making.same_answer(study, value(study)), 1.0)
    assert "your own team" in said
    assert StudyVote.objects.count() + Opinion.objects.count() == before
    assert Question.objects.get(pk=shown.pk).answered_at is None
    assert all(people.team.pk not in teams_of(row) for row in open_questions(study, rater))
    answered = rater.questions.exclude(answered_at=None).count()
    more = go_through(study, rater)
    assert answered + more == FOREIGN[kind] == making.at(study, rater).total


def test_who_uploaded_an_entry_and_left_its_team_is_not_asked_about_it(phase, people):
    rows = making.entries(phase, people)
    rows[1].uploaded_by = people.stranger
    rows[1].save()
    study = making.live(phase, people.organizer, rows)
    rater = making.rater(study, people.stranger)
    assert making.at(study, rater).total == go_through(study, rater) == 3 * 2
    shown = {pk for row in rater.questions.values_list("left__submission", "right__submission") for pk in row}
    assert rows[1].pk not in shown


def test_a_member_for_whom_nothing_is_left_is_done_at_once(phase, people):
    rows = making.entries(phase, people, 3)  # one of them is of the other team
    study = making.live(phase, people.organizer, rows)
    at = making.at(study, making.rater(study, people.owner))
    assert (at.current, at.answered, at.total) == (None, 0, 0)


def test_the_console_says_how_many_questions_a_member_has(phase, people, client):
    study = live(phase, people, "pairs", "balanced")
    member, stranger = making.rater(study, people.mate), making.rater(study, people.stranger)
    go_through(study, member)
    go_through(study, stranger)
    client.force_login(people.organizer)
    page = client.get(reverse("console_study", args=[phase.challenge.slug, phase.slug, study.slug]))
    rows = {row.name: (row.total, row.percent) for row in page.context["raters"]}
    assert rows == {str(people.mate): (2, 100.0), str(people.stranger): (12, 100.0)}
    assert page.content.decode().count("none on entries of their team") == 1
