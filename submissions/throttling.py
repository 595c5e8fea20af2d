"""Limits of how often somebody may ask, and of simultaneous requests. Frequency is counted in the cache, which all web processes share;
simultaneous requests concern one process, and are counted there.

Log-in, sign-up and the other account pages are limited by django-allauth itself, see
ACCOUNT_RATE_LIMITS in the settings.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import BoundedSemaphore, Lock

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest

from submissions.errors import Refused

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class TooOften(Refused):
    """Asked too often: `retry_at` says when to try again."""

    code_name, status = "too_many_requests", 429
    retry_at: datetime

    def __init__(self, sentence: str, retry_at: datetime) -> None:
        super().__init__(sentence, self.code_name, retry_at)

    @property
    def seconds(self) -> int:
        """Whole seconds to wait, at least one; what the Retry-After header says."""
        return max(1, int((self.retry_at - datetime.now(UTC)).total_seconds()) + 1)


class Busy(TooOften):
    """Raised if the server has as many requests in progress as it allows."""

    code_name, status = "busy", 503


@dataclass(frozen=True)
class Rate:
    """At most `amount` in each window of `seconds`."""

    amount: int
    seconds: int

    @classmethod
    def parse(cls, text: str) -> Rate:
        """`60/h`, `300/m`, `10/30s`."""
        amount, _, window = text.partition("/")
        unit, number = window[-1:], window[:-1]
        if not amount.isdigit() or unit not in _SECONDS or (number and not number.isdigit()):
            raise ValueError(f"{text!r} is not a rate; write for example 60/h")
        return cls(int(amount), int(number or 1) * _SECONDS[unit])


INVITE_RATE = Rate(30, _SECONDS["d"])
REGIONS_RATE = Rate(120, _SECONDS["h"])
PREVIEW_RATE = Rate(30, _SECONDS["m"])
MODEL_RATE = Rate(30, _SECONDS["d"])
JOIN_RATE = Rate(60, _SECONDS["h"])  # of one address: a class that rates together sits behind one


def who(request: HttpRequest) -> str:
    """The person, or the address of somebody who has not logged in."""
    if request.user.is_authenticated:
        return f"user{request.user.pk}"
    return "ip" + hashlib.sha256(str(get_adapter().get_client_ip(request)).encode()).hexdigest()[:24]


def count(name: str, key: str, rate: Rate, now: float | None = None) -> None:
    """Count one `name` by `key`; raises `TooOften` beyond the rate.

    Windows are fixed, so around the turn of one up to twice the amount may pass. Within one, requests at the same moment are all
    counted: the cache counts in one step. A refused request counts too.
    """
    now = time.time() if now is None else now
    window = int(now // rate.seconds)
    used = cache.count(f"rate:{name}:{key}:{rate.seconds}:{window}", rate.seconds + 5)
    if used > rate.amount:
        retry_at = datetime.fromtimestamp((window + 1) * rate.seconds, UTC)
        wait = max(1, round((window + 1) * rate.seconds - now))
        raise TooOften(f"That was more than {rate.amount} requests of this kind; try again in {wait} seconds.", retry_at)


class AtOnce:
    """Places of a web process for requests that take long: `all_places` of them, and for one client as many as PAGES_AT_ONCE says. Of the
    requests that have a place `workers` work at a time, because threads share one interpreter."""

    RETRY_SECONDS = 2

    def __init__(self, all_places: int, workers: int) -> None:
        self.all_places = all_places
        self._workers = BoundedSemaphore(workers)
        self._lock = Lock()
        self._by: Counter[str] = Counter()

    @contextmanager
    def place(self, client: str) -> Iterator[None]:
        """A place for the time of a `with`; raises `TooOften` or `Busy` immediately if there is none."""
        with self._lock:
            retry_at = datetime.now(UTC) + timedelta(seconds=self.RETRY_SECONDS)
            if self._by[client] >= settings.PAGES_AT_ONCE:
                raise TooOften(
                    f"You are asking for more than {settings.PAGES_AT_ONCE} pages of this kind at once; ask again in a moment, "
                    "one after the other.",
                    retry_at,
                )
            if self._by.total() >= self.all_places:
                raise Busy("Many people are looking at pages of this kind just now; ask again in a moment.", retry_at)
            self._by[client] += 1
        try:
            with self._workers:
                yield
        finally:
            with self._lock:
                self._by[client] -= 1
                self._by += Counter()  # forget those who have none left


# A web process has 16 threads (see deploy/Containerfile): the others answer what is quick, such as /-/health.
LONG_REQUESTS = AtOnce(all_places=12, workers=4)


def limit_api(request: HttpRequest) -> None:
    """One call of the API."""
    text = settings.API_RATE if request.user.is_authenticated else settings.API_RATE_ANONYMOUS
    count("api", who(request), Rate.parse(text))


def limit_uploads(request: HttpRequest) -> None:
    """One reservation of an upload, from a page or the API."""
    count("upload", who(request), Rate.parse(settings.UPLOAD_RATE))


def limit_references(request: HttpRequest) -> None:
    """One reference that is read while the person waits."""
    count("reference", who(request), Rate.parse(settings.REFERENCE_RATE))


def limit_previews(request: HttpRequest) -> None:
    """One Markdown text that is laid out while its author writes."""
    count("preview", who(request), PREVIEW_RATE)


def limit_regions(request: HttpRequest) -> None:
    """One reference with other regions, which is a whole new version in the storage."""
    count("regions", who(request), REGIONS_RATE)


def limit_tokens(request: HttpRequest) -> None:
    """One new API token."""
    count("token", who(request), Rate.parse(settings.TOKEN_RATE))


def limit_invites(request: HttpRequest) -> None:
    """One invitation by e-mail. A team has its own limit, but a member who leaves for a new team begins again there."""
    count("invite", who(request), INVITE_RATE)


def limit_model(request: HttpRequest) -> None:
    """One question to a language model while the person waits, which costs the operator."""
    count("model", who(request), MODEL_RATE)


def limit_joins(request: HttpRequest) -> None:
    """One more rater of a study."""
    count("rater", who(request), JOIN_RATE)
