"""User names hold no `@`, whichever way an account is made; accounts from before that rule go on."""

from __future__ import annotations

import sys

import pytest
from allauth.account.adapter import get_adapter
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client

from submissions.models import User
from tests.support.factories import PASSWORD, UserFactory, confirmed

pytestmark = pytest.mark.django_db
ADDRESSES = ["ann@lab.example.org", "ann@lab", "@ann", "ann＠lab.example.org"]


@pytest.fixture
def old(client):
    """Somebody logged in whose user name is an e-mail address, and who has confirmed another one."""
    user = confirmed("bob@lab.example.org", "bob@home.example.org")
    client.force_login(user)
    return user


@pytest.mark.parametrize("name", ADDRESSES)
def test_no_page_and_no_command_makes_such_a_name(client, name):
    form = {"email": "eve@example.org", "username": name, "password1": PASSWORD, "password2": PASSWORD}
    answer = client.post("/accounts/signup/", form)
    assert "username" in answer.context["form"].errors

    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    answer = client.post("/admin/submissions/user/add/", {**form, "usable_password": "true"})
    assert "username" in answer.context["adminform"].form.errors

    with pytest.raises(CommandError, match="user name"):
        call_command("createsuperuser", "--noinput", "--username", name, "--email", "eve@example.org")
    with pytest.raises(ValidationError):  # which log-ins by other services ask
        get_adapter().clean_username(name)
    assert User.objects.count() == 1


def test_a_command_that_asks_asks_again(monkeypatch, capsys):
    said = iter(["ann@lab.example.org", "ann", "ann@lab.example.org"])
    monkeypatch.setattr("builtins.input", lambda question: next(said))
    monkeypatch.setattr("getpass.getpass", lambda *question: PASSWORD)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    call_command("createsuperuser", stdin=sys.stdin)
    assert [(one.username, one.email) for one in User.objects.all()] == [("ann", "ann@lab.example.org")]


def test_an_operator_edits_an_old_account_and_gives_no_other_such_name(client):
    old = UserFactory(username="bob@lab.example.org", email="bob@home.example.org")
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    address = f"/admin/submissions/user/{old.pk}/change/"
    form = client.get(address).context["adminform"].form
    values = {name: value for name in form.fields if (value := form.get_initial_for_field(form.fields[name], name)) is not None}
    del values["password"]
    moment = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    assert client.post(address, {**values, **moment, "first_name": "Bob"}).status_code == 302
    answer = client.post(address, {**values, **moment, "username": "bob@home.example.org"})
    assert "username" in answer.context["adminform"].form.errors
    assert User.objects.filter(pk=old.pk, username="bob@lab.example.org", first_name="Bob").exists()


@pytest.mark.parametrize("login", ["bob@lab.example.org", "bob@home.example.org"])
def test_an_old_account_logs_in_by_its_name_and_by_its_address(old, login):
    answer = Client().post("/accounts/login/", {"login": login, "password": PASSWORD})
    assert answer.status_code == 302 and answer.wsgi_request.user == old


def test_an_old_account_that_has_confirmed_nothing_is_asked_to(client):
    bob = UserFactory(username="bob@lab.example.org", email="bob@lab.example.org")
    answer = client.post("/accounts/login/", {"login": "bob@lab.example.org", "password": PASSWORD})
    assert answer["Location"] == "/accounts/confirm-email/" and not answer.wsgi_request.user.is_authenticated
    assert not bob.emailaddress_set.filter(verified=True).exists()


def test_an_old_account_chooses_another_name_on_its_page(client, old):
    UserFactory(username="Ridge")
    assert 'name="username" value="bob@lab.example.org"' in client.get("/account/").content.decode()
    for name in ("bob@home.example.org", "ridge", "b b", ""):
        assert "username" in client.post("/account/", {"username": name}).context["form"].errors
    kept = client.post("/account/", {"username": "bob@lab.example.org", "time_zone": "UTC"})
    assert kept.status_code == 302 and User.objects.filter(username="bob@lab.example.org", time_zone="UTC").exists()
    shown = client.post("/account/", {"username": "bob@lab.example.org", "has_page": "on"})
    assert "has_page" in shown.context["form"].errors, "the page would show the address"
    assert client.post("/account/", {"username": "bob", "has_page": "on"}).status_code == 302
    old.refresh_from_db()
    assert (old.username, old.has_page) == ("bob", True)
    # From then on it is as everybody's.
    assert client.post("/account/", {"username": "bobby"}).status_code == 302
    assert User.objects.filter(username="bob").exists() and 'name="username"' not in client.get("/account/").content.decode()
