"""The tests' database, migrated once and copied by every test process until a migration changes."""

from __future__ import annotations

import fcntl
import hashlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from django.apps import apps
from django.db import connections

from tests import ROOT, environment

FOLDER = ROOT / ".pytest_cache" / "migrated"  # the file of SQLite, and the lock that lets one process migrate while others wait


def copy_into_settings() -> None:
    """Let Django's test database begin as a copy of the migrated one, which is made first if it is not there."""
    test = connections["default"].settings_dict["TEST"]
    if environment.CLUSTER:
        with _alone():
            test["TEMPLATE"] = _postgres(_key())
    else:
        copy_sqlite(test["NAME"])


def copy_sqlite(file: str | Path) -> None:
    """Copy the migrated database, which is made first if it is not there, to a file of SQLite."""
    with _alone(), closing(sqlite3.connect(_sqlite(_key()))) as source, closing(sqlite3.connect(file)) as copy:
        source.backup(copy)


@contextmanager
def _alone() -> Iterator[None]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _key() -> str:
    """A digest of every app's migrations; of the checkout too, since others may use the same server."""
    digest = hashlib.sha256(str(ROOT).encode())
    for app in apps.get_app_configs():
        for path in sorted(Path(app.path, "migrations").glob("*.py")):
            digest.update(f"{app.label}/{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _sqlite(key: str) -> Path:
    path, unfinished = FOLDER / f"{key}.sqlite3", FOLDER / "unfinished.sqlite3"
    if not path.exists():
        for old in FOLDER.glob("*.sqlite3*"):
            old.unlink()
        _migrate({"PLUMBLINE_SQLITE": str(unfinished)})
        unfinished.rename(path)
    return path


def _postgres(key: str) -> str:
    import psycopg

    checkout = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
    name, unfinished = f"template_{checkout}_{key}", f"template_{checkout}_unfinished"
    with psycopg.connect(environment.POSTGRES_URL, autocommit=True) as server:
        known = [row[0] for row in server.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [f"template\\_{checkout}\\_%"])]
        if name not in known:
            for old in known:
                server.execute(f"DROP DATABASE {old} WITH (FORCE)")
            server.execute(f"CREATE DATABASE {unfinished}")
            _migrate({"PLUMBLINE_DATABASE_URL": urlsplit(environment.POSTGRES_URL)._replace(path=f"/{unfinished}").geturl()})
            server.execute(f"ALTER DATABASE {unfinished} RENAME TO {name}")
    return name


def _migrate(database: dict[str, str]) -> None:
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks"]
    subprocess.run(command, cwd=ROOT, env=os.environ | database, check=True)
