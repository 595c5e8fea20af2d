"""Access to a study, and what raters can find out there: nothing of methods, others or references."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.models import Rater, Study
from leaderboard.studies.live import campaign, rater_setup
from submissions.errors import Refused
from tests.support.factories import UserFactory
from tests.support.leaderboard.studies.live import making
from tests.support.leaderboard.studies.live.of_a_file import challenge, own_copy, people, phase, rows, stored
from tests.support.pages import coded

__all__ = ["challenge", "own_copy", "people", "phase", "rows", "stored"]  # the fixtures


@pytest.fixture
def study(phase, people, rows):
    return making.live(phase, people.organizer, rows, access="invited")


def join(path: str, client: Client | None = None, **more):
    client = client or Client()
    return client, client.post(path, {"agree": "yes", **more})


def test_an_invitation_lets_people_in_until_it_is_used_up_and_says_their_group(study, people):
    _, token = campaign.invite(study, people.organizer, "the experts", "experts", most_uses=2)
    path = f"/rate/join/{token}/"
    assert "Which is closer?" in Client().get(path).content.decode()
    for _ in range(2):
        client, found = join(path)
        assert (found.status_code, found["Location"]) == (302, f"/rate/{study.key}/")
        assert client.get(found["Location"]).status_code == 200
    assert Client().get(path).status_code == 404
    assert join(path)[1].status_code == 404
    assert list(study.raters.order_by("name").values_list("name", "group")) == [("rater 01", "experts"), ("rater 02", "experts")]


def test_a_rater_who_lost_their_link_gets_another_and_goes_on_where_they_stopped(study, people):
    _, token = campaign.invite(study, people.organizer, most_uses=1)
    lost, _ = join(f"/rate/join/{token}/")
    state = lost.get(f"/rate/{study.key}/next").json()
    answers = {"question": state["question"]["id"], "answers": {"overall": "left"}, "seconds": 2}
    going_on = lost.post(f"/rate/{study.key}/answer", answers, content_type="application/json").json()
    names = people.organizer.get_full_name() or people.organizer.username
    for page in (f"/rate/join/{token}/", f"/rate/{study.key}/join/"):
        assert names in Client().get(page).content.decode(), "who can send a new one"
    type(study.phase.challenge).objects.update(contact="roofs@example.org")
    assert '<a href="mailto:roofs@example.org"' in Client().get(f"/rate/{study.key}/join/").content.decode()

    rater, organizer, other = study.raters.get(), Client(), Client()
    organizer.force_login(people.organizer)
    console = f"/console/challenges/{study.phase.challenge.slug}/phases/{study.phase.slug}/studies/{study.slug}/"
    page = organizer.post(console, {"act": "renew_link", "rater": rater.pk}, follow=True).content.decode()
    link = re.search(r"http://testserver(/rate/[^ <]+/as/[^ <]+|/rate/[^ <]+)", page.partition("shown this once")[2])[1]
    assert other.get(link, follow=True).status_code == 200
    again = other.get(f"/rate/{study.key}/next").json()
    assert again["question"]["id"] == going_on["question"]["id"] and again["progress"]["answered"] == going_on["progress"]["answered"] == 1
    assert lost.get(f"/rate/{study.key}/next").status_code == 403, "the link of before opens nothing"
    assert study.raters.count() == 1 and study.phase.challenge.audit.filter(action="study.renew_link", actor=people.organizer).count() == 1


def test_whoever_logs_in_or_has_left_gets_no_link(study, people):
    campaign.list_account(study, people.organizer, people.owner, "")
    client = Client()
    client.force_login(people.owner)
    join(f"/rate/{study.key}/join/", client)
    with pytest.raises(Refused, check=coded("has_account")):
        campaign.renew_link(study.raters.get(), people.organizer)
    _, token = campaign.invite(study, people.organizer)
    gone, _ = join(f"/rate/join/{token}/")
    gone.post(f"/rate/{study.key}/leave/", {"act": "withdraw"})
    with pytest.raises(Refused, check=coded("left")):
        campaign.renew_link(study.raters.get(user=None), people.organizer)


def test_a_form_that_is_sent_twice_is_one_rater_and_finds_no_invitation_used_up(study, people):
    _, token = campaign.invite(study, people.organizer, most_uses=1)
    path, client = f"/rate/join/{token}/", Client()
    page = client.get(path).content.decode()
    key = re.search(r'name="key" value="([^"]+)"', page)[1]
    assert key not in Client().get(path).content.decode(), "every form has its own"
    for browser in (client, Client()):  # the answer to the first click never came, nor did its cookie
        _, found = join(path, browser, key=key)
        assert (found.status_code, found["Location"]) == (302, f"/rate/{study.key}/")
        assert browser.cookies["rater"].value == key
        assert browser.get(f"/rate/{study.key}/next").status_code == 200
    assert study.raters.count() == 1
    assert join(path, key="x" * 32)[1].status_code == 404, "used up for others"


def test_a_form_with_no_proper_key_gets_one_of_ours(study, people):
    _, token = campaign.invite(study, people.organizer)
    for key in ("short", "", "x" * 33):
        client, _ = join(f"/rate/join/{token}/", key=key)
        assert len(client.cookies["rater"].value) == 32 and client.cookies["rater"].value != key
    assert study.raters.count() == 3


@pytest.mark.parametrize("key", ["a%00b", "a%20b", "%F0%9F%8F%A0"])
def test_an_address_that_no_database_takes_is_none(db, key):
    for path in (f"/rate/{key}/", f"/rate/join/{key}/", f"/rate/{key}/as/{key}/", f"/rate/{key}/next"):
        assert Client().get(path).status_code == 404


def test_an_invitation_ends_by_its_clock_or_when_it_is_withdrawn(study, people):
    row, token = campaign.invite(study, people.organizer, expires_at=timezone.now() + timedelta(hours=1))
    path = f"/rate/join/{token}/"
    assert Client().get(path).status_code == 200
    row.expires_at = timezone.now() - timedelta(seconds=1)
    row.save()
    assert Client().get(path).status_code == 404
    row, token = campaign.invite(study, people.organizer)
    campaign.end_invitation(row, people.organizer)
    assert Client().get(f"/rate/join/{token}/").status_code == 404


def test_the_tokens_of_links_are_not_kept(study, people):
    row, token = campaign.invite(study, people.organizer)
    client, _ = join(f"/rate/join/{token}/")
    key = client.cookies["rater"].value
    stored = repr(list(type(row).objects.values())) + repr(list(Rater.objects.values()))
    assert token not in stored
    assert key not in stored


def test_nobody_joins_without_saying_that_they_agree(study, people):
    _, token = campaign.invite(study, people.organizer)
    found = Client().post(f"/rate/join/{token}/", {})
    assert found.status_code == 409
    assert "Tick the box" in found.content.decode()
    assert not study.raters.exists()


def test_a_study_for_invited_people_takes_nobody_else_but_those_on_its_list(study, people):
    path = f"/rate/{study.key}/join/"
    assert Client().get(path).status_code == 403
    assert join(path)[1].status_code == 403
    campaign.list_account(study, people.organizer, people.stranger, "designers")
    client = Client()
    client.force_login(people.stranger)
    assert client.get(f"/rate/{study.key}/next").status_code == 403  # listed, but has not joined
    assert join(path, client)[1].status_code == 302
    rater = study.raters.get()
    assert (rater.user, rater.group, rater.name) == (people.stranger, "designers", "stranger")
    other = Client()
    other.force_login(people.other)
    assert join(path, other)[1].status_code == 403


def test_an_open_study_takes_whoever_comes_until_it_has_enough_and_asks_for_their_group(phase, people, rows):
    study = making.live(phase, people.organizer, rows, most_raters=2, groups=["experts", "designers"])
    path = f"/rate/{study.key}/join/"
    _, found = join(path, group="kings")
    assert found.status_code == 409
    assert "experts, designers" in found.content.decode()
    for _ in range(2):
        assert join(path, group="designers")[1].status_code == 302
    _, found = join(path, group="experts")
    assert found.status_code == 409
    assert [rater.group for rater in study.raters.all()] == ["designers"] * 2


def test_who_is_on_the_list_with_a_group_is_not_asked_for_it(phase, people, rows):
    study = making.live(phase, people.organizer, rows, access="listed", groups=["experts", "designers"])
    path = f"/rate/{study.key}/join/"
    campaign.list_account(study, people.organizer, people.stranger, "designers")
    campaign.list_account(study, people.organizer, people.other)
    for user, said, asks, group in ((people.stranger, "experts", False, "designers"), (people.other, "experts", True, "experts")):
        client = Client()
        client.force_login(user)
        assert ('name="group"' in client.get(path).content.decode()) == asks
        assert join(path, client, **({"group": said} if asks else {}))[1].status_code == 302
        assert study.raters.get(user=user).group == group


def test_who_was_removed_does_not_come_back_by_another_door(study, people):
    rater = campaign.list_account(study, people.organizer, people.stranger)
    client = Client()
    client.force_login(people.stranger)
    join(f"/rate/{study.key}/join/", client)
    campaign.remove_rater(rater, people.organizer, "a reason")
    _, token = campaign.invite(study, people.organizer)
    join(f"/rate/join/{token}/", client)
    assert study.raters.count() == 1
    assert client.get(f"/rate/{study.key}/next").json()["question"] is None


def test_a_draft_is_nowhere(phase, people, rows):
    study = making.live(phase, people.organizer, rows, opened=False)
    _, token = campaign.invite(study, people.organizer)
    for path in (f"/rate/{study.key}/", f"/rate/{study.key}/join/", f"/rate/{study.key}/next", f"/rate/join/{token}/"):
        assert Client().get(path).status_code == 404


def test_the_cookie_is_for_the_pages_of_the_study_only_and_no_script_reads_it(phase, people, rows):
    study = making.live(phase, people.organizer, rows)
    client, _ = join(f"/rate/{study.key}/join/")
    cookie = client.cookies["rater"]
    assert cookie["path"] == f"/rate/{study.key}/"
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


def test_nothing_that_a_rater_gets_tells_methods_teams_entries_samples_or_other_raters(phase, people, rows):
    """Everything the rating pages send, headers included, is searched for every name and number of what is behind it."""
    study = making.live(phase, people.organizer, rows, repeat_share=0.5, gold=(rows[0], rows[3]))
    other = making.rater(study, UserFactory(username="zebedee"), group="experts")
    client = Client()
    texts, states = [], []
    for path in (f"/rate/{study.key}/join/",):
        texts.append(client.get(path))
    _, found = join(f"/rate/{study.key}/join/", client)
    texts += [found, client.get(f"/rate/{study.key}/"), client.get(f"/rate/{study.key}/leave/")]
    for _ in range(18):
        found = client.get(f"/rate/{study.key}/next")
        states.append(found.json())
        answers = {"question": found.json()["question"]["id"], "answers": {"overall": "tie"}}
        texts += [found, client.post(f"/rate/{study.key}/answer", answers, content_type="application/json")]
    everything = " ".join(f"{found.content.decode(errors='replace')} {dict(found.items())}" for found in texts)
    secret = {"secret-method", "corner_f1", "house_0", other.name, people.team.name, people.other_team.name, "gold", "repeat", "swapped"}
    secret |= {phase.references.get().key, phase.slug, phase.challenge.slug}
    for word in secret:
        assert word not in everything, word
    for state in states:
        assert set(state["question"]) == {"id", "number", "form", "scene"}
        assert set(state) == {
            "study",
            "progress",
            "question",
            "following",
            "done",
            "closed",
            "note",
            "undo",
            "completion",
            "practice",
            "feedback",
        }
        assert set(state["study"]) == {"title", "question", "kind", "break_every", "criteria"}


def test_pages_of_raters_are_kept_by_no_cache(phase, people, rows):
    study = making.live(phase, people.organizer, rows)
    client, _ = join(f"/rate/{study.key}/join/")
    for path in ("", "next", "join/", "leave/"):
        assert "no-store" in client.get(f"/rate/{study.key}/{path}")["Cache-Control"]


def test_only_the_current_and_the_following_question_can_be_looked_at(phase, people, rows, rf):
    from django.http import Http404

    from leaderboard.models import Question
    from leaderboard.studies.live.access import shown_question

    study = making.live(phase, people.organizer, rows)
    client, _ = join(f"/rate/{study.key}/join/")
    state = client.get(f"/rate/{study.key}/next").json()

    def asked(token: str, key: str = client.cookies["rater"].value):
        request = rf.get("/")
        request.user = people.anonymous
        request.COOKIES["rater"] = key
        return shown_question(request, study.key, token)

    assert asked(state["question"]["id"]).left.submission in rows
    assert asked(state["following"]["id"]).sample.name.startswith("house_0")
    with pytest.raises(Http404):
        asked(Question.objects.get(number=3).token)
    with pytest.raises(Http404):
        asked(state["question"]["id"], key="another")
    client.post(
        f"/rate/{study.key}/answer", {"question": state["question"]["id"], "answers": {"overall": "tie"}}, content_type="application/json"
    )
    with pytest.raises(Http404):
        asked(state["question"]["id"])
    campaign.remove_rater(study.raters.get(), people.organizer, "a reason")
    with pytest.raises(Http404):
        asked(state["following"]["id"])


def test_a_draft_is_its_organizers_alone_also_where_its_results_are_to_be_shown_to_all(phase, people, rows):
    study = making.live(phase, people.organizer, rows, opened=False, is_public=True)
    place = f"/challenges/{phase.challenge.slug}/{phase.slug}/people/"
    api = f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies"
    organizer, anybody = Client(), Client()
    organizer.force_login(people.organizer)

    def seen(client: Client) -> tuple:
        listed = study.title in client.get(place).content.decode()
        return (
            listed,
            client.get(f"{place}{study.slug}/").status_code,
            client.get(f"{api}/{study.slug}").status_code,
            client.get(api).json()["items"] != [],
        )

    assert seen(organizer) == (True, 200, 200, True)
    assert seen(anybody) == (False, 404, 404, False)
    campaign.open_study(study, people.organizer)
    assert seen(anybody) == seen(organizer) == (True, 200, 200, True)


class TestPanel:
    """Raters whom a panel sends: its parameters are kept, everybody comes once, and goes back when they are done."""

    @pytest.fixture
    def path(self, study, people) -> str:
        Study.objects.filter(pk=study.pk).update(
            panel_parameters=["PROLIFIC_PID", "SESSION_ID"], completion="https://panel.example/done?cc=C1"
        )
        _, token = campaign.invite(study, people.organizer)
        return f"/rate/join/{token}/"

    def test_parameters_of_the_address_are_kept_and_others_are_not(self, study, path):
        _, found = join(f"{path}?PROLIFIC_PID=5f3a&SESSION_ID=s.1&utm_source=x")
        assert found.status_code == 302
        rater = study.raters.get()
        assert (rater.panel_id, rater.panel) == ("5f3a", {"PROLIFIC_PID": "5f3a", "SESSION_ID": "s.1"})

    def test_the_page_says_what_is_kept(self, path):
        assert "PROLIFIC_PID and SESSION_ID" in Client().get(f"{path}?PROLIFIC_PID=a").content.decode()

    @pytest.mark.parametrize(
        ("query", "words"),
        [
            ("", "lacks PROLIFIC_PID"),
            ("?SESSION_ID=1", "lacks PROLIFIC_PID"),
            ("?PROLIFIC_PID=a%20b", "no usable PROLIFIC_PID"),
            ("?PROLIFIC_PID=%3Cscript%3E", "no usable PROLIFIC_PID"),
            ("?PROLIFIC_PID=" + "x" * 101, "no usable PROLIFIC_PID"),
            ("?PROLIFIC_PID=a&SESSION_ID=%00", "no usable SESSION_ID"),
        ],
    )
    def test_without_a_usable_number_nobody_comes_in(self, study, path, query, words):
        seen, (_, sent) = Client().get(path + query), join(path + query)
        assert (seen.status_code, sent.status_code) == (200, 409) and not study.raters.exists()
        for page in (seen.content.decode(), sent.content.decode()):  # before they read what they would agree to
            assert words in page and 'name="agree"' not in page

    def test_the_address_of_the_study_and_its_log_in_pass_on_what_the_study_keeps_and_nothing_else(self, study, people):
        Study.objects.filter(pk=study.pk).update(access="open", panel_parameters=["PROLIFIC_PID", "SESSION_ID"])
        client = Client()
        found = client.get(f"/rate/{study.key}/?PROLIFIC_PID=5f3a&utm_source=x&SESSION_ID=s.1&next=//elsewhere.example")
        kept = f"/rate/{study.key}/join/?PROLIFIC_PID=5f3a&SESSION_ID=s.1"
        assert (found.status_code, found["Location"]) == (302, kept)
        page = client.get(kept)
        assert f'href="/accounts/login/?next={quote(kept)}"' in page.content.decode() and page["Referrer-Policy"] == "same-origin"
        assert join(found["Location"], client)[1]["Location"] == f"/rate/{study.key}/"
        assert study.raters.get().panel == {"PROLIFIC_PID": "5f3a", "SESSION_ID": "s.1"}

    def test_the_address_of_a_study_for_invited_people_keeps_them_through_the_log_in(self, study):
        Study.objects.filter(pk=study.pk).update(panel_parameters=["PROLIFIC_PID"])
        page = Client().get(f"/rate/{study.key}/?PROLIFIC_PID=5f3a&x=1", follow=True)
        kept = f"/rate/{study.key}/join/?PROLIFIC_PID=5f3a"
        assert page.status_code == 403 and f'href="/accounts/login/?next={quote(kept)}"' in page.content.decode()

    def test_pages_of_the_site_do_not_send_people_to_a_study_that_only_a_panel_sends_people_to(self, study):
        Study.objects.filter(pk=study.pk).update(access="open")
        assert Study.objects.asking_everybody() == [study]
        Study.objects.filter(pk=study.pk).update(panel_parameters=["PROLIFIC_PID"])
        assert Study.objects.asking_everybody() == []

    def test_everybody_comes_once_whatever_browser_they_use(self, study, path):
        client, _ = join(f"{path}?PROLIFIC_PID=a")
        assert client.get(f"{path}?PROLIFIC_PID=a").status_code == 302  # the browser in which they began goes on
        _, again = join(f"{path}?PROLIFIC_PID=a")
        assert again.status_code == 409 and again.context["returned"] and again.context["completion"] is None
        assert study.raters.count() == 1 and join(f"{path}?PROLIFIC_PID=b")[1].status_code == 302

    def test_who_leaves_leaves_nothing_of_the_panel(self, study, path):
        join(f"{path}?PROLIFIC_PID=a")
        study.raters.get().leave()
        assert (study.raters.get().panel_id, study.raters.get().panel) == ("", {})

    def test_accounts_on_the_list_need_no_panel(self, study, path, people):
        campaign.list_account(study, people.organizer, people.stranger)
        client = Client()
        client.force_login(people.stranger)
        assert client.post(f"/rate/{study.key}/join/", {"agree": "yes"}).status_code == 302

    @pytest.mark.parametrize(
        ("completion", "given"),
        [("https://panel.example/done?cc=C1", {"address": "https://panel.example/done?cc=C1"}), ("C1ABCD", {"code": "C1ABCD"}), ("", None)],
    )
    def test_who_is_done_is_sent_back_and_nobody_before(self, study, path, completion, given):
        Study.objects.filter(pk=study.pk).update(completion=completion, questions_per_rater=2, repeat_share=0.0)
        client, _ = join(f"{path}?PROLIFIC_PID=a")
        address = f"/rate/{study.key}/"
        state = client.get(f"{address}next").json()
        for _ in range(2):
            assert not state["completion"] and not state["done"]
            sent = {"question": state["question"]["id"], "answers": making.same_answer(study, "left"), "seconds": 2}
            state = client.post(f"{address}answer", sent, content_type="application/json").json()
        assert state["done"] and state["completion"] == given


class TestTakesPartOnce:
    """People who finished, left, or took part in a study whose raters this one refuses are told so, with the way back where they have
    one."""

    @pytest.fixture
    def pair(self, phase, people, rows) -> tuple[Study, Study]:
        """A pilot, and the study that refuses its raters; both of one panel."""
        panel = {"panel_parameters": ["PID"], "questions_per_rater": 1}
        pilot = making.live(phase, people.organizer, rows, slug="pilot", completion="https://panel.example/pilot", **panel)
        refuses = {"refuses_raters_of": [f"{phase.slug}/pilot"]}
        return pilot, making.live(phase, people.organizer, rows, slug="main", completion="MAIN", **panel, **refuses)

    @staticmethod
    def goes(study: Study, upto: str, pid: str = "p1", client: Client | None = None) -> Client:
        client, _ = join(f"/rate/{study.key}/join/?PID={pid}", client)
        if upto in ("finished", "left"):
            state = client.get(f"/rate/{study.key}/next").json()
            answer = {"question": state["question"]["id"], "answers": {"overall": "tie"}}
            client.post(f"/rate/{study.key}/answer", answer, content_type="application/json")
        if upto == "left":
            client.post(f"/rate/{study.key}/leave/", {"act": "withdraw"})
        return client

    @pytest.mark.parametrize(
        ("before", "upto", "words", "back"),
        [
            ("main", "finished", "You have answered all your questions in this study", "Your completion code: <code>MAIN</code>"),
            ("main", "left", "You have left this study, and nobody takes part in it twice", ""),
            ("main", "joined", "Continue in the browser in which you began", ""),
            ("pilot", "finished", "You have taken part in another study of this challenge", 'href="https://panel.example/pilot"'),
            ("pilot", "left", "You have taken part in another study of this challenge", ""),
            ("pilot", "joined", "You have taken part in another study of this challenge", ""),
        ],
    )
    def test_refusals(self, pair, before, upto, words, back):
        pilot, main = pair
        self.goes({"pilot": pilot, "main": main}[before], upto)
        path = f"/rate/{main.key}/join/?PID=p1"
        n = main.raters.count()
        for found in (Client().get(path), join(path)[1]):  # told before they read anything, and whoever posts without reading
            text = found.content.decode()
            assert found.status_code == 409 and words in text and 'name="agree"' not in text
            assert (back in text) if back else ("completion" not in text and "Finish at" not in text)
        assert main.raters.count() == n
        assert join(f"/rate/{main.key}/join/?PID=p2")[1].status_code == 302
        if before == "main":  # the pilot refuses nobody
            assert join(f"/rate/{pilot.key}/join/?PID=p1")[1].status_code == 302

    def test_the_browser_in_which_they_began_goes_on_and_shows_the_way_back_also_once_the_study_is_closed(self, pair, people):
        _, main = pair
        client = self.goes(main, "joined")
        assert client.get(f"/rate/{main.key}/join/?PID=p1").status_code == 302
        assert client.get(f"/rate/{main.key}/next").json()["question"]
        client = self.goes(main, "finished", "p3")
        assert client.get(f"/rate/{main.key}/next").json()["completion"] == {"code": "MAIN"}
        campaign.close(main, people.organizer)
        assert client.get(f"/rate/{main.key}/next").json()["completion"] == {"code": "MAIN"}
        client.post(f"/rate/{main.key}/leave/", {"act": "withdraw"})
        state = client.get(f"/rate/{main.key}/next").json()
        assert (state["question"], state["completion"]) == (None, None)

    def test_accounts_are_known_without_a_panel(self, pair, people):
        pilot, main = pair
        Study.objects.update(panel_parameters=[])
        client = Client()
        client.force_login(people.stranger)
        assert join(f"/rate/{pilot.key}/join/", client)[1].status_code == 302
        _, found = join(f"/rate/{main.key}/join/", client)
        assert found.status_code == 409 and found.context["returned"] and not main.raters.exists()
        campaign.list_account(main, people.organizer, people.stranger)
        assert join(f"/rate/{main.key}/join/", client)[1].status_code == 409

    def test_who_left_leaves_no_number_of_the_panel_but_what_tells_it_again(self, pair):
        _, main = pair
        self.goes(main, "left", "5f3a9")
        rater = main.raters.get()
        assert "5f3a9" not in repr(Rater.objects.filter(pk=rater.pk).values().get()) and len(rater.panel_hash) == 64


class TestGroups:
    """A group may have a quota; a full one is said to be so before anything is asked."""

    @pytest.fixture
    def grouped(self, phase, people, rows) -> Study:
        return making.live(phase, people.organizer, rows, groups=["experts", "crowd"], group_quotas={"experts": 1, "crowd": 2})

    def test_a_full_group_is_refused_and_a_place_that_gets_free_is_given_again(self, grouped, people):
        path = f"/rate/{grouped.key}/join/"
        assert join(path, group="experts")[1].status_code == 302
        assert Client().get(path).context["groups"] == [("experts", True), ("crowd", False)]
        assert join(path, group="experts")[1].status_code == 409
        first, _ = join(path, group="crowd")
        join(path, group="crowd")
        page = Client().get(path)
        assert [full for _, full in page.context["groups"]] == [True, True] and 'name="agree"' not in page.content.decode()
        assert first.get(f"/rate/{grouped.key}/next").json()["question"], "who is in goes on"
        grouped.raters.get(group="experts").leave()
        assert join(path, group="experts")[1].status_code == 302
        assert grouped.raters.filter(removed_at=None).count() == 3

    def test_an_invitation_for_a_full_group_says_so_at_once(self, grouped, people):
        _, token = campaign.invite(grouped, people.organizer, group="experts")
        assert join(f"/rate/join/{token}/")[1].status_code == 302
        page = Client().get(f"/rate/join/{token}/")
        assert page.context["closed"] and 'name="agree"' not in page.content.decode()
        assert join(f"/rate/join/{token}/")[1].status_code == 409


class TestSight:
    """Answers on screens and eyes are kept with the rater, and go with them."""

    @pytest.mark.parametrize(
        ("asks", "least", "sent", "kept"),
        [
            ([], None, {"glasses": "worn", "window_width": "1200"}, {}),
            (
                ["glasses", "colours"],
                None,
                {"glasses": "worn", "colours": "not_all", "window_width": "1"},
                {"glasses": "worn", "colours": "not_all"},
            ),
            (["glasses"], None, {}, "no_sight"),
            (["glasses"], None, {"glasses": "sometimes"}, "no_sight"),
            (
                ["screen"],
                None,
                {"screen_width": "1920", "screen_height": "1080", "window_width": "1200", "window_height": "x"},
                {"screen_width": 1920, "screen_height": 1080, "window_width": 1200},
            ),
            (["screen"], None, {}, {}),
            ([], 900, {"window_width": "900"}, {"window_width": 900}),
            ([], 900, {"window_width": "390"}, "too_narrow"),
            ([], 900, {}, "no_width"),
        ],
    )
    def test_answers_are_kept_and_exported_or_refused(self, phase, people, rows, asks, least, sent, kept):
        study = making.live(phase, people.organizer, rows, setup_questions=asks, min_width=least)
        _, found = join(f"/rate/{study.key}/join/", **sent)
        if isinstance(kept, str):
            assert found.status_code == 409 and not study.raters.exists()
            with pytest.raises(Refused) as refused:
                rater_setup.answers(study, sent)
            assert refused.value.code == kept
            return
        assert found.status_code == 302 and study.raters.get().setup == kept
        client = Client()
        client.force_login(people.organizer)
        address = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/live/raters.csv"
        head, row = list(csv.reader(io.StringIO(b"".join(client.get(address).streaming_content).decode())))
        line = dict(zip(head, row, strict=True))
        assert {key: line[key] for key in ("glasses", "colours", "screen_width", "window_width") if line[key]} == {
            key: str(value) for key, value in kept.items() if key != "screen_height"
        }
        study.raters.get().leave()
        assert study.raters.get().setup == {}

    def test_the_page_says_what_is_kept(self, phase, people, rows):
        study = making.live(phase, people.organizer, rows, setup_questions=["glasses", "screen"], min_width=900)
        page = Client().get(f"/rate/{study.key}/join/")
        assert [one.key for one in page.context["setup"]] == ["glasses"] and 'data-narrow="900"' in page.content.decode()


def test_answers_name_the_link_their_rater_came_by(study, people):
    campaign.invite(study, people.organizer, "for nobody")
    note = "the lab, Tuesday"
    _, token = campaign.invite(study, people.organizer, note)
    client, _ = join(f"/rate/join/{token}/")
    state = client.get(f"/rate/{study.key}/next").json()
    answer = {"question": state["question"]["id"], "answers": {"overall": "tie"}}
    client.post(f"/rate/{study.key}/answer", answer, content_type="application/json")
    assert [vote.invitation for vote in study.votes()] == [f"link 2: {note}"]
