"""Machines whose clocks are wrong. The promise: their workers work as others do, take nothing from others, and operators are told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from evaluation.models import Part, Process
from evaluation.work.sweep import sweep
from leaderboard.service import health
from submissions import worker_notify
from submissions.models import Status, Submission
from tests import environment
from tests.conftest import need
from tests.support.factories import archive, perturbed, received
from tests.support.processes import Worker, forget_nudges, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def is_scored(entry: Submission) -> bool:
    return Submission.objects.get(pk=entry.pk).status == Status.SCORED


@pytest.fixture(params=[90, -40], ids=["ahead", "behind"])
def skewed(request, settings) -> Iterator[int]:
    """Seconds that the clock of a worker, which runs meanwhile, is ahead of this machine's and the database's."""
    if not environment.CLUSTER:
        pytest.skip("with SQLite the database has the clock of the worker's machine")
    need("faketime")
    settings.LEASE_SECONDS = 30.0
    forget_nudges()
    library = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    wrong = {"LD_PRELOAD": str(library), "FAKETIME": f"{request.param:+}s", "NO_FAKE_STAT": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    with Worker(PLUMBLINE_LEASE_SECONDS="30", **wrong):
        wait_until(Process.objects.all().exists, what="the worker's heartbeat")
        yield request.param


def test_a_worker_with_a_wrong_clock_works_and_leaves_others_their_leases(skewed, phase, people, references):
    with pytest.MonkeyPatch.context() as patch, transaction.atomic():  # the worker sees the entry once it is held
        patch.setattr(worker_notify, "send", lambda *_, **__: True)
        mine = received(phase, people.team, archive(references), method_name="mine")
        held = Submission.objects.filter(pk=mine.pk).claim("here", status=Status.CLAIMED)
    other = received(phase, people.other_team, archive(perturbed(references, 0.1)), method_name="other")
    wait_until(lambda: is_scored(other), what="the score of the entry that was announced")
    wait_until(lambda: not sweep()["cpu"], what="the end of all work")
    assert held.heartbeat(), "nobody else took it"
    assert not Submission.objects.filter(losses__gt=0).exists() and not Part.objects.filter(losses__gt=0).exists()
    wait_until(lambda: Process.objects.listeners()["cpu"] == 1, what="the worker's next heartbeat")
    with pytest.raises(health.Unready, match=r"^The clock of 1 process differs from the database's, by up to "):
        health.probe_clocks()
    (row,) = Process.objects.all()
    assert row.clock_ahead == pytest.approx(skewed, abs=1) and abs((row.started_at - timezone.now()).total_seconds()) < 600
    begun = Part.objects.filter(evaluation__submission=other).values_list("started_at", flat=True)
    assert [at for at in begun if not abs((timezone.now() - at).total_seconds()) < 30] == [], "moments of work are the database's"


def test_a_worker_finds_work_that_nobody_announced(phase, people, references, monkeypatch):
    """No nudge arrives and nothing is swept, as where Redis is emptied again and again."""
    monkeypatch.setattr(worker_notify, "send", lambda *_, **__: True)
    entry = received(phase, people.team, archive(references))
    forget_nudges()
    with Worker():
        wait_until(lambda: is_scored(entry), what="the score")


def test_machines_with_another_time_are_told_to_operators_by_name_and_to_others_by_number(client, settings):
    settings.LEASE_SECONDS = 600.0
    health.probe_clocks(named=True)
    now = timezone.now()
    for name, ahead in (("right:1", 4.9), ("fast:2", 62.3), ("slow:3", -6.1)):
        Process.objects.create(kind="worker", name=name, queues=["cpu"], started_at=now, seen_at=now, clock_ahead=ahead)
    Process.objects.create(kind="worker", name="gone:4", started_at=now, seen_at=now - timedelta(hours=1), clock_ahead=900)
    answer = client.get("/-/ready").json()
    assert "2 processes" in answer["notes"]["clocks"] and "62 s" in answer["notes"]["clocks"] and "fast" not in str(answer)
    assert "2 processes" in client.get("/status/").content.decode()
    with pytest.raises(health.Unready, match=r"the machine of worker fast:2 is 62 s ahead, worker slow:3 is 6 s behind; have these"):
        health.probe_clocks(named=True)
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("doctor", stdout=out)
    (line,) = [line for line in out.getvalue().splitlines() if "  clocks  " in line]
    assert line.startswith("FAIL ") and "fast:2" in line


def test_what_a_machine_measures_of_its_clock_is_no_longer_than_the_answer_took(monkeypatch):
    """A beat of a process on a machine that does much else."""
    now = timezone.now()
    looks = iter([now, now + timedelta(seconds=20)])
    monkeypatch.setattr("evaluation.models.process.timezone.now", lambda: next(looks))
    monkeypatch.setattr("evaluation.models.process.database_clock.read", lambda: now + timedelta(seconds=19))
    Process.beat(Process.Kind.WEB, "slow:1", now)
    assert Process.objects.get().clock_ahead == 0.0
