"""Real processes of the service: on the test's own database, queue and files, or in a home of their own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from celery import current_app
from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from tests import ROOT
from tests.environment import free_port


def environment(**more: str) -> dict[str, str]:
    """The environment under which another process sees what this test sees."""
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "leaderboard.settings"} | more
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        env["PLUMBLINE_SQLITE"] = name
    else:
        env["PLUMBLINE_DATABASE_URL"] = urlunsplit(urlsplit(settings.DATABASE_URL)._replace(path=f"/{name}"))
    return env


class Worker:
    """A Celery worker as the service runs it, or with another `app` around it. Use as a context manager."""

    def __init__(self, queue: str = "cpu", app: str = "evaluation.celery", **env: str) -> None:
        command = [
            sys.executable,
            "-m",
            "celery",
            "--quiet",
            "-A",
            app,
            "worker",
            "-P",
            "solo",
            "-Q",
            queue,
            "-l",
            "warning",
            "--without-gossip",
            "--without-mingle",
            "--without-heartbeat",
            "-n",
            f"test{time.monotonic_ns()}@%h",
        ]
        self.process = subprocess.Popen(command, env=environment(**env), cwd=settings.BASE_DIR, start_new_session=True)

    def kill(self) -> None:
        """kill -9 of the worker and of everything it started in its own session."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def catch(self, at_work: QuerySet) -> None:
        """Stop it while there is such a row, so that it is still there whenever the test looks; it stays stopped."""

        def caught() -> bool:
            if not at_work.exists():
                return False
            os.killpg(self.process.pid, signal.SIGSTOP)
            if at_work.exists():
                return True
            os.killpg(self.process.pid, signal.SIGCONT)
            return False

        wait_until(caught, what="a row at work")

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()


@contextmanager
def sweeping(**env: str) -> Iterator[subprocess.Popen]:
    """`manage.py sweep`, as the service runs it."""
    process = subprocess.Popen([sys.executable, "manage.py", "sweep", "--skip-checks"], env=environment(**env), cwd=settings.BASE_DIR)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def forget_nudges() -> None:
    """Empty all queues of the broker, of what other tests sent too."""
    with current_app.connection_for_write() as connection:
        for queue in current_app.conf.task_queues:
            queue(connection.channel()).declare()
            queue(connection.channel()).purge()


def end_leases(rows: QuerySet) -> int:
    """As if the workers that have these rows were lost, and the pauses after that were over; how many were lost."""
    rows.filter(lease_token__isnull=False).update(lease_until=timezone.now() - timedelta(seconds=1))
    noted = rows.all().note_losses()
    rows.update(lease_until=None)
    return noted


# One for all runs: collecting takes seconds, and a server collects anew where the files are others by their contents.
STATIC_ROOT = ROOT / ".pytest_cache" / "static-of-services"
START_SECONDS = 600.0  # in which a whole service starts on a machine that does much else
KINDS = {  # of the processes of a service, by their command lines
    "manage.py run": "supervisor",
    "leaderboard.server": "web",
    "evaluation.celery": "worker",
    "manage.py sweep": "sweeper",
    "evaluation.work.child": "scoring child",
    "manage.py demo": "demo",
}


def is_ready(url: str) -> bool:
    """True if the service at that address answers that it can work."""
    try:
        with urllib.request.urlopen(f"{url}/-/ready", timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


class EmbeddedService:
    """`manage.py run` in a home of its own, and every process that belongs to it."""

    def __init__(
        self, home: Path, port: int = 0, *, workers: int = 1, before: tuple[str, ...] = (), demo: bool = False, **env: str
    ) -> None:
        self.home, self.port = home, port or free_port()
        own = ("PLUMBLINE_DATABASE_URL", "PLUMBLINE_BROKER_URL", "PLUMBLINE_CACHE_URL", "PLUMBLINE_S3_BUCKET", "PLUMBLINE_S3_ENDPOINT")
        inherited = {name: value for name, value in os.environ.items() if name not in own}
        options = ["--port", str(self.port), "--workers", str(workers), *(["--demo"] if demo else [])]
        self.process = subprocess.Popen(
            [*before, sys.executable, "manage.py", "run", *options],
            cwd=settings.BASE_DIR,
            env=inherited | {"PLUMBLINE_HOME": str(home), "PLUMBLINE_STATIC_ROOT": str(STATIC_ROOT)} | env,
            stdout=(home / "said").open("ab"),
            stderr=subprocess.STDOUT,
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def said(self) -> str:
        return (self.home / "said").read_text()

    def answers(self) -> bool:
        return is_ready(self.url)

    def running(self) -> dict[int, str]:
        """Its processes and their kinds, whoever their parent is now: each has the home in its environment or its command."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                environment = (folder / "environ").read_bytes().split(b"\0")
                mine = str(self.home) in line or f"PLUMBLINE_HOME={self.home}".encode() in environment
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:  # it has ended; a zombie has no environment
                continue
            kind = next((kind for words, kind in KINDS.items() if words in line), None)
            if mine and kind:
                found[int(folder.name)] = (kind, parent)
        # A server's or a child's own fork has the same command.
        forked = {"web": "web process", "scoring child": "job"}
        return {pid: forked.get(kind, kind) if found.get(parent, ("",))[0] == kind else kind for pid, (kind, parent) in found.items()}

    def is_whole(self) -> bool:
        """True if all that serves and works is there, and answers."""
        return {"supervisor", "web", "web process", "worker", "sweeper"} <= set(self.running().values()) and self.answers()

    def holds_port(self) -> bool:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(180)

    def require_nothing_left(self) -> None:
        """Its end is everyone's: after a moment there is no process of it, and nobody on its port."""
        wait_until(lambda: not self.running() and not self.holds_port(), 10, f"the end of {set(self.running().values())}")


def wait_until(true: Callable[[], bool], seconds: float = 180.0, what: str = "the condition") -> None:
    """Poll until `true()`; AssertionError after `seconds`, which a machine that does much else may need for a worker to start.

    The longer it takes, the less often it asks: asking takes the time of a core that the others wait for.
    """
    begun = time.monotonic()
    while not true():
        waited = time.monotonic() - begun
        assert waited < seconds, f"{what} did not come true within {seconds:g} s"
        time.sleep(min(0.2, 0.02 + waited / 10))
