"""An empty database of this profile's engine, for processes that are started beside the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests import environment


@contextmanager
def empty_database(home: Path) -> Iterator[dict[str, str]]:
    """Environment of a process whose home and database are its own: a file that is not there yet, or a database of PostgreSQL that is
    dropped afterwards."""
    own = {"PLUMBLINE_HOME": str(home), "PLUMBLINE_SECRET_KEY": "only-for-tests", "PLUMBLINE_HOSTS": "127.0.0.1"}
    env = {name: value for name, value in os.environ.items() if not name.startswith("PLUMBLINE_")} | own
    if not environment.CLUSTER:
        yield env
        return
    import psycopg

    name = f"empty_{os.getpid()}"
    with psycopg.connect(environment.POSTGRES_URL, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        try:
            yield env | {"PLUMBLINE_DATABASE_URL": urlsplit(environment.POSTGRES_URL)._replace(path=f"/{name}").geturl()}
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")
