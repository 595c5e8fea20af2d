"""Every process says that it lives. The promise: who is there is known, who is gone is not counted on, and rows are few."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from evaluation.celery import BESIDE
from evaluation.models import Process
from evaluation.models import process as module
from tests.support.processes import Worker, environment, sweeping, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
LEASE = 60  # seconds; short ones run out on a machine that does much else


@pytest.fixture(autouse=True)
def lease(settings):
    settings.LEASE_SECONDS = LEASE


def asked(kind: str) -> str:
    """Answer of a container's health check."""
    out = StringIO()
    try:
        call_command("heartbeat", kind, stdout=out)
    except CommandError as error:
        return f"unhealthy: {error}"
    return out.getvalue()


def missing(client) -> set[str]:
    """Missing processes, as whoever watches the service reads them."""
    return {"workers", "sweeper"} & {*client.get("/-/ready").json()["failed"]}


def test_a_worker_is_known_by_its_queues_until_it_stops_or_ends(client, settings):
    with Worker("cpu,gpu") as worker:
        wait_until(lambda: Process.objects.listeners() == dict.fromkeys(("cpu", "gpu", *BESIDE), 1), what="the worker's heartbeat")
        (row,) = Process.objects.live()
        assert row.kind == Process.Kind.WORKER and row.name.endswith(f":{worker.process.pid}")
        assert "is alive" in asked("worker") and missing(client) == {"sweeper"}
        os.killpg(worker.process.pid, signal.SIGSTOP)
        settings.LEASE_SECONDS = 1  # which nobody need keep to who stands still
        wait_until(lambda: not Process.objects.listeners(), what="the end of its lease")
        assert missing(client) == {"workers", "sweeper"}
        command = [sys.executable, "manage.py", "heartbeat", "worker"]
        env = environment(PLUMBLINE_LEASE_SECONDS="1")
        unhealthy = subprocess.run(command, env=env, cwd=settings.BASE_DIR, capture_output=True, text=True)
        assert unhealthy.returncode == 1 and "last heard of" in unhealthy.stderr and "Traceback" not in unhealthy.stderr
        settings.LEASE_SECONDS = LEASE
        os.killpg(worker.process.pid, signal.SIGCONT)
        wait_until(lambda: Process.objects.listeners()["cpu"] == 1, what="its heartbeat again")
    assert not Process.objects.exists(), "one that ends in order takes its row with it"


def test_the_sweeper_says_that_it_lives_and_when_it_last_ended_a_round(client):
    assert "not been heard" in asked("sweeper")
    with sweeping():
        wait_until(lambda: Process.objects.live().filter(worked_at__isnull=False).exists(), what="the first round")
        first = Process.objects.get(kind=Process.Kind.SWEEPER).worked_at
        wait_until(lambda: Process.objects.get(kind=Process.Kind.SWEEPER).worked_at > first, what="the second round")
        assert "is alive" in asked("sweeper") and missing(client) == {"workers"}
    assert not Process.objects.exists()


def rows(*ages: timedelta, kind: str = Process.Kind.WORKER) -> None:
    now = timezone.now()
    for age in ages:
        Process.objects.create(kind=kind, name=f"h:{Process.objects.count()}", started_at=now - age, seen_at=now - age)


def test_who_is_long_gone_is_forgotten_but_for_the_last_of_each_kind():
    minute = timedelta(minutes=1)
    rows(timedelta(0), 50 * minute, 70 * minute)
    rows(80 * minute, 90 * minute, kind=Process.Kind.SWEEPER)
    assert Process.forget() == 2
    left = [(row.kind, round((timezone.now() - row.seen_at) / minute)) for row in Process.objects.order_by("seen_at")]
    assert left == [("sweeper", 80), ("worker", 50), ("worker", 0)]


def test_one_that_ends_again_and_again_does_not_fill_the_table(monkeypatch):
    monkeypatch.setattr(module, "MAX_ROWS", 3)
    rows(timedelta(0), *(timedelta(minutes=n) for n in range(10, 20)))
    Process.forget()
    assert Process.objects.count() == 4, "the live one and the newest three"
