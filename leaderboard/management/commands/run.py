"""`manage.py run`: the embedded profile, one command that starts web, workers and sweeper, keeps
them running, and stops them all."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

PR_SET_PDEATHSIG = 1
STOP_SECONDS = 10.0


def _die_with_parent() -> None:
    """In a new child: end when the supervisor ends, even if it was killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@dataclass
class Service:
    """One process to keep alive."""

    name: str
    command: list[str]
    process: subprocess.Popen | None = None
    failures: int = 0
    not_before: float = 0.0
    env: dict[str, str] = field(default_factory=dict)

    def ensure(self) -> None:
        """Start it, or start it again after a pause that grows with each early end."""
        now = time.monotonic()
        if self.process is not None and self.process.poll() is not None:
            print(f"{self.name} ended with {self.process.returncode}; it starts again.", file=sys.stderr, flush=True)
            self.process, self.failures = None, self.failures + 1
            self.not_before = now + min(30.0, 0.5 * 2**self.failures)
        if self.process is None and now >= self.not_before:
            self.process = subprocess.Popen(self.command, env=os.environ | self.env, preexec_fn=_die_with_parent, start_new_session=True)

    def signal(self, number: int) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)


class Command(BaseCommand):
    help = "Start web server, workers and sweeper on this machine; Ctrl-C stops them all."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
        parser.add_argument("--demo", action="store_true", help="Load the demo challenge if it is not there.")

    def handle(self, *args, host: str, port: int, workers: int, demo: bool, **options) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup means it
                signal.signal(number, self._stop)
        self.stopping = False
        self._require_free(host, port)
        call_command("migrate", verbosity=0, interactive=False)
        call_command("createcachetable", verbosity=0)
        settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # WhiteNoise warns of a folder that is not there
        address = f"http://{host}:{port}"
        services = self._services(host, port, workers)
        loading: subprocess.Popen | None = None
        try:
            for service in services:
                service.ensure()
            self._wait_for(address, services)
            self.stdout.write(f"\nPlumbline runs at {address}  (Ctrl-C stops it)\n")
            self.stdout.flush()
            if demo and not self.stopping:
                loading = subprocess.Popen(
                    [sys.executable, "manage.py", "demo", "--server", address],
                    cwd=settings.BASE_DIR, preexec_fn=_die_with_parent, start_new_session=True,
                )  # fmt: skip
            while not self.stopping:
                for service in services:
                    service.ensure()
                if loading is not None and loading.poll():
                    self.stderr.write("Loading the demo failed; what it says is above. The service runs on without it.")
                    loading = None
                time.sleep(0.3)
        finally:
            self._end(services, loading)

    def _stop(self, *_) -> None:
        self.stopping = True

    def _require_free(self, host: str, port: int) -> None:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                raise CommandError(f"Port {port} of {host} cannot be used ({error.strerror}); choose another with --port.") from error

    def _services(self, host: str, port: int, workers: int) -> list[Service]:
        python = sys.executable
        address = {
            "PLUMBLINE_SITE_URL": os.environ.get("PLUMBLINE_SITE_URL", f"http://{host}:{port}"),
            # Several BLAS threads a process on few cores make small matrix products many times slower.
            "OPENBLAS_NUM_THREADS": "1",
        }
        web = [
            python, "-m", "granian", "--interface", "wsgi", "--host", host, "--port", str(port), "--workers", "1",
            "--blocking-threads", "16", "--log-level", "error", "--no-ws", "leaderboard.wsgi:application",
        ]  # fmt: skip
        # Solo workers: one process, one task at a time; scoring runs in a limited child of each.
        celery = [
            python, "-m", "celery", "--quiet", "-A", "evaluation.celery", "worker", "-P", "solo", "-Q", "cpu,gpu", "-l", "warning",
            "--without-gossip", "--without-mingle", "--without-heartbeat",
        ]  # fmt: skip
        named = [Service(f"worker {n}", [*celery, "-n", f"worker{n}@%h"], env=address) for n in range(1, workers + 1)]
        sweeper = Service("sweeper", [python, "manage.py", "sweep"], env=address)
        return [Service("web", web, env=address), *named, sweeper]

    def _wait_for(self, address: str, services: list[Service]) -> None:
        deadline = time.monotonic() + 60
        while not self.stopping:
            try:
                with urllib.request.urlopen(f"{address}/-/health", timeout=2):
                    return
            except (urllib.error.URLError, OSError):
                if services[0].process and services[0].process.poll() is not None:
                    raise CommandError("The web server ended while starting; what it says is above.") from None
                if time.monotonic() > deadline:
                    raise CommandError(f"The web server did not answer at {address} within a minute.") from None
                time.sleep(0.1)

    def _end(self, services: list[Service], loading: subprocess.Popen | None) -> None:
        if loading is not None and loading.poll() is None:
            loading.terminate()
        for service in services:
            service.signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        for service in services:
            if service.process is None:
                continue
            try:
                service.process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                service.process.kill()
                service.process.wait()
        self.stdout.write("Plumbline has stopped.")
