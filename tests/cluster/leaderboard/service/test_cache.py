"""Redis goes away under the web processes. The promise: pages and uploads go on, and limits still hold."""

from __future__ import annotations

import time

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.core.management.base import CommandError
from redis.exceptions import RedisError

from leaderboard.service.cache import SteadyRedisCache
from submissions import throttling
from submissions.throttling import Rate, TooOften
from tests.environment import free_port

PER_HOUR = Rate(3, 3600)


def use(settings, url: str) -> None:
    """The caches of the cluster profile, on this Redis."""
    table = {"BACKEND": "leaderboard.service.cache.CountingDatabaseCache", "LOCATION": "plumbline_cache"}
    steady = {"BACKEND": "leaderboard.service.cache.SteadyRedisCache", "LOCATION": url, "OPTIONS": {"socket_connect_timeout": 2}}
    settings.CACHE_URL, settings.CACHES = url, {"default": steady, "database": table}


@pytest.fixture
def steady(settings, redis, db, monkeypatch):
    use(settings, redis.url)
    monkeypatch.setattr(SteadyRedisCache, "_away_until", 0.0)
    _until_it_answers()
    return redis


def _until_it_answers() -> None:
    for _ in range(100):
        try:
            return cache.ping()
        except RedisError:
            time.sleep(0.1)
    raise AssertionError("Redis did not start")


def test_limits_are_counted_in_redis_and_go_on_in_the_database_while_it_is_away(steady, caplog):
    for _ in range(3):
        throttling.count("test", "someone", PER_HOUR)
    with pytest.raises(TooOften):
        throttling.count("test", "someone", PER_HOUR)
    steady.kill()
    for _ in range(3):
        throttling.count("test", "someone", PER_HOUR)
    with pytest.raises(TooOften):
        throttling.count("test", "someone", PER_HOUR)
    warnings = [record.getMessage() for record in caplog.records if "Redis does not answer" in record.getMessage()]
    assert len(warnings) == 1, "said once for each rest, not for each request"
    steady.start()
    _until_it_answers()
    SteadyRedisCache._away_until = 0.0
    throttling.count("test", "someone", PER_HOUR)  # the Redis that came back knows nothing


def test_everything_a_cache_does_works_without_redis(settings, db, monkeypatch):
    use(settings, f"redis://127.0.0.1:{free_port()}/0")
    monkeypatch.setattr(SteadyRedisCache, "_away_until", 0.0)
    assert cache.add("a", 1, 60) is True and cache.add("a", 2, 60) is False
    assert cache.incr("a") == 2
    cache.set("b", [1.5], 60)
    cache.set_many({"c": "x", "d": "y"}, 60)
    assert cache.get("b") == [1.5] and cache.get_many(["c", "d", "e"]) == {"c": "x", "d": "y"}
    assert cache.touch("b", 60) is True and cache.has_key("b")
    assert cache.delete("b") is True and cache.get("b", "gone") == "gone"
    cache.delete_many(["c"])
    assert cache.get("c") is None
    cache.clear()
    assert cache.get("d") is None


def test_the_api_and_the_log_in_answer_while_redis_is_away(steady, phase, people, client):
    steady.kill()
    assert client.get(f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/manifest").status_code == 200
    people.owner.set_password("a long one to try")
    people.owner.save()
    answer = client.post("/accounts/login/", {"login": people.owner.username, "password": "a long one to try"})
    assert answer.status_code == 302


def test_the_doctor_names_a_redis_that_does_not_answer(settings, db, monkeypatch, capsys):
    use(settings, f"redis://127.0.0.1:{free_port()}/0")
    monkeypatch.setattr(SteadyRedisCache, "_away_until", 0.0)
    with pytest.raises(CommandError):
        call_command("doctor")
    assert "FAIL  cache" in capsys.readouterr().out
