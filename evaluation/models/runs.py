"""What workers do for which they may lack something, and what they do a slice at a time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

from submissions.leases import Leased


class Leavable(Leased):
    """A row that a worker leaves to others where it lacks what the row needs, such as a network's weights.

    Each kind has its own `give_up_or_retry(sentence, detail, final)`: an attempt failed, so leave the row to the next worker,
    or fail it after the last attempt (`final`: after this one, because another would go the same way).
    """

    give_up_or_retry: Callable[..., None]
    lacking_since = models.DateTimeField(null=True, editable=False)  # when a worker first could not do it for want of something

    class Meta:
        abstract = True

    def begin(self, **values) -> bool:
        """Somebody has what it needs, so how long others had not is counted anew, but for what this one still finds amiss;
        False where the lease was lost."""
        return bool(self.under_lease().update(lacking_since=None, **values))

    def leave_to_another(self, sentence: str, at_most: timedelta) -> None:
        """This worker lacks what the row needs, which is no attempt: leave it to one that has it, or to this one when it
        has been given it. What nobody could do for `at_most` fails with the sentence."""
        since = self.lacking_since or timezone.now()
        if timezone.now() - since >= at_most:
            self.give_up_or_retry(sentence, "", final=True)
        else:
            self.put_off(1.0, lacking_since=since, failure=sentence[:400])


class Run(Leavable):
    """Work that is done a slice at a time when nothing else is to be done; its rows have a State of their own."""

    failure = models.CharField(max_length=400, blank=True)  # a sentence for people
    failure_detail = models.TextField(blank=True)  # the traceback, for operators only
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    # What a row has that nobody holds and that nothing is amiss with.
    FREE = {"failure": "", "failure_detail": "", "attempts": 0, "lacking_since": None, "lease_token": None, "lease_until": None}

    class Meta:
        abstract = True

    def give_up_or_retry(self, sentence: str, detail: str, final: bool = False) -> None:
        """A slice failed: leave it to the next worker, or fail the run after the last attempt at this slice."""
        values = {"failure": sentence[:400], "failure_detail": detail, "lease_token": None}
        if final or self.attempts >= settings.MAX_ATTEMPTS:
            self.under_lease().update(state=self.State.FAILED, lease_until=None, finished_at=timezone.now(), **values)
        else:
            self.under_lease().update(lease_until=timezone.now() + timedelta(seconds=self.attempts), **values)
