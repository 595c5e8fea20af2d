"""Databases of earlier versions, kept to be migrated by today's code: a folder for each, named after the commit whose code made it.

- `rows.jsonl.gz`: the rows of a demo, without sessions, tokens, passwords and what is cached.
- `schema.sqlite.sql`, `schema.postgresql.sql`: the tables as that code made them; both take the rows.
- `said.json.gz`: what that code said of its boards, digests and votes (`said` below).

To store another state, in a checkout of it, with paths and addresses of your own:

    export PLUMBLINE_HOME=/tmp/demo
    python manage.py run --demo          # until every board is scored and every study analysed; then Ctrl-C
    python -m tests.support.databases.stored store tests/support/databases/COMMIT
    createdb empty && export PLUMBLINE_SECRET_KEY=any PLUMBLINE_DATABASE_URL=postgres://postgres@127.0.0.1/empty
    python manage.py migrate && python manage.py createcachetable
    python -m tests.support.databases.stored store tests/support/databases/COMMIT

The first `store` writes all but the schema of PostgreSQL, which the second adds.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROWLESS = {
    "account_emailaddress",
    "account_emailconfirmation",
    "django_admin_log",
    "django_session",
    "mfa_authenticator",
    "plumbline_cache",
    "submissions_apitoken",
}
# Columns that hold a secret, and what stands in its place; unique ones keep a value for each row.
SECRETS = {
    "submissions_user": {"password": "!"},
    "submissions_challenge": {"access_key": ""},
    "submissions_team": {"invite_hash": ""},
    "leaderboard_rater": {"key_hash": ""},
    "leaderboard_study": {"key": "key-{id}"},
    "leaderboard_studyinvitation": {"token_hash": "hash-{id}"},
    "leaderboard_question": {"token": "token-{id}"},
}

# Columns of votes and scores that exports have since the first states were stored, whose digest is of the others alone.
ADDED = {"gold", "order", "at", "step", "viewport_width", "viewport_height", "device", "invitation"}


# --- storing -------------------------------------------------------------------------------------


def store(folder: Path) -> None:
    """Write what Django's database holds; of PostgreSQL the schema alone."""
    from django.db import connection

    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"schema.{connection.vendor}.sql").write_text(_schema(connection))
    if connection.vendor == "sqlite":
        lines = (json.dumps(table, ensure_ascii=False) for table in _tables(connection.settings_dict["NAME"]))
        _write(folder / "rows.jsonl.gz", "\n".join(lines))
        _write(folder / "said.json.gz", json.dumps(said(), ensure_ascii=False))


def _schema(connection: Any) -> str:
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
            return "".join(f"{sql};\n" for (sql,) in cursor.fetchall())
    dump = ["pg_dump", "--schema-only", "--no-owner", "--no-privileges", "--no-comments", os.environ["PLUMBLINE_DATABASE_URL"]]
    lines = subprocess.run(dump, check=True, capture_output=True, text=True).stdout.splitlines()
    # Backslashes begin commands of psql, which is not there to read them.
    return "\n".join(line for line in lines if line and not line.startswith(("--", "\\"))) + "\n"


def _tables(database: Path) -> Iterator[dict[str, Any]]:
    with sqlite3.connect(database) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
        for (name,) in names.fetchall():
            found = connection.execute(f'SELECT * FROM "{name}" ORDER BY 1')
            columns = [column[0] for column in found.description]
            rows = [] if name in ROWLESS else [_portable(name, dict(zip(columns, row, strict=True))) for row in found]
            yield {"table": name, "columns": columns, "rows": [list(row.values()) for row in rows]}


def _portable(table: str, row: dict[str, Any]) -> dict[str, Any]:
    secrets = {name: text.format(**row) for name, text in SECRETS.get(table, {}).items() if row[name]}
    return {name: {"base64": b64encode(value).decode()} if isinstance(value, bytes) else value for name, value in (row | secrets).items()}


def _write(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


# --- loading -------------------------------------------------------------------------------------


def load_sqlite(folder: Path, database: Path) -> None:
    """Make the database file anew, as it was."""
    with sqlite3.connect(database) as connection:
        connection.executescript((folder / "schema.sqlite.sql").read_text())
        for table, columns, rows in _stored_rows(folder):
            marks = ", ".join("?" for _ in columns)
            connection.executemany(f'INSERT INTO "{table}" ({_quoted(columns)}) VALUES ({marks})', rows)
    connection.close()


def load_postgres(folder: Path, url: str) -> None:
    """Fill the empty database with what the earlier one would hold on PostgreSQL."""
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute((folder / "schema.postgresql.sql").read_text())
        connection.execute("SET search_path TO public; SET CONSTRAINTS ALL DEFERRED; SET TIME ZONE 'UTC'")
        for table, columns, rows in _stored_rows(folder):
            # As text, which PostgreSQL reads as the column's type: SQLite knows no booleans, dates and documents.
            texts = [[value if value is None or isinstance(value, bytes) else str(value) for value in row] for row in rows]
            marks = ", ".join("%s" for _ in columns)
            connection.cursor().executemany(f'INSERT INTO "{table}" ({_quoted(columns)}) VALUES ({marks})', texts)
            if "id" in columns and rows:
                connection.execute(
                    "SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [table, max(row[columns.index("id")] for row in rows)]
                )


def _stored_rows(folder: Path) -> Iterator[tuple[str, list[str], list[list[Any]]]]:
    for line in gzip.decompress((folder / "rows.jsonl.gz").read_bytes()).decode().split("\n"):
        table = json.loads(line)
        yield table["table"], table["columns"], [[_value(value) for value in row] for row in table["rows"]]


def _value(value: Any) -> Any:
    return b64decode(value["base64"]) if isinstance(value, dict) else value


def _quoted(columns: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)


# --- what must stay as it is ---------------------------------------------------------------------


def stored_said(folder: Path) -> dict[str, Any]:
    """Answers of the earlier code about the database in the folder."""
    return json.loads(gzip.decompress((folder / "said.json.gz").read_bytes()))


def said() -> dict[str, Any]:
    """Boards, digests and votes of Django's database, asked through addresses and commands that outlive the code behind them."""
    from leaderboard.models import Study
    from submissions.models import Phase

    phases = Phase.objects.select_related("challenge").order_by("id")
    studies = Study.objects.select_related("phase__challenge").order_by("id")
    return {
        "boards": {_name(phase): _board(phase) for phase in phases},
        "votes": {f"{_name(s.phase)}/{s.slug}": _votes(s) for s in studies},
    }


def _name(phase: Any) -> str:
    return f"{phase.challenge.slug}/{phase.slug}"


def _board(phase: Any) -> dict[str, Any]:
    """The ranking that the page shows, all that are kept (exports, digests as stored and as computed), and one made again of the rows."""
    from django.test import Client

    from leaderboard.boards import build
    from leaderboard.models import Snapshot

    anybody, address = Client(HTTP_HOST="127.0.0.1"), f"/challenges/{_name(phase)}/"
    page = anybody.get(address).content.decode()
    kept, shown = {}, []
    rows = Snapshot.objects.filter(phase=phase).order_by("id")
    # Each at its address of today, and at those that it had in earlier forms.
    for snapshot, one in [(row, one) for row in rows for one in (row, *row.earlier_forms.all())]:
        digest, data = one.digest, zlib.decompress(bytes(one.payload))
        kept[digest] = {"audience": snapshot.audience, "computed": hashlib.sha256(f"{phase.pk}\n".encode() + data).hexdigest()}
        if snapshot.audience == "public":
            exports = {kind: anybody.get(f"{address}snapshots/{digest}.{kind}").content.decode("utf-8-sig") for kind in ("csv", "json")}
            kept[digest] |= {"csv": list(csv.DictReader(exports["csv"].splitlines())), "json": json.loads(exports["json"])}
            shown += [digest] if digest in page else []
    again = {audience: json.loads(build.build(phase, audience).to_json()) for audience in ("public", "organizers")}
    return {"shown": shown, "kept": kept, "again": again}


def _votes(study: Any) -> dict[str, Any]:
    """The exports of what people and judge models answered, and what was made of it."""
    from django.core.management import call_command

    exports = {}
    with tempfile.TemporaryDirectory() as folder:
        for who, options in (("people", []), ("judges", ["--judges"])):
            path = Path(folder) / f"{who}.csv"
            call_command("study", "export", _name(study.phase), study.slug, str(path), *options, stdout=sys.stderr)
            with path.open(newline="", encoding="utf-8-sig") as stream:
                head, *rows = csv.reader(stream)
            columns = dict(zip(head, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(head, ())
            before = [n for n, name in enumerate(head) if name not in ADDED]
            exports[who] = {
                "lines": path.read_bytes().count(b"\n"),
                "sha256": _digest([row[n] for n in before] for row in (head, *rows)),
                "columns": {name: _digest([cell] for cell in cells) for name, cells in columns.items()},
            }
    return exports | {"analyses": {row.criterion: row.content for row in study.analyses.order_by("criterion")}}


def _digest(rows: Iterable[Sequence[str]]) -> str:
    """Digest of a CSV file with these rows."""
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(rows)
    return hashlib.sha256(stream.getvalue().encode()).hexdigest()


def versions() -> dict[str, dict[str, int | None]]:
    """By batch and column, the version of its metric that the values are of, as the code of now makes it out."""
    from evaluation.models import EvaluationBatch

    batches = EvaluationBatch.objects.select_related("phase__challenge")
    return {
        f"{_name(batch.phase)} {batch.pk}": {column.slug: column.version for column in batch.columns if column.key} for batch in batches
    }


# --- the schema, to be compared ------------------------------------------------------------------


def schema_of(connection: Any) -> set[tuple]:
    """Columns, constraints and indexes with all that the engine says of them, but not the order of a table's columns."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT type, tbl_name, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
            return {
                (kind, table, name, part)
                for kind, table, name, sql in cursor.fetchall()
                for part in (_parts(sql) if kind == "table" else [sql])
            }
        found = set()
        for query in (
            "SELECT table_name, column_name, data_type, character_maximum_length, is_nullable, column_default, is_identity "
            "FROM information_schema.columns WHERE table_schema = 'public'",
            "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE connamespace = 'public'::regnamespace",
            "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        ):
            cursor.execute(query)
            found |= {(table, name, *map(_without_casts, rest)) for table, name, *rest in cursor.fetchall()}
        return found


def _without_casts(definition: Any) -> Any:
    """PostgreSQL writes the casts of a list in another place once a dump was read back."""
    return re.sub(r"::(text|character varying)(\[\])?|[()]", "", definition) if isinstance(definition, str) else definition


def _parts(sql: str) -> list[str]:
    """The columns and constraints of a CREATE TABLE."""
    parts, depth = [""], 0
    for character in sql[sql.index("(") + 1 : sql.rindex(")")]:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    import django

    django.setup()
    match sys.argv[1:]:
        case ["store", path]:
            store(Path(path))
        case ["tell", path]:  # after migrating, in one process: each takes seconds to begin
            from django.core.management import call_command
            from django.db import connection

            call_command("migrate", verbosity=0)
            told = {"said": said(), "versions": versions(), "schema": sorted(map(repr, schema_of(connection)))}
            Path(path).write_text(json.dumps(told))
        case _:
            sys.exit("Give `store FOLDER` or `tell FILE`.")
