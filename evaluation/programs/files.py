"""The files of a metric program: from a zip or a folder, hostile until read, with their digest."""

from __future__ import annotations

import ast
import hashlib
import io
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from evaluation.programs import document
from evaluation.programs.document import MetricDocument, ProgramError
from submissions.formats.archive import open_package, readable_member
from submissions.formats.errors import FormatError, excerpt
from submissions.formats.stand_in import STAND_IN_BYTES, stand_in
from submissions.manifest import Bounds

MAX_UNPACKED = 200_000_000
MAX_FILES = 2_000
BOUNDS = Bounds(
    max_archive_bytes=MAX_UNPACKED,
    max_total_bytes=MAX_UNPACKED,
    max_file_bytes=MAX_UNPACKED,
    max_entries=MAX_FILES,
    max_ratio=500,
    max_depth=8,
)
# Files beside a script's own files in the folder it runs in.
GIVEN = ("prediction", "reference", "output", "params.json", "items.json")


@dataclass(frozen=True)
class ProgramFiles:
    """A program as it was sent: its document, and the bytes of each file by name with / between folders."""

    document: MetricDocument
    contents: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        """sha256 (hex) over the sorted names and contents; times, modes and the order of the archive change nothing."""
        whole = hashlib.sha256()
        for name, data in sorted(self.contents.items()):
            whole.update(f"{len(name.encode())}:{name}:{hashlib.sha256(data).hexdigest()}\n".encode())
        return whole.hexdigest()

    def of_kind(self, kind: str) -> ProgramFiles:
        """The program for entries of a kind, see `MetricDocument.of_kind`."""
        return replace(self, document=self.document.of_kind(kind))

    def archive(self) -> bytes:
        """The same program as a zip, the same bytes for the same files."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, data in sorted(self.contents.items()):
                packed.writestr(readable_member(name, (1980, 1, 1, 0, 0, 0)), data)
        return buffer.getvalue()

    def unpack(self, folder: Path) -> None:
        """Write the files into an empty folder. Commands of the folder itself can be run, so they are executable."""
        for name, data in self.contents.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            os.chmod(path, 0o755 if data.startswith(b"#!") else 0o644)


def read(path: Path, name: str | None = None, here: bool = True) -> ProgramFiles:
    """The program in a zip or a folder; `here` says whether it is to run in this environment. Raises ProgramError, one sentence."""
    label = name or path.name
    if path.is_file() and not zipfile.is_zipfile(path):
        with path.open("rb") as stream:
            if reason := stand_in(stream.read(STAND_IN_BYTES), label):
                raise ProgramError(f"{label} {reason}.")
        raise ProgramError(f"{label} is not a zip archive; send the program's folder as a .zip, with {document.FILE} at its root.")
    try:
        with open_package(path, BOUNDS, label if path.is_dir() else f"{label.removesuffix('.zip')}.zip", all_files=True) as package:
            names = [file.name for file in package.files]
            if document.FILE not in names:
                where = next((one for one in names if one.endswith(f"/{document.FILE}")), "")
                alike = next((one for one in names if one.lower() in (document.FILE, "metric.yml")), "")
                hint = f"it is at {where}; put it at the top" if where else "put it beside the program's files"
                hint = f"{alike} must be called {document.FILE}" if alike else hint
                raise ProgramError(f"{label} has no {document.FILE} at its root; {hint}.")
            contents = {one: package.read(one) for one in names if "__pycache__" not in one.split("/")}
    except FormatError as error:
        raise ProgramError(f"{error.all()[0]}.") from None
    said = document.read(contents[document.FILE], here)
    _check_entry(said, contents)
    return ProgramFiles(said, contents)


def _check_entry(said: MetricDocument, contents: Mapping[str, bytes]) -> None:
    if said.run == "python":
        file = said.entry.partition(":")[0]
        if file not in contents:
            raise ProgramError(f"{document.FILE}: entry names {file}, which is not among the program's files.")
        # The files beside the entry are the author's own; packages that came along may hold files of other versions of the language.
        beside = file.rpartition("/")[0]
        for name, data in contents.items():
            if name.endswith(".py") and name.rpartition("/")[0] == beside:
                _check_python(name, data)
    else:
        for name in contents:
            if name.split("/")[0] in GIVEN:
                raise ProgramError(f"{name} stands where the service puts its own files; call it otherwise than {', '.join(GIVEN)}.")


def _check_python(name: str, data: bytes) -> None:
    try:
        ast.parse(data)
    except SyntaxError as error:
        where = f"{name}, line {error.lineno}" if error.lineno else name
        raise ProgramError(f"{where}: {excerpt(error.msg)}. This is not Python; correct it and send the program again.") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ProgramError(f"{name} cannot be read as Python: {excerpt(str(error)) or 'it is nested too deep'}.") from None
