"""Real worker processes on the test's own database, queue and files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

PR_SET_PDEATHSIG = 1


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
    """A Celery worker as the service runs it. Use as a context manager."""

    def __init__(self, queue: str = "cpu", **env: str) -> None:
        command = [
            sys.executable, "-m", "celery", "--quiet", "-A", "evaluation.celery", "worker", "-P", "solo", "-Q", queue, "-l", "warning",
            "--without-gossip", "--without-mingle", "--without-heartbeat", "-n", f"test{time.monotonic_ns()}@%h",
        ]  # fmt: skip
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
    process = subprocess.Popen([sys.executable, "manage.py", "sweep"], env=environment(**env), cwd=settings.BASE_DIR)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


def wait_until(true: Callable[[], bool], seconds: float = 180.0, what: str = "the condition") -> None:
    """Poll until `true()`; AssertionError after `seconds`, which a machine that does much else may need for a worker to start."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"{what} did not come true within {seconds:g} s"
        time.sleep(0.05)
