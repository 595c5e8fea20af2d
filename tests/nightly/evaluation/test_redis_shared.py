"""Real workers of two installations on one Redis."""

from __future__ import annotations

import time

import pytest
from redis import Redis

from evaluation.models import Process
from submissions.models import Status, Submission
from tests.support.factories import archive, received
from tests.support.processes import Worker, sweeping, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_worker_of_another_installation_is_not_woken(phase, people, references, redis, settings):
    """Both look at the same database here, so that only the prefix keeps the other from the entry."""
    settings.LEASE_SECONDS = 60
    shared = {"PLUMBLINE_BROKER_URL": redis.url}
    with Worker(**shared, PLUMBLINE_REDIS_PREFIX="other") as other, sweeping(**shared):
        wait_until(lambda: Process.objects.filter(name__endswith=f":{other.process.pid}").exists(), what="the other's worker")
        entry = received(phase, people.team, archive(references))
        server = Redis.from_url(redis.url)
        wait_until(lambda: server.llen(f"{settings.REDIS_PREFIX}:cpu") > 2, what="nudges")
        time.sleep(1)
        assert Submission.objects.get(pk=entry.pk).status == Status.RECEIVED
        with Worker(**shared):
            wait_until(lambda: Submission.objects.get(pk=entry.pk).status == Status.SCORED, what="the score")
    assert {key.split(b":")[0] for key in server.scan_iter()} == {settings.REDIS_PREFIX.encode(), b"other"}
