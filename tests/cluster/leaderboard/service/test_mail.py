"""Outcome and invitation e-mails: to whom, what they say, and never twice."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from smtplib import SMTPServerDisconnected
from threading import Barrier

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.db import connection
from django.urls import resolve
from django.utils import timezone

from leaderboard.service.mail import send_due_mail
from submissions.entry_states import Reason
from submissions.models import Phase, Status, Submission, TeamMerge
from tests.support.factories import PhaseFactory

pytestmark = pytest.mark.django_db


def outcome(phase: Phase, team, status: str = Status.REJECTED, **values) -> Submission:
    number = Submission.objects.count() + 1
    return Submission.objects.create(
        phase=phase,
        team=team,
        number=number,
        method_name="gable-net",
        file_name="e.zip",
        status=status,
        received_at=timezone.now(),
        finished_at=timezone.now(),
        **values,
    )


@pytest.fixture
def rejected(challenge, people) -> Submission:
    problems = [f"house_{n:02}.obj: line 31: edge names vertex 90, there are 88" for n in range(12)]
    return outcome(PhaseFactory(challenge=challenge), people.team, problems=problems, n_problems=40)


def test_who_withdrew_an_entry_on_hold_is_not_told_that_it_was_rejected(challenge, people):
    phase = PhaseFactory(challenge=challenge)
    outcome(phase, people.team, reason=Reason.KIND, withdrawn_at=timezone.now())
    assert send_due_mail() == 0 and mail.outbox == [] and not Submission.objects.filter(notified_at=None).exists()


def recipients() -> set[str]:
    assert [message for message in mail.outbox if not (len(message.to) == 1 and not message.cc and not message.bcc)] == []
    return {message.to[0] for message in mail.outbox}


# --- what they say -----------------------------------------------------------------------------


def test_a_scored_entry_is_told_to_every_member_with_its_scores(scored, people):
    entry = scored()
    mail.outbox.clear()
    Submission.objects.update(notified_at=None)
    assert send_due_mail() == 2
    assert recipients() == {"owner@example.org", "mate@example.org"}
    text = mail.outbox[0].body
    assert "is scored" in mail.outbox[0].subject and f"http://127.0.0.1:8000/entries/{entry.pk}/" in text
    assert re.search(r"Corner F1: \d\.\d{4}\n", text) and "interval" not in text  # of four houses there is none


def test_a_rejected_entry_names_its_first_problems(rejected):
    send_due_mail()
    text = mail.outbox[0].body
    assert "was rejected" in mail.outbox[0].subject
    assert "\n- house_00.obj: line 31: " in text and text.count("line 31") == 10 and "30 more" in text


def test_a_failed_entry_shows_the_sentence_and_never_the_traceback(challenge, people):
    outcome(
        PhaseFactory(challenge=challenge),
        people.team,
        Status.FAILED,
        reason=Reason.MEMORY,
        numbers={"megabytes": 2048},
        failure_detail="Traceback: secret",
    )
    send_due_mail()
    assert "2048 MB" in mail.outbox[0].body and "Traceback" not in mail.outbox[0].body


def test_scores_that_are_withheld_are_not_told_by_e_mail_either(scored, phase):
    board_at = timezone.now() + timedelta(days=1)
    Phase.objects.filter(pk=phase.pk).update(board="hidden", board_at=board_at, withhold_scores=True)
    phase.refresh_from_db()
    scored()
    mail.outbox.clear()
    Submission.objects.update(notified_at=None)
    send_due_mail()
    assert len(mail.outbox) == 2
    for message in mail.outbox:
        assert "interval" not in message.body and "F1" not in message.body


def test_each_says_how_to_switch_it_off(rejected, client, people):
    send_due_mail()
    message = mail.outbox[0]
    switch = "http://127.0.0.1:8000/account/#notify"
    assert switch in message.body and message.extra_headers["List-Unsubscribe"] == f"<{switch}>"
    client.force_login(people.owner)
    assert 'id="notify"' in client.get("/account/").content.decode()


def test_a_name_over_two_lines_is_one_subject(challenge, people):
    entry = outcome(PhaseFactory(challenge=challenge), people.team)
    Submission.objects.filter(pk=entry.pk).update(method_name="a\r\nBcc: everybody@example.org")
    send_due_mail()
    assert "\n" not in mail.outbox[0].subject and recipients() == {"owner@example.org", "mate@example.org"}


def test_leaders_are_told_once_that_another_team_asks_to_merge(people):
    TeamMerge.ask(people.other_team, people.team.name, people.other)
    assert send_due_mail() == 1 and recipients() == {"owner@example.org"}  # who leads it
    message = mail.outbox[0]
    assert people.other_team.name in message.subject and people.team.name in message.subject
    assert f"http://127.0.0.1:8000/challenges/{people.team.challenge.slug}/team/" in message.body
    assert send_due_mail() == 0


# --- to whom -----------------------------------------------------------------------------------


def test_who_switched_e_mails_off_gets_none(rejected, people):
    people.mate.notify_by_email = False
    people.mate.save()
    send_due_mail()
    assert recipients() == {"owner@example.org"}


def test_no_e_mail_goes_to_an_address_that_was_not_confirmed(rejected, people):
    EmailAddress.objects.create(user=people.mate, email="mate@example.org", verified=False, primary=True)
    EmailAddress.objects.create(user=people.owner, email="owner@example.org", verified=True, primary=True)
    send_due_mail()
    assert recipients() == {"owner@example.org"}


def test_who_left_or_is_no_longer_active_gets_none(rejected, people):
    people.team.leave(people.mate)
    people.owner.is_active = False
    people.owner.save()
    assert send_due_mail() == 0 and not mail.outbox


@pytest.mark.parametrize("status", [Status.RECEIVED, Status.SCORING, Status.CANCELLED, Status.UPLOADING])
def test_only_outcomes_are_told(challenge, people, status):
    outcome(PhaseFactory(challenge=challenge), people.team, status)
    assert send_due_mail() == 0


# --- once, and not lost ------------------------------------------------------------------------


def test_nothing_is_sent_twice(rejected):
    assert send_due_mail() == 2
    assert send_due_mail() == 0
    rejected.refresh_from_db()
    assert rejected.notified_at is not None


def test_a_retried_entry_is_told_again_when_it_is_done(challenge, people):
    entry = outcome(PhaseFactory(challenge=challenge), people.team, Status.FAILED, file_key="k")
    send_due_mail()
    entry.requeue()
    assert send_due_mail() == 0
    Submission.objects.filter(pk=entry.pk).update(status=Status.REJECTED, finished_at=timezone.now())
    assert send_due_mail() == 2


def test_while_the_mail_server_is_away_e_mails_wait(rejected, monkeypatch):
    from django.core.mail.backends.locmem import EmailBackend

    def away(self):
        raise ConnectionRefusedError("no server")

    with monkeypatch.context() as patch:
        patch.setattr(EmailBackend, "open", away)
        assert send_due_mail() == 0
    rejected.refresh_from_db()
    assert rejected.notified_at is None
    assert send_due_mail() == 2


def test_one_message_that_cannot_be_sent_keeps_no_other_back(rejected, monkeypatch):
    from django.core.mail.backends.locmem import EmailBackend

    send = EmailBackend.send_messages

    def picky(self, messages):
        if "owner@example.org" in messages[0].to:
            raise SMTPServerDisconnected("gone")
        return send(self, messages)

    monkeypatch.setattr(EmailBackend, "send_messages", picky)
    assert send_due_mail() == 1
    assert recipients() == {"mate@example.org"}


@pytest.mark.django_db(transaction=True)
def test_four_senders_at_once_send_one_e_mail_each_time(rejected):
    start = Barrier(4)

    def run(_) -> int:
        start.wait()
        try:
            return send_due_mail()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(run, range(4))) == 2


# --- invitations -------------------------------------------------------------------------------


def test_an_invitation_goes_out_once_with_a_link_that_works(people, client):
    people.team.invite("grace@example.org", people.owner)
    assert send_due_mail() == 1 and send_due_mail() == 0
    message = mail.outbox[0]
    assert message.to == ["grace@example.org"] and "Ridge" in message.subject
    path = re.search(r"http://127\.0\.0\.1:8000(/teams/join/\S+)", message.body).group(1)
    assert resolve(path).url_name == "team_join"
    assert "Join Ridge" in client.get(path).content.decode()


def test_an_invitation_withdrawn_before_it_went_out_stays(people):
    people.team.invite("grace@example.org", people.owner).withdraw()
    assert send_due_mail() == 0


def test_the_task_is_the_one_the_nudge_names():
    from evaluation.celery import app
    from submissions.worker_notify import TASKS

    app.loader.import_default_modules()
    assert TASKS["mail"][0] in app.tasks
