"""Where bytes live: a local folder, or a bucket of an S3 server (`submissions/storage/s3.py`).

Files are named by keys: relative posix paths such as `submissions/12/9f2c/entry.zip`. What lies
under a key is never changed, only deleted, so copies of it may be kept anywhere. Everything that
goes wrong with the storage itself is a `StorageError`, whose text is one sentence for people; a
key with nothing under it is a `FileNotFoundError`.

An upload arrives in parts. Both kinds of store take the same steps: `start_upload` gives notes
that the caller keeps (plain JSON), the parts come (here: `save_part`; S3: through `part_url`),
`parts_done` says which are there, and `finish_upload` joins them under a key that nobody could
have written to before.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import stat
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import structlog
from django.conf import settings
from django.utils import timezone

if TYPE_CHECKING:
    from submissions.models import Submission

log = structlog.get_logger(__name__)

BLOCK = 1024 * 1024  # bytes read at once
MOST_PARTS = 10_000  # S3's limit, kept for both stores
LEAST_S3_PART = 5 * 1024 * 1024  # S3 takes smaller parts only at the end
STALE_SECONDS = 24 * 3600  # temporary files older than this belong to nobody


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
    def start_upload(self, folder: str, file_name: str, size: int) -> dict[str, Any]: ...
    def part_url(self, notes: dict[str, Any], number: int, seconds: int) -> str | None: ...
    def save_part(self, notes: dict[str, Any], number: int, stream: BinaryIO) -> None: ...
    def parts_done(self, notes: dict[str, Any]) -> list[int]: ...
    def finish_upload(self, notes: dict[str, Any]) -> Arrived: ...
    def drop_upload(self, notes: dict[str, Any]) -> None: ...
    def clean(self, in_use: set[str]) -> int: ...


def store() -> Store:
    """The store the settings name."""
    if settings.S3_BUCKET:
        return _s3_store(
            settings.S3_BUCKET, settings.S3_ENDPOINT, settings.S3_PUBLIC_ENDPOINT, settings.S3_REGION,
            settings.S3_ACCESS_KEY, settings.S3_SECRET_KEY, settings.HOME / "cache", settings.CACHE_BYTES,
        )  # fmt: skip
    return LocalStore(settings.HOME / "files", settings.HOME / "uploads")


@lru_cache(maxsize=4)
def _s3_store(*where) -> Store:
    from submissions.storage.s3 import S3Store  # boto3 is slow to load and not needed with local files

    return S3Store(*where)


def clean_uploads(now: datetime | None = None) -> int:
    """Remove what expired, cancelled and finished uploads left behind, and the files of entries that
    came to nothing; returns how many. Safe at any time and from several processes."""
    from submissions.models import Status, Submission  # rows import this module

    where, removed = store(), _drop_files(now or timezone.now())
    left = Submission.objects.filter(status=Status.CANCELLED).exclude(upload_data={})
    for pk, notes, file_key in left.values_list("pk", "upload_data", "file_key"):
        try:
            if notes.get("kind") == where.kind:  # else the settings changed since: leave it
                where.drop_upload(notes)
                if not file_key and "key" in notes:
                    where.delete(notes["key"])
        except StorageError as error:
            log.warning("remains of an upload stay until the next sweep", entry=pk, error=str(error))
            continue
        Submission.objects.filter(pk=pk).update(upload_data={})
        removed += 1
    uploading = Submission.objects.filter(status=Status.UPLOADING).values_list("upload_data", flat=True)
    return removed + where.clean({notes["parts"] for notes in uploading if "parts" in notes})


def _drop_files(now: datetime) -> int:
    """Remove the files of cancelled entries, and of rejected ones that are old or more than their
    team may have here: these use up no quota, so nothing else bounds them. Returns how many."""
    from submissions.models import Status, Submission

    # Who works on a cancelled entry notices with the next heartbeat; until then it may read.
    at_rest = now - timedelta(seconds=2 * settings.LEASE_SECONDS)
    ended = Submission.objects.exclude(file_key="", artifact_key="").order_by("-finished_at", "-pk")
    unwanted = list(ended.filter(status=Status.CANCELLED, finished_at__lte=at_rest))
    kept: Counter[int] = Counter()
    for entry in ended.filter(status=Status.REJECTED).defer("problems", "warnings", "missing_items", "description"):
        kept[entry.team_id] += entry.size
        if entry.finished_at <= now - timedelta(days=settings.KEEP_REJECTED_DAYS) or kept[entry.team_id] > settings.KEEP_REJECTED_BYTES:
            unwanted.append(entry)
    return sum(drop_file(entry) for entry in unwanted)


def drop_file(submission: Submission) -> bool:
    """Remove what was received for an entry and what was made of it. False where the storage does
    not answer: then the row still names the files, and the next sweep finds them."""
    try:
        for key in filter(None, (submission.file_key, submission.artifact_key)):
            store().delete(key)
    except StorageError as error:
        log.warning("the file of an entry stays until the next sweep", entry=submission.pk, error=str(error))
        return False
    submission.file_key = submission.artifact_key = ""
    type(submission).objects.filter(pk=submission.pk).update(file_key="", artifact_key="")
    return True


def checked_key(key: str) -> str:
    """The key itself, or ValueError where it is none or would lead out of the store."""
    pieces = key.split("/")
    odd = any(piece in ("", ".", "..") for piece in pieces) or key.startswith(".")
    if odd or "\\" in key or "\0" in key or len(key) > 255:
        raise ValueError(f"{key!r} is no storage key")
    return key


def part_plan(size: int, part_size: int) -> list[int]:
    """The size of every part, first to last; all but the last have `part_size` bytes."""
    whole, rest = divmod(size, part_size)
    return [part_size] * whole + ([rest] if rest else [])


def chosen_part_size(size: int, least: int = 1) -> int:
    """The configured part size, or more where the file would need too many parts."""
    return max(settings.UPLOAD_PART_BYTES, least, -(-size // MOST_PARTS))


@contextmanager
def disk_errors() -> Iterator[None]:
    """Turn what the disk says into a sentence; FileNotFoundError stays as it is."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageError("The server's disk is full; nothing that was sent is lost, so try again later.") from error
        raise StorageError(f"The server cannot use its disk ({error.strerror}); try again later.") from error


class LocalStore:
    """Files in a folder; parts of unfinished uploads in another one on the same disk."""

    kind = "chunks"

    def __init__(self, root: Path, uploads: Path) -> None:
        self.root, self.uploads = root, uploads

    def _path(self, key: str) -> Path:
        return self.root / checked_key(key)

    @contextmanager
    def _temporary(self) -> Iterator[Path]:
        """A new file's path on the store's disk; whatever still lies there afterwards goes."""
        folder = self.root / ".new"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / secrets.token_hex(12)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    def _publish(self, temporary: Path, target: Path) -> None:
        """Put a complete file in its place, in one step and only once it is on the disk."""
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(temporary, target)

    def save_bytes(self, key: str, data: bytes) -> None:
        """Store `data` under `key`; readers see all of it or nothing."""
        target = self._path(key)
        with disk_errors(), self._temporary() as temporary:
            temporary.write_bytes(data)
            self._publish(temporary, target)

    def save_file(self, key: str, path: Path) -> None:
        """Store a copy of the file at `path`."""
        target = self._path(key)
        with disk_errors(), self._temporary() as temporary:
            shutil.copyfile(path, temporary)
            self._publish(temporary, target)

    def open(self, key: str) -> BinaryIO:
        path = self._path(key)
        with disk_errors():
            return path.open("rb")

    def read(self, key: str) -> bytes:
        with self.open(key) as file:
            return file.read()

    def local_path(self, key: str) -> Path:
        """A path to read from, never to write to."""
        path = self._path(key)
        if not path.is_file():
            raise FileNotFoundError(key)
        return path

    def exists(self, key: str) -> bool:
        return self._path(key).is_file()

    def size(self, key: str) -> int:
        return self.local_path(key).stat().st_size

    def delete(self, key: str) -> None:
        """Remove the file; nothing happens where there is none."""
        path = self._path(key)
        with disk_errors():
            path.unlink(missing_ok=True)

    def keys(self, folder: str) -> Iterator[tuple[str, datetime]]:
        """Every key below `folder`, and since when it is there; what comes and goes meanwhile may be among them or not."""
        for path in self._path(folder).rglob("*"):
            with suppress(FileNotFoundError):
                found = path.stat()
                if stat.S_ISREG(found.st_mode):
                    yield path.relative_to(self.root).as_posix(), datetime.fromtimestamp(found.st_mtime, UTC)

    def used(self) -> dict[str, int]:
        """Bytes stored below each top folder."""
        total: Counter[str] = Counter()
        for path in self.root.rglob("*"):
            with suppress(FileNotFoundError):
                found = path.stat()
                if stat.S_ISREG(found.st_mode):
                    total[path.relative_to(self.root).parts[0]] += found.st_size
        return dict(total)

    def link(self, key: str, file_name: str, seconds: int) -> str | None:
        """None: the view sends the file itself."""
        return None

    # --- uploads in parts ------------------------------------------------------------------

    def start_upload(self, folder: str, file_name: str, size: int) -> dict[str, Any]:
        """Make room for the parts of one upload. `folder` is where the file will lie, unique to
        the upload; raises StorageError where the disk could not hold it."""
        checked_key(f"{folder}/{file_name}")
        name = folder.replace("/", "-")
        with disk_errors():
            (self.uploads / name).mkdir(parents=True, exist_ok=True)
            # Its parts and then the joined file are there at the same time.
            if shutil.disk_usage(self.uploads).free < 2 * size:
                raise OSError(errno.ENOSPC, "no space")
        return {
            "kind": self.kind, "parts": name, "folder": folder, "file_name": file_name,
            "size": size, "part_size": chosen_part_size(size),
        }  # fmt: skip

    def _part(self, notes: dict[str, Any], number: int) -> Path:
        return self.uploads / checked_key(notes["parts"]) / f"{number:05d}.part"

    def part_url(self, notes: dict[str, Any], number: int, seconds: int) -> str | None:
        """None: parts come through this service."""
        return None

    def save_part(self, notes: dict[str, Any], number: int, stream: BinaryIO) -> None:
        """Keep one part, once it has come whole; PartsMissing where it has another size than agreed."""
        plan = part_plan(notes["size"], notes["part_size"])
        if not 1 <= number <= len(plan):
            raise PartsMissing([number])
        target = self._part(notes, number)
        temporary = target.with_suffix(f".{secrets.token_hex(6)}")
        with disk_errors():
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with temporary.open("xb") as file:
                    if copy_blocks(stream, file, plan[number - 1]) != plan[number - 1]:
                        raise PartsMissing([number])
                self._publish(temporary, target)
            finally:
                temporary.unlink(missing_ok=True)

    def parts_done(self, notes: dict[str, Any]) -> list[int]:
        plan = part_plan(notes["size"], notes["part_size"])
        paths = ((number, self._part(notes, number)) for number in range(1, len(plan) + 1))
        return [number for number, path in paths if path.is_file() and path.stat().st_size == plan[number - 1]]

    def finish_upload(self, notes: dict[str, Any]) -> Arrived:
        """Join the parts. The key holds the content's hash, so finishing twice at once, or sending
        a part again in between, cannot put other bytes under a key that is in use."""
        plan = part_plan(notes["size"], notes["part_size"])
        missing = sorted(set(range(1, len(plan) + 1)) - set(self.parts_done(notes)))
        if missing:
            raise PartsMissing(missing)
        digest, size = hashlib.sha256(), 0
        with disk_errors(), self._temporary() as temporary:
            with temporary.open("xb") as joined:
                for number in range(1, len(plan) + 1):
                    with self._part(notes, number).open("rb") as part:
                        size += copy_blocks(part, joined, notes["size"], digest)
            key = f"{notes['folder']}/{digest.hexdigest()[:16]}/{notes['file_name']}"
            self._publish(temporary, self._path(key))
        return Arrived(key, size, digest.hexdigest())

    def drop_upload(self, notes: dict[str, Any]) -> None:
        """Forget the parts; nothing happens where there are none."""
        shutil.rmtree(self.uploads / checked_key(notes["parts"]), ignore_errors=True)

    def clean(self, in_use: set[str]) -> int:
        """Remove parts folders that no reservation names and temporary files nobody writes to
        any more; returns how many."""
        removed = 0
        for folder in self.uploads.glob("*"):
            if folder.name not in in_use and _age(folder) > 60:  # its row may not be committed yet
                shutil.rmtree(folder, ignore_errors=True)
                removed += 1
        for path in (self.root / ".new").glob("*"):
            if _age(path) > STALE_SECONDS:
                path.unlink(missing_ok=True)
                removed += 1
        return removed


def copy_blocks(source: BinaryIO, target: BinaryIO, most: int, digest=None) -> int:
    """Copy up to `most` bytes and one more, feeding `digest`; returns how many came, so that more
    than `most` shows."""
    copied = 0
    while copied <= most and (block := source.read(min(BLOCK, most + 1 - copied))):
        target.write(block)
        if digest is not None:
            digest.update(block)
        copied += len(block)
    return copied


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
