"""Limits on how long web requests wait for PostgreSQL.

PostgreSQL itself ends a statement that takes too long (`statement_timeout`), but not while it hangs. So the client stops waiting too, and
closes the connection. SQLite has no connection that could hang.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.pq import TransactionStatus

GRACE_SECONDS = 3.0  # PostgreSQL's own end of a statement comes first where it can: it keeps the connection
CHECK_SECONDS = 5.0  # in which a kept connection answers that it can be used


def limit_statements(connection: BaseDatabaseWrapper, **_: object) -> None:
    """Bound each statement of a new connection by `STATEMENT_SECONDS`. A receiver of Django's signal `connection_created`."""
    if connection.vendor != "postgresql":
        return
    patience = Patience(connection.connection, settings.STATEMENT_SECONDS + GRACE_SECONDS)

    def is_usable() -> bool:
        with patience.shorter(CHECK_SECONDS):
            return type(connection).is_usable(connection)

    connection.is_usable = is_usable
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout TO %s", [f"{settings.STATEMENT_SECONDS * 1000:.0f}ms"])


class Patience:
    """Seconds that a connection waits for each answer. Beyond them it is closed, and the wait ends with an OperationalError."""

    def __init__(self, connection: psycopg.Connection, seconds: float) -> None:
        self.connection, self.seconds = connection, seconds
        self._wait = connection.wait  # through which psycopg waits for everything it has sent
        connection.wait = self.wait  # type: ignore[method-assign, assignment]

    def wait(self, generator: Any, **options: Any) -> Any:
        try:
            return self._wait(generator, **{"timeout": self.seconds} | options)
        except psycopg.OperationalError:
            if self.connection.pgconn.transaction_status == TransactionStatus.ACTIVE:  # its answer is still to come
                self.connection.pgconn.finish()
            raise

    @contextmanager
    def shorter(self, seconds: float) -> Iterator[None]:
        """Wait so many seconds at most within a `with`."""
        kept, self.seconds = self.seconds, min(self.seconds, seconds)
        try:
            yield
        finally:
            self.seconds = kept


@contextmanager
def own_connection(seconds: float) -> Iterator[None]:
    """A new connection for all that this thread asks the database within a `with`; each answer may take `seconds`.

    Raises OperationalError without one, after 2 s for each address of the database's host. SQLite is asked as ever.
    """
    kept = connections[DEFAULT_DB_ALIAS]
    if kept.vendor != "postgresql":
        yield
        return
    own = kept.copy()
    own.settings_dict["OPTIONS"]["connect_timeout"] = 2  # libpq waits no shorter
    connections[DEFAULT_DB_ALIAS] = own
    try:
        own.ensure_connection()
        Patience(own.connection, seconds)
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = kept
        own.close()
