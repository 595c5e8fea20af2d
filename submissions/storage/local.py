"""Files in a folder of this machine. See `submissions/storage/store.py` for what the methods promise."""

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
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from submissions.storage.store import Arrived, PartsMissing, UploadNotes, checked_key, chosen_part_size, copy_blocks, disk_errors, part_plan

STALE_SECONDS = 24 * 3600  # temporary files older than this belong to nobody


class LocalStore:
    """Files in a folder; parts of unfinished uploads in another one on the same disk."""

    kind = "chunks"

    def __init__(self, root: Path, uploads: Path) -> None:
        self.root, self.uploads = root, uploads

    def _path(self, key: str) -> Path:
        return self.root / checked_key(key)

    @contextmanager
    def _temporary(self) -> Iterator[Path]:
        """A new file's path on the store's disk; a file left there is removed afterwards."""
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
        """Remove the file, if there is one."""
        path = self._path(key)
        with disk_errors():
            path.unlink(missing_ok=True)

    def keys(self, folder: str) -> Iterator[tuple[str, datetime]]:
        """Every key below `folder` with its time of creation; keys stored or deleted meanwhile may be missing or included."""
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
        """Return None: the view sends the file itself."""
        return None

    # --- uploads in parts ------------------------------------------------------------------

    def start_upload(self, folder: str, file_name: str, size: int) -> UploadNotes:
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
            "kind": self.kind,
            "parts": name,
            "folder": folder,
            "file_name": file_name,
            "size": size,
            "part_size": chosen_part_size(size),
        }

    def _part(self, notes: UploadNotes, number: int) -> Path:
        return self.uploads / checked_key(notes["parts"]) / f"{number:05d}.part"

    def part_url(self, notes: UploadNotes, number: int, seconds: int) -> str | None:
        """Return None: parts come through this service."""
        return None

    def save_part(self, notes: UploadNotes, number: int, stream: BinaryIO) -> None:
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

    def parts_done(self, notes: UploadNotes) -> list[int]:
        plan = part_plan(notes["size"], notes["part_size"])
        paths = ((number, self._part(notes, number)) for number in range(1, len(plan) + 1))
        return [number for number, path in paths if path.is_file() and path.stat().st_size == plan[number - 1]]

    def finish_upload(self, notes: UploadNotes) -> Arrived:
        """Join the parts. The key holds the content's hash, so finishing twice at the same time, or sending a part again in between, cannot
        put other bytes under a key that is in use."""
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

    def drop_upload(self, notes: UploadNotes) -> None:
        """Forget the parts, if there are any."""
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


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
