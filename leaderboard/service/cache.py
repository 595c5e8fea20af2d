"""The caches: the database, or Redis and the database while Redis is away.

Every request of the API and every log-in counts in the cache, so it may neither fail with Redis nor stop counting: an attacker who tries
passwords would wait for that. Beside what Django's caches do, both count in one step (`count`): with a read and a write, requests at the
same moment would count as one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar

import structlog
from django.core.cache import caches
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.db import DatabaseCache
from django.core.cache.backends.redis import RedisCache
from django.db import DatabaseError, connection, transaction
from redis.exceptions import RedisError

from submissions.models import RateCount
from submissions.outages import outage

log = structlog.get_logger(__name__)

REST_SECONDS = 5.0  # after a failure Redis is left alone for so long, or each request would wait for it
FALLBACK = "database"  # the cache of that name in CACHES


class CountingDatabaseCache(DatabaseCache):
    """Django's table of the database, with counts in a table of their own, in which a full or silent database is an error."""

    def count(self, key: str, seconds: int) -> int:
        """Add one to the count of a key; return the count. It is kept for `seconds` at least."""
        return RateCount.add(self.make_and_validate_key(key), seconds)

    def _base_set(self, mode: str, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT) -> bool:
        """Django's own answers "not set" to every error of the database, which would be reported as too many tries of a password."""
        failures: list[DatabaseError] = []

        def note(execute: Callable[..., Any], *arguments: Any) -> Any:
            try:
                return execute(*arguments)
            except DatabaseError as error:
                failures.append(error)
                raise

        with transaction.atomic(), connection.execute_wrapper(note):  # the end of a transaction of Django's own would be answered so too
            done = super()._base_set(mode, key, value, timeout)
            for error in failures:
                if outage(error):
                    raise error
        return done


class OwnRedisCache(RedisCache):
    """Redis, in which others may have keys too."""

    def count(self, key: str, seconds: int) -> int:
        """Add one to the count of a key; return the count. It is kept for `seconds` after it was last added to."""
        name = self.make_and_validate_key(key)
        with self._cache.get_client(write=True).pipeline() as pipeline:
            return pipeline.incr(name).expire(name, seconds).execute()[0]

    def clear(self) -> bool:
        """Remove what has this cache's prefix, not all that the database holds."""
        client = self._cache.get_client(write=True)
        for key in client.scan_iter(self.make_key("*"), count=1000):
            client.delete(key)
        return True


class SteadyRedisCache(OwnRedisCache):
    """Redis; while it fails, what is asked of it is asked of the cache `FALLBACK`.

    The two do not share their counts, so around an outage up to twice the amount of a limit may pass.
    """

    _away_until: ClassVar[float] = 0.0  # monotonic; of the process

    def ping(self) -> None:
        """Raises RedisError where Redis itself does not answer, for those who want to know."""
        self._cache.get_client(write=True).ping()

    def _steadily(self, act: str, *arguments: Any, **options: Any) -> Any:
        if time.monotonic() >= SteadyRedisCache._away_until:
            try:
                return getattr(super(), act)(*arguments, **options)
            except RedisError as error:
                SteadyRedisCache._away_until = time.monotonic() + REST_SECONDS
                log.warning("Redis does not answer; the limits are counted in the database meanwhile", error=str(error))
        return getattr(caches[FALLBACK], act)(*arguments, **options)

    def add(self, *arguments: Any, **options: Any) -> bool:
        return self._steadily("add", *arguments, **options)

    def get(self, *arguments: Any, **options: Any) -> Any:
        return self._steadily("get", *arguments, **options)

    def set(self, *arguments: Any, **options: Any) -> None:
        self._steadily("set", *arguments, **options)

    def count(self, key: str, seconds: int) -> int:
        return self._steadily("count", key, seconds)

    def touch(self, *arguments: Any, **options: Any) -> bool:
        return self._steadily("touch", *arguments, **options)

    def delete(self, *arguments: Any, **options: Any) -> bool:
        return self._steadily("delete", *arguments, **options)

    def get_many(self, *arguments: Any, **options: Any) -> dict:
        return self._steadily("get_many", *arguments, **options)

    def has_key(self, *arguments: Any, **options: Any) -> bool:
        return self._steadily("has_key", *arguments, **options)

    def incr(self, *arguments: Any, **options: Any) -> int:
        return self._steadily("incr", *arguments, **options)

    def set_many(self, *arguments: Any, **options: Any) -> list:
        return self._steadily("set_many", *arguments, **options)

    def delete_many(self, *arguments: Any, **options: Any) -> None:
        self._steadily("delete_many", *arguments, **options)

    def clear(self) -> bool:
        return self._steadily("clear")
