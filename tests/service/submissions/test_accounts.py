"""Accounts: their mails lead to this service, whatever Host the request names, and a new password revokes tokens."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from django.core import mail
from django.test import Client

from submissions.models import ApiToken
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


# --- a new password, and the tokens of whoever knew the old one ----------------------------------


@pytest.fixture
def key(ann) -> str:
    return ApiToken.make(ann, "laptop")[1]


def is_answered(key: str) -> bool:
    status = Client().get("/api/v1/me", headers={"Authorization": f"Bearer {key}"}).status_code
    assert status in (200, 401)
    return status == 200


@pytest.mark.parametrize("ticked", [True, False])
def test_a_change_of_password_revokes_tokens_where_that_is_ticked(browser, ann, key, ticked):
    browser.force_login(ann)
    form = browser.get("/accounts/password/change/").context["form"]
    assert form["revoke_tokens"].initial is True and is_answered(key)
    values = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW, **({"revoke_tokens": "on"} if ticked else {})}
    browser.post("/accounts/password/change/", {**values, "password2": "another one"})
    assert is_answered(key), "nothing was changed"
    browser.post("/accounts/password/change/", values)
    ann.refresh_from_db()
    assert ann.check_password(NEW) and is_answered(key) is not ticked
    # Who has no valid token is not asked.
    ApiToken.revoke_all(ann)
    browser.force_login(ann)
    assert "revoke_tokens" not in browser.get("/accounts/password/change/").context["form"].fields


def test_a_reset_revokes_tokens_too(browser, ann, key):
    browser.post("/accounts/password/reset/", {"email": "ann@lab.example.org"})
    page = browser.get(path_in(only_mail()), follow=True)
    assert page.context["form"]["revoke_tokens"].initial is True
    browser.post(page.redirect_chain[-1][0], {"password1": NEW, "password2": NEW, "revoke_tokens": "on"})
    ann.refresh_from_db()
    assert ann.check_password(NEW) and not is_answered(key)
