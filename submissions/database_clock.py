"""The database's clock, by which leases and heartbeats run: the clocks of the machines that work may differ, and it is the same for all."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone


def now() -> Any:
    """Expression of the moment at which the statement that holds it begins; with SQLite, which has this machine's clock, the moment."""
    return timezone.now() if connection.vendor == "sqlite" else Now()


def read() -> datetime:
    """The database's current time, for computing in Python; costs one query."""
    if connection.vendor == "sqlite":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        moment: datetime = cursor.fetchone()[0]
        return moment
