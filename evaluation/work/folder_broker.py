"""The queue of the embedded profile: kombu's folder of messages, in which each is whole or not there.

Kombu writes a message, and the table of an exchange, under its final name. A reader may find half of it, or an empty file if the
disk is full, and the worker then ends. Here they are written beside and renamed. A message that cannot be read all the same is
dropped: a nudge may be lost.
"""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty
from time import time_ns
from typing import Any

import structlog
from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps, loads

log = structlog.get_logger(__name__)

SCHEME = "folder"  # of the broker's address
TRANSPORT_ALIASES[SCHEME] = "evaluation.work.folder_broker:Transport"


def _write(path: Path, content: Any) -> None:
    """Put JSON there in one step."""
    beside = path.with_name(f".{uuid.uuid4()}.new")
    try:
        beside.write_text(dumps(content))
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise ChannelError(f"Cannot write {path}: {error.strerror}") from error


class Channel(filesystem.Channel):
    """Messages and the tables of exchanges, written beside and renamed."""

    def _put(self, queue: str, payload: dict[str, Any], **_: Any) -> None:  # type: ignore[override]  # kombu's own name of it differs
        _write(Path(self.data_folder_out, f"{time_ns():020}_{uuid.uuid4()}.{queue}.msg"), payload)

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        """The oldest message of the queue that can be read. Renaming says whose it is, and takes no room."""
        folder = Path(self.data_folder_in)
        for name in sorted(os.listdir(folder)):
            if name.partition(".")[2] != f"{queue}.msg":
                continue
            mine = folder / f".{uuid.uuid4()}.taken"
            try:
                (folder / name).rename(mine)
            except FileNotFoundError:  # another worker has it
                continue
            text = mine.read_bytes()
            mine.unlink()
            try:
                payload = loads(text.decode())
            except ValueError:
                payload = None
            if isinstance(payload, dict) and {"body", "properties"} <= payload.keys():
                return payload
            log.warning("a message that cannot be read was dropped", queue=queue, bytes=len(text))
        raise Empty

    def get_table(self, exchange: str) -> list[filesystem.exchange_queue_t]:
        """The queues of an exchange; none where its table cannot be read, for workers bind theirs again when they start."""
        try:
            return [filesystem.exchange_queue_t(*row) for row in loads(self._exchange_file(exchange).read_text())]
        except FileNotFoundError:
            return []
        except (ValueError, TypeError):
            log.warning("the table of an exchange cannot be read", exchange=exchange)
            return []

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        row = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        with self._locked():
            table = self.get_table(exchange)
            if row not in table:
                _write(self._exchange_file(exchange), [row, *table])

    def _delete(self, queue: str, exchange: str, routing_key: str, pattern: str, *args, **_) -> None:
        self._purge(queue)
        row = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        with self._locked():
            table = self.get_table(exchange)
            if row in table:
                _write(self._exchange_file(exchange), [one for one in table if one != row])

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Tables are read and written again by one process at a time."""
        self.control_folder.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.control_folder, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)


class Transport(filesystem.Transport):
    Channel = Channel
