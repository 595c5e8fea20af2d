"""The check that the database is the one that this code expects."""

from __future__ import annotations

import structlog
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

log = structlog.get_logger(__name__)


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
