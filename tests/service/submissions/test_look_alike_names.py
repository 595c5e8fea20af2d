"""Look-alike user and team names, through every door to them."""

from __future__ import annotations

import json

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from submissions.models import Phase, Status, Submission, Team, User
from submissions.models.user import LOOK_ALIKE
from tests.support.factories import PASSWORD, TeamFactory, UserFactory, join

pytestmark = pytest.mark.django_db
COPY = "оwner"  # with a Cyrillic letter


def sign_up(name: str) -> str:
    """Refusal of the user name by the form; empty where it accepts the name."""
    values = {"email": f"{len(name)}@new.example.org", "username": name, "password1": PASSWORD, "password2": PASSWORD}
    answer = Client().post("/accounts/signup/", values)
    return " ".join(answer.context["form"].errors.get("username", [])) if answer.status_code == 200 else ""


def board(challenge, phase: Phase, team: Team, **flags) -> Submission:
    """A scored entry of the team."""
    columns = {"status": Status.SCORED, "method_name": "m", "file_name": "m.zip", "received_at": timezone.now()} | flags
    return Submission.objects.create(phase=phase, team=team, number=team.pk, **columns)


class TestUsers:
    def test_nobody_signs_up_as_a_look_alike_of_somebody_else(self, people):
        assert sign_up(COPY) == sign_up("ОWNER") == sign_up("own\u3164er") == LOOK_ALIKE
        assert sign_up("owners") == sign_up("ольга") == "" and User.objects.filter(username="ольга").exists()

    def test_look_alikes_within_one_script_are_let_through(self):
        assert sign_up("modern") == sign_up("modem") == ""

    def test_the_account_page_and_the_admin_say_the_same(self, people):
        old = UserFactory(username="old@example.org")
        client = Client()
        client.force_login(old)
        answer = client.post("/account/", {"username": COPY, "time_zone": ""})
        assert answer.context["form"].errors["username"] == [LOOK_ALIKE]
        old.username = COPY
        with pytest.raises(ValidationError, match="looks like"):
            old.full_clean()

    def test_existing_look_alikes_stay_as_they_are(self, people):
        copy = UserFactory(username=COPY, email="copy@example.org")
        copy.full_clean()
        people.owner.full_clean()
        assert Client().login(username=COPY, password=PASSWORD)


class TestTeams:
    def act(self, people, challenge, name: str):
        client = Client()
        client.force_login(people.owner)
        return client.patch(f"/api/v1/challenges/{challenge.slug}/team", json.dumps({"name": name}), "application/json")

    def test_a_team_that_everybody_sees_has_no_look_alikes(self, challenge, phase, people):
        board(challenge, phase, TeamFactory(challenge=challenge, name="Crest"))
        for name in ("Сrest", "CRЕST", "Crest\ufe0f", "Cr\u034fest"):
            answer = self.act(people, challenge, name)
            assert answer.status_code == 409 and answer.json()["code"] == "name_taken" and "Crest" in answer.json()["detail"], name
        assert self.act(people, challenge, "Crests").status_code == 200

    @pytest.mark.parametrize("why", ["no entry", "hidden", "board hidden", "withdrawn"])
    def test_a_refusal_tells_of_no_team_that_nobody_sees(self, challenge, phase, people, why):
        unseen = TeamFactory(challenge=challenge, name="Crest")
        flags = {"hidden": {"hidden_at": timezone.now()}, "withdrawn": {"withdrawn_at": timezone.now()}}
        if why != "no entry":
            board(challenge, phase, unseen, **flags.get(why, {}))
        if why == "board hidden":
            Phase.objects.filter(pk=phase.pk).update(board="hidden", board_at=phase.closes_at)
        assert self.act(people, challenge, "Сrest").status_code == 200

    def test_a_team_named_after_its_founder_gets_a_number_instead(self, challenge, phase, people):
        board(challenge, phase, TeamFactory(challenge=challenge, name="owner"))
        copy = UserFactory(username=COPY, email="copy@example.org")
        join(copy, TeamFactory(challenge=challenge, name="Valley of none"))
        copy.memberships.all().delete()
        assert Team.create(challenge, copy).name == f"{COPY} 2"

    def test_a_look_alike_of_their_own_name_may_be_changed(self, challenge, phase, people):
        people.team.name = "Сrest"
        people.team.save()
        board(challenge, phase, people.team)
        assert self.act(people, challenge, "Crest").status_code == 200
