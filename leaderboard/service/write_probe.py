"""Write probe: whether database and storage take data. Only a writer learns that a disk is full or read-only, so the sweeper writes a
little now and then, and other processes read its result."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import structlog
from django.db import connection, transaction

from evaluation.models import Process
from evaluation.work.heartbeat import process_name
from submissions import database_clock
from submissions.storage import stored_files

log = structlog.get_logger(__name__)

EVERY_SECONDS = 30.0  # at most one probe in this time
ROW, ROWS = "x" * 1_900, 2_000  # 4 MB: more than a file of the database has room for without growing
OBJECT = bytes(100_000)


def probe_due() -> bool:
    """Write a test value to database and storage, and store the outcome in the sweeper's row; False if another sweeper did so a moment
    ago."""
    sweepers = Process.objects.live().filter(kind=Process.Kind.SWEEPER)
    if sweepers.filter(wrote_at__gt=database_clock.read() - timedelta(seconds=EVERY_SECONDS)).exists():
        return False
    faults = {}
    for name, write in WRITES.items():
        try:
            write()
        except Exception as error:  # any error of the driver is what operators have to read
            faults[name] = " ".join(str(error).split())
            log.error("a write probe failed", of=name, error=faults[name])
    Process.objects.filter(name=process_name()).update(wrote_at=database_clock.read(), write_faults=faults)
    return True


def write_database() -> None:
    """Write some megabytes into a new table, and undo it.

    PostgreSQL keeps a temporary table in files of the database, but not in its log of changes, which backups keep. SQLite would keep it in
    another file.
    """
    kind = "TEMP TABLE" if connection.vendor == "postgresql" else "TABLE"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"CREATE {kind} write_probe (line text)")
        cursor.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %s) "
            "INSERT INTO write_probe SELECT CAST(%s AS text) FROM n",
            [ROWS, ROW],
        )
        transaction.set_rollback(True)


def write_storage() -> None:
    """Store an object, and remove it."""
    key = f"health/{process_name().replace(':', '-')}"
    stored_files.store().save_bytes(key, OBJECT)
    stored_files.store().delete(key)


WRITES: dict[str, Callable[[], None]] = {"database": write_database, "storage": write_storage}
