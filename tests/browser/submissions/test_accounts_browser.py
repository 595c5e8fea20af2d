"""Accounts, walked through as a person would: sign up, log in, reset, second factor."""

from __future__ import annotations

import re
import time

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.core import mail

from submissions.models import User
from tests.support.factories import PASSWORD, UserFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def walk(page, live_server):
    """A page that fails the test for anything the content security policy or a script trips over."""
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda line: troubles.append(line.text) if line.type == "error" else None)

    def go(path: str):
        page.goto(live_server.url + path)
        return page

    yield go
    assert not [trouble for trouble in troubles if "Failed to load resource" not in trouble]


def press(page, name: str) -> None:
    page.locator("main").get_by_role("button", name=name, exact=True).click()


def log_out(page) -> None:
    page.locator("details.menu summary").click()
    page.get_by_role("button", name="Log out").click()
    if page.locator("main").get_by_role("button", name="Log out").count():
        press(page, "Log out")
    page.get_by_role("link", name="Log in", exact=True).wait_for()


def log_in(go, login: str, password: str) -> None:
    page = go("/accounts/login/")
    page.fill("input[name=login]", login)
    page.fill("input[name=password]", password)
    press(page, "Log in")


def signed_in_as(page, name: str) -> bool:
    page.wait_for_load_state()
    menu = page.locator("details.menu summary")
    return menu.count() == 1 and menu.inner_text().strip() == name


def looks_like_the_house(page) -> bool:
    own_font = page.evaluate("getComputedStyle(document.body).fontFamily")
    accent = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--accent')")
    return page.locator("header .brand").count() == 1 and "system-ui" in own_font and bool(accent.strip())


def code_for(authenticator_secret: str, steps: int = 0) -> str:
    return format_hotp_value(hotp_value(authenticator_secret, int(time.time()) // 30 + steps))


def test_signing_up_asks_for_the_code_that_was_e_mailed(walk):
    page = walk("/accounts/signup/?next=/account/")
    assert looks_like_the_house(page)
    page.fill("input[name=email]", "Ada@example.org")
    page.fill("input[name=username]", "ada")
    page.fill("input[name=password1]", "a long enough secret")
    page.fill("input[name=password2]", "a long enough secret")
    press(page, "Sign up")
    page.wait_for_selector("input[name=code]")
    assert looks_like_the_house(page) and not signed_in_as(page, "ada")
    (message,) = mail.outbox
    assert message.to == ["ada@example.org"] and message.subject.startswith("[Plumbline]") and "example.com" not in message.body
    page.fill("input[name=code]", "WRONG1")
    press(page, "Confirm")
    page.locator(".errorlist").first.wait_for()
    code = re.search(r"window\.\s+(\S+)\s", message.body).group(1)
    page.fill("input[name=code]", code)
    press(page, "Confirm")
    page.wait_for_url("**/account/")
    assert signed_in_as(page, "ada")
    assert EmailAddress.objects.get(user__username="ada").verified


def test_a_weak_password_and_a_taken_name_are_said_beside_the_field(walk):
    UserFactory(username="ada")
    page = walk("/accounts/signup/")
    for name, value in {"email": "grace@example.org", "username": "ada", "password1": "short", "password2": "short"}.items():
        page.fill(f"input[name={name}]", value)
    press(page, "Sign up")
    page.locator(".errorlist").first.wait_for()
    assert page.locator(".errorlist").count() >= 2
    assert User.objects.count() == 1 and not mail.outbox


def confirmed(username: str) -> User:
    user = UserFactory(username=username)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


def test_one_logs_in_by_e_mail_or_name_and_a_wrong_password_is_refused(walk):
    confirmed("ada")
    page = walk("/")
    log_in(walk, "ada", "not the password")
    page.locator(".errorlist").first.wait_for()
    for login in ("ADA@example.org", "ada"):
        log_in(walk, login, PASSWORD)
        page.wait_for_selector("details.menu")
        assert signed_in_as(page, "ada")
        log_out(page)


def test_a_forgotten_password_is_set_anew_by_the_link_that_was_e_mailed(walk):
    confirmed("ada")
    page = walk("/accounts/password/reset/")
    page.fill("input[name=email]", "ada@example.org")
    press(page, "Send the link")
    page.wait_for_url("**/reset/done/")
    assert looks_like_the_house(page)
    (message,) = mail.outbox
    path = re.search(r"http://[^/]+(/accounts/password/reset/key/\S+)", message.body).group(1)
    page = walk(path)
    page.fill("input[name=password1]", "another good secret")
    page.fill("input[name=password2]", "another good secret")
    press(page, "Change your password")
    page.wait_for_selector("details.menu")
    assert signed_in_as(page, "ada")  # who reads their mail
    log_out(page)
    log_in(walk, "ada", "another good secret")
    page.wait_for_selector("details.menu")
    log_out(page)
    walk(path)
    assert page.locator("input[name=password1]").count() == 0  # the link is good once


def test_an_unknown_address_is_not_told_apart(walk):
    page = walk("/accounts/password/reset/")
    page.fill("input[name=email]", "nobody@example.org")
    press(page, "Send the link")
    page.wait_for_url("**/reset/done/")


def test_the_second_factor_is_asked_for_and_recovery_codes_stand_in(walk):
    user = confirmed("ada")
    log_in(walk, "ada", PASSWORD)
    page = walk("/account/")
    page.get_by_role("navigation", name="Account").get_by_role("link", name="Second factor").click()
    page.get_by_role("link", name="Switch on").click()
    if page.locator("input[name=password]").count():  # asked once more before such a change
        page.fill("input[name=password]", PASSWORD)
        press(page, "Confirm")
    page.wait_for_selector("input[name=code]")
    assert looks_like_the_house(page) and page.locator("main img").count() == 1  # the QR code, inline
    secret = page.locator("#authenticator_secret").input_value()
    page.fill("input[name=code]", "000000")
    press(page, "Switch on")
    page.locator(".errorlist").first.wait_for()
    page.fill("input[name=code]", code_for(secret))
    press(page, "Switch on")
    page.wait_for_url("**/recovery-codes/**")
    codes = re.findall(r"^\d{8}$", page.locator("main textarea").input_value(), re.MULTILINE)
    assert len(codes) == 10
    assert Authenticator.objects.filter(user=user).count() == 2

    log_out(page)
    log_in(walk, "ada", PASSWORD)
    page.wait_for_selector("input[name=code]")
    assert looks_like_the_house(page) and not signed_in_as(page, "ada")
    walk("/account/")
    assert page.url.endswith("/accounts/2fa/authenticate/")  # the password alone opens nothing
    page.fill("input[name=code]", codes[0])
    press(page, "Log in")
    page.wait_for_selector("details.menu")
    assert signed_in_as(page, "ada")
    log_out(page)
    log_in(walk, "ada", PASSWORD)
    page.fill("input[name=code]", codes[0])  # each is good once
    press(page, "Log in")
    page.locator(".errorlist").first.wait_for()
    page.fill("input[name=code]", code_for(secret, 1))  # the one before was used to set it up
    press(page, "Log in")
    page.wait_for_selector("details.menu")
    assert signed_in_as(page, "ada")
