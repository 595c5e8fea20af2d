"""Mails about accounts lead to this service, whatever Host the request names."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from django.core import mail
from django.test import Client

from tests.support.factories import PASSWORD, confirmed

pytestmark = pytest.mark.django_db
ASKED = "testserver:8081"  # a known host with a port of somebody else's
SITE = "https://boards.example.org"
NEW = "a dormer and nine gables"


@pytest.fixture(autouse=True)
def _site(settings):
    settings.SITE_URL = SITE
    settings.ALLOWED_HOSTS = ["testserver"]


@pytest.fixture
def ann():
    return confirmed("ann", "ann@lab.example.org")


@pytest.fixture
def browser() -> Client:
    return Client(HTTP_HOST=ASKED)


def only_mail() -> str:
    """The text of the one mail that was sent, which names the site and not the Host."""
    (sent,) = mail.outbox
    said = f"{sent.subject}\n{sent.body}"
    assert "testserver" not in said and "8081" not in said
    assert sent.body.rstrip().endswith("Plumbline, boards.example.org")
    return said


def path_in(text: str) -> str:
    """The path of the one link, which lies below the site's address."""
    (link,) = re.findall(r"\S+://\S+", text)
    assert link.startswith(f"{SITE}/")
    return urlsplit(link).path


def test_the_link_that_resets_a_password_leads_here_and_works(browser, ann):
    browser.post("/accounts/password/reset/", {"email": "ann@lab.example.org"})
    form = browser.get(path_in(only_mail()), follow=True)
    browser.post(form.redirect_chain[-1][0], {"password1": NEW, "password2": NEW})
    ann.refresh_from_db()
    assert ann.check_password(NEW)


def test_who_has_no_account_is_led_to_signing_up_here(browser):
    browser.post("/accounts/password/reset/", {"email": "nobody@lab.example.org"})
    assert path_in(only_mail()) == "/accounts/signup/"


def test_who_signs_up_again_is_led_to_a_reset_here(browser, ann):
    form = {"email": "ann@lab.example.org", "username": "again", "password1": NEW, "password2": NEW}
    browser.post("/accounts/signup/", form)
    assert path_in(only_mail()) == "/accounts/password/reset/"


def test_mails_with_codes_name_this_service(browser, ann):
    form = {"email": "new@lab.example.org", "username": "new", "password1": NEW, "password2": NEW}
    browser.post("/accounts/signup/", form)
    assert "boards.example.org" in only_mail()

    mail.outbox.clear()
    other = Client(HTTP_HOST=ASKED)
    other.post("/accounts/login/", {"login": "ann", "password": PASSWORD})
    other.post("/accounts/email/", {"email": "ann@home.example.org", "action_add": ""})
    only_mail()
