"""Two installations on one Redis. The promise: neither sees, takes or removes anything of the other."""

from __future__ import annotations

import time

import pytest
from django.core.cache import cache
from redis import Redis
from redis.exceptions import ConnectionError

from evaluation.models import Process
from leaderboard.cache import SteadyRedisCache
from leaderboard.management.commands.doctor import Command
from submissions.models import Status, Submission
from tests.cluster.leaderboard.test_cache import use
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


def test_caches_of_two_installations_hold_apart_and_are_emptied_apart(redis, settings, monkeypatch):
    server = Redis.from_url(redis.url)
    wait_until(lambda: _answers(server), what="Redis")
    monkeypatch.setattr(SteadyRedisCache, "_away_until", 0.0)
    for name in ("one", "two"):
        use(settings, redis.url)
        settings.CACHES["default"]["KEY_PREFIX"] = name
        settings.CACHES = settings.CACHES
        assert cache.get("name") is None
        cache.set("name", name)
    assert {b"one:1:name", b"two:1:name"} <= set(server.scan_iter())
    cache.clear()
    left = set(server.scan_iter())
    assert b"one:1:name" in left and not any(key.startswith(b"two:") for key in left)


def test_the_doctor_names_what_others_have_there_and_what_is_old(redis, settings):
    settings.BROKER_URL, settings.CACHE_URL, settings.REDIS_PREFIX = redis.url, "", "boards"
    server = Redis.from_url(redis.url)
    wait_until(lambda: _answers(server), what="Redis")
    server.rpush("boards:cpu", "nudge")
    server.rpush("trial:gpu", "nudge")
    server.set("trial:1:limit", 1)
    assert Command()._redis() == "1 keys of this installation (boards); 2 of the prefix trial with the queues gpu"
    server.rpush("cpu", "an old nudge")
    server.set("_kombu.binding.cpu", 1)
    assert (
        Command()
        ._redis()
        .endswith(
            "2 without a prefix (the queues cpu among them), of versions before prefixes or of another program; nothing here reads them"
        )
    )
    settings.BROKER_URL = ""
    assert Command()._redis() == "none is used"


def _answers(server: Redis) -> bool:
    try:
        return server.ping()
    except ConnectionError:
        return False
