"""The check that the database is the one that this code expects."""

from __future__ import annotations

from functools import cache

import structlog
from django.db import OperationalError, ProgrammingError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

log = structlog.get_logger(__name__)


@cache
def _on_disk() -> frozenset[tuple[str, str]]:
    """Migrations of this code, by app and name."""
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    return frozenset(loader.disk_migrations)


def is_migrated() -> bool:
    """Return whether the database names every migration of this code as applied: one small query, for those who ask again and again.
    Where it does not, `behind` says what that means."""
    try:
        return _on_disk() <= set(MigrationRecorder(connection).migration_qs.values_list("app", "name"))
    except ProgrammingError:  # PostgreSQL has no table of migrations
        return False
    except OperationalError:  # nor has SQLite; PostgreSQL does not answer
        if connection.vendor == "sqlite":
            return False
        raise


def behind() -> str:
    """A sentence on the migrations that are not applied; empty where all are. Raises OperationalError where it does not answer."""
    executor = MigrationExecutor(connection)
    missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    if not missing:
        return ""
    count = f"{missing} migrations are" if missing > 1 else "1 migration is"
    name = connection.settings_dict["NAME"]
    state = f"lacks tables that this version needs ({count} not applied)" if executor.loader.applied_migrations else "is empty"
    return f"The database {name} {state}; run `manage.py migrate`, then start again."


def require_migrated() -> None:
    """End the process, in that sentence, where migrations are not applied. A database that does not answer may do so later."""
    try:
        sentence = behind()
    except OperationalError as error:
        log.warning("the database does not answer; it is asked again when it is needed", error=" ".join(str(error).split()))
        return
    if sentence:
        raise SystemExit(sentence)
