"""A database without room: each row that is written needs more of it than there is."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from django.db import connection

POSTGRES = """
CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'could not extend file "base/1/2": No space left on device' USING ERRCODE = '53100'; END $$;
CREATE FUNCTION no_room_for_tables() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'could not create file "base/1/3": No space left on device' USING ERRCODE = '53100'; END $$;
"""
TABLES = "CREATE EVENT TRIGGER no_room ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION no_room_for_tables()"


@contextmanager
def full_database(but: Collection[str] = ()) -> Iterator[None]:
    """Let no table but these take a new row, or a change of one, and no table be made, for the time of a `with`.

    PostgreSQL gives the error of a full disk by triggers. SQLite gives it by itself, because triggers write a large row before each row,
    and its file may not grow.
    """
    tables = [name for name in connection.introspection.table_names() if name not in but]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(POSTGRES)
            act = "FOR EACH ROW EXECUTE FUNCTION no_room()"
        else:
            cursor.execute("CREATE TABLE no_room (large)")
            cursor.execute("PRAGMA max_page_count")
            pages = cursor.fetchone()[0]
            act = "BEGIN INSERT INTO no_room VALUES (zeroblob(100000000)); END"
        for number, table in enumerate(tables):
            for event in ("INSERT", "UPDATE"):
                cursor.execute(f'CREATE TRIGGER no_room_{event}_{number} BEFORE {event} ON "{table}" {act}')
        cursor.execute(TABLES if connection.vendor == "postgresql" else "PRAGMA max_page_count = 1")  # the file stays as large as it is
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute("DROP FUNCTION no_room, no_room_for_tables CASCADE")
            else:
                cursor.execute(f"PRAGMA max_page_count = {pages}")
                for number in range(len(tables)):
                    for event in ("INSERT", "UPDATE"):
                        cursor.execute(f"DROP TRIGGER no_room_{event}_{number}")
                cursor.execute("DROP TABLE no_room")
