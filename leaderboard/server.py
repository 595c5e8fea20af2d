"""`python -m leaderboard.server`: the web server, whose processes end with it.

Granian forks a process per worker. By itself such a process outlives a server that was killed and stays on the port, and while it starts it
does not hear that it should stop. The application is loaded once, before the first fork. An error at its start ends the server with a
sentence, and a killed process is replaced at once.
"""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Callable
from functools import partial

from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from evaluation.work.parent_death import end_with

THREADS = 16  # of each process
STOP_SECONDS = 8  # in which requests under way may end; less than whoever stops the server waits for it
LOG = {
    "formatters": {"line": {"()": "leaderboard.service.logs.formatter"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {name: {"handlers": ["console"], "level": "INFO", "propagate": False} for name in ("_granian", "granian.access")},
}


def start_process(server: int) -> Callable:
    """In a new process of the server with that process id: the application."""
    end_with(server)
    for number in (signal.SIGINT, signal.SIGTERM):  # until granian listens here: its handlers came with the fork and only set a flag
        signal.signal(number, signal.SIG_DFL)
    from leaderboard.wsgi import web  # sets Django up, which `main` has done before the fork

    return web()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m leaderboard.server", description="Serve the pages and the API.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=1, help=f"processes of {THREADS} threads each")
    parser.add_argument("--log-level", choices=[level.value for level in LogLevels], default=LogLevels.info.value)
    args = parser.parse_args()
    # Loaded only by a server that starts, and before its first fork: the application, which sets Django up for the connection, and what
    # would cost the first reader of a page about metrics half a second in each process.
    import scipy.stats  # noqa: F401
    from django.db import connection

    import leaderboard.wsgi  # noqa: F401

    connection.close()  # each process opens its own
    server = Granian(
        "leaderboard.wsgi:application",
        address=args.host,
        port=args.port,
        interface=Interfaces.WSGI,
        workers=args.workers,
        blocking_threads=THREADS,
        websockets=False,
        log_level=LogLevels(args.log_level),
        log_dictconfig=LOG,
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_SECONDS,
    )
    server.serve(target_loader=partial(start_process, os.getpid()), wrap_loader=False)


if __name__ == "__main__":
    main()
