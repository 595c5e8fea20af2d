"""An upload as a set of named files: a zip archive, a folder, or one file. Nothing is ever unpacked to disk.

Archives are hostile until read. Headers are used only to refuse early; what bounds a read is the number of bytes
that really came out of the decompressor.
"""

import io
import os
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, Self

from submissions.formats.errors import Findings, FormatError, excerpt, size_text
from submissions.kinds import FAMILIES
from submissions.manifest import Bounds

SINGLE_FILE_SUFFIXES = tuple(dict.fromkeys(suffix for family in FAMILIES.values() for suffix in family.singles))
ARCHIVE_SUFFIXES = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar")
JUNK_NAMES = ("__MACOSX", ".DS_Store", "Thumbs.db")
MAX_NAME_LENGTH = 240
# A packed file this small may unpack to max_ratio times this size whatever its own ratio: short repetitive text
# compresses very well and harms nobody.
_SMALL_PACKED = 4096
# One entry of a central directory is 46 bytes, a name and extras; real ones stay well under this.
_DIRECTORY_BYTES_PER_ENTRY = 46 + 256
_CHUNK = 1 << 16
DEFAULT_BOUNDS = Bounds(max_file_bytes=max(family.max_file_bytes for family in FAMILIES.values()))
# All that zipfile and the decompressors raise for archives they cannot read.
_UNREADABLE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    NotImplementedError,  # zipfile's word for a compression or a version of zip that it does not know
    RuntimeError,
    UnicodeError,
    ValueError,
)


class PackageError(FormatError):
    """An upload that cannot be opened safely, or holds a file that cannot be read within the bounds."""


@dataclass(frozen=True)
class PackagedFile:
    """One file of an upload: its name with ``/`` between folders, and the size it claims, in bytes."""

    name: str
    size: int


@dataclass(frozen=True)
class _Entry:
    name: str
    size: int
    open: Callable[[], IO[bytes]]


class Package:
    """The files of an upload, without junk and without one common top folder. A context manager."""

    def __init__(self, label: str, entries: dict[str, _Entry], folders: frozenset[str], top: str, bounds: Bounds) -> None:
        self.label, self._entries, self._bounds = label, entries, bounds
        self.top = top  # the common folder that was cut off, with its slash; empty where there is none
        self.folders = folders
        self.files = tuple(PackagedFile(name, entry.size) for name, entry in sorted(entries.items()))
        self._stack = ExitStack()

    def read(self, name: str, limit: int | None = None) -> bytes:
        """The bytes of one file; ``PackageError`` where it is larger than ``limit`` or than it claimed, or broken."""
        entry = self._entries[name]
        most = min(self._bounds.max_file_bytes, self._bounds.max_file_bytes if limit is None else limit)
        if entry.size > most:
            raise PackageError(name, "", f"is {size_text(entry.size)}, at most {size_text(most)} here")
        try:
            taken = io.BytesIO()  # gives its bytes away without a copy
            with entry.open() as stream:
                while taken.tell() <= entry.size:  # never more than one byte beyond what it claims
                    chunk = stream.read(min(_CHUNK, entry.size + 1 - taken.tell()))
                    if not chunk:
                        break
                    taken.write(chunk)
        except _UNREADABLE as error:
            raise PackageError(name, "", f"cannot be unpacked ({excerpt(str(error))}); make the archive again") from None
        if taken.tell() != entry.size:
            raise PackageError(name, "", "has another size than the archive says; make the archive again")
        return taken.getvalue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def open_package(
    path: Path,
    bounds: Bounds = DEFAULT_BOUNDS,
    name: str | None = None,
    keep_top: bool = False,
    inner_archives: bool = False,
    singles: Collection[str] = SINGLE_FILE_SUFFIXES,
) -> Package:
    """Opens a zip archive, a folder or the file of a single sample, and checks every name and claimed size.

    ``name`` is what the participant called the file, where ``path`` is called otherwise. A common top folder is cut off
    unless ``keep_top`` says that folders have a meaning. An archive within is refused unless ``inner_archives`` says that it is a file like
    any other, which nobody unpacks. A file with one of the suffixes ``singles`` is an upload of its own. Raises ``PackageError``.
    """
    label = name or path.name
    with ExitStack() as stack:
        if path.is_dir():
            findings, packed = Findings(label, PackageError), None
            entries: list[_Entry] = []
            folders: list[str] = []
            for found, inner in _walk(path, "", bounds.max_depth):
                if len(entries) + len(folders) >= bounds.max_entries:
                    raise PackageError(label, "", f"holds more than {bounds.max_entries} files and folders")
                mode = found.stat(follow_symlinks=False).st_mode
                if stat.S_ISDIR(mode):
                    folders.append(inner)
                elif stat.S_ISREG(mode):
                    entries.append(_disk_entry(Path(found.path), inner))
                else:
                    findings.add("", _kind_fault(mode), inner)
        elif not path.is_file():
            raise PackageError(label, "", "does not exist, or is neither a file nor a folder")
        elif Path(label).suffix.lower() in singles:
            entries, folders, packed = [_disk_entry(path, Path(label).name)], [], None
            findings = Findings(label, PackageError)
        else:
            packed = path.stat().st_size
            if packed == 0:
                raise PackageError(label, "", "is empty; send a zip archive with one file per item")
            if packed > bounds.max_archive_bytes:
                raise PackageError(label, "", f"is {size_text(packed)}, at most {size_text(bounds.max_archive_bytes)} are taken")
            stream = stack.enter_context(path.open("rb"))
            if stream.read(2) != b"PK":
                kinds = ", ".join(singles)
                raise PackageError(label, "", f"is not a zip archive; send a .zip, or a single file named {kinds}")
            entries, folders, findings = _zip_entries(stream, label, bounds, stack)
        total = 0
        for entry in entries:
            total += entry.size
            if entry.size > bounds.max_file_bytes:
                most = size_text(bounds.max_file_bytes)
                findings.add("", f"is {size_text(entry.size)}, at most {most} are taken for one file", entry.name)
        if total > bounds.max_total_bytes:
            most = size_text(bounds.max_total_bytes)
            findings.add("", f"unpacks to {size_text(total)}, at most {most} are taken")
        if packed and total > bounds.max_ratio * max(packed, _SMALL_PACKED * max(1, len(entries))):
            findings.add("", f"unpacks from {size_text(packed)} to {size_text(total)}; it looks like a zip bomb")
        package = Package(label, *_checked_names(entries, folders, bounds, findings, keep_top, inner_archives), bounds)
        package._stack = stack.pop_all()
    return package


# --- where entries come from


def _disk_entry(path: Path, name: str) -> _Entry:
    return _Entry(name, path.stat().st_size, lambda: path.open("rb"))


def _walk(folder: Path, prefix: str, depth: int) -> Iterator[tuple[os.DirEntry[str], str]]:
    with os.scandir(folder) as listing:
        found = sorted(listing, key=lambda entry: entry.name)
    for entry in found:
        if _is_junk(entry.name):
            continue
        name = prefix + entry.name
        yield entry, name
        # One level past the limit is listed, so that the depth check can name it; nothing further.
        if entry.is_dir(follow_symlinks=False) and depth >= 0:
            yield from _walk(Path(entry.path), f"{name}/", depth - 1)


class _GuardedFile:
    """A file that refuses one huge read: zipfile takes a whole central directory into memory before it counts it."""

    def __init__(self, stream: BinaryIO, most: int) -> None:
        self.stream, self.most = stream, most
        self.seek, self.tell, self.close = stream.seek, stream.tell, stream.close

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size > self.most:
            raise _DirectoryTooLarge
        return self.stream.read(size if size >= 0 else self.most)


class _DirectoryTooLarge(Exception):
    pass


def _zip_entries(stream: BinaryIO, label: str, bounds: Bounds, stack: ExitStack) -> tuple[list[_Entry], list[str], Findings]:
    """Files and folders of an archive; whatever marks it as an attack or as broken is a fault."""
    guarded = _GuardedFile(stream, max(2 * _CHUNK, bounds.max_entries * _DIRECTORY_BYTES_PER_ENTRY))
    try:
        archive = stack.enter_context(zipfile.ZipFile(guarded))
    except _DirectoryTooLarge:
        raise PackageError(label, "", f"lists too many files; at most {bounds.max_entries} are taken") from None
    except _UNREADABLE as error:
        raise PackageError(label, "", f"is a broken zip archive ({excerpt(str(error))}); make it again") from None
    infos = archive.infolist()
    if len(infos) > bounds.max_entries:
        raise PackageError(label, "", f"holds {len(infos)} files and folders, at most {bounds.max_entries} are taken")
    # Files that share bytes are how a small archive unpacks to petabytes without a suspicious ratio.
    end = 0
    for one in sorted(infos, key=lambda one: one.header_offset):
        if one.header_offset < end or one.header_offset < 0:
            raise PackageError(label, "", f"holds files that overlap, at {excerpt(one.orig_filename)}; make it again")
        end = one.header_offset + 30 + one.compress_size
    if end > archive.start_dir:
        raise PackageError(label, "", "holds a file that runs into the archive's own list; make it again")
    findings = Findings(label, PackageError)
    entries: list[_Entry] = []
    folders: list[str] = []
    for info in infos:
        name, mode = _name_in(info), info.external_attr >> 16
        if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            findings.add("", _kind_fault(mode), name)
        elif info.flag_bits & 0x1:
            findings.add("", "is encrypted; make the archive without a password", name)
        elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            findings.add("", f"is packed by an uncommon method (number {info.compress_type}); use plain deflate", name)
        elif info.filename.endswith("/") and info.file_size:
            findings.add("", "is a folder that holds data of its own; make the archive again", name)
        elif name.endswith("/"):
            folders.append(name[:-1])
        elif not _is_junk(name):
            entries.append(_Entry(name, info.file_size, partial(archive.open, info)))
            if info.file_size > bounds.max_ratio * max(info.compress_size, _SMALL_PACKED):
                grows = f"unpacks from {size_text(info.compress_size)} to {size_text(info.file_size)}"
                findings.add("", f"{grows}, more than {bounds.max_ratio} times; it looks like a zip bomb", name)
    return entries, folders, findings


def _name_in(info: zipfile.ZipInfo) -> str:
    """The name of a file. Finder of macOS and many a zip command write UTF-8 without saying so, and zipfile reads code page 437 then."""
    if info.flag_bits & 0x800:
        return info.orig_filename
    try:
        return info.orig_filename.encode("cp437").decode()
    except UnicodeError:
        return info.orig_filename


# --- checks on what was found


def _checked_names(
    entries: list[_Entry], folders: list[str], bounds: Bounds, findings: Findings, keep_top: bool, inner_archives: bool
) -> tuple[dict[str, _Entry], frozenset[str], str]:
    """Names that are safe everywhere, each meaning one file, without a common top folder; and that folder."""
    folders = [folder for folder in folders if not _is_junk(folder)]
    for name in [entry.name for entry in entries] + folders:
        fault = _name_fault(name, bounds.max_depth)
        if not fault and not inner_archives and name.lower().endswith(ARCHIVE_SUFFIXES):
            fault = "is an archive within the upload; send its files directly"
        if fault:
            findings.add("", fault, name)
    findings.raise_if_any()
    if not entries:
        findings.add("", "holds no files; put one file per item into it")
    parents = {str(parent) for entry in entries for parent in PurePosixPath(entry.name).parents} - {"."}
    every_folder = set(folders) | parents
    names = [entry.name for entry in entries]
    seen: dict[str, str] = {_folded(folder): folder for folder in every_folder}
    for given in names:
        folded = _folded(given)
        if folded not in seen:
            seen[folded] = given
        elif seen[folded] == given:
            findings.add("", "is named twice", given)
        else:
            findings.add("", f"differs from {excerpt(seen[folded])} by case or accents' encoding only", given)
    findings.raise_if_any()
    top, slash, _ = entries[0].name.partition("/")
    top += slash
    if keep_top or not slash or not all(entry.name.startswith(top) for entry in entries):
        top = ""
    cut = len(top)
    kept = {folder[cut:] for folder in every_folder if folder.startswith(top) and folder[cut:]}
    named = {unicodedata.normalize("NFC", entry.name[cut:]): entry for entry in entries}
    return named, frozenset(kept), unicodedata.normalize("NFC", top)


def _name_fault(name: str, max_depth: int) -> str:
    """Reason why a name is refused; empty where it is not."""
    parts = name.split("/")
    if any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in name):
        return "has control or invisible characters in its name"
    if "\\" in name:
        return "has a backslash in its name; use / between folders"
    if name.startswith("/") or name[1:2] == ":":
        return "has an absolute path; use names relative to the archive"
    if ".." in parts:
        return "leads outside the archive with .."
    if "." in parts or "" in parts:
        return "has an empty or . folder in its name"
    if len(name) > MAX_NAME_LENGTH:
        return f"has a name of {len(name)} characters, at most {MAX_NAME_LENGTH} are taken"
    if len(parts) - 1 > max_depth:
        return f"lies {len(parts) - 1} folders deep, at most {max_depth} are taken"
    return ""


def _is_junk(name: str) -> bool:
    """Return whether file managers made it: folders' settings, previews, and macOS's second half of each file (``._name``)."""
    return any(part in JUNK_NAMES or part.startswith("._") for part in name.rstrip("/").split("/"))


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _kind_fault(mode: int) -> str:
    kind = "a symbolic link" if stat.S_ISLNK(mode) else "a special file"
    return f"is {kind}; put the file itself there"
