"""Work that a worker leaves to others because it lacks the requested weights or has other code. This does not count as an attempt, and
the worker may claim the work again after a while."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import timedelta

import structlog

from evaluation.metrics.column import Column
from evaluation.models.runs import Deferrable
from evaluation.networks import weights
from submissions.entry_states import Reason, Why

log = structlog.get_logger(__name__)

SECONDS = 20.0  # how long a worker leaves to others what it lacks the weights for
MAX_WAIT = timedelta(minutes=5)  # then fails what no worker has the weights for

_left: dict[tuple[type[Deferrable], int], float] = {}  # what this worker leaves to others, and until when


def obstacle(columns: Iterable[Column]) -> str:
    """Reason why this worker must not compute some columns of a batch: weights are not here, or are not those that
    the batch began with. Empty where it may."""
    for column in columns:
        spec, params, fixed = column.spec, column.params, column.weights_sha256
        if found := weights.refusal(spec, params) or (weights.difference(spec, params, fixed) if fixed else ""):
            return found
    return ""


def defer(row: Deferrable, obstacle: str) -> None:
    """Give back a row that is held, because of what `obstacle` says."""
    log.error("left to a worker that has what it needs", row=str(row), obstacle=obstacle)
    _left[type(row), row.pk] = time.monotonic() + SECONDS
    row.defer_to_others(Why(Reason.LACKING, note=obstacle), MAX_WAIT)


def deferred_rows(kind: type[Deferrable]) -> list[int]:
    """The rows that this worker could not do a moment ago."""
    now = time.monotonic()
    for one in [one for one, until in _left.items() if until <= now]:
        del _left[one]
    return [pk for model, pk in _left if model is kind]
