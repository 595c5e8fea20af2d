"""Operators can look at every row, search it, and read tracebacks; nobody else gets in."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib import admin
from django.urls import reverse

from submissions.entry_states import Reason, Why
from submissions.models import Submission
from tests.support.factories import archive, gables, received

OURS = [model for app in ("submissions", "evaluation", "leaderboard") for model in apps.get_app_config(app).get_models()]


def test_every_model_can_be_listed_and_searched(client, people, phase):
    client.force_login(people.staff)
    for model in OURS:
        assert model in admin.site._registry
        address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        assert client.get(address).status_code == 200, model
        assert client.get(address, {"q": "12"}).status_code == 200, model


def test_the_traceback_of_a_failed_entry_is_there_and_cannot_be_edited(client, people, phase):
    entry = received(phase, people.team, archive(gables()))
    entry.fail(Why(Reason.ERROR), "Traceback: line 7")
    client.force_login(people.staff)
    address = reverse("admin:submissions_submission_change", args=[entry.pk])
    answer = client.get(address)
    assert "Traceback: line 7" in answer.content.decode()
    assert 'name="status"' not in answer.content.decode()
    assert client.post(address, {"status": "scored"}).status_code == 403
    assert Submission.objects.get().status == "failed"


@pytest.mark.parametrize("name", ["anonymous", "stranger", "owner", "organizer"])
def test_nobody_but_staff_gets_in(client, people, name):
    if name != "anonymous":
        client.force_login(people.users()[name])
    assert client.get(reverse("admin:submissions_submission_changelist")).status_code == 302


def test_secrets_are_not_shown(client, people):
    people.team.invite_hash = "f" * 64
    people.team.save()
    client.force_login(people.staff)
    assert "f" * 64 not in client.get(reverse("admin:submissions_team_change", args=[people.team.pk])).content.decode()
