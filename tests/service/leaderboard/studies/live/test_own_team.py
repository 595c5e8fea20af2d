"""Whoever has an account is never asked about entries of their own team."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from leaderboard.models import Opinion, Question, StudyVote
from leaderboard.studies.live import materials
from leaderboard.studies.live.answer import answer
from leaderboard.studies.live.ask import expected, open_questions
from leaderboard.studies.live.design_matrix import Subject
from tests.support.factories import join as join_team
from tests.support.leaderboard.studies.live import making

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
    assert making.at(study, member).total == expected(Subject(study, member)) == FOREIGN[kind]
    assert making.at(study, stranger).total == expected(Subject(study, stranger)) == making.at(study, nobody).total == FRESH[kind]
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
    assert [row for row in open_questions(study, rater) if people.team.pk in teams_of(row)] == []
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
    rows = {row.name: (row.total, row.percent) for row in page.context["raters"]}  # of 12, ten are about the member's team
    assert rows == {str(people.mate): (2, 100.0), str(people.stranger): (12, 100.0)}


# --- who came without an account, and logs in later


@pytest.fixture
def roofs(phase, people):
    return live(phase, people, "pairs", "balanced")


def came_in(study) -> Client:
    """A browser whose rater joined without an account."""
    browser = Client()
    assert browser.post(f"/rate/{study.key}/join/", {"agree": "yes"}).status_code == 302
    return browser


def state(browser, study) -> dict:
    return browser.get(f"/rate/{study.key}/next").json()


def sent(browser, study, token: str) -> dict:
    body = {"question": token, "answers": {"overall": "left"}, "seconds": 1}
    return browser.post(f"/rate/{study.key}/answer", body, content_type="application/json").json()


def until_own(browser, study, team) -> str:
    """Answers up to a question on an entry of the team, which is on the screen then."""
    while True:
        token = state(browser, study)["question"]["id"]
        if team.pk in teams_of(Question.objects.get(token=token)):
            return token
        sent(browser, study, token)


def answered_to_the_end(browser, study) -> list[Question]:
    tokens = []
    while (now := state(browser, study)["question"]) is not None:
        tokens.append(now["id"])
        sent(browser, study, now["id"])
    return list(Question.objects.filter(token__in=tokens))


def test_who_logs_in_later_is_asked_nothing_more_about_their_own_team(roofs, people, monkeypatch):
    monkeypatch.setattr(materials, "scene", lambda question: {})  # these entries have no files
    browser = came_in(roofs)
    shown = until_own(browser, roofs, people.team)
    scene = state(browser, roofs)["question"]["scene"]
    assert browser.get(scene).status_code == 200
    before = StudyVote.objects.count()
    browser.force_login(people.mate)
    assert "your own team" in sent(browser, roofs, shown)["note"]
    assert StudyVote.objects.count() == before
    assert browser.get(scene).status_code == 404
    rest = answered_to_the_end(browser, roofs)
    assert rest and [row for row in rest if people.team.pk in teams_of(row)] == []
    at = state(browser, roofs)["progress"]
    assert at["answered"] == at["total"] == StudyVote.objects.count() == before + len(rest) == FOREIGN["pairs"]


def own_link(browser, study) -> str:
    return re.search(r"/rate/[\w-]+/as/[\w-]+/", browser.get(f"/rate/{study.key}/leave/").content.decode())[0]


def log_out(browser) -> None:
    del browser.cookies[settings.SESSION_COOKIE_NAME]


def test_it_stays_so_after_logging_out_and_on_another_device(roofs, people):
    browser, elsewhere = came_in(roofs), Client()
    until_own(browser, roofs, people.team)
    browser.force_login(people.owner)
    link = own_link(browser, roofs)
    log_out(browser)
    now = state(browser, roofs)["question"]  # none where all about others came before the first about their own
    assert now is None or people.team.pk not in teams_of(Question.objects.get(token=now["id"]))
    assert elsewhere.get(link).status_code == 302
    assert [row for row in answered_to_the_end(elsewhere, roofs) if people.team.pk in teams_of(row)] == []


def test_an_account_that_rates_already_takes_nothing_on_by_a_browser_without_it(roofs, people):
    account = making.rater(roofs, people.owner)
    browser = came_in(roofs)
    nameless = roofs.raters.get(user=None)
    browser.force_login(people.owner)
    asked = state(browser, roofs)["question"]["id"]
    assert Question.objects.get(token=asked).rater == account
    log_out(browser)
    assert {row.rater for row in answered_to_the_end(browser, roofs)} == {nameless}
    assert teams_shown(nameless) == {people.other_team.pk}


def test_every_account_of_a_shared_browser_counts_and_one_of_no_team_changes_nothing(roofs, people):
    browser = came_in(roofs)
    browser.force_login(people.stranger)
    assert state(browser, roofs)["progress"]["total"] == FRESH["pairs"]
    for user in (people.owner, people.other, people.stranger):
        browser.force_login(user)
        at = state(browser, roofs)
    assert (at["question"], at["progress"]["total"], at["done"]) == (None, 0, True)


def test_who_the_account_is_stays_between_the_rater_and_the_service(roofs, people, client):
    """The promise to people who came without an account: organizers know a number, and see nothing that others do not have."""
    browser, other = came_in(roofs), came_in(roofs)
    browser.force_login(people.mate)
    answered_to_the_end(browser, roofs)
    state(other, roofs)
    rater = roofs.raters.get(name="rater 01")
    assert (rater.user, list(rater.kept_from.all())) == (None, [people.mate])
    client.force_login(people.organizer)
    place = (roofs.phase.challenge.slug, roofs.phase.slug, roofs.slug)
    page = client.get(reverse("console_study", args=place))
    assert {row.total for row in page.context["raters"]} == {FRESH["pairs"]}
    assert "about their team</small>" not in page.content.decode()
    export = client.get(reverse("study_votes", args=place))
    texts = [page.content.decode(), b"".join(export).decode(), browser.get(f"/rate/{roofs.key}/").content.decode().split("<main")[1]]
    assert [text for text in texts[:2] if people.mate.username in text] == [] and "rater 01" in texts[2]
    client.force_login(people.staff)
    assert people.mate.username not in client.get(reverse("admin:leaderboard_rater_change", args=[rater.pk])).content.decode()


def test_who_leaves_is_no_more_known_by_the_account_of_their_browser(roofs, people):
    browser = came_in(roofs)
    browser.force_login(people.mate)
    state(browser, roofs)
    rater = roofs.raters.get()
    assert list(rater.kept_from.all()) == [people.mate]
    browser.post(f"/rate/{roofs.key}/leave/", {"act": "withdraw"})
    browser.get(f"/rate/{roofs.key}/")
    assert rater.kept_from.count() == 0


def test_the_page_of_raters_asks_the_database_no_more_often_for_more_of_them(phase, people, client):
    study = live(phase, people, "pairs", "balanced")

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert client.get(reverse("console_study", args=[phase.challenge.slug, phase.slug, study.slug])).status_code == 200
        return len(found)

    client.force_login(people.organizer)
    for user in (people.owner, people.stranger, None):
        making.at(study, making.rater(study, user))
    few = queries()
    for user in (people.mate, people.other, people.staff, None, None, None):
        rater = making.rater(study, user)
        answer(study, rater, making.at(study, rater).current.token, making.same_answer(study, "left"), 1.0)
    assert queries() == few
