"""A cache in the memory of a test process, for tests whose whole scene is one transaction."""

from __future__ import annotations

from django.core.cache.backends.locmem import LocMemCache


class MemoryCache(LocMemCache):
    def count(self, key: str, seconds: int) -> int:
        self.add(key, 0, seconds)
        return self.incr(key)
