"""Outages: faults of the machine that pass, such as a full disk or a database that does not answer, each as one sentence for people."""

from __future__ import annotations

import errno
import sqlite3
from dataclasses import dataclass

from django.db import Error, InterfaceError, OperationalError

from submissions.storage.store import DISK_FULL, StorageError


@dataclass(frozen=True)
class Outage:
    """A thing that is away or full. `code` is a stable name for programs; the same request may succeed after so many `seconds`."""

    code: str
    sentence: str
    seconds: int


FULL = Outage("storage", DISK_FULL, 30)
READ_ONLY = Outage("database", "Nothing can be stored just now, because the database can only be read; try again later.", 30)
AWAY = Outage("database", "The database does not answer; try again in a moment.", 5)

# By SQLSTATE, and by SQLite's codes.
POSTGRES = {"53100": FULL, "25006": READ_ONLY}
SQLITE = {
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_BUSY: AWAY,
    sqlite3.SQLITE_LOCKED: AWAY,
    sqlite3.SQLITE_IOERR: AWAY,
    sqlite3.SQLITE_CANTOPEN: AWAY,
}


def outage(error: BaseException | None) -> Outage | None:
    """The outage that an exception, or what led to it, tells of; None for any other fault, and for one raised `from None`."""
    while error is not None:
        if isinstance(error, StorageError):
            return Outage("storage", str(error), 30)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return FULL
        if isinstance(error, Error) and (found := _of_database(error)):
            return found
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return None


def _of_database(error: Error) -> Outage | None:
    said = error.__cause__  # the driver's own error
    if isinstance(said, sqlite3.Error):
        return SQLITE.get(getattr(said, "sqlite_errorcode", 0) & 0xFF)  # the rest says more of it
    return POSTGRES.get(getattr(said, "sqlstate", "")) or (AWAY if isinstance(error, OperationalError | InterfaceError) else None)
