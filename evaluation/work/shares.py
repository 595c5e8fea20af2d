"""Shares of a worker's time. Entries come first. Work beside them, such as metric programs and studies, has a share that entries
cannot take away. Idle work, which nobody waits for, pauses while anything else waits.

Each process keeps its own account, so the shares hold with one worker and with many.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from evaluation.models import MetricProgram, Part
from evaluation.work import missing_weights
from evaluation.work.attempts import Yielded
from submissions.models import Submission

TURN_SECONDS = 2.0  # of entries, then other queues get their turn
SLICE_SECONDS = 2 * TURN_SECONDS  # the longest slice of other work; a single item may take longer, as long as its effort allows
SHARE = 1 / 8  # seconds that each kind of work beside entries is owed for each second of entries

clock: Callable[[], float] = time.monotonic


class Share:
    """The account of one kind of work beside entries. `owed` is the time that it may take from entries: at most a slice, and negative
    after an item that took longer."""

    def __init__(self) -> None:
        self.owed = 0.0
        self._begun, self._at_their_cost = 0.0, False  # of the slice under way

    @property
    def is_due(self) -> bool:
        """True if a slice of other work is owed and runs before the waiting entries."""
        return self.owed >= SLICE_SECONDS

    def give(self, device: str, do: Callable[[], int]) -> int:
        """`do` a slice and return what that returns: how much was done. 0 where entries wait and no slice is due."""
        self._begin(entries_wait(device))
        if self._at_their_cost and not self.is_due:
            return 0
        done = do()
        if done:
            self._end()
        return done

    def yield_to_entries(self, device: str) -> None:
        """Raise `Yielded` where entries wait that were not there when the slice under way began: a long item is begun again when a slice
        is due, and that one runs to its end."""
        if not self._at_their_cost and entries_wait(device):
            raise Yielded

    def is_over(self, device: str) -> bool:
        """For work that cannot be cut into slices, between two steps of it: True if a slice's time is over and entries wait. The caller
        then does entries until a slice `is_due`, and continues."""
        if clock() - self._begun < SLICE_SECONDS:
            return False
        self._end()
        self._begin(entries_wait(device))
        return self._at_their_cost and not self.is_due

    def _begin(self, at_their_cost: bool) -> None:
        self._begun, self._at_their_cost = clock(), at_their_cost

    def _end(self) -> None:
        if self._at_their_cost:
            self.owed -= clock() - self._begun

    def resume(self, device: str) -> None:
        """Begin the next slice of what gave way."""
        self._begin(entries_wait(device))


CHECKS, VALUES, ANALYSES, JUDGES = SHARES = tuple(Share() for _ in range(4))


@contextmanager
def for_entries() -> Iterator[None]:
    """Count the time until the end as time for entries."""
    begun = clock()
    try:
        yield
    finally:
        for share in SHARES:
            share.owed = min(SLICE_SECONDS, share.owed + SHARE * (clock() - begun))


def entries_wait(device: str = "cpu") -> bool:
    """True if there is an upload to check or a part to score that this worker of a device can begin now."""
    parts = Part.objects.waiting(device).affordable().unleased().exclude(pk__in=missing_weights.deferred_rows(Part))
    return (device == "cpu" and Submission.objects.to_validate().unleased().exists()) or parts.exists()


# Rows of each kind that idle work of a device pauses for, beside entries.
BEFORE_IDLE: list[Callable[[str], Any]] = [lambda device: MetricProgram.objects.waiting(device)]


def others_wait(device: str = "cpu") -> bool:
    """True if this worker of a device can begin anything but idle work now."""
    waiting = (rows(device) for rows in BEFORE_IDLE)
    return entries_wait(device) or any(
        rows.unleased().exclude(pk__in=missing_weights.deferred_rows(rows.model)).exists() for rows in waiting
    )
