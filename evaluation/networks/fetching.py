"""Getting a published file of weights into the cache: resumed where it was cut, checked, and pinned. PURE except for the network.

In the cache lie FILE, what was noted of it (FILE.json) and, while it comes, FILE.part with FILE.part.json. Nothing is at
FILE's own place before its digest has been checked.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import httpx

from evaluation.networks.weights import CHUNK, PublishedFile, WeightsError
from submissions.formats.file_digest import file_digest

ATTEMPTS = 6  # in a row that bring nothing
LONGEST_PAUSE = 30.0
TIMEOUT = httpx.Timeout(30.0, read=120.0)
PASSING = (408, 425, 429, 500, 502, 503, 504)
RESERVE = 64 << 20  # bytes that stay free on the disk
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
STATED = re.compile(r'"?([0-9a-f]{64})"?')  # Hugging Face's sha256 of a large file, in its answer's X-Linked-Etag


class FetchError(WeightsError):
    """The file could not be got, or is not the one it should be; one sentence."""


class OtherFile(FetchError):
    """The file that came is another one, of this `digest`: empty where it was too long to be read to its end."""

    def __init__(self, sentence: str, digest: str) -> None:
        super().__init__(sentence)
        self.digest = digest


class _Cut(Exception):
    """The connection ended, or the server has trouble: worth another try."""


class Bar(Protocol):
    """A progress bar in bytes."""

    def update(self, n: int) -> Any: ...

    def close(self) -> Any: ...


Progress = Callable[[str, int, int], Bar]  # name, bytes in all, bytes that are there already


@dataclass(frozen=True)
class _Place:
    """The paths of a file and of what belongs to it."""

    file: Path

    @property
    def record(self) -> Path:
        return self.file.with_name(f"{self.file.name}.json")

    @property
    def part(self) -> Path:
        return self.file.with_name(f"{self.file.name}.part")

    @property
    def notes(self) -> Path:
        return self.file.with_name(f"{self.file.name}.part.json")

    def notes_on(self, url: str) -> dict[str, Any]:
        """Notes on the part that came from this address; empty if none did."""
        try:
            notes = json.loads(self.notes.read_text())
        except (OSError, ValueError):
            return {}
        return notes if notes.get("url") == url else {}


def fetch(file: PublishedFile, source: str = "", progress: Progress | None = None, pause: Callable[[float], None] = time.sleep) -> str:
    """Get `file` into the cache and return a sentence about it; FetchError if it is missing or another.

    It comes from its publisher, or from `source`: an http(s) address or a file on this machine. Bytes that another process or an earlier
    run has fetched are kept. The digest must be the one that its publisher states, in the list or in the server's answer, or the one of
    the first fetch. If none is known, this one is kept from now on.
    """
    place = _Place(file.path)
    try:
        place.file.parent.mkdir(parents=True, exist_ok=True)
        with _alone(place):
            if file.there and file_digest(file.path) == file.sha256:
                return f"{file.name} is already installed ({file.path})."
            if source and "://" not in source:
                _copy(file, Path(source), place, progress)
                came_from = str(Path(source).absolute())
            else:
                came_from = source or file.url
                _download(file, came_from, place, progress, pause)
            return _keep(file, place, came_from)
    except OSError as error:
        why = f"{file.name} cannot be written to {file.folder}: {error.strerror or error}."
        if error.errno in FULL:
            why = (
                f"There is no room left for {file.name} in {file.folder}; make room and run this again; the download "
                "continues where it stopped."
            )
        raise FetchError(why) from error


@contextlib.contextmanager
def _alone(place: _Place) -> Iterator[None]:
    """One process at a time gets a file into a cache."""
    with place.part.open("ab") as held:
        try:
            file = held.fileno()
            if os.name == "nt":
                import msvcrt  # of Windows alone

                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
            else:
                import fcntl  # which Windows has not

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise FetchError(f"{place.file.name} is being fetched by another process; wait for it.") from None
        try:
            yield
        finally:
            if place.part.exists() and not place.part.stat().st_size:
                place.part.unlink()


def _download(file: PublishedFile, url: str, place: _Place, progress: Progress | None, pause: Callable[[float], None]) -> None:
    """Bring `place.part` to its end, over as many connections as it takes while each brings something."""
    failures, size = 0, place.part.stat().st_size
    with httpx.Client(timeout=TIMEOUT, follow_redirects=True, headers={"Accept-Encoding": "identity"}) as client:
        while True:
            try:
                return _go_on(client, file, url, place, progress)
            except (httpx.TransportError, _Cut) as error:
                now = place.part.stat().st_size
                failures, size = (1 if now > size else failures + 1), now
                if failures >= ATTEMPTS:
                    got = f"{now / 1e6:.1f} MB of it are kept" if now else "nothing of it came"
                    why = f"{file.name} could not be fetched from {url} ({str(error) or type(error).__name__}); {got}"
                    raise FetchError(f"{why}; run the same command again to continue.") from error
            except httpx.InvalidURL as error:
                raise FetchError(f"{url} is not an address that a file can be fetched from.") from error
            pause(min(LONGEST_PAUSE, 2.0 ** (failures - 1)))


def _go_on(client: httpx.Client, file: PublishedFile, url: str, place: _Place, progress: Progress | None) -> None:
    """Ask for what is not there yet, in one request."""
    notes = place.notes_on(url)
    have = place.part.stat().st_size if notes.get("validator") else 0
    if have and have == notes.get("total"):
        return
    # If-Range: a file that was replaced since comes as a whole, so that two are never mixed.
    asked = {"Range": f"bytes={have}-", "If-Range": notes["validator"]} if have else {}
    with client.stream("GET", url, headers=asked) as answer:
        _require_bytes(answer, file, url, place, have)
        have = have if answer.status_code == 206 else 0
        length = answer.headers.get("Content-Length", "")
        total = have + int(length) if length.isdigit() else 0
        expected = total or int(file.megabytes * 1e6)
        _require_space(file, place, expected - have if total else expected)
        etag = answer.headers.get("ETag", "")
        validator = etag if etag and not etag.startswith("W/") else answer.headers.get("Last-Modified", "")
        told = {"url": url, "validator": validator, "total": total}
        # A redirection away from the publisher states it; what it leads to need not.
        for step in (*answer.history, answer):
            if found := STATED.fullmatch(step.headers.get("X-Linked-Etag", "")):
                told |= {"sha256": found[1], "stated_by": step.url.host}
        place.notes.write_text(json.dumps(told))
        with place.part.open("r+b") as stream, _bar(progress, file, expected, have) as advance:
            stream.truncate(have)
            stream.seek(have)
            for piece in answer.iter_raw():  # as it comes: what is gathered into larger pieces is lost at a cut
                stream.write(piece)
                if file.size and stream.tell() > file.size:  # a server may send without end
                    stream.truncate(0)
                    place.notes.unlink(missing_ok=True)
                    raise OtherFile(f"What {url} gives for {file.name} is longer than its {file.size:,} bytes.", "")
                advance(len(piece))
        if total and place.part.stat().st_size != total:
            raise _Cut("the connection ended early")


@contextlib.contextmanager
def _bar(progress: Progress | None, file: PublishedFile, total: int, have: int) -> Iterator[Callable[[int], object]]:
    """Function to call with the bytes of each piece, which moves a bar if there is one."""
    if progress is None:
        yield lambda n: None
        return
    with contextlib.closing(progress(file.name, total, have)) as bar:
        yield bar.update


def _require_bytes(answer: httpx.Response, file: PublishedFile, url: str, place: _Place, have: int) -> None:
    """Raise `FetchError` unless an answer brings the file, from byte `have` on or as a whole; `_Cut` where another try may bring it."""
    if url.startswith("https:") and any(step.url.scheme != "https" for step in (*answer.history, answer)):
        raise FetchError(f"{url} leads to an address without encryption; give the file itself with --from.")
    if answer.status_code in (*PASSING, 416):
        if answer.status_code == 416:  # what is here is longer than the file there
            os.truncate(place.part, 0)
        raise _Cut(f"the server answered {answer.status_code}")
    if answer.status_code not in (200, 206):
        raise FetchError(f"{url} answered {answer.status_code}. Download {file.name} yourself and pass it with --from.")
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        raise FetchError(f"{url} answered with a web page instead of {file.name}. Download the file yourself and pass it with --from.")
    if answer.status_code == 206 and not answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        os.truncate(place.part, 0)
        raise _Cut("the server sent another piece than it was asked for")


def _copy(file: PublishedFile, source: Path, place: _Place, progress: Progress | None) -> None:
    if not source.is_file():
        raise FetchError(f"There is no file {source} to take {file.name} from.")
    size = source.stat().st_size
    _require_space(file, place, size)
    place.notes.unlink(missing_ok=True)
    with source.open("rb") as read, place.part.open("wb") as write, _bar(progress, file, size, 0) as advance:
        while piece := read.read(CHUNK):
            write.write(piece)
            advance(len(piece))


def _keep(file: PublishedFile, place: _Place, source: str) -> str:
    """Check what came, note its digest and put it in its place."""
    digest, size = file_digest(place.part), place.part.stat().st_size
    record = file.record
    notes = json.loads(place.notes.read_text()) if place.notes.is_file() else {}
    stated = notes.get("sha256", "")
    expected = record.get("sha256") or (stated if stated.startswith(file.stated) else file.stated)
    if not digest.startswith(expected):
        place.part.unlink()
        place.notes.unlink(missing_ok=True)
        must = f"{'be' if len(expected) == 64 else 'begin with'} {expected}, as its publisher states"
        if record:
            again = f"if its publisher has replaced it, remove {place.record} and fetch it again"
            must = f"be {expected}, as when it was first fetched; {again}"
        raise OtherFile(f"What {source} gave for {file.name} was not kept: its sha256 is {digest}, and it must {must}.", digest)
    found = {
        "sha256": digest,
        "bytes": size,
        "source": source,
        "fetched": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
    if notes.get("sha256") == digest:
        found["stated_by"] = notes["stated_by"]
    if record:
        found = found | record | {"bytes": size, "source": source}
    draft = place.record.with_name(f"{place.record.name}.new")
    draft.write_text(json.dumps(found, indent=1) + "\n")
    draft.replace(place.record)
    with place.part.open("rb") as stream:
        os.fsync(stream.fileno())
    place.part.replace(place.file)
    place.notes.unlink(missing_ok=True)
    return f"{file.name} is installed ({size / 1e6:.1f} MB, sha256 {digest[:16]}…, {file.pinned_by})."


def partly(file: PublishedFile) -> int:
    """Bytes of it that an interrupted fetch has left."""
    part = _Place(file.path).part
    return part.stat().st_size if part.is_file() else 0


def _require_space(file: PublishedFile, place: _Place, needed: int) -> None:
    free = shutil.disk_usage(place.file.parent).free
    if free < needed + RESERVE:
        sizes = f"{needed / 1e6:.0f} MB more in {file.folder} and {free / 1e6:.0f} MB are free"
        raise FetchError(f"{file.name} needs {sizes}; make room and run this again.")
