"""Heartbeat of a process: a thread of its own writes into the process's row, again and again, that it lives."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import structlog
from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection
from django.utils import timezone

from evaluation.models import Process
from submissions import database_clock
from submissions.outages import AWAY, outage

log = structlog.get_logger(__name__)


def process_name() -> str:
    """The host and number of this process, for operators."""
    return f"{socket.gethostname()}:{os.getpid()}"


class Heartbeat:
    """The heartbeat of this process, from `start` to `stop`; both are also what `with` does.

    A thread writes it, because a solo worker does nothing else while it works. `facts` returns further columns of the row.
    """

    fault: ClassVar[str] = ""  # what a database that answers said where it did not take this process's last beat

    def __init__(self, kind: Process.Kind, queues: Sequence[str] = (), facts: Callable[[], dict[str, Any]] = dict) -> None:
        self.kind, self.queues, self.facts = kind, list(queues), facts
        self.name, self.started_at = process_name(), timezone.now()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="heartbeat", daemon=True)

    def start(self) -> Heartbeat:
        self._thread.start()
        return self

    def stop(self) -> None:
        """Delete the process's row when it ends normally, so that it is not taken for running."""
        self._stopping.set()
        self._thread.join(settings.HEARTBEAT_SECONDS)

    __enter__ = start

    def __exit__(self, *_: object) -> None:
        self.stop()

    def worked(self) -> None:
        """A round of work has ended."""
        Process.objects.filter(name=self.name).update(worked_at=database_clock.now())

    def _go_on(self) -> None:
        while True:
            self._try(lambda: Process.beat(self.kind, self.name, self.started_at, queues=self.queues, **self.facts()))
            if self._stopping.wait(settings.HEARTBEAT_SECONDS):
                break
        self._try(Process.objects.filter(name=self.name).delete)
        connection.close()

    def _try(self, act: Callable[[], object]) -> None:
        try:
            act()
            Heartbeat.fault = ""
        except DatabaseError as error:  # it is asked again with the next beat
            Heartbeat.fault = "" if outage(error) is AWAY else " ".join(str(error).split())
            log.warning("the heartbeat could not be written", process=self.name, error=str(error))
        finally:
            close_old_connections()
