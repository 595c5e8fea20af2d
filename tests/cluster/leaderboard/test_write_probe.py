"""The sweeper tries whether database and storage take data; whoever is asked reads what came of it and writes nothing."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evaluation.models import Process
from evaluation.work.heartbeat import Heartbeat, process_name
from leaderboard.management.commands import sweep
from leaderboard.service import write_probe
from leaderboard.service.health import Unready, probe_writes
from submissions.outages import FULL, outage
from submissions.storage import stored_files
from tests.support.full_database import full_database
from tests.support.postgres_server import PostgresServer
from tests.support.small_disk import fill, mounted

pytestmark = pytest.mark.django_db(transaction=True)
EVERY = timedelta(seconds=write_probe.EVERY_SECONDS + 1)


@pytest.fixture
def sweeper(settings) -> Process:
    """The row of this process, as that of a sweeper that has just started."""
    settings.LEASE_SECONDS = 600
    now = timezone.now()
    return Process.objects.create(kind=Process.Kind.SWEEPER, name=process_name(), started_at=now, seen_at=now, worked_at=now)


def later(row: Process) -> None:
    """As if the last probe were longer ago than the time between two."""
    row.refresh_from_db()
    row.wrote_at -= EVERY
    row.save()


def writes(queries: CaptureQueriesContext) -> list[str]:
    return [query["sql"] for query in queries if query["sql"].lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE", "CREATE"))]


def test_a_full_database_is_seen_by_ready_doctor_and_the_status_page(sweeper, client, capsys):
    assert write_probe.probe_due() and probe_writes()
    later(sweeper)
    with full_database(but=["evaluation_process"]):
        assert write_probe.probe_due()
    answer = client.get("/-/ready")
    assert answer.status_code == 503 and "database" in answer.json()["failed"]["writes"]
    with pytest.raises(CommandError):
        call_command("doctor")
    assert re.search(r"^FAIL +writes ", capsys.readouterr().out, re.M)
    assert client.get("/status/").context["sweeper"].write_faults
    later(sweeper)
    assert write_probe.probe_due() and "writes" not in client.get("/-/ready").json()["failed"]


def test_a_full_storage_is_seen(sweeper, settings, small_disk):
    settings.HOME, settings.S3_BUCKET = small_disk, ""
    fill(small_disk, 2)
    assert write_probe.probe_due()
    with pytest.raises(Unready, match=r"The storage accepted no data .*disk is full.*make room"):
        probe_writes()


def test_a_storage_that_can_only_be_read_is_seen(sweeper, settings, small_disk):
    settings.HOME, settings.S3_BUCKET = small_disk, ""
    assert write_probe.probe_due() and probe_writes()
    later(sweeper)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert write_probe.probe_due()
    with pytest.raises(Unready, match=r"The storage accepted no data .*Read-only file system"):
        probe_writes()


def test_all_sweepers_together_write_once_in_a_while_and_leave_nothing(sweeper):
    before = list(stored_files.store().keys("health"))
    tables = connection.introspection.table_names()
    assert write_probe.probe_due()
    with CaptureQueriesContext(connection) as queries:
        assert not write_probe.probe_due()
    assert not writes(queries)
    assert list(stored_files.store().keys("health")) == before and connection.introspection.table_names() == tables
    assert sweep.ROUND["writes"] is write_probe.probe_due


def test_who_is_asked_writes_nothing(sweeper, client, people):
    client.force_login(people.owner)
    for address in ("/-/ready", "/status/"):
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        assert not writes(queries)


def test_a_sweeper_that_no_longer_tries_is_named(sweeper):
    long_ago = timezone.now() - timedelta(hours=1)
    for values in ({"wrote_at": None, "started_at": long_ago}, {"wrote_at": long_ago}):
        Process.objects.update(**values)
        with pytest.raises(Unready, match="The sweeper has not tried for 36"):
            probe_writes()


def test_a_process_that_cannot_write_that_it_lives_says_so(sweeper, monkeypatch):
    write_probe.probe_due()
    beat = Heartbeat(Process.Kind.WEB)
    monkeypatch.setattr(Heartbeat, "fault", "")
    with full_database():
        beat._try(lambda: Process.beat(Process.Kind.WEB, "here:9", timezone.now()))
    with pytest.raises(Unready, match=r"This web process cannot write to the database .*full|No space"):
        probe_writes()
    beat._try(lambda: Process.beat(Process.Kind.WEB, "here:9", timezone.now()))
    assert probe_writes()


@pytest.fixture
def on_small_disk() -> Iterator[Path]:
    """The folder of a PostgreSQL to which this test's connection leads, on a file system of 160 MB."""
    if missing := PostgresServer.missing():
        pytest.skip(missing)
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no files but the one whose room `test_full_disk.py` tries")
    kept = connections["default"]
    with tempfile.TemporaryDirectory(prefix="small-disk-") as parent:
        Path(parent).chmod(0o755)
        with mounted(Path(parent) / "small", 160) as folder:
            server = PostgresServer(folder)
            own = kept.copy()
            own.settings_dict |= {"HOST": "127.0.0.1", "PORT": str(server.port), "NAME": "postgres", "USER": "postgres"}
            connections["default"] = own
            try:
                yield folder
            finally:
                connections["default"] = kept
                own.close()
                server.remove()


def test_a_full_disk_of_postgresql_is_seen_by_writing(on_small_disk):
    write_probe.write_database()
    fill(on_small_disk, 100)
    with pytest.raises(OperationalError, match="No space left") as full:
        write_probe.write_database()
    assert outage(full.value) is FULL
    (on_small_disk / "filler").unlink()
    write_probe.write_database()
