"""Leased work: one attempt at a claimed row, and the causes that may end it early, in one place for all kinds of work."""

from __future__ import annotations

import errno
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone
from structlog.contextvars import bound_contextvars

from evaluation.models.runs import Run
from evaluation.work import missing_weights
from evaluation.work.graphics_card import card
from evaluation.work.heartbeat import process_name
from evaluation.work.sandbox import JobFailed, LeaseLost, job_folder
from submissions.entry_states import Reason, Why
from submissions.leases import Leased, LeasedQuerySet
from submissions.models import Phase
from submissions.storage import stored_files

log = structlog.get_logger(__name__)

AWAY_SECONDS = 15.0  # how long work waits where storage or database do not answer, or have no room
MAX_AWAY = timedelta(days=1)  # then an entry fails like any other
FULL = (errno.ENOSPC, errno.EDQUOT)


_storage_away_until = 0.0  # by this process's monotonic clock


class MissingHere(Exception):
    """This worker lacks something that the row needs: a sentence for all."""


class Yielded(Exception):
    """Raised to stop work, which is dropped, because work with priority is waiting."""


@contextmanager
def attempt(row: Leased, since: datetime | None = None) -> Iterator[None]:
    """One attempt at a claimed row. An early end is attributed to its cause:

    - the row is somebody else's now (whoever finds that a result was not taken raises LeaseLost): nothing is written;
    - somebody else goes first: no attempt, the row can be claimed again at once;
    - storage, database or disk are away or full: no attempt, the row waits (for a day from `since` on, if given);
    - this worker has not the weights, or other code: no attempt, the row is left to a worker that has them;
    - its graphics card is gone, full because of others, or has too old a driver: no attempt, the row is left to other workers. This worker
      begins no row that needs a card until the card answers again;
    - the process that did it was killed from outside: a loss, as of the worker itself;
    - all else (memory, time, an exception) is an attempt of the row, and counts. After the last one an entry has failed: by its own fault
      where it needed more memory or time than a job may take, else by the service's.

    The row's `without_result` says which of these it was.
    """
    try:
        yield
    except LeaseLost:
        row.without_result = "it is not this worker's any more"
    except Yielded:
        row.without_result = "others come first"
        row.defer(0)
    except MissingHere as error:
        row.without_result = "it is left to others"
        missing_weights.defer(row, str(error))
    except JobFailed as error:
        if error.is_missing_here:
            row.without_result = "it is left to others"
            missing_weights.defer(row, error.sentence)
        elif error.end == "killed":
            row.without_result = "its process was killed"
            row.lose(error.detail)
        elif error.is_of_card:
            card.note(error.sentence)
            row.defer(0)
        elif error.end == "accelerator" and getattr(row, "device", "cpu") == "gpu" and not card.try_again():
            row.defer(0)
        elif error.end == "room":
            _wait_or_fail(row, since, error.why, error.detail)
        else:
            _failed(row, error.why, error.detail, error.end == "memory")
    except Exception as error:
        # An outage of seconds would else fail every entry in the queue.
        is_full = isinstance(error, OSError) and error.errno in FULL
        if is_full or isinstance(error, stored_files.StorageError | OperationalError | InterfaceError):
            connection.close_if_unusable_or_obsolete()
            _wait_or_fail(row, since, Why(Reason.ROOM if is_full else Reason.AWAY), traceback.format_exc())
            if isinstance(error, stored_files.StorageError):
                _look_at_storage()
        else:
            _failed(row, Why(Reason.ERROR), traceback.format_exc())


def _wait_or_fail(row: Leased, since: datetime | None, why: Why, detail: str) -> None:
    log.warning("storage, database or disk do not take or give what is needed", row=str(row), error=detail)
    row.without_result = "storage, database or disk do not take or give what is needed"
    if since is None or timezone.now() - since < MAX_AWAY:
        row.defer(AWAY_SECONDS)
    else:
        _failed(row, why, detail)


def _look_at_storage() -> None:
    """A file is missing: look whether the storage answers at all."""
    global _storage_away_until
    try:
        stored_files.store().exists("health/probe")
    except stored_files.StorageError:
        _storage_away_until = time.monotonic() + AWAY_SECONDS


def storage_is_away() -> bool:
    """Return whether the storage, not just one file, did not answer this worker a moment ago: no entry can be worked on for a while."""
    return time.monotonic() < _storage_away_until


def _failed(row: Leased, why: Why, detail: str, final: bool = False) -> None:
    log.error("an attempt failed", row=str(row), attempt=row.attempts, detail=detail)
    row.without_result = "it failed"
    row.give_up_or_retry(why, detail, final)


def beat(row: Leased, between: Callable[[Leased], None] = lambda row: None) -> Callable[[], None]:
    """Step that long work takes every few seconds: it keeps the lease and calls `between`. It raises `LeaseLost` once the lease is lost."""

    def go_on() -> None:
        if not row.heartbeat():
            raise LeaseLost
        between(row)

    return go_on


@contextmanager
def logged(what: str, row: Leased, phase: Phase | None = None, **about: object) -> Iterator[None]:
    """One line of the log for a piece of work, with its subject and worker in all lines meanwhile. `about` says which entry and which
    metrics it is for. The line says `what` was done, or why this attempt had no result. It also says what became of the row: the caller
    cannot know, as the lease may have been lost."""
    state = "status" if hasattr(row, "status") else "state"
    if phase is not None:
        about["phase"] = f"{phase.challenge.slug}/{phase.slug}"
    with bound_contextvars(**about, worker=process_name(), attempt=row.attempts):
        started = time.monotonic()
        yield
        seconds = round(time.monotonic() - started, 3)
        became = type(row)._default_manager.filter(pk=row.pk).values_list(state, flat=True).first()
        if row.without_result:
            log.info("attempt without result", work=what, why=row.without_result, row=row.pk, became=became, seconds=seconds)
        else:
            log.info(what, row=row.pk, became=became, seconds=seconds)


# --- work that is done a slice at a time -----------------------------------------------------


def claim_one(kind: type[Run], worker: str, do: Callable[[Any], None], rows: LeasedQuerySet | None = None) -> bool:
    """Claim one of the waiting runs of a kind, or of these `rows` of it, and `do` a slice of it; False if there is none that this
    worker can do."""
    run = (kind.objects.waiting() if rows is None else rows).exclude(pk__in=missing_weights.deferred_rows(kind)).claim(worker)
    if run is None:
        return False
    with logged(f"{run._meta.verbose_name}: slice done", run, **run.about()):
        do(run)
    return True


def do_slice(run: Run, obstacle: Callable[[], str], slice_in: Callable[[Path], bool]) -> None:
    """The next slice of a claimed run.

    `obstacle` says what this worker lacks for it, if anything. `slice_in` does it in the folder it is given and returns whether
    the run, still under this lease, took what was found.
    """
    with attempt(run):
        if found := obstacle():
            raise MissingHere(found)
        run.begin()
        with job_folder() as folder:
            if not slice_in(folder):
                raise LeaseLost
