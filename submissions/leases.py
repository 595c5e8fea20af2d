"""Work on a row under a lease: claim, heartbeat, release, and the fence against late results."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone


class LeasedQuerySet(models.QuerySet):
    """Rows that workers claim, one at a time."""

    def unleased(self, now=None) -> Self:
        """Rows nobody holds: never claimed, given back, or held past the lease's end."""
        now = now or timezone.now()
        return self.filter(Q(lease_until__isnull=True) | Q(lease_until__lte=now))

    def held(self, now=None) -> Self:
        """Rows that a worker is at; not those that were given back for a while."""
        return self.filter(lease_token__isnull=False, lease_until__gt=now or timezone.now())

    def expired(self, now=None) -> Self:
        """Rows whose holder has not been heard of since the lease ran out."""
        return self.filter(lease_until__lte=now or timezone.now())

    def claim(self, worker: str, now=None, **values):
        """Claim the first row of this query that can be had; None when there is none.

        The claim is one conditional UPDATE per candidate, so two workers never hold the same row:
        the loser's UPDATE matches nothing. `values` are set in the same statement. Filter the
        query by columns of the row itself only, because PostgreSQL re-checks just those when it
        has waited for the other worker.
        """
        now = now or timezone.now()
        free = self.unleased(now)
        for pk in list(free.values_list("pk", flat=True)[:16]):
            token = uuid.uuid4()
            claimed = (
                free.filter(pk=pk)
                .order_by()
                .update(
                    lease_token=token,
                    lease_until=now + timedelta(seconds=settings.LEASE_SECONDS),
                    attempts=F("attempts") + 1,
                    worker=worker,
                    **values,
                )
            )
            if claimed:
                return self.model._default_manager.get(pk=pk)
        return None


class Leased(models.Model):
    """A row that one worker at a time works on.

    `lease_token` is the fence: whatever a worker writes, it writes `under` the token it was given,
    so a result that comes after the row was leased to somebody else changes nothing.
    """

    lease_token = models.UUIDField(null=True, editable=False)
    lease_until = models.DateTimeField(null=True, editable=False, db_index=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    worker = models.CharField(max_length=120, blank=True)

    class Meta:
        abstract = True

    def under_lease(self) -> models.QuerySet:
        """This row, if the token in hand is still the row's; else nothing."""
        return type(self)._default_manager.filter(pk=self.pk, lease_token=self.lease_token, lease_token__isnull=False)

    def heartbeat(self, **values) -> bool:
        """Renew the lease, and set `values`; False when it was lost, and then the work should stop."""
        until = timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
        return bool(self.under_lease().update(lease_until=until, **values))

    def put_off(self, seconds: float, **values) -> bool:
        """Give the row back for a while, as if it had not been begun: what failed was not the work."""
        until = timezone.now() + timedelta(seconds=seconds)
        return bool(self.under_lease().update(lease_token=None, lease_until=until, attempts=F("attempts") - 1, **values))
