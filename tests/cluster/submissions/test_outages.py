"""A full database is told as that by every door, and loses nothing. That no address answers in another way: `test_routes.py`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.core.cache import cache
from django.db import DatabaseError, IntegrityError, OperationalError, connection, connections, transaction
from django.test import Client

from leaderboard.models import StudyVote
from submissions.models import ApiToken, Submission, User
from submissions.outages import AWAY, FULL, READ_ONLY, Outage, outage
from submissions.storage.store import StorageError
from tests.support.factories import UserFactory
from tests.support.full_database import full_database
from tests.support.leaderboard.studies.live import making
from tests.support.small_disk import fill, mounted

pytestmark = pytest.mark.django_db(transaction=True)
SENTENCE = "disk is full; nothing that you sent is lost, so try again later."
PASSWORD = "a long enough password"


@pytest.fixture
def in_database(settings):
    """The cache of an installation without Redis."""
    settings.CACHES = {"default": {"BACKEND": "leaderboard.service.cache.CountingDatabaseCache", "LOCATION": "plumbline_cache"}}


def is_told(answer) -> bool:
    return answer.status_code == 503 and SENTENCE in answer.content.decode() and answer["Retry-After"] == "30"


def test_logging_in_is_not_told_as_too_many_tries(client, people, in_database):
    values = {"login": "owner", "password": PASSWORD}
    with full_database():
        assert is_told(client.post("/accounts/login/", values))
    assert client.post("/accounts/login/", values).status_code == 302


def test_logging_in_where_the_cache_has_room_is_told_too(client, people, in_database):
    with full_database(but=["plumbline_cache", "submissions_ratecount"]):
        assert is_told(client.post("/accounts/login/", {"login": "owner", "password": PASSWORD}))


def test_signing_up_leaves_no_account(client, in_database):
    values = {"email": "new@example.org", "username": "newcomer", "password1": PASSWORD, "password2": PASSWORD}
    with full_database():
        assert is_told(client.post("/accounts/signup/", values))
    assert not User.objects.filter(username="newcomer").exists()


def test_a_session_that_cannot_be_stored_is_no_bad_request(people, settings):
    settings.SESSION_SAVE_EVERY_REQUEST = True
    client = Client()
    client.force_login(people.owner)
    with full_database():
        answer = client.get("/challenges/")
    assert is_told(answer) and answer["Refresh"] == "30"


def test_programs_are_told_in_problem_details(people, phase):
    key = ApiToken.make(people.owner, "test")[1]
    body = {"challenge": phase.challenge.slug, "phase": phase.slug, "method_name": "m", "file_name": "a.zip", "size": 9, "sha256": "0" * 64}
    client = Client(headers={"authorization": f"Bearer {key}"})
    with full_database():
        answer = client.post("/api/v1/submissions", json.dumps(body), content_type="application/json")
    assert is_told(answer) and answer.json()["code"] == "storage" and answer["Content-Type"] == "application/problem+json"
    assert not Submission.objects.exists()


def test_an_answer_of_a_rater_is_told_and_taken_when_it_is_sent_again(phase, people):
    study = making.live(phase, people.organizer, making.entries(phase, people))
    client = Client(headers={"accept": "application/json"})
    assert client.post(f"/rate/{study.key}/join/", {"agree": "yes"}).status_code == 302
    asked = client.get(f"/rate/{study.key}/next").json()["question"]["id"]
    sent = json.dumps({"question": asked, "answers": making.same_answer(study, "left"), "seconds": 1.5})

    def send():
        return client.post(f"/rate/{study.key}/answer", sent, content_type="application/json")

    with full_database():
        answer = send()
    assert is_told(answer) and SENTENCE in answer.json()["detail"] and not StudyVote.objects.exists()
    assert send().status_code == 200 and StudyVote.objects.count() == 1
    assert send().status_code == 200 and StudyVote.objects.count() == 1, "each question is taken once"


def test_the_cache_of_the_database_says_full_and_goes_on_saying_not_added(in_database):
    cache.set("kept", 1)
    with full_database():
        for act in (lambda: cache.add("a", 1), lambda: cache.set("a", 1), lambda: cache.touch("kept")):
            with pytest.raises(DatabaseError) as raised:
                act()
            assert outage(raised.value) is FULL
        assert cache.get("kept") == 1 and cache.get("a") is None
    assert cache.add("a", 1) is True and cache.add("a", 2) is False and cache.touch("b") is False


def test_an_outage_is_found_behind_the_error_that_hides_it():
    with full_database(), pytest.raises(DatabaseError) as full:
        UserFactory()
    assert outage(full.value) is FULL
    session = SessionStore()
    session.create()
    with full_database(), pytest.raises(Exception) as lost:  # noqa: PT011 - Django's own, which says that somebody has logged out
        session.save()
    assert not isinstance(lost.value, DatabaseError) and outage(lost.value) is FULL


def test_other_errors_of_the_database_are_faults():
    with connection.cursor() as cursor, pytest.raises(DatabaseError) as unknown:
        cursor.execute("SELECT * FROM nothing")
    UserFactory(username="twice")
    with transaction.atomic(), pytest.raises(IntegrityError) as double:
        UserFactory(username="twice")
    assert outage(unknown.value) is outage(double.value) is outage(None) is None
    found = ValueError()
    found.__context__ = StorageError("No answer.")
    assert outage(found) == Outage("storage", "No answer.", 30)
    found.__suppress_context__ = True  # as by `raise … from None`
    assert outage(found) is None


def test_a_database_that_only_reads_and_one_that_does_not_answer_are_outages(settings):
    with connection.cursor() as cursor:
        reading = "SET default_transaction_read_only = {}" if connection.vendor == "postgresql" else "PRAGMA query_only = {}"
        cursor.execute(reading.format("on"))
        with pytest.raises(DatabaseError) as refused:
            UserFactory()
        cursor.execute(reading.format("off"))
    assert outage(refused.value) is READ_ONLY
    lost = connection.copy()
    lost.settings_dict |= {"HOST": "127.0.0.1", "PORT": "1"} if connection.vendor == "postgresql" else {"NAME": "/nowhere/at/all"}
    with pytest.raises(OperationalError) as away:
        lost.ensure_connection()
    assert outage(away.value) is AWAY


@pytest.fixture
def full_disk(tmp_path, people, in_database) -> Iterator[Path]:
    """The disk of this test's SQLite database, which has no room left; unlink `filler` to make some."""
    if connection.vendor != "sqlite":
        pytest.skip("a full disk of PostgreSQL is tried in test_write_probe.py")
    kept = connections["default"]
    with mounted(tmp_path / "small", 32) as disk:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(disk / "copy.sqlite3")])
        own = kept.copy()
        own.settings_dict["NAME"] = str(disk / "copy.sqlite3")
        connections["default"] = own
        try:
            own.ensure_connection()
            UserFactory()
            fill(disk)
            yield disk
        finally:
            own.close()
            connections["default"] = kept


def test_a_full_disk_that_is_met_at_the_end_of_a_transaction_is_told(full_disk, client):
    with pytest.raises(DatabaseError) as full:
        cache.add("key", "x" * 1_000_000)  # as much as SQLite holds until the end
    assert outage(full.value) is FULL
    values = {"login": "owner", "password": PASSWORD}
    assert is_told(client.post("/accounts/login/", values))
    assert client.get("/challenges/").status_code == 200
    (full_disk / "filler").unlink()
    assert client.post("/accounts/login/", values).status_code == 302
