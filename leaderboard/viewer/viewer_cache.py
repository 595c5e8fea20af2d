"""Cache of the 3D view's data, computed once: stored under the hash of all they depend on, which is also the ETag.

Nothing under a storage key changes, so neither does what was made of it. Every request checks first whether the viewer may see it. Browsers
keep a copy and ask each time whether it is still current.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from django.http import HttpRequest, HttpResponse

from leaderboard.api.service import problem
from leaderboard.service.responses import revalidated
from submissions.storage import stored_files
from submissions.storage.store import StorageError

log = structlog.get_logger(__name__)

BUSY_SECONDS = 30  # then a browser that waits for its turn is told to come again
_HEAVY = threading.Lock()  # meshes of millions of faces take a gigabyte: one at a time in a process


def cached_response(
    request: HttpRequest,
    submission_id: int,
    facts: Mapping[str, Any],
    kind: tuple[str, str],
    compute: Callable[[], bytes],
    heavy: bool = False,
) -> HttpResponse:
    """The stored answer of an entry that depends on `facts` alone, made by `compute` if it is not there
    yet. `kind` is its suffix and its content type."""
    suffix, content_type = kind
    etag = f'"{_digest(facts, suffix)}"'

    def answer() -> HttpResponse:
        data = once(str(submission_id), facts, suffix, compute, heavy)
        if data is not None:
            return HttpResponse(data, content_type=content_type)
        busy = problem(503, "Other meshes are being prepared; load the page again in a minute.", "busy")
        busy["Retry-After"] = str(BUSY_SECONDS)
        return busy

    return revalidated(request, etag, answer)


def once(owner: str, facts: Mapping[str, Any], suffix: str, compute: Callable[[], bytes], heavy: bool = False) -> bytes | None:
    """Return data that depend on `facts` alone. They are kept beside other drawings of `owner` (an entry's number, say), and made by
    `compute` if missing. None where it is heavy and this request's turn does not come for long."""
    key = f"geometry/{owner}/{_digest(facts, suffix)}.{suffix}"
    found = _read(key)
    if found is not None:
        return found
    is_mine = not heavy or _HEAVY.acquire(timeout=BUSY_SECONDS)
    if not is_mine:
        return None
    try:
        data = _read(key) or compute()  # who had the turn before may have made it
    finally:
        if heavy:
            _HEAVY.release()
    try:
        stored_files.store().save_bytes(key, data)
    except StorageError as error:
        log.warning("what the 3D view is sent was not stored and will be computed again", error=str(error))
    return data


def _digest(facts: Mapping[str, Any], suffix: str) -> str:
    return hashlib.sha256(json.dumps([suffix, facts], sort_keys=True).encode()).hexdigest()


def _read(key: str) -> bytes | None:
    try:
        return stored_files.store().read(key)
    except FileNotFoundError:
        return None
