"""A disk without room: what waits there goes on waiting, with no attempt used, and is scored when there is room again."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.utils import timezone

from evaluation.models import Part
from evaluation.work import worker
from evaluation.work.attempts import attempt
from leaderboard.service.health import probe_disk
from submissions.models import Status, Submission
from tests.support.factories import PhaseFactory, archive, gables, give_reference, perturbed, received
from tests.support.small_disk import fill

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def phase(small_disk, settings, challenge):
    """Its files, the folders of jobs, and of the embedded profile the queue, are on the small disk."""
    settings.HOME = small_disk
    phase = PhaseFactory(challenge=challenge)
    give_reference(phase, gables(8))
    return phase


def sent(phase, people, n: int = 2) -> list[Submission]:
    return [received(phase, people.team, archive(perturbed(gables(8), 0.1, seed=k))) for k in range(n)]


def no_attempt_is_used() -> bool:
    entries = Submission.objects.exclude(attempts=0, losses=0, reason="")
    return not entries.exists() and not Part.objects.exclude(attempts__lte=1, losses=0, reason="").exists()


@pytest.mark.parametrize("blocks_left", [0, 2])
def test_entries_wait_for_room_and_are_scored_when_there_is_some(phase, people, small_disk, blocks_left):
    """At whichever file it is that there is no room for: the upload's copy, the job, what the process writes."""
    entries = sent(phase, people)
    for status in (Status.RECEIVED, Status.SCORING):
        fill(small_disk, blocks_left)
        for _ in range(5):
            Submission.objects.update(lease_until=None)
            Part.objects.update(lease_until=None)
            worker.drain()
        assert set(Submission.objects.values_list("status", flat=True)) == {status} and no_attempt_is_used()
        (small_disk / "filler").unlink()
        Submission.objects.update(lease_until=None)
        while status == Status.RECEIVED and (held := Submission.objects.to_validate().claim("w", status=Status.CLAIMED)):
            worker.check(held)
    Part.objects.update(lease_until=None)
    worker.drain()
    assert set(Submission.objects.values_list("status", flat=True)) == {Status.SCORED} and no_attempt_is_used()
    assert len(entries) == 2


def test_ready_and_doctor_say_how_much_room_is_needed_and_where(phase, small_disk, client, settings, capsys):
    settings.FREE_BYTES = 1_000_000
    assert "disk" not in client.get("/-/ready").json()["failed"] and "free below" in probe_disk()
    fill(small_disk, 100)
    answer = client.get("/-/ready")
    sentence = "0 MB are free below PLUMBLINE_HOME, and 1 MB are needed (PLUMBLINE_FREE_BYTES): make room there; work waits meanwhile."
    assert answer.status_code == 503 and answer.json()["failed"]["disk"] == sentence
    with pytest.raises(CommandError):
        call_command("doctor")
    assert f"FAIL  disk      {sentence}" in capsys.readouterr().out


def test_a_full_database_is_waited_for(phase, people):
    (entry,) = sent(phase, people, 1)
    held = Submission.objects.to_validate().claim("w", status=Status.CLAIMED)
    with attempt(held, held.received_at):
        raise OperationalError("database or disk is full")
    entry.refresh_from_db()
    assert (entry.status, entry.attempts, entry.losses) == (Status.RECEIVED, 0, 0) and entry.lease_until > timezone.now()
