"""Work on a row under a lease: claim, heartbeat, release, and the fence against late results. It also counts failures of the row itself,
and lost workers."""

from __future__ import annotations

import math
import socket
import time
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache, cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar, Self

import structlog
from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import connection, models
from django.db.models import F, Q

from submissions import database_clock
from submissions.entry_states import Reason, Why

log = structlog.get_logger(__name__)

LONGEST_PAUSE = 60  # times LOSS_SECONDS, after many losses
NOTE_SECONDS = 1.0  # how often, at most, a worker that claims rows of a kind looks for losses of that kind

_noted: dict[type[models.Model], float] = {}  # when this process last looked for losses, by its monotonic clock


class LeasedQuerySet(models.QuerySet):
    """Rows that workers claim, one at a time. The database's clock counts, which `now` can replace."""

    def unleased(self, now: datetime | None = None) -> Self:
        """Rows nobody holds: never claimed, given back, or held past the lease's end."""
        return self.filter(Q(lease_until__isnull=True) | Q(lease_until__lte=now or database_clock.now()))

    def held(self, now: datetime | None = None) -> Self:
        """Rows that a worker is at; not those that were given back for a while."""
        return self.filter(lease_token__isnull=False, lease_until__gt=now or database_clock.now())

    def expired(self, now: datetime | None = None) -> Self:
        """Rows whose holder has not been heard of since the lease ran out."""
        return self.filter(lease_token__isnull=False, lease_until__lte=now or database_clock.now())

    def note_losses(self, now: datetime | None = None) -> int:
        """Note of each row whose holder is not heard of any more that its worker was lost; how many were noted.

        Every sweep does it, and a worker once a second. A holder that was only slow finds its token gone, and writes nothing.
        """
        expired = list(self.expired(now).order_by())
        now = now or (database_clock.read() if expired else None)
        return sum(row.lose("was not heard of any more", now) for row in expired)

    def claim(self, worker: str, now: datetime | None = None, **values: Any) -> Any:
        """Claim the first row of this query that can be had; None when there is none. `values` are set in the same statement.

        Two workers never hold the same row. Filter the query by columns of the row itself only, because PostgreSQL
        re-checks just those where it has waited for another worker.
        """
        at = time.monotonic()
        if at - _noted.get(self.model, -math.inf) >= NOTE_SECONDS:
            _noted[self.model] = at
            self.note_losses(now)
        return self.claim_free(worker, now, **values)

    def claim_free(self, worker: str, now: datetime | None = None, **values: Any) -> Any:
        """`claim` without recording lost leases, which may lock a phase; for callers that hold a lock already."""
        mine = {"lease_token": uuid.uuid4(), "worker": worker, "machine": machine()} | values
        if connection.vendor == "postgresql":
            first = self._first_free if now is None else self._first(now)
            if first is None:
                return None
            # A row that is not free now may be locked by an act that will release it: wait for that before returning None.
            return self._claim_first(first, mine, now, "SKIP LOCKED") or self._claim_first(first, mine, now, "")
        free = self.unleased(now).filter(lease_token__isnull=True)
        until = (now or database_clock.now()) + timedelta(seconds=settings.LEASE_SECONDS)
        # One conditional UPDATE per candidate: of two workers the second one's matches nothing.
        for pk in list(free.values_list("pk", flat=True)[:16]):
            if free.filter(pk=pk).order_by().update(lease_until=until, attempts=F("attempts") + 1, **mine):
                return self.model._default_manager.get(pk=pk)
        return None

    def _first(self, now: datetime | None = None) -> tuple[str, Sequence[Any]] | None:
        """Statement that gives the key of the first of these rows that is free, and its parameters; None for an empty query."""
        try:
            return self.unleased(now).filter(lease_token__isnull=True).values("pk")[:1].query.sql_with_params()
        except EmptyResultSet:
            return None

    # Compiling it takes longer than the claim: repeated claims use one query.
    _first_free = cached_property(_first)

    def _claim_first(self, first: tuple[str, Sequence[Any]], mine: dict[str, Any], now: datetime | None, locked: str) -> Any:
        """Claim the row that `first` gives in one statement, with PostgreSQL; None when there is none. `locked` says what becomes of rows
        that others have locked; whether one that was waited for is still free is asked again."""
        meta, quote = self.model._meta, connection.ops.quote_name
        fields = {meta.get_field(name): value for name, value in mine.items()}
        statement = (  # names of tables and columns are the models', and what `first` says is Django's
            f"UPDATE {quote(meta.db_table)} SET attempts = attempts + 1, lease_until = COALESCE(%s, statement_timestamp()) + %s, "  # noqa: S608
            f"{', '.join(f'{quote(field.column)} = %s' for field in fields)} "
            f"WHERE {quote(meta.pk.column)} = ({first[0]} FOR NO KEY UPDATE OF {quote(meta.db_table)} {locked}) RETURNING *"
        )
        lease = timedelta(seconds=settings.LEASE_SECONDS)
        given = [field.get_db_prep_save(value, connection) for field, value in fields.items()]
        with connection.cursor() as cursor:
            cursor.execute(statement, [now, lease, *given, *first[1]])
            row = cursor.fetchone()
            if row is None:
                return None
            found = dict(zip((column.name for column in cursor.description), row, strict=True))
        # As `raw` reads a row, which takes as long as all else here.
        read = {field.attname: found[field.column] for field in meta.concrete_fields}
        read |= {
            it.attname: it.from_db_value(read[it.attname], None, connection) for it in meta.concrete_fields if hasattr(it, "from_db_value")
        }
        return self.model.from_db(self.db, list(read), list(read.values()))


class Failable(models.Model):
    """A row of work that may fail, with the reason as data; `submissions.wording.failed` makes the sentence of it."""

    doing = ""  # what sentences call the work: "making these pictures"; of the kind of row, or of the row; empty of work on an entry

    reason = models.CharField(max_length=20, blank=True, editable=False)  # a `Reason`
    numbers = models.JSONField(default=dict, blank=True, editable=False)
    failure = models.CharField(max_length=400, blank=True)  # text of it: of a program, a worker or an earlier version
    failure_detail = models.TextField(blank=True)  # the traceback, for operators only

    class Meta:
        abstract = True

    @staticmethod
    def failed_by(why: Why, detail: str = "") -> dict[str, Any]:
        """Fields that say why a row failed."""
        return {"reason": why.reason, "numbers": dict(why.numbers), "failure": why.note[:400], "failure_detail": detail}

    @property
    def failed_why(self) -> Why | None:
        """Reason of its failure, of its last attempt too; None where none failed."""
        reason = Reason(self.reason) if self.reason else Reason.OTHER
        return Why(reason, self.numbers, self.failure) if self.reason or self.failure else None


class Leased(Failable):
    """A row that one worker at a time works on.

    `lease_token` is the fence: a worker writes only `under_lease` with the token it was given. So a result that comes after the row was
    leased to another worker changes nothing.

    Two counts are kept, with pauses that double. Attempts fail by the row's own doing (memory, time, an exception): up to
    MAX_ATTEMPTS. Workers are lost while they have it: up to MAX_LOSSES. From the second machine on where a worker was lost,
    losses are the row's own doing and count as attempts.
    """

    without_result = ""  # why the attempt in hand had none, in words for the log
    # Fields set in a row that nobody holds any more, in one that is returned, and in one that begins again.
    UNHELD: ClassVar[dict[str, None]] = {"lease_token": None, "lease_until": None}
    GIVEN_BACK: ClassVar[dict[str, Any]] = {}
    ANEW: ClassVar[dict[str, Any]] = {
        **UNHELD,
        "attempts": 0,
        "losses": 0,
        "lost": [],
        "reason": "",
        "numbers": {},
        "failure": "",
        "failure_detail": "",
    }

    lease_token = models.UUIDField(null=True, editable=False)
    lease_until = models.DateTimeField(null=True, editable=False, db_index=True)
    attempts = models.PositiveSmallIntegerField(default=0)  # that failed, and the one under way
    losses = models.PositiveSmallIntegerField(default=0)  # workers that were lost while they had the row
    lost = models.JSONField(default=list, blank=True)  # of each loss: the worker, its machine, what happened, and when
    worker = models.CharField(max_length=120, blank=True)
    machine = models.CharField(max_length=240, blank=True)  # of that worker

    class Meta:
        abstract = True

    def under_lease(self) -> models.QuerySet:
        """This row, if the token in hand is still the row's; otherwise an empty query."""
        return type(self)._default_manager.filter(pk=self.pk, lease_token=self.lease_token, lease_token__isnull=False)

    def heartbeat(self, until: datetime | None = None, **values) -> bool:
        """Renew the lease, `until` then if given, and set `values`; False when it was lost, and then the work should stop."""
        lease_until = until or database_clock.now() + timedelta(seconds=settings.LEASE_SECONDS)
        return bool(self.under_lease().update(lease_until=lease_until, **values))

    def defer(self, seconds: float, **values) -> bool:
        """Give the row back for a while, as if it had not been begun: what failed was not the work."""
        until = database_clock.now() + timedelta(seconds=seconds)
        given_back = {"lease_token": None, "lease_until": until, "attempts": F("attempts") - 1}
        return bool(self.under_lease().update(**given_back | self.GIVEN_BACK | values))

    def give_up_or_retry(self, why: Why, detail: str, final: bool = False) -> None:
        """An attempt failed: leave the row to the next worker after a pause, or give it up after the last attempt (`final`:
        after this one, because another would go the same way)."""
        if final or self.attempts >= settings.MAX_ATTEMPTS:
            self.give_up(why, detail)
        else:
            until = database_clock.now() + timedelta(seconds=self.attempts)
            self.under_lease().update(**{"lease_token": None, "lease_until": until} | self.failed_by(why, detail) | self.GIVEN_BACK)

    def give_up(self, why: Why, detail: str) -> None:
        """Fail the row for good; here for kinds of row that have a State of their own."""
        ended = {"state": self.State.FAILED, "finished_at": database_clock.now(), **self.UNHELD}
        self.under_lease().update(**ended, **self.failed_by(why, detail))

    def lose(self, what: str, now: datetime | None = None) -> bool:
        """Note that the worker which has this row was lost, or the process that worked for it ("was killed", says `what`):
        have the row wait, or give it up. With `now` only if the lease had ended by then. False where somebody else was first.
        """
        rows = self.under_lease() if now is None else self.under_lease().filter(lease_until__lte=now)
        now = now or database_clock.read()
        lost = [*self.lost, {"worker": self.worker, "machine": self.machine, "what": what, "at": now.isoformat(timespec="seconds")}]
        is_own = on_two_machines([one["machine"] for one in lost])
        values = {"losses": self.losses + 1, "lost": lost, "attempts": self.attempts if is_own else max(0, self.attempts - 1)}
        is_last = self.attempts >= settings.MAX_ATTEMPTS if is_own else self.losses + 1 >= settings.MAX_LOSSES
        note = {
            "row": str(self),
            "kind": self._meta.verbose_name,
            "worker": self.worker,
            "machine": self.machine,
            "what": what,
            "losses": self.losses + 1,
        }
        if not is_last:
            pause = pause_after(self.losses + 1)
            noted = rows.update(**{"lease_token": None, "lease_until": now + timedelta(seconds=pause)} | values | self.GIVEN_BACK)
            if noted:
                log.warning("a worker was lost", pause=pause, **note)
            return bool(noted)
        token = uuid.uuid4()  # giving up takes more than one statement: first of all nobody else may have the row
        if not rows.update(lease_token=token, lease_until=now + timedelta(seconds=settings.LEASE_SECONDS), **values):
            return False
        self.lease_token = token
        log.error("given up after its workers were lost", workers=[one["worker"] for one in lost], **note)
        detail = "\n".join(f"{one['at']} {one['worker']} on {one['machine']}: {one['what']}" for one in lost)
        self.give_up(Why(Reason.LOST_ON_MACHINES if is_own else Reason.LOST, {"times": self.losses + 1}), detail)
        return True


def pause_after(losses: int) -> float:
    """Seconds that a row waits after so many losses, at least one: doubled from one to the next."""
    return settings.LOSS_SECONDS * min(2 ** (losses - 1), LONGEST_PAUSE)


@cache
def machine() -> str:
    """Name of this machine: the setting, or the name of the host and the boot of its kernel.

    A container that is made again has another name under the same kernel, a machine that is restarted the same name under another boot.
    """
    return settings.MACHINE or f"{socket.gethostname()} {Path('/proc/sys/kernel/random/boot_id').read_text().strip()}"


def on_two_machines(machines: Sequence[str]) -> bool:
    """Return whether two of these have neither a name nor a boot in common, so are not the same machine. An empty one tells nothing."""
    known = [frozenset(one.split()) for one in machines if one]
    return any(one.isdisjoint(other) for one, other in combinations(known, 2))
