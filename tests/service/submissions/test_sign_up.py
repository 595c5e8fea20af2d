"""Signing up tells nobody who has an account: neither by the answer nor by the work it takes."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth import hashers
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from submissions.models import User
from tests.support.factories import UserFactory

pytestmark = pytest.mark.django_db
PASSWORD = "nine-gables-and-a-dormer"


@pytest.fixture
def sign_up(monkeypatch):
    """`sign_up(email)`: the answer, which passwords were hashed and which tables were written to, in order."""
    hashed: list[str] = []
    encode = hashers.MD5PasswordHasher.encode
    monkeypatch.setattr(
        hashers.MD5PasswordHasher, "encode", lambda self, password, salt: hashed.append(password) or encode(self, password, salt)
    )

    def post(email: str):
        hashed.clear()
        values = {"email": email, "username": "newcomer", "password1": PASSWORD, "password2": PASSWORD}
        with CaptureQueriesContext(connection) as queries:
            answer = Client().post("/accounts/signup/", values)
        written = [query["sql"].split('"')[1] for query in queries if query["sql"].startswith("INSERT")]
        return answer, list(hashed), [table for table in written if "cache" not in table and "session" not in table]

    return post


def test_a_known_address_gets_the_same_answer_by_the_same_work(sign_up):
    owner = UserFactory(email="known@example.org")
    EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
    known, known_hashed, known_written = sign_up("known@example.org")
    assert set(User.objects.all()) == {owner} and EmailAddress.objects.count() == 1, "the work is undone"
    assert [(one.to, "already" in one.body) for one in mail.outbox] == [(["known@example.org"], True)]
    mail.outbox.clear()

    new, new_hashed, new_written = sign_up("new@example.org")
    assert User.objects.filter(username="newcomer", email="new@example.org").exists()
    assert [one.to for one in mail.outbox] == [["new@example.org"]]
    assert (known.status_code, known.headers["Location"]) == (new.status_code, new.headers["Location"])
    assert known_hashed == new_hashed == [PASSWORD]
    assert known_written == new_written and "submissions_user" in new_written
