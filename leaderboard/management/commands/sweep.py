"""`manage.py sweep`: the one process that finds what no nudge announced (run exactly one, or more:
every step is safe to do twice)."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import close_old_connections

from evaluation.models import Process
from evaluation.work.heartbeat import Heartbeat
from evaluation.work.sweep import sweep
from leaderboard.boards.prune import prune_due
from leaderboard.service.health import measure_storage_due
from leaderboard.service.mail import send_due_mail
from leaderboard.service.write_probe import probe_due
from leaderboard.tasks import build_due_boards, request_analyses, wake_judges
from submissions.database import require_migrated
from submissions.models import RateCount

log = structlog.get_logger(__name__)
ROUND: dict[str, Callable[[], object]] = {
    "work": sweep,
    "boards": build_due_boards,
    "studies": request_analyses,
    "judges": wake_judges,
    "mail": send_due_mail,
    "pruning": prune_due,
    "storage": measure_storage_due,
    "processes": Process.forget,
    "rates": RateCount.forget,
    "writes": probe_due,
}


class Command(BaseCommand):
    help = (
        "Repeat until stopped: find abandoned work, build due boards, request due analyses and judges, send mail, lay out texts, delete "
        "unused data, and test whether database and storage accept data."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="One round, then stop.")

    def handle(self, *args, once: bool = False, **options) -> None:
        require_migrated()
        if once:
            self._round(ROUND, strict=True)
            return
        stopping = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        with Heartbeat(Process.Kind.SWEEPER) as heartbeat:
            while True:
                started = time.monotonic()
                self._round(ROUND | {"heartbeat": heartbeat.worked})
                if stopping.wait(max(0.1, settings.SWEEP_SECONDS - (time.monotonic() - started))):
                    return

    def _round(self, steps: dict[str, Callable[[], object]], strict: bool = False) -> None:
        for name, act in steps.items():
            if not strict:
                close_old_connections()  # one that has ended meanwhile is not asked
            try:
                act()
            except Exception:
                # The next round tries again; one step that fails must not stop the others.
                log.exception("sweep step failed", step=name)
                if strict:
                    raise
