"""`manage.py migrate` says why it failed, and of two at once one waits."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from importlib import import_module

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations import RunSQL
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from leaderboard.management.commands import migrate
from tests.support.databases import template
from tests.support.databases.empty import empty_database


def start(env: dict[str, str], *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "manage.py", "migrate", *options]
    return subprocess.Popen(command, cwd=settings.BASE_DIR, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.django_db  # so that the cluster profile tries its PostgreSQL too
def test_of_two_that_migrate_an_empty_database_one_waits_and_both_end_well(tmp_path):
    """One app of Django's, which takes seconds. The tests' own database is migrated from an empty one with all apps."""
    with empty_database(tmp_path) as env:
        both = [start(env, "admin", "--verbosity", "0") for _ in range(2)]
        said = [process.communicate(timeout=600)[1] for process in both]
        assert [process.returncode for process in both] == [0, 0], said
        assert sorted("Another process migrates" in text for text in said) == [False, True]
        again = start(env, "admin", "--check", "--skip-checks")
        assert again.wait(120) == 0, "nothing is left to migrate"


@pytest.mark.django_db(transaction=True)
def test_a_migration_that_fails_is_named_with_its_cause(monkeypatch):
    (leaf,) = MigrationLoader(connection).graph.leaf_nodes("submissions")
    module = import_module(f"submissions.migrations.{leaf[1]}")
    monkeypatch.setattr(module.Migration, "operations", [RunSQL("CREATE TABLE django_session (id integer)")])
    applied = MigrationRecorder(connection).migration_qs.filter(app=leaf[0], name=leaf[1])
    (row,) = applied.values()
    applied.delete()
    try:
        with pytest.raises(CommandError, match=rf"{leaf[0]}\.{leaf[1]} failed: .*already exists"):
            call_command("migrate", verbosity=0)
    finally:
        MigrationRecorder.Migration.objects.create(**row)
        monkeypatch.undo()
    call_command("migrate", verbosity=0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("missing", [True, False])
def test_who_waits_in_vain_goes_on_only_where_nothing_is_left_to_do(missing, monkeypatch, tmp_path):
    """The lock is held by another connection of this process: PostgreSQL's is of the session, that of a file of the open file."""
    monkeypatch.setattr(migrate, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(migrate, "EVERY_SECONDS", 0.05)
    monkeypatch.setattr(migrate, "behind", lambda: "1 migration is not applied" if missing else "")
    monkeypatch.setitem(connection.settings_dict, "NAME", connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":  # the tests' own database is in memory, which nobody else can migrate
        monkeypatch.setattr(connection, "is_in_memory_db", lambda: False)
        monkeypatch.setitem(connection.settings_dict, "NAME", str(tmp_path / "database"))
        template.copy_sqlite(tmp_path / "database")
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with migrate._lock(other := connection.copy()) as take:
            assert take()
            held.set()
            done.wait(60)
        other.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(60)
    said = io.StringIO()
    try:
        if missing:
            with pytest.raises(CommandError, match="is migrating this database"):
                call_command("migrate", verbosity=0, stderr=said)
        else:
            call_command("migrate", verbosity=0, stderr=said)
    finally:
        done.set()
        holder.join()
    assert "waiting for it" in said.getvalue()
