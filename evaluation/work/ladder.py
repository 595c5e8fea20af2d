"""The ladder of what may end an attempt at a leased row early, and whose doing it was: said once for all kinds of work."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import structlog
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from evaluation.work import missing_weights
from evaluation.work.sandbox import JobFailed, LeaseLost
from submissions.leases import Leased
from submissions.storage import stored_files

log = structlog.get_logger(__name__)

AWAY_SECONDS = 15.0  # how long work waits where storage or database do not answer, or have no room
AWAY_AT_MOST = timedelta(days=1)  # then an entry fails like any other
FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def attempt(row: Leased, since: datetime | None = None) -> Iterator[None]:
    """One attempt at a claimed row. Whatever ends it early is put down to whom it belongs:

    - the row is somebody else's now: nothing is written;
    - storage, database or disk are away or full: no attempt, the row waits (for a day from `since` on, if given);
    - this worker has not the weights, or other code: no attempt, the row is left to a worker that has them;
    - the process that did it was killed from outside: a loss, as of the worker itself;
    - all else (memory, time, an exception) is the row's own doing, and counts.
    """
    try:
        yield
    except LeaseLost:
        log.info("lease lost", row=str(row))
    except JobFailed as error:
        if error.is_lacking:
            missing_weights.leave(row, error.sentence)
        elif error.end == "killed":
            row.lose(error.detail)
        elif error.end == "room":
            _wait_or_fail(row, since, error.sentence, error.detail)
        else:
            _failed(row, error.sentence, error.detail, error.end == "memory")
    except Exception as error:
        if is_away(error):
            connection.close_if_unusable_or_obsolete()
            _wait_or_fail(row, since, str(error), traceback.format_exc())
        else:
            _failed(row, "An error in the service stopped it.", traceback.format_exc(), False)


def is_away(error: BaseException) -> bool:
    """Whether it says that storage or database do not answer, or that a disk is full: an outage of seconds would else fail
    every entry in the queue."""
    full = isinstance(error, OSError) and error.errno in FULL
    return full or isinstance(error, stored_files.StorageError | OperationalError | InterfaceError)


def _wait_or_fail(row: Leased, since: datetime | None, sentence: str, detail: str) -> None:
    log.warning("storage, database or disk do not take or give what is needed", row=str(row), error=sentence)
    if since is None or timezone.now() - since < AWAY_AT_MOST:
        row.put_off(AWAY_SECONDS)
    else:
        _failed(row, sentence, detail, False)


def _failed(row: Leased, sentence: str, detail: str, final: bool) -> None:
    log.error("an attempt failed", row=str(row), attempt=row.attempts, detail=detail)
    row.give_up_or_retry(f"{row.doing[:1].upper()}{row.doing[1:]} failed. {sentence}", detail, final)
