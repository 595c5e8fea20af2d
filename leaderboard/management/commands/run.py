"""`manage.py run`: the embedded profile, one command that starts web, workers and sweeper, keeps
them running, and stops them all."""

from __future__ import annotations

import errno
import io
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, close_old_connections

from evaluation.models import Process
from evaluation.networks import weights
from evaluation.work.heartbeat import Heartbeat
from evaluation.work.idle import Background
from evaluation.work.parent_death import end_with

START_SECONDS = 300.0  # in which the web server must answer
STOP_SECONDS = 10.0  # in which work may end before it is killed
CALM_SECONDS = 60.0  # a process that ran so long begins again with the shortest pause
MAX_PAUSE = 30.0
BACKGROUND_SECONDS = 10.0  # how often it looks what workers measure in the background
PORT_SECONDS = 3.0  # in which the port becomes free of a service that was killed just before


@dataclass
class Service:
    """One process to keep alive, with the processes that it started in its group."""

    name: str
    command: list[str]
    env: dict[str, str] = field(default_factory=dict)
    may_start: Callable[[], bool] = lambda: True
    process: subprocess.Popen | None = None
    failures: int = 0  # early ends in a row
    started: float = 0.0
    not_before: float = 0.0

    def ensure(self, now: float | None = None) -> None:
        """Start it, or start it again after a pause that grows with each early end."""
        now = time.monotonic() if now is None else now
        if self.process is not None and self.has_ended():
            code = self.end()
            print(f"{self.name} ended with {code}; it starts again.", file=sys.stderr, flush=True)
            self.failures = 1 if now - self.started >= CALM_SECONDS else self.failures + 1
            self.not_before = now + min(MAX_PAUSE, 0.5 * 2**self.failures)
        if self.process is None and now >= self.not_before and self.may_start():
            self.start(now)

    def start(self, now: float = 0.0) -> None:
        self.started = now
        self.process = subprocess.Popen(
            self.command,
            env=os.environ | self.env,
            cwd=settings.BASE_DIR,
            start_new_session=True,
            preexec_fn=partial(end_with, os.getpid()),
        )

    def has_ended(self) -> bool:
        """True if the process itself has ended; its id stays its own, and its group's, until `end`."""
        return self.process is None or os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def terminate(self) -> None:
        if self.process is not None and not self.has_ended():
            self.process.terminate()

    def end(self) -> int | None:
        """Kill what is left of the process and its group; returns how the process ended."""
        if self.process is None:
            return None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        code, self.process = self.process.wait(), None
        return code


def _why_not_free(host: str, port: int) -> OSError | None:
    """The system's message where nobody can listen on that port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
    return None


def _services(host: str, port: int, workers: int, address: str) -> list[Service]:
    """The processes of the embedded profile, the web server first."""
    python = sys.executable
    environment = {
        "PLUMBLINE_SITE_URL": os.environ.get("PLUMBLINE_SITE_URL", address),
        # Several BLAS threads a process on few cores make small matrix products many times slower.
        "OPENBLAS_NUM_THREADS": "1",
    }
    web = [python, "-m", "leaderboard.server", "--host", host, "--port", str(port), "--log-level", "error"]
    # Solo workers: one process, one task at a time; scoring runs in a limited child of each.
    # Celery's warning to root is given once, in our own words.
    celery = [python, "-W", "ignore:You're running the worker with superuser privileges", "-m", "celery", "--quiet"]
    celery += ["-A", "evaluation.celery", "worker", "-P", "solo", "-Q", "cpu,gpu", "-l", "warning"]
    celery += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    return [
        # Two servers can share a port, and a request then comes to either.
        Service("web", web, environment, may_start=lambda: _why_not_free(host, port) is None),
        *(Service(f"worker {n}", [*celery, "-n", f"worker{n}@%h"], environment) for n in range(1, workers + 1)),
        Service("sweeper", [python, "manage.py", "sweep", "--skip-checks"], environment),
    ]


class Command(BaseCommand):
    help = "Start web server, workers and sweeper on this machine; Ctrl-C stops them all."
    requires_system_checks: list[str] = []  # `migrate` makes them all

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
        parser.add_argument("--demo", action="store_true", help="Load the demo challenge if it is not there.")

    def handle(self, *args, host: str, port: int, workers: int, demo: bool, **options) -> None:
        self.stopping = False
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup means it
                signal.signal(number, self._stop)
        if error := self._wait_for_port(host, port):
            raise CommandError(f"Port {port} of {host} cannot be used ({error.strerror}); choose another with --port.")
        call_command("migrate", verbosity=0, interactive=False, skip_checks=False)
        call_command("createcachetable", verbosity=0)
        call_command("package", stdout=io.StringIO())
        address = f"http://{host}:{port}"

        services = _services(host, port, workers, address)
        loading = Service("demo", [sys.executable, "manage.py", "demo", "--server", address])
        heartbeat = Heartbeat(Process.Kind.SUPERVISOR).start()
        try:
            self._wait_for(address, services)
            if not self.stopping:
                self._greet(address)
                if demo:
                    loading.start()
            told, look_at = Background(()), 0.0
            while not self.stopping:
                for service in services:
                    service.ensure()
                if time.monotonic() >= look_at:
                    close_old_connections()  # one that has ended meanwhile is not asked
                    told, look_at = self._tell(told, workers), time.monotonic() + BACKGROUND_SECONDS
                if loading.process is not None and loading.has_ended() and loading.end():
                    self.stderr.write("Loading the demo failed; see its output above. The service runs without it.")
                time.sleep(0.3)
        finally:
            for service in [loading, *services]:
                service.terminate()
            deadline = time.monotonic() + STOP_SECONDS
            while not all(service.has_ended() for service in [loading, *services]) and time.monotonic() < deadline:
                time.sleep(0.05)
            for service in [loading, *services]:
                service.end()
            heartbeat.stop()
            self._wait_for_port(host, port)
            self.stdout.write("Plumbline has stopped.")

    def _greet(self, address: str) -> None:
        """Print where it runs, and what an operator may want to do first."""
        self.stdout.write(f"\nPlumbline runs at {address}  (Ctrl-C stops it)\n")
        if os.geteuid() == 0:
            self.stdout.write("It runs as root: start it as another user before strangers may send it files.\n")
        wanted = weights.get("backbone", "squeezenet-imagenet")
        if not wanted.there:
            files = " ".join(file.name for file in wanted.absent)
            assert isinstance(wanted.absent[0], weights.PublishedFile)
            self.stdout.write(
                f"PuzzleSim works without downloads, by pieces; its published network ({wanted.absent[0].megabytes:g} MB) comes "
                f"with: {weights.FETCH} {files}\n"
            )
        self.stdout.flush()

    def _tell(self, told: Background, workers: int) -> Background:
        """Print what workers measure in the background where that is more than was `told`, or its time became known, and when it is done;
        returns what was told last."""
        try:
            now = Background.now()
        except OperationalError:  # the database is busy; it looks again
            return told
        is_news = not now.rows <= told.rows or (told.seconds_left is None and now.seconds_left is not None)
        if now.measured and is_news:
            self.stdout.write(now.sentence(workers))
        elif told.measured and not now.measured:
            self.stdout.write("All that workers measured in the background is done.")
        else:
            return told
        self.stdout.flush()
        return now

    def _stop(self, *_) -> None:
        self.stopping = True

    def _wait_for_port(self, host: str, port: int) -> OSError | None:
        """Give processes that were killed just now time to leave the port; returns what the system says where it stays taken."""
        deadline = time.monotonic() + PORT_SECONDS
        while (error := _why_not_free(host, port)) is not None and error.errno == errno.EADDRINUSE and time.monotonic() < deadline:
            time.sleep(0.05)
        return error

    def _wait_for(self, address: str, services: list[Service]) -> None:
        """Start the services and return when the web server answers, or when all is to stop."""
        web, deadline = services[0], time.monotonic() + START_SECONDS
        while not self.stopping:
            for service in services:
                if service is not web or web.process is None:
                    service.ensure()
            try:
                with urllib.request.urlopen(f"{address}/-/health", timeout=2):  # noqa: S310 - our own address
                    return
            except (urllib.error.URLError, OSError):
                if web.process is not None and web.has_ended() and (web.end() or 0) >= 0:  # else it was killed and starts again
                    raise CommandError("The web server ended while starting; see its output above.") from None
                if time.monotonic() > deadline:
                    raise CommandError(f"The web server did not answer at {address} within {START_SECONDS:g} s.") from None
                time.sleep(0.1)
