"""Work that a worker may lack something for, and work that is done a slice at a time."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.utils import timezone

from submissions import database_clock
from submissions.entry_states import Reason, Why
from submissions.leases import Leased, LeasedQuerySet

MAX_CARD_WAIT = timedelta(days=1)  # that a run waits for a worker with a graphics card while there is none
WAITS_FOR_CARD = (
    "This run waits for a worker with a graphics card, and none listens to the queue gpu now. Start such a worker, or ask the "
    "operator for one. "
    "After a day the run is given up."
)


class Deferrable(Leased):
    """A row that a worker leaves to others where it lacks what the row needs, such as a network's weights."""

    lacking_since = models.DateTimeField(null=True, editable=False)  # when a worker first could not do it for want of something

    class Meta:
        abstract = True

    def begin(self, **values) -> bool:
        """Count the wait for other workers from zero, because one has what it needs, except for what this one still lacks. False if the
        lease was lost."""
        return bool(self.under_lease().update(lacking_since=None, **values))

    def defer_to_others(self, why: Why, at_most: timedelta) -> None:
        """This worker lacks what the row needs, which is no attempt: leave the row to one that has it, or to this one later. A run that no
        worker could do for `at_most` fails."""
        now = database_clock.read()
        since = self.lacking_since or now
        if now - since >= at_most:
            self.give_up(why, "")
        else:
            self.defer(1.0, lacking_since=since, **self.failed_by(why))


class Run(Deferrable):
    """Work that is done a slice at a time when nothing else is to be done; its rows have a State of their own."""

    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    ANEW = Leased.ANEW | {"lacking_since": None}

    class Meta:
        abstract = True

    def about(self) -> dict[str, object]:
        """Return what the log says that it is for."""
        return {}


def give_up_without_card(waiting: LeasedQuerySet, worker: str) -> int:
    """Give up the waiting runs that have waited a day for a worker with a graphics card, while there is none. The wait of others begins
    now, unless it began before. Returns how many were given up; `worker` does it."""
    now, given_up = database_clock.read(), 0
    waiting.unleased(now).filter(lacking_since__isnull=True).update(lacking_since=now)
    overdue = waiting.filter(lacking_since__lte=now - MAX_CARD_WAIT)
    while (run := overdue.claim(worker)) is not None:
        run.give_up(Why(Reason.NO_CARD), "")
        given_up += 1
    return given_up
