"""Wrong passwords: counted for an account and an address, bounded over all addresses, and never in the way of a known device."""

from __future__ import annotations

import itertools
import re

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth import hashers
from django.core import mail
from django.http import HttpResponse
from django.test import Client

from leaderboard.service.mail import send_due_mail
from submissions.models import User
from tests.support.factories import PASSWORD, UserFactory, confirmed

pytestmark = pytest.mark.django_db
REFUSED, WRONG = "Too many failed login attempts", "do not belong together"
NEW = "a dormer and nine gables"


@pytest.fixture
def ann() -> User:
    return confirmed("ann", "ann@lab.example.org")


ADDRESSES = map("2001:db8:{:x}::1".format, itertools.count(1))  # each in a network of its own, used once


def log_in(client: Client, login: str = "ann", password: str = PASSWORD, address: str = "", **headers: str) -> HttpResponse:
    """Log in from that address, or from one that nobody has used yet."""
    return client.post("/accounts/login/", {"login": login, "password": password}, REMOTE_ADDR=address or next(ADDRESSES), **headers)


def said(answer: HttpResponse) -> str:
    """`in` where it let somebody in, else what the form says."""
    if answer.status_code == 302:
        return "in"
    (words,) = answer.context["form"].non_field_errors()
    return "refused" if words.startswith(REFUSED) else "wrong" if WRONG in words else words


def attack(login: str = "ann", tries: int = 50) -> list[str]:
    """Answers to as many wrong passwords, each from an address of its own."""
    return [said(log_in(Client(), login, "wrong")) for _ in range(tries)]


@pytest.fixture
def known(ann) -> Client:
    """A device on which ann has logged in, and out."""
    client = Client()
    assert said(log_in(client)) == "in"
    client.post("/accounts/logout/")
    return client


class TestPerAddress:
    def test_five_wrong_passwords_keep_out_their_own_address_only(self, ann):
        here, logins = next(ADDRESSES), ("ann", "ann@lab.example.org", "ANN", "Ann@Lab.example.org", "ann")
        assert [said(log_in(Client(), login, "wrong", here)) for login in logins] == ["wrong"] * 5
        assert said(log_in(Client(), address=here)) == said(log_in(Client(), "ann@lab.example.org", address=here)) == "refused"
        assert said(log_in(Client())) == "in"

    def test_an_account_that_does_not_exist_is_answered_in_the_same_way(self, ann):
        for login in ("ann", "nobody"):
            here = next(ADDRESSES)
            assert [said(log_in(Client(), login, "wrong", here)) for _ in range(6)] == ["wrong"] * 5 + ["refused"]

    def test_behind_a_proxy_the_address_is_the_clients(self, ann, settings):
        settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
        for _ in range(6):
            # The first address is the client's own invention; the proxy appends the one that it saw.
            last = log_in(Client(), password="wrong", HTTP_X_FORWARDED_FOR="203.0.113.9, 198.51.100.1")
        assert said(last) == "refused"
        assert said(log_in(Client(), HTTP_X_FORWARDED_FOR="203.0.113.9, 198.51.100.2")) == "in"

    def test_a_known_device_counts_for_itself(self, ann, known):
        here = next(ADDRESSES)
        assert [said(log_in(Client(), password="wrong", address=here)) for _ in range(6)] == ["wrong"] * 5 + ["refused"]
        assert said(log_in(known, password="wrong", address=here)) == "wrong"
        assert said(log_in(known, address=here)) == "in"
        known.post("/accounts/logout/")
        assert [said(log_in(known, password="wrong")) for _ in range(5)] == ["wrong"] * 4 + ["refused"], "from everywhere"


class TestOverAllAddresses:
    def test_a_hundred_addresses_do_not_keep_the_owner_out_of_a_known_device(self, ann, known):
        assert attack(tries=100) == ["wrong"] * 50 + ["refused"] * 50
        assert said(log_in(known)) == "in"
        assert said(log_in(Client())) == "refused", "a new device"
        assert said(log_in(Client(), "ann@lab.example.org")) == "refused", "the same account by its address"
        UserFactory(username="bob")
        assert said(log_in(Client(), "bob")) == "in"

    def test_an_account_that_does_not_exist_is_bounded_too(self, ann):
        assert attack("no-one", 52) == ["wrong"] * 50 + ["refused"] * 2
        assert attack("no-one@lab.example.org", 52) == ["wrong"] * 50 + ["refused"] * 2
        assert send_due_mail() == 0

    @pytest.mark.parametrize("login", ["ann", "no-account"])
    def test_the_work_for_a_password_is_the_same_beyond_the_bound(self, ann, login, monkeypatch):
        hashed: list[str] = []
        encode = hashers.MD5PasswordHasher.encode
        monkeypatch.setattr(hashers.MD5PasswordHasher, "encode", lambda self, *given: hashed.append("") or encode(self, *given))
        attack(login, 1)
        within = len(hashed)
        attack(login, 49)
        hashed.clear()
        assert attack(login, 1) == ["refused"] and len(hashed) == within > 0

    def test_the_owner_gets_one_mail(self, ann):
        attack(tries=60)
        assert send_due_mail() == 1 and send_due_mail() == 0
        (told,) = mail.outbox
        assert told.to == ["ann@lab.example.org"] and "Many wrong passwords" in told.subject
        assert "/accounts/password/reset/" in told.body and "since" in told.body
        attack(tries=10)
        assert send_due_mail() == 0

    def test_a_reset_by_mail_lets_a_new_device_in_and_makes_it_known(self, ann):
        attack(tries=51)
        device = Client()
        device.post("/accounts/password/reset/", {"email": "ann@lab.example.org"})
        (link,) = re.findall(r"\S+://[^/]+(/\S+)", mail.outbox[-1].body)
        form = device.get(link, follow=True)
        device.post(form.redirect_chain[-1][0], {"password1": NEW, "password2": NEW})
        assert device.get("/api/v1/me").json()["username"] == "ann"
        device.post("/accounts/logout/")
        assert said(log_in(device, password=NEW)) == "in"
        assert said(log_in(Client(), password=NEW)) == "refused"

    def test_a_second_factor_lets_a_new_device_in_and_tells_no_password(self, ann):
        secret = totp.generate_totp_secret()
        totp.TOTP.activate(ann, secret)
        assert Authenticator.objects.filter(user=ann).exists()
        attack(tries=51)
        device = Client()
        assert said(log_in(device, password="wrong")) == "refused"
        answer = log_in(device)
        assert answer.status_code == 302 and "/2fa/" in answer.headers["Location"]
        assert device.get("/api/v1/me").status_code == 401, "not in by the password alone"

    def test_a_change_of_password_ends_known_devices_and_keeps_the_one_at_hand(self, ann, known):
        other = Client()
        assert said(log_in(other)) == "in"
        other.post("/accounts/password/change/", {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW})
        other.post("/accounts/logout/")
        attack(tries=50)
        assert said(log_in(known, password=NEW)) == "refused"

    def test_a_cookie_of_one_account_opens_no_other(self, ann, known):
        bob = UserFactory(username="bob")
        (name, value) = next((name, morsel.value) for name, morsel in known.cookies.items() if name.startswith("known-device"))
        stranger = Client()
        stranger.cookies[name.replace(str(ann.pk), str(bob.pk))] = value
        attack("bob")
        assert said(log_in(stranger, "bob")) == "refused"
