"""Requests counted by the database, for the rates of `submissions.throttling`."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from django.db import connection, models, transaction
from django.utils import timezone


class RateCount(models.Model):
    """Number of requests of one kind, by one person or address, in one window."""

    key = models.CharField(max_length=200, primary_key=True)
    n = models.PositiveIntegerField()
    ends_at = models.DateTimeField(db_index=True, help_text="From then on the row is not needed.")

    def __str__(self) -> str:
        return f"{self.key}: {self.n}"

    @classmethod
    def add(cls, key: str, seconds: float) -> int:
        """Count one more request; returns how many there are now. A new row is kept for so many seconds.

        One statement counts, so simultaneous requests all count. RuntimeError inside a transaction: its end would undo the count, and until
        then everybody else with this key would wait.
        """
        table, ends_at = connection.ops.quote_name(cls._meta.db_table), datetime.fromtimestamp(time.time() + seconds, UTC)
        with transaction.atomic(durable=True), connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {table} (key, n, ends_at) VALUES (%s, 1, %s) "  # noqa: S608
                f"ON CONFLICT (key) DO UPDATE SET n = {table}.n + 1 RETURNING n",
                [key, connection.ops.adapt_datetimefield_value(ends_at)],
            )
            return cursor.fetchone()[0]

    @classmethod
    def forget(cls) -> int:
        """Remove the counts of windows that are over; returns how many."""
        return cls.objects.filter(ends_at__lt=timezone.now()).delete()[0]
