"""Baselines that organizers upload: without a team, outside the dates and tries of the phase, and never competing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from evaluation.work.worker import drain
from leaderboard.models import Snapshot
from leaderboard.tasks import build_due_boards
from submissions.models import AuditEntry, Membership, Phase, Submission
from tests.support.factories import archive, gables, perturbed
from tests.support.pages import faults

pytestmark = pytest.mark.django_db


def sent(name: str = "Nearest neighbour", data: bytes | None = None, **more: str) -> dict:
    data = archive(perturbed(gables(), 0.2, seed=len(name))) if data is None else data
    return {"method_name": name, "file": SimpleUploadedFile("entry.zip", data)} | more


def test_a_baseline_comes_in_without_a_team_and_competes_with_nobody(desk, phase, people, at, scored, django_capture_on_commit_callbacks):
    entry = scored(0.4)
    teams = set(phase.challenge.teams.joined())
    desk.post(at(f"phases/{phase.slug}/baselines/"), sent())
    baseline = Submission.objects.get(method_name="Nearest neighbour")
    assert baseline.is_baseline and not Membership.objects.filter(user=people.organizer).exists()
    drain()
    build_due_boards(timezone.now() + timedelta(minutes=1))
    board = Snapshot.current(phase, Snapshot.Audience.PUBLIC).board
    by_id = {row.id: (row.baseline, rank) for row, rank in zip(board.entries, board.overall.rank, strict=True)}
    assert by_id == {entry.pk: (False, 1), baseline.pk: (True, None)}  # although it is better
    # Its team has no members, takes part in no count, and is there once.
    assert set(phase.challenge.teams.joined()) == teams
    desk.post(at(f"phases/{phase.slug}/baselines/"), sent("Convex hull"))
    assert Submission.objects.get(method_name="Convex hull").team == baseline.team and not baseline.team.memberships.exists()
    rows = desk.get(at(f"phases/{phase.slug}/baselines/")).context["rows"]
    assert [row.method_name for row in rows] == ["Convex hull", "Nearest neighbour"]
    assert AuditEntry.objects.filter(action="submission.baseline").count() == 2


def test_no_date_and_no_limit_holds_a_baseline_back(desk, phase, at):
    for values in (
        {"opens_at": timezone.now() + timedelta(days=1)},
        {"opens_at": timezone.now() - timedelta(days=2), "closes_at": timezone.now() - timedelta(days=1)},
        {"limit_total": 0, "limit_per_day": 0, "limit_at_once": 1},
    ):
        Phase.objects.filter(pk=phase.pk).update(**values)
        assert desk.post(at(f"phases/{phase.slug}/baselines/"), sent(", ".join(values))).status_code == 302
    assert Submission.objects.filter(is_baseline=True, status="received").count() == 3


def test_what_a_baseline_cannot_be_is_said_in_the_form_and_leaves_no_team(desk, phase, at):
    answer = desk.post(at(f"phases/{phase.slug}/baselines/"), sent(data=b""))
    assert answer.status_code == 422 and faults(answer) == {"file": ["empty"]}
    Phase.objects.filter(pk=phase.pk).update(max_archive_bytes=10)
    answer = desk.post(at(f"phases/{phase.slug}/baselines/"), sent())
    assert answer.status_code == 409 and faults(answer) == {"__all__": ["too_large"]}
    Phase.objects.filter(pk=phase.pk).update(max_archive_bytes=10**6, manifest_data={})
    answer = desk.post(at(f"phases/{phase.slug}/baselines/"), sent())
    assert answer.status_code == 409 and faults(answer) == {"__all__": ["no_reference"]}
    assert not Submission.objects.exists() and not phase.challenge.teams.filter(name="Baselines").exists()


def test_a_forged_form_uploads_nothing(phase, people, at):
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.organizer)
    assert client.post(at(f"phases/{phase.slug}/baselines/"), sent()).status_code == 403
    assert not Submission.objects.exists()
