"""`manage.py migrate`: Django's, one at a time for a database, and a failure in one sentence with its cause."""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Callable, Iterator
from typing import Any

from django.core.management.base import CommandError, OutputWrapper
from django.core.management.commands.migrate import Command as Migrate
from django.db import DatabaseError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from submissions.database import behind

PATIENCE_SECONDS = 300.0  # for another process that migrates the same database
EVERY_SECONDS = 0.5
LOCK = 7_236_151_902  # the key of PostgreSQL's advisory lock: any number that nothing else in the database uses


class Command(Migrate):
    applying = ""  # the migration that is being applied

    def execute(self, *args: Any, **options: Any) -> str | None:
        # Before Django's checks: they open the database, and if two open a new SQLite file at the same time one is refused.
        if options["plan"] or options["check_unapplied"]:
            return super().execute(*args, **options)
        if options.get("stderr"):
            self.stderr = OutputWrapper(options["stderr"])
        with self._alone(connections[options["database"]]):
            return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            super().handle(*args, **options)
        except DatabaseError as error:
            if not self.applying:
                raise
            raise CommandError(
                f"The migration {self.applying} failed: {' '.join(str(error).split())}\n"
                "Remove the cause and run `manage.py migrate` again; with --traceback it shows where it failed."
            ) from error

    def migration_progress_callback(self, action: str, migration: Any = None, fake: bool = False) -> None:
        self.applying = str(migration) if action.endswith("_start") and migration is not None else ""
        super().migration_progress_callback(action, migration, fake)

    @contextlib.contextmanager
    def _alone(self, connection: BaseDatabaseWrapper) -> Iterator[None]:
        """Hold the lock of the database's migrations for the time of a `with`. While another process has it, say so and wait.

        CommandError after `PATIENCE_SECONDS`, but where the other process has left nothing to migrate.
        """
        with _lock(connection) as take:
            deadline, told = time.monotonic() + PATIENCE_SECONDS, False
            while not take():
                if not told:
                    self.stderr.write(f"Another process migrates this database; waiting for it, {PATIENCE_SECONDS / 60:g} minutes at most.")
                    told = True
                if time.monotonic() > deadline:
                    if not behind():
                        break
                    raise CommandError("Another process is migrating this database. Wait until it ends, or end it, then run this again.")
                time.sleep(EVERY_SECONDS)
            yield


@contextlib.contextmanager
def _lock(connection: BaseDatabaseWrapper) -> Iterator[Callable[[], bool]]:
    """A function that tries to take the lock, without waiting. What it took ends with the `with`, and with the process."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:

            def take() -> bool:
                cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
                return cursor.fetchone()[0]

            try:
                yield take
            finally:
                with contextlib.suppress(DatabaseError):  # a connection that has ended holds no lock
                    cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
        return
    if connection.is_in_memory_db():
        yield lambda: True
        return
    with open(f"{connection.settings_dict['NAME']}.migrating", "w") as file:

        def take() -> bool:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

        yield take
