"""The contract of a store, and the code that both kinds share: a local folder (`local.py`), or a bucket of an S3 server (`s3.py`).

Files are named by keys: relative posix paths such as `submissions/12/9f2c/entry.zip`. The bytes under a key are never changed, only
deleted, so copies may be kept anywhere. Every fault of the storage itself is a `StorageError`, whose text is one sentence for people. A key
with nothing under it is a `FileNotFoundError`.

An upload arrives in parts. Both kinds of store take the same steps. `start_upload` returns notes that the caller keeps (plain JSON). The
parts arrive through `save_part`, or with S3 at `part_url`. `parts_done` lists the parts that have arrived. `finish_upload` joins them under
a key that nobody could have written to before.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NotRequired, Protocol, TypedDict

from django.conf import settings

BLOCK = 1024 * 1024  # bytes read in one step
MAX_PARTS = 10_000  # S3's limit, kept for both stores
MIN_S3_PART = 5 * 1024 * 1024  # S3 takes smaller parts only at the end
DISK_FULL = "The server's disk is full; nothing that you sent is lost, so try again later."


class StorageError(Exception):
    """The storage does not work now; the text is one sentence that says what to do."""


class PartsMissing(Exception):
    """The parts do not make up the file: `numbers` are absent or have another size than agreed."""

    def __init__(self, numbers: list[int]) -> None:
        super().__init__(f"parts {numbers[:10]} are missing")
        self.numbers = numbers


@dataclass(frozen=True)
class Arrived:
    """A finished upload: where it lies, and what was really received."""

    key: str
    size: int
    sha256: str


class UploadNotes(TypedDict):
    """An open upload as its store knows it, kept with its row until it is finished or given up."""

    kind: str  # of the store
    size: int  # bytes in all, as agreed
    part_size: int  # bytes of each part but the last
    # Of local files: the folder of its parts, and where the joined file will lie under which name.
    parts: NotRequired[str]
    folder: NotRequired[str]
    file_name: NotRequired[str]
    # Of S3: the object's key, and the number of the multipart upload.
    key: NotRequired[str]
    upload_id: NotRequired[str]


class Store(Protocol):
    kind: str  # how uploads come: "chunks" (PUT to this service) or "multipart" (PUT to S3)

    def save_bytes(self, key: str, data: bytes) -> None: ...
    def save_file(self, key: str, path: Path) -> None: ...
    def open(self, key: str) -> BinaryIO: ...
    def read(self, key: str) -> bytes: ...
    def local_path(self, key: str) -> Path: ...
    def exists(self, key: str) -> bool: ...
    def size(self, key: str) -> int: ...
    def delete(self, key: str) -> None: ...
    def keys(self, folder: str) -> Iterator[tuple[str, datetime]]: ...
    def used(self) -> dict[str, int]: ...
    def link(self, key: str, file_name: str, seconds: int) -> str | None: ...
    def start_upload(self, folder: str, file_name: str, size: int) -> UploadNotes: ...
    def part_url(self, notes: UploadNotes, number: int, seconds: int) -> str | None: ...
    def save_part(self, notes: UploadNotes, number: int, stream: BinaryIO) -> None: ...
    def parts_done(self, notes: UploadNotes) -> list[int]: ...
    def finish_upload(self, notes: UploadNotes) -> Arrived: ...
    def drop_upload(self, notes: UploadNotes) -> None: ...
    def clean(self, in_use: set[str]) -> int: ...


def checked_key(key: str) -> str:
    """The key itself, or ValueError where it is none or would lead out of the store."""
    pieces = key.split("/")
    odd = any(piece in ("", ".", "..") for piece in pieces) or key.startswith(".")
    if odd or "\\" in key or "\0" in key or len(key) > 255:
        raise ValueError(f"{key!r} is not a storage key")
    return key


def part_plan(size: int, part_size: int) -> list[int]:
    """The size of every part, first to last; all but the last have `part_size` bytes."""
    whole, rest = divmod(size, part_size)
    return [part_size] * whole + ([rest] if rest else [])


def chosen_part_size(size: int, least: int = 1) -> int:
    """The configured part size, or more where the file would need too many parts."""
    return max(settings.UPLOAD_PART_BYTES, least, -(-size // MAX_PARTS))


@contextmanager
def disk_errors() -> Iterator[None]:
    """Turn what the disk says into a sentence; FileNotFoundError stays as it is."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageError(DISK_FULL) from error
        raise StorageError(f"The server cannot use its disk ({error.strerror}); try again later.") from error


def copy_blocks(source: BinaryIO, target: BinaryIO, most: int, digest: Any = None) -> int:
    """Copy up to `most` bytes and one more, feeding `digest`; returns how many came, so that more
    than `most` shows."""
    copied = 0
    while copied <= most and (block := source.read(min(BLOCK, most + 1 - copied))):
        target.write(block)
        if digest is not None:
            digest.update(block)
        copied += len(block)
    return copied
