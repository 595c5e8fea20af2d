"""`manage.py sweep`: the one process that finds what no nudge announced (run exactly one, or more:
every step is safe to do twice)."""

from __future__ import annotations

import signal
import threading
import time

import structlog
from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import close_old_connections

from evaluation.sweeper import sweep
from leaderboard.mail import send_due_mail
from leaderboard.pruning import prune_due
from leaderboard.tasks import build_due_boards, request_analyses, wake_judges

log = structlog.get_logger(__name__)
ROUND = {
    "work": sweep, "boards": build_due_boards, "studies": request_analyses, "judges": wake_judges, "mail": send_due_mail,
    "pruning": prune_due,
}  # fmt: skip


class Command(BaseCommand):
    help = "Find work left behind, build due boards, ask for due analyses and judges, send mail, remove what nothing needs; on and on."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--once", action="store_true", help="One round, then stop.")

    def handle(self, *args, once: bool = False, **options) -> None:
        stopping = threading.Event()
        if not once:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, lambda *_: stopping.set())
        while True:
            started = time.monotonic()
            for name, act in ROUND.items():
                try:
                    act()
                except Exception:
                    # The next round tries again; one step that fails must not stop the others.
                    log.exception("sweep step failed", step=name)
                    if once:
                        raise
            close_old_connections()
            if once or stopping.wait(max(0.1, settings.SWEEP_SECONDS - (time.monotonic() - started))):
                return
