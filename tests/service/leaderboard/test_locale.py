"""The account pages say what the rest of the service says."""

from __future__ import annotations

import gettext
import re

import pytest

from tests import ROOT

FOLDER = ROOT / "leaderboard/locale/en/LC_MESSAGES"


def test_what_is_compiled_is_what_is_written():
    found = re.findall(r'(?:^msgctxt "(.+)"\n)?^msgid "(.+)"\nmsgstr "(.+)"$', (FOLDER / "django.po").read_text(), re.MULTILINE)
    written = {f"{place}\x04{name}" if place else name: text for place, name, text in found}
    with (FOLDER / "django.mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)._catalog
    assert written and written == {name: text for name, text in compiled.items() if name}


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["login", "signup", "logout", "password/reset", "reauthenticate"])
def test_no_account_page_says_sign_in(client, people, page):
    if page in ("logout", "reauthenticate"):
        client.force_login(people.owner)
    words = re.sub(r"<[^>]*>", " ", client.get(f"/accounts/{page}/", follow=True).content.decode())
    assert not re.search(r"\bsign(ed)?[ -]?(in|out)\b", words, re.IGNORECASE)
    if page == "login":
        assert "Log in" in words
    if page == "signup":
        assert "Sign up" in words and "Sign Up" not in words
