"""Acts on who organizes the challenge."""

from __future__ import annotations

import zipfile
from io import BytesIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from evaluation.models import WorkerToken
from leaderboard.models import JudgeBudget
from submissions.models import User
from tests.support.factories import PASSWORD, PhaseFactory, UserFactory, confirmed, give_reference
from tests.support.leaderboard.console.acts import confirm, latest
from tests.support.pages import faults, refusal

ADDRESS = "ann@lab.example.org"


@pytest.fixture
def ann(db):
    """Somebody whose confirmed address is ADDRESS."""
    return confirmed("ann", ADDRESS)


def text_of(answer) -> str:
    return " ".join(answer.content.decode().split())


def test_organizers_are_added_and_removed_and_one_always_stays(desk, challenge, people, at):
    path = at("organizers/")
    assert refusal(desk.post(path, {"act": "add", "name": "nobody"})) == "unknown"
    desk.post(path, {"act": "add", "name": "stranger"})
    assert people.stranger in challenge.organizers.all()
    assert latest(challenge).action == "organizer.add"
    confirm(desk, desk.post(path, {"act": "remove", "name": "stranger"}))
    assert people.stranger not in challenge.organizers.all()
    answer = desk.post(path, {"act": "remove", "name": "organizer"})
    assert answer.status_code == 302 and people.organizer in challenge.organizers.all()


def test_nobody_becomes_organizer_by_a_user_name_that_is_anothers_address(desk, challenge, ann, at):
    """The attack: sign up with the address of another as user name, wait to be added in their place, and take the reference."""
    phase = PhaseFactory(challenge=challenge)
    give_reference(phase)
    impostor = Client()
    form = {"email": "eve@example.org", "username": ADDRESS, "password1": PASSWORD, "password2": PASSWORD}
    refused = impostor.post("/accounts/signup/", form)
    assert refused.status_code == 200 and "username" in refused.context["form"].errors
    assert not User.objects.filter(email="eve@example.org").exists()

    desk.post(at("organizers/"), {"act": "add", "name": "Ann@Lab.example.org"})
    assert ann in challenge.organizers.all()
    holder = Client()
    holder.force_login(ann)
    packed = zipfile.ZipFile(BytesIO(b"".join(holder.get(at("bundle.zip")).streaming_content)))
    assert any("/reference/" in name for name in packed.namelist()), "this is what the impostor was after"


def test_an_impostor_of_earlier_days_is_added_nowhere(desk, challenge, ann, at):
    eve = confirmed("Ann@lab.example.org", "eve@example.org")
    assert refusal(desk.post(at("organizers/"), {"act": "add", "name": ADDRESS})) == "two_accounts"
    assert set(challenge.organizers.all()) & {ann, eve} == set()
    holder = Client()
    holder.force_login(eve)
    assert holder.get(at("bundle.zip")).status_code == 403
    # Each of them has a name that is theirs alone.
    desk.post(at("organizers/"), {"act": "add", "name": "ann"})
    assert ann in challenge.organizers.all()
    User.objects.filter(pk=eve.pk).update(is_active=False)
    challenge.organizers.remove(ann)
    desk.post(at("organizers/"), {"act": "add", "name": ADDRESS})
    assert ann in challenge.organizers.all() and eve not in challenge.organizers.all()


def test_a_user_name_with_an_at_sign_names_nobody_but_a_confirmed_address_does(desk, challenge, at):
    old = UserFactory(username="bob@lab.example.org")
    assert refusal(desk.post(at("organizers/"), {"act": "add", "name": "bob@lab.example.org"})) == "unknown"
    old.emailaddress_set.create(email="bob@lab.example.org", verified=True, primary=True)
    desk.post(at("organizers/"), {"act": "add", "name": " BOB@lab.example.org "})
    assert old in challenge.organizers.all()
    confirm(desk, desk.post(at("organizers/"), {"act": "remove", "name": "bob@lab.example.org"}))
    assert old not in challenge.organizers.all()


@pytest.mark.parametrize("name", [ADDRESS, ADDRESS.upper()])
def test_an_impostor_is_given_no_budget(client, people, ann, name):
    UserFactory(username=name)
    client.force_login(people.staff)
    answer = client.post("/console/judges/", {"act": "limit", "name": ADDRESS, "limit": "5"})
    assert faults(answer, "limit_form") == {"name": ["two_accounts"]}
    assert not JudgeBudget.objects.exists()
    User.objects.filter(username=name).delete()
    client.post("/console/judges/", {"act": "limit", "name": ADDRESS, "limit": "5"})
    assert JudgeBudget.objects.get().account == ann


def test_an_impostor_pays_for_no_texts(ann, challenge, settings):
    settings.JUDGE_URL, settings.JUDGE_MODEL = "http://127.0.0.1:9/v1", "seer-1"
    challenge.organizers.add(confirmed(ADDRESS, "eve@example.org"))
    command = ["prompts", "--count", "2", "--model", "--organizer", ADDRESS]
    with pytest.raises(CommandError, match="the user name of one account"):
        call_command(*command)


def test_whose_worker_tokens_stay_valid_is_said_before_an_organizer_is_removed(desk, challenge, people, at):
    challenge.organizers.add(people.stranger)
    WorkerToken.make(challenge, people.organizer, "ours", ["cpu"], 30)
    token, _ = WorkerToken.make(challenge, people.stranger, "lab cluster", ["cpu"], 30)
    assert "lab cluster" in text_of(desk.post(at("organizers/"), {"act": "remove", "name": "stranger"}))
    token.revoke(people.organizer)
    assert "lab cluster" not in text_of(desk.post(at("organizers/"), {"act": "remove", "name": "stranger"}))
