"""One line of the log for every piece of work that a worker has ended, and who and what it was about in all lines meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from structlog.contextvars import bound_contextvars

from evaluation.work.heartbeat import process_name
from submissions.leases import Leased
from submissions.models import Phase

log = structlog.get_logger(__name__)


@contextmanager
def logged(what: str, row: Leased, phase: Phase | None = None, **about: object) -> Iterator[None]:
    """Work on a claimed row. `about` says which entry and which metrics it is for; the line says what became of the row, which is
    not for the caller to know: its lease may have been lost."""
    state = "status" if hasattr(row, "status") else "state"
    if phase is not None:
        about["phase"] = f"{phase.challenge.slug}/{phase.slug}"
    with bound_contextvars(**about, worker=process_name(), attempt=row.attempts):
        started = time.monotonic()
        yield
        seconds = round(time.monotonic() - started, 3)
        became = type(row)._default_manager.filter(pk=row.pk).values_list(state, flat=True).first()
        log.info(what, row=row.pk, became=became, seconds=seconds)
