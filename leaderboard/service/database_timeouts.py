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


def limit_statements(connection: BaseDatabaseWrapper, **_: object) -> None:
    """Bound each statement of a new connection by `STATEMENT_SECONDS`. A receiver of Django's signal `connection_created`."""
    if connection.vendor != "postgresql":
        return
    stop_waiting(connection.connection, settings.STATEMENT_SECONDS + GRACE_SECONDS)
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout TO %s", [f"{settings.STATEMENT_SECONDS * 1000:.0f}ms"])


def stop_waiting(connection: psycopg.Connection, seconds: float) -> None:
    """Have the connection wait at most `seconds` for each answer. Beyond them it is closed, and the wait ends with an OperationalError."""
    wait = connection.wait  # through which psycopg waits for whatever it has sent

    def bounded(generator: Any, **options: Any) -> Any:
        try:
            return wait(generator, **{"timeout": seconds} | options)
        except psycopg.OperationalError:
            if connection.pgconn.transaction_status == TransactionStatus.ACTIVE:  # the answer is still to come, and nobody waits for it
                connection.pgconn.finish()
            raise

    connection.wait = bounded  # type: ignore[method-assign]


@contextmanager
def own_connection(seconds: float) -> Iterator[None]:
    """A new connection for all that this thread asks the database within a `with`; each answer may take `seconds`.

    Raises OperationalError where there is none, after 2 s for each address of the database's host. SQLite is asked as ever.
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
        stop_waiting(own.connection, seconds)
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = kept
        own.close()
