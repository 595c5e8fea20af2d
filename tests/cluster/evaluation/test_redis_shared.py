"""Two installations on one Redis. The promise: neither sees, takes or removes anything of the other."""

from __future__ import annotations

from queue import Empty

import pytest
from celery import Celery
from django.core.cache import cache
from redis import Redis
from redis.exceptions import ConnectionError

from evaluation.celery import _redis_broker
from leaderboard.management.commands.doctor import Command
from leaderboard.service.cache import SteadyRedisCache
from tests.cluster.leaderboard.service.test_cache import use
from tests.support.processes import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_nudge_wakes_nobody_of_another_installation(redis, settings):
    """Both read the queue of the same name; with real workers it is tried at night."""
    settings.BROKER_URL = redis.url
    wait_until(lambda: _answers(Redis.from_url(redis.url)), what="Redis")
    nudges = {}
    for settings.REDIS_PREFIX in ("one", "two"):
        app = Celery(settings.REDIS_PREFIX, set_as_current=False)
        app.conf.update(_redis_broker())
        nudges[settings.REDIS_PREFIX] = app.connection_for_write().SimpleQueue("cpu")
    nudges["one"].put("nudge")
    with pytest.raises(Empty):
        nudges["two"].get(timeout=1)
    assert nudges["one"].get(timeout=10).payload == "nudge"
    for queue in nudges.values():
        queue.channel.connection.client.close()


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
    assert b"one:1:name" in left and [key for key in left if key.startswith(b"two:")] == []


def test_the_doctor_names_what_others_have_there_and_what_is_old(redis, settings):
    settings.BROKER_URL, settings.CACHE_URL, settings.REDIS_PREFIX = redis.url, "", "boards"
    server = Redis.from_url(redis.url)
    wait_until(lambda: _answers(server), what="Redis")
    server.rpush("boards:cpu", "nudge")
    server.rpush("trial:gpu", "nudge")
    server.set("trial:1:limit", 1)
    assert Command()._redis().startswith("1 key ") and "prefix trial" in Command()._redis()
    server.rpush("cpu", "an old nudge")
    server.set("_kombu.binding.cpu", 1)
    assert "2 without a prefix" in Command()._redis()
    settings.BROKER_URL = ""
    assert Command()._redis() == "none is used"


def _answers(server: Redis) -> bool:
    try:
        return server.ping()
    except ConnectionError:
        return False
