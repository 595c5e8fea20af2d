"""The graphics card of this worker: tried before the first part that needs one, and once a minute while it cannot be computed on."""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog

from evaluation.work.sandbox import JobFailed, job_folder, sandbox

log = structlog.get_logger(__name__)

EVERY = 60.0  # seconds from one test to the next
TRIAL_SECONDS = 60  # of the processor, in which a card must answer

clock: Callable[[], float] = time.monotonic


class Card:
    """State of the graphics card. `trouble` says in a sentence why no part that needs one is begun here; empty where one may be, or
    nobody has asked."""

    def __init__(self) -> None:
        self.trouble = ""
        self._tried_at: float | None = None

    def is_needed(self, device: str) -> bool:
        """True if what is computed for the queue of that device must be computed on a card, or not here."""
        return device == "gpu"

    def is_usable(self) -> bool:
        """True if the card could be computed on when it was last tried; one in trouble is tried again after a minute."""
        if self._tried_at is None or (self.trouble and clock() - self._tried_at >= EVERY):
            self.try_again()
        return not self.trouble

    def try_again(self) -> bool:
        """Try the card now, in a job of its own. True if it can be computed on, or if torch is not installed, so that it cannot be tried.
        Parts without networks need no torch, and the others say so themselves."""
        trouble = ""
        try:
            with job_folder() as folder:
                sandbox.run(folder, {"kind": "card", "card": True}, lambda: True, TRIAL_SECONDS, 1.0)
        except JobFailed as error:
            trouble = "" if error.is_missing_here else error.sentence
        if trouble:
            self.note(trouble)
        elif self.trouble:
            log.info("the graphics card can be computed on again")
        self.trouble, self._tried_at = trouble, clock()
        return not trouble

    def note(self, trouble: str) -> None:
        """A job has met this trouble: no part for cards is begun here until the card was tried again."""
        log.error("the graphics card cannot be used; parts that need one are left to other workers", reason=trouble)
        self.trouble, self._tried_at = trouble, clock()


card = Card()
