"""Published sets on this machine: fetched with their digests checked, read into canonical tables, and forgotten.

Below `EVIDENCE_DIR`, which only its owner may enter, a set's folder holds `raw/` (the files as published), `tables/` (the canonical ones)
and, for a set of the operator's own, `evidence.yaml` and `record.toml`. `verified.json` says when its figures came out the same here.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from evaluation.networks import fetching
from evaluation.networks.weights import PublishedFile
from evaluation.work.sandbox import JobFailed, job_folder, sandbox
from leaderboard.evidence import canonical, catalogue, reading, record_file
from leaderboard.evidence.manifest import Manifest, SourceFile, other_file
from leaderboard.evidence.raw import EvidenceError
from leaderboard.evidence.reading import Reading
from leaderboard.stats.evidence.record import EvidenceRecord
from submissions.formats.errors import FormatError, size_text
from submissions.formats.file_digest import file_digest

RAW, TABLES, ACCEPTED, VERIFIED = "raw", "tables", "accepted.json", "verified.json"
Ask = Callable[[str], bool]


class StoreError(Exception):
    """A set could not be fetched, checked or read; sentences for the operator."""


@dataclass(frozen=True)
class RawFile(PublishedFile):
    """A file of a set, as what fetches weights takes it."""

    into: Path = Path()

    @property
    def folder(self) -> Path:
        return self.into


def folder_of(name: str) -> Path:
    return settings.EVIDENCE_DIR / name


def find(name: str) -> Manifest:
    """The manifest of a set. Raises `NoSuchSet`, and `DocumentError` for a faulty one."""
    return catalogue.find(name, settings.EVIDENCE_DIR)


def record_path(name: str) -> Path:
    """The place of a set's record: with the code for a set of the catalogue, in the operator's folder for one of their own."""
    is_own = name in catalogue.own(settings.EVIDENCE_DIR)
    return folder_of(name) / catalogue.RECORD if is_own else catalogue.RECORDS / f"{name}.toml"


def is_here(manifest: Manifest) -> bool:
    """True where all files of the set were fetched; their digests are not asked."""
    return all((folder_of(manifest.name) / RAW / file.name).is_file() for file in manifest.files)


def accepted(manifest: Manifest) -> str:
    """The day on which the licence was accepted here, as it is stated now; empty where it was not."""
    try:
        said = json.loads((folder_of(manifest.name) / ACCEPTED).read_text())
    except (OSError, ValueError):
        return ""
    return str(said.get("on", "")) if said.get("licence") == manifest.licence.name else ""


def accept(manifest: Manifest) -> None:
    """Note that the operator accepted the licence as it is stated."""
    (_private(manifest.name) / ACCEPTED).write_text(
        json.dumps({"licence": manifest.licence.name, "on": datetime.now(UTC).date().isoformat()}) + "\n"
    )


def note_verified(record: EvidenceRecord, same: bool) -> None:
    """Note whether the figures computed here equal the record's."""
    path = _private(record.name) / VERIFIED
    if same:
        path.write_text(json.dumps({"record": _digest(record), "at": datetime.now(UTC).isoformat()}) + "\n")
    else:
        path.unlink(missing_ok=True)


def verified(record: EvidenceRecord) -> datetime | None:
    """The moment at which this very record was computed again here and came out the same; None where it was not."""
    try:
        said = json.loads((folder_of(record.name) / VERIFIED).read_text())
        return datetime.fromisoformat(said["at"]) if said["record"] == _digest(record) else None
    except (OSError, ValueError, KeyError):
        return None


def _digest(record: EvidenceRecord) -> str:
    return hashlib.sha256(record_file.to_toml(record).encode()).hexdigest()


def licence_text(manifest: Manifest, source: str, progress: fetching.Progress | None = None) -> str:
    """The text of the licence's file, which is fetched for it; empty where the set names none. Raises `StoreError`."""
    file = next((one for one in manifest.files if manifest.licence.file and one.path == manifest.licence.file), None)
    if file is None:
        return ""
    _get(manifest, file, source, progress)
    return (folder_of(manifest.name) / RAW / file.name).read_text(encoding="utf-8", errors="replace")


def fetch(manifest: Manifest, source: str, progress: fetching.Progress | None = None) -> Iterator[str]:
    """Get each file that is not here yet, yielding a sentence for each. `source` is a folder or an address that holds the files by their
    names, empty for the publisher's own. Raises `StoreError`."""
    for file in manifest.files:
        yield _get(manifest, file, source, progress)


def _get(manifest: Manifest, file: SourceFile, source: str, progress: fetching.Progress | None) -> str:
    folder = _private(manifest.name) / RAW
    if not (source or file.url):
        raise StoreError(f"{file.name} has no address; get it by hand and give its folder with --from.")
    came_from = f"{source.rstrip('/')}/{file.name}" if "://" in source else str(Path(source).expanduser() / file.name) if source else ""
    licence, megabytes = manifest.licence.name, file.bytes / 1e6
    raw = RawFile(file.name, file.name, file.url, licence, megabytes, manifest.title, file.sha256, file.bytes, into=folder)
    try:
        was_here = raw.there
        fetching.fetch(raw, came_from, progress)
    except fetching.OtherFile as error:
        raise StoreError(other_file(file, error.digest)) from None
    except fetching.FetchError as error:
        raise StoreError(str(error)) from None
    return f"{file.name} is here{' already' if was_here else ''}: {size_text(file.bytes)}, with the digest of the catalogue."


def check(manifest: Manifest) -> None:
    """Compare every stored file with its digest. Raises `StoreError` with a sentence for each file that is missing or differs."""
    faults = []
    for file in manifest.files:
        path = folder_of(manifest.name) / RAW / file.name
        if not path.is_file():
            faults.append(f"{file.name} is not here; run `manage.py evidence fetch {manifest.name}`.")
        elif (digest := file_digest(path)) != file.sha256:
            faults.append(other_file(file, digest))
    if faults:
        raise StoreError("\n".join(faults))


def read(manifest: Manifest) -> Reading:
    """The set as arrays, from files whose digests are checked. Raises `StoreError`."""
    check(manifest)
    try:
        return reading.read(manifest, folder_of(manifest.name) / RAW, read_sheet)
    except EvidenceError as error:
        raise StoreError(f"{error}\nNothing was imported.") from None


def write_tables(found: Reading) -> list[Path]:
    """Write the canonical tables beside the files as published, all or none, and return their paths."""
    folder = _private(found.tables.name)
    with tempfile.TemporaryDirectory(dir=folder) as draft:
        names = canonical.write(found.tables, Path(draft))
        shutil.rmtree(folder / TABLES, ignore_errors=True)
        Path(draft).rename(folder / TABLES)
        Path(draft).mkdir()  # which is removed now
    return [folder / TABLES / name for name in names]


def forget(name: str) -> bool:
    """Delete the answers of a set from this machine: its files, its tables and what was accepted. The operator's own manifest and the
    record stay. False where there was nothing."""
    folder = folder_of(name)
    there = [folder / part for part in (RAW, TABLES, ACCEPTED) if (folder / part).exists()]
    for path in there:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    return bool(there)


def read_sheet(path: Path, sheet: str) -> list[list[str]]:
    """Cells of a sheet, read in the limited process that uploads are read in. Raises `FormatError`."""
    job = {"kind": "sheet", "file": str(path.resolve()), "sheet": sheet}
    try:
        with job_folder() as folder:
            found = sandbox.run(folder, job, lambda: True, settings.READ_SECONDS)
    except JobFailed as error:
        raise FormatError(path.name, "", f"could not be read. {error.sentence} Save the sheet as CSV") from None
    if found["fault"]:
        file, _, reason = found["fault"].partition(": ")
        raise FormatError(file, "", reason)
    rows: list[list[str]] = found["rows"]
    return rows


def _private(name: str) -> Path:
    """The folder of a set, made where it is not there; it and the folder of all sets are their owner's alone."""
    for folder in (settings.EVIDENCE_DIR, folder_of(name)):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
    return folder_of(name)
