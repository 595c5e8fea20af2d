"""Every state of an entry on every surface. The promise: page, list, board, API, client, mail and console show each of them in one
wording, and nobody reads of an entry what only its team and the organizers may know."""

from __future__ import annotations

from datetime import timedelta
from html import unescape

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.service.mail import send_due_mail
from leaderboard.tasks import build_due_boards
from submissions.client import command
from submissions.client.transfer import Server
from submissions.entry_states import PUBLIC_STATES, Reader, Reason, State
from submissions.models import Phase, Status, Submission
from submissions.views import account
from submissions.wording import label, sentence
from tests.service.leaderboard.views.test_board import address, scores, signed_in
from tests.support.leaderboard.scores import entry

pytestmark = pytest.mark.django_db
STORED = {
    State.UPLOADING: {"status": Status.UPLOADING},
    State.RECEIVED: {"status": Status.RECEIVED},
    State.CHECKING: {"status": Status.VALIDATING},
    State.SCORING: {"status": Status.SCORING},
    State.ON_HOLD: {"status": Status.REJECTED, "reason": Reason.FOLDERS, "problems": ["2 folders"], "n_problems": 1},
    State.REJECTED: {"status": Status.REJECTED, "reason": Reason.PROBLEMS, "problems": ["a.obj: is empty"], "n_problems": 140},
    State.FAILED: {"status": Status.FAILED, "reason": Reason.MEMORY, "numbers": {"megabytes": 2048, "first": 1, "last": 4}},
    State.CANCELLED: {"status": Status.CANCELLED, "reason": Reason.EXPIRED},
}
FLAGGED = {
    State.WITHDRAWN: {"withdrawn_at": timezone.now()},
    State.HIDDEN: {"hidden_at": timezone.now(), "hidden_reason": "It names a person."},
    State.DISQUALIFIED: {"disqualified_at": timezone.now(), "disqualified_reason": "It was trained on the reference."},
}
REASONS = {State.ON_HOLD: Reason.FOLDERS, State.REJECTED: Reason.PROBLEMS, State.FAILED: Reason.MEMORY, State.CANCELLED: Reason.EXPIRED}


@pytest.fixture
def every(phase: Phase, people) -> dict[State, Submission]:
    """An entry of the team in each state, and in the ranking the best one alone."""
    now, rows = timezone.now(), {}
    common = {"file_name": "e.zip", "size": 1, "received_at": now, "upload_expires_at": now + timedelta(hours=1), "upload_active_at": now}
    for n, (state, values) in enumerate(STORED.items(), 60):
        done = {} if values["status"] in Status.in_progress() else {"finished_at": now}
        rows[state] = Submission.objects.create(
            phase=phase, team=people.team, uploaded_by=people.owner, number=n, method_name=f"is {state}", **common, **done, **values
        )
    rows[State.SCORED] = entry(phase, people.team, scores(0.9), method_name="is scored")
    for n, (state, flags) in enumerate({State.UNRANKED: {}, **FLAGGED}.items()):
        rows[state] = entry(phase, people.team, scores(0.5 - n / 100), method_name=f"is {state}", **flags)
    build_due_boards()
    assert set(rows) == set(State) - {State.WITHHELD}
    return rows


def words(answer) -> str:
    assert answer.status_code == 200
    return " ".join(unescape(answer.content.decode()).split())


def told(client: Client, it: Submission) -> dict:
    return client.get(f"/api/v1/submissions/{it.pk}").json()


def test_the_api_tells_state_reason_and_sentence(every, people):
    for name, reader in (("owner", Reader.TEAM), ("organizer", Reader.ORGANIZERS)):
        client = signed_in(people.users()[name])
        for state, it in every.items():
            found = told(client, it)
            assert found["state"] == state and found["sentence"].endswith("."), state
            assert found["reason_code"] == REASONS.get(state, found["reason_code"])
            if state not in (State.RECEIVED, State.SCORING, State.UNRANKED):  # which say more: what they wait for, and what counts
                assert found["sentence"] == sentence(it.state, reader)
    found = told(signed_in(people.owner), every[State.UNRANKED])
    assert (found["reason_code"], found["reason_numbers"]["name"]) == ("best_counts", "is scored")
    found = told(signed_in(people.owner), every[State.FAILED])
    assert (found["fault"], found["reason_numbers"]) == ("entry", {"megabytes": 2048, "first": 1, "last": 4})
    assert told(signed_in(people.owner), every[State.RECEIVED])["reason_code"] == "worker"
    assert told(signed_in(people.owner), every[State.ON_HOLD])["on_hold"] == "folders"


def test_the_api_tells_others_of_what_the_public_may_know_alone(every, people):
    for client in (Client(), signed_in(people.other), signed_in(people.stranger)):
        for state, it in every.items():
            found = told(client, it)
            if state not in (State.SCORED, State.UNRANKED):
                assert found["status"] == 404 and "state" not in found
            else:
                assert found["state"] == state in PUBLIC_STATES and found["sentence"] is found["reason"] is found["problems"] is None


def test_a_list_of_the_api_tells_the_same_as_each_entry(every, people):
    client = signed_in(people.owner)
    listed = {one["id"]: one for one in client.get("/api/v1/submissions?limit=50").json()["items"]}
    for it in every.values():
        alone = told(client, it)
        assert [name for name in ("state", "reason_code", "reason_numbers", "sentence") if alone[name] != listed[it.pk][name]] == []


def test_its_page_says_it_once_and_as_the_api_does(every, people):
    for name in ("owner", "organizer"):
        client = signed_in(people.users()[name])
        for state, it in every.items():
            page, said = words(client.get(f"/entries/{it.pk}/")), told(client, it)["sentence"]
            assert page.count(said) == (state != State.SCORED), (state, said)


def test_the_public_reads_why_a_scored_entry_has_no_rank(every, people):
    unranked = every[State.UNRANKED]
    assert told(signed_in(people.owner), unranked)["sentence"] in words(Client().get(f"/entries/{unranked.pk}/"))
    for state in set(every) - {State.SCORED, State.UNRANKED}:
        assert Client().get(f"/entries/{every[state].pk}/").status_code == 404


def test_lists_of_entries_show_the_word_of_each_state(every, phase, people, monkeypatch):
    monkeypatch.setattr(account, "ENTRIES_SHOWN", 50)
    addresses = {
        "owner": [address(phase, "entries"), "/account/"],
        "organizer": [
            address(phase, "entries"),
            reverse("console_entries", args=[phase.challenge.slug]),
            reverse("console_team", args=[phase.challenge.slug, people.team.pk]),
        ],
    }
    for name, urls in addresses.items():
        for url in urls:
            page = words(signed_in(people.users()[name]).get(url))
            for state, it in every.items():
                row = page[page.index(it.method_name) :].partition("</tr>")[0]
                assert (label(state) if state != State.UNRANKED else "scored") in row, (url, state)
    page = words(Client().get(address(phase, "entries")))
    assert [(state, it) for state, it in every.items() if (it.method_name in page) != (state in (State.SCORED, State.UNRANKED))] == []


def test_lists_are_filtered_by_state(every, phase, people):
    for url, name in (
        (address(phase, "entries") + "?state=", "owner"),
        (reverse("console_entries", args=[phase.challenge.slug]) + "?status=", "organizer"),
    ):
        for state in (State.ON_HOLD, State.REJECTED, State.FAILED):
            page = words(signed_in(people.users()[name]).get(f"{url}{state}"))
            assert [one for one, it in every.items() if it.method_name in page] == [state]


def test_the_page_of_a_team_says_why_an_entry_has_no_rank(every, people):
    client = signed_in(people.owner)
    for state, it in every.items():
        page = words(client.get(reverse("method", args=[people.team.pk, it.method_name])))
        expected = {State.SCORED: "<b>1</b>", State.UNRANKED: "Only the best entry of each team"}.get(state, f">{label(state)}<")
        assert expected in page, state
    assert "is on_hold" not in words(Client().get(reverse("team_page", args=[people.team.pk])))
    assert "is on_hold" in words(client.get(reverse("team_page", args=[people.team.pk])))


def test_the_board_shows_what_is_in_progress_to_its_team(every, phase, people):
    page = words(signed_in(people.owner).get(address(phase)))
    for state in (State.UPLOADING, State.RECEIVED, State.CHECKING, State.SCORING):
        assert f"{every[state].method_name}</a>" in page and label(state).capitalize() in page, state
    assert [state for state in (State.ON_HOLD, State.FAILED, State.HIDDEN, State.WITHDRAWN) if f"is {state}<" in page] == []


def test_the_console_says_it_to_organizers(every, phase, people):
    client = signed_in(people.organizer)
    listed = words(client.get(reverse("console_entries", args=[phase.challenge.slug])))
    for state, it in every.items():
        page = words(client.get(reverse("console_entry", args=[phase.challenge.slug, it.pk])))
        said = sentence(it.state, Reader.ORGANIZERS)
        assert said in page, state
        assert (said in listed) == (it.state.state != State.SCORED), state


def test_the_client_prints_the_sentence(every, people, monkeypatch, capsys):
    client = signed_in(people.owner)
    monkeypatch.setattr(Server, "get", lambda self, path: client.get(f"/{path}").json())
    bad = {State.ON_HOLD, State.REJECTED, State.FAILED, State.CANCELLED}
    for state, it in every.items():
        code = command.main(["status", str(it.pk), "--server", "http://127.0.0.1:9", "--token", "t"])
        assert capsys.readouterr().out.splitlines()[0] == f"Entry #{it.number}: {told(client, it)['sentence']}"
        assert (code == command.REJECTED) == (state in bad), state


def test_mails_tell_outcomes_in_the_same_words(every):
    Submission.objects.exclude(finished_at=None).update(notified_at=None)
    assert send_due_mail() == len(mail.outbox) > 0
    bodies = {message.subject: " ".join(message.body.split()) for message in mail.outbox}
    for state in (State.SCORED, State.ON_HOLD, State.REJECTED, State.FAILED):
        it = every[state]
        subject = next(subject for subject in bodies if subject.startswith(f"#{it.number} {it.method_name} "))
        assert state == State.SCORED or sentence(it.state, Reader.TEAM) in bodies[subject]
    assert [subject for subject in bodies if "is cancelled" in subject or "is uploading" in subject] == []
