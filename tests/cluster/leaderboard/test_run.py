"""`manage.py run` keeps its processes alive and stops them all, however any of them ends."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest
from django.conf import settings

from leaderboard.management.commands.run import Service
from tests.support.databases import template
from tests.support.processes import START_SECONDS, EmbeddedService, wait_until


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """One home for all, in which each start finds what the one before has left, and the first a database that lacks one migration."""
    home = tmp_path_factory.mktemp("home")
    template.copy_sqlite(home / "plumbline.sqlite3")
    with closing(sqlite3.connect(home / "plumbline.sqlite3")) as database, database:
        database.execute("DROP TABLE django_session")
        database.execute("DELETE FROM django_migrations WHERE app = 'sessions'")
    return home


@pytest.fixture(scope="module")
def services(home):
    """The services that were started there; the last one may still run."""
    started: list[EmbeddedService] = []
    yield started
    for service in started:
        service.end()


@pytest.fixture
def service(home, services):
    """One that runs: that of the test before, where it still does."""
    if not services or services[-1].process.poll() is not None:
        services.append(EmbeddedService(home))
        wait_until(services[-1].is_whole, START_SECONDS, "the service's answer")
    return services[-1]


def test_a_start_migrates_its_database_first(service, home):
    with closing(sqlite3.connect(home / "plumbline.sqlite3")) as database:
        assert database.execute("SELECT name FROM django_migrations WHERE app = 'sessions'").fetchall() == [("0001_initial",)]
        assert database.execute("SELECT count(*) FROM django_session").fetchall() == [(0,)]


@pytest.mark.parametrize("victim", ["web", "web process", "worker", "sweeper"])
def test_what_is_killed_is_started_again(service, victim):
    killed = next(pid for pid, kind in service.running().items() if kind == victim)
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: killed not in service.running() and service.is_whole(), START_SECONDS, f"another {victim}")
    assert list(service.running().values()).count("web") == 1


def test_a_taken_port_is_one_sentence(service):
    command = [sys.executable, "manage.py", "run", "--port", str(service.port)]
    second = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=120)
    assert second.returncode == 1 and f"Port {service.port}" in second.stderr and "Traceback" not in second.stderr
    assert service.is_whole()


def test_a_killed_supervisor_leaves_nothing_behind_and_the_next_start_keeps_the_data(service, services, home):
    before = (home / "plumbline.sqlite3").stat().st_ino
    service.process.kill()
    service.process.wait()
    service.require_nothing_left()
    services.append(EmbeddedService(home, service.port, before=("nohup",)))
    wait_until(services[-1].is_whole, START_SECONDS, "the service's answer")
    assert (home / "plumbline.sqlite3").stat().st_ino == before


def test_under_nohup_it_outlives_the_terminal(services):
    services[-1].process.send_signal(signal.SIGHUP)
    time.sleep(1)
    assert services[-1].process.poll() is None and services[-1].is_whole()


def test_ctrl_c_stops_everything(service):
    service.process.send_signal(signal.SIGINT)
    assert service.process.wait(180) == 0
    assert not service.running() and not service.holds_port()
    assert service.said().rstrip().endswith("Plumbline has stopped.")


# --- the pause before what ended starts again


def ended(service: Service, now: float) -> None:
    """Let it end, and notice it at that moment."""
    service.process.kill()
    wait_until(service.has_ended, what="its end")
    service.ensure(now)


def test_the_pause_grows_with_each_early_end_and_shrinks_again_after_a_minute_without_one():
    service = Service("sleeper", ["sleep", "1000"])
    now, pauses = 1000.0, []
    service.ensure(now)
    for lived in (1, 1, 1, 1, 1, 1, 1, 59.9, 60, 1, 3600):
        now += lived
        ended(service, now)
        pauses.append(service.not_before - now)
        service.ensure(now + pauses[-1] - 0.01)
        assert service.process is None, "not before its time"
        now += pauses[-1]
        service.ensure(now)
        assert service.process is not None
    service.end()
    assert pauses == [1, 2, 4, 8, 16, 30, 30, 30, 1, 2, 1]


def test_what_ended_takes_its_group_with_it_and_waits_for_what_it_needs(tmp_path):
    free = False
    service = Service("shell", ["sh", "-c", f"sleep 1000 & echo $! > {tmp_path}/other; wait"], may_start=lambda: free)
    service.ensure(0.0)
    assert service.process is None
    free = True
    service.ensure(0.0)
    wait_until(lambda: (tmp_path / "other").exists() and (tmp_path / "other").read_text().strip() != "", what="the other process")
    other = int((tmp_path / "other").read_text())
    ended(service, 1.0)
    wait_until(lambda: not _is_alive(other), 10, "the other's end")
    service.end()


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
