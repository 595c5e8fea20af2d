"""The page frame and the shared parts, as Django renders them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django import forms
from django.contrib.auth.models import AnonymousUser
from django.template.loader import get_template, render_to_string
from django.test import RequestFactory

from tests import ROOT
from tests.support.pages import compact

TEMPLATES = sorted(path for app in ("submissions", "evaluation", "leaderboard") for path in (ROOT / app).rglob("templates/**/*.html"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_template_has_inline_script_or_handlers(path: Path) -> None:
    text = path.read_text()
    inline = [tag for tag in re.findall(r"<script\b[^>]*>", text) if "src=" not in tag and "application/json" not in tag]
    assert inline == [], "the content security policy forbids inline script"
    assert re.findall(r"<[a-z][^>]*\son[a-z]+\s*=", text) == [], "the content security policy forbids inline handlers"
    assert "javascript:" not in text


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_template_knows_the_tags_that_it_uses(path: Path) -> None:
    get_template(str(path).partition("/templates/")[2])


@pytest.mark.parametrize(
    "name", ["layouts/base.html", "layouts/entrance.html", "layouts/manage.html", "elements/button.html", "elements/fields.html"]
)
def test_account_pages_use_the_house_templates(name: str) -> None:
    assert Path(get_template(f"allauth/{name}").origin.name).is_relative_to(ROOT / "leaderboard" / "templates")


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/accounts/login/", "/accounts/signup/", "/accounts/password/reset/"])
def test_an_account_page_has_the_frame_and_labelled_fields(client, path: str) -> None:
    text = client.get(path).content.decode()
    assert "plumbline.css" in text and 'class="skip"' in text and 'id="main"' in text
    fields = re.findall(r'<input type="(?:text|email|password)"[^>]*\bid="([^"]+)"', text)
    assert fields and [field for field in fields if f'<label for="{field}"' not in text] == []


@pytest.mark.django_db
def test_a_wrong_log_in_is_answered_beside_the_form(client) -> None:
    text = client.post("/accounts/login/", {"login": "nobody", "password": "wrong-password"}).content.decode()
    assert 'class="errorlist nonfield"' in text


def test_a_page_that_is_not_there_says_so_in_the_frame(client) -> None:
    answer = client.get("/no/such/page/at/all")
    assert answer.status_code == 404 and '<main id="main"' in answer.content.decode()


def test_the_server_error_page_needs_neither_request_nor_database() -> None:
    text = get_template("500.html").render()
    assert "<h1>" in text and "plumbline.css" in text


@pytest.mark.parametrize(("cookie", "expected"), [("dark", ' data-theme="dark"'), ("light", ' data-theme="light"'), ('x" onload="', "")])
def test_the_theme_cookie_is_written_only_where_it_is_a_theme(cookie: str, expected: str) -> None:
    request = RequestFactory().get("/")
    request.user, request.COOKIES["theme"] = AnonymousUser(), cookie
    assert f'<html lang="en"{expected}>' in compact(render_to_string("base.html", {}, request))


class Entry(forms.Form):
    method_name = forms.CharField(help_text="As it shall stand on the board.")
    paper = forms.URLField(required=False, assume_scheme="https")
    terms = forms.BooleanField(label="I accept the rules")


def test_a_field_ties_label_help_and_error_to_its_input() -> None:
    text = render_to_string("parts/fields.html", {"form": Entry({"method_name": "", "terms": "on"})})
    assert '<label for="id_method_name">Method name</label>' in text
    field = re.search(r"<input[^>]*id=\"id_method_name\"[^>]*>", text).group(0)
    assert 'aria-invalid="true"' in field
    assert set(re.search(r'aria-describedby="([^"]+)"', field).group(1).split()) <= set(re.findall(r'id="([^"]+)"', text))
    assert "Paper <span" in compact(text) and '<label for="id_terms">I accept the rules</label>' in text
