"""An upload as a set of named files: a zip archive, a folder, or one file. Nothing is ever unpacked to disk.

Archives are hostile. Their headers' claims are used only to refuse early. Each read is bounded by the number of bytes that the
decompressor really returns.
"""

import io
import os
import stat
import struct
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, Self

from submissions.formats.errors import Findings, FormatError, excerpt, size_text
from submissions.formats.invisible import has_invisible
from submissions.formats.stand_in import STAND_IN_BYTES, stand_in
from submissions.kinds import FAMILIES
from submissions.manifest import Bounds

READABLE = (stat.S_IFREG | 0o644) << 16  # mode of a file in an archive that people unpack
SINGLE_FILE_SUFFIXES = tuple(dict.fromkeys(suffix for family in FAMILIES.values() for suffix in family.singles))
ARCHIVE_SUFFIXES = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar")
# What operating systems, file managers and network drives put beside files; names that begin with a dot are hidden anyway.
SYSTEM_NAMES = (
    *("__macosx", "thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r", "@eadir", "#recycle", "$recycle.bin"),
    *("system volume information", "lost+found", "__pycache__"),
)
_ZONE = ":zone.identifier"  # ends the name of the note that Windows keeps of a download, once it lies on another system
_OLD_JUNK = ("__MACOSX", ".DS_Store", "Thumbs.db")  # of programs, whose stored digests are over all other files
# Of names that say nothing of their encoding and are not UTF-8: of DOS, of Japanese and of Chinese Windows.
_CODE_PAGES = ("cp437", "cp932", "gbk")
MAX_NAME_LENGTH = 240
# A packed file this small may unpack to max_ratio times this size with any ratio of its own: short repetitive text compresses very well and
# harms nobody.
_SMALL_PACKED = 4096
# One entry of a central directory is 46 bytes, a name and extras; real ones stay well under this.
_DIRECTORY_BYTES_PER_ENTRY = 46 + 256
_CHUNK = 1 << 16
DEFAULT_BOUNDS = Bounds(max_file_bytes=max(family.max_file_bytes for family in FAMILIES.values()))
# All that zipfile and the decompressors raise for archives they cannot read.
UNREADABLE = (
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
    given: str  # the name before it was normalised
    size: int
    open: Callable[[], IO[bytes]]


@dataclass
class _Listing:
    """Content of an upload, before its names are checked against each other."""

    entries: list[_Entry] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    skipped: str = ""  # one of the hidden and system files
    outside: dict[str, Path] = field(default_factory=dict)


class Package:
    """The files of an upload, without hidden and system files and without one common top folder. A context manager."""

    def __init__(self, label: str, listing: _Listing, folders: set[str], bounds: Bounds, keep_top: bool, stack: ExitStack) -> None:
        self.label, self._bounds, self._stack = label, bounds, stack
        self.outside = listing.outside  # where each link of a folder leads that leaves it
        # The common folder that is removed, with its slash; empty if there is none.
        tops = {"".join(entry.name.partition("/")[:2]) for entry in listing.entries}
        self.top = tops.pop() if len(tops) == 1 and not keep_top and "/" in listing.entries[0].name else ""
        self._entries = {entry.name.removeprefix(self.top): entry for entry in listing.entries}
        self.folders = {folder.removeprefix(self.top) for folder in folders if folder.startswith(self.top)} - {""}
        self.files = tuple(PackagedFile(name, entry.size) for name, entry in sorted(self._entries.items()))

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
        except UNREADABLE as error:
            raise PackageError(name, "", f"cannot be unpacked ({excerpt(str(error))}); make the archive again") from None
        if taken.tell() != entry.size:
            raise PackageError(name, "", "has another size than the archive says; make the archive again")
        data = taken.getvalue()
        if reason := stand_in(data[:STAND_IN_BYTES], name):
            raise PackageError(name, "", reason)
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def open_package(
    path: Path,
    bounds: Bounds = DEFAULT_BOUNDS,
    name: str | None = None,
    keep_top: bool = False,
    all_files: bool = False,
    follow: Callable[[str], bool] | None = None,
    singles: Collection[str] = SINGLE_FILE_SUFFIXES,
) -> Package:
    """Opens a zip archive, a folder or the file of a single sample, and checks every name and claimed size.

    ``name`` is what the participant called the file, where ``path`` is called otherwise. A common top folder is cut off
    unless ``keep_top`` says that folders have a meaning. An archive within is refused and hidden files are skipped unless ``all_files``
    says that they are files like any other. In a folder, links are refused except those to regular files under a name of which
    ``follow`` is true; ``Package.outside`` lists those that lead out of the folder. A file with one of the suffixes ``singles`` is an
    upload of its own. Raises ``PackageError``.
    """
    label = name or path.name
    findings, packed = Findings(label, PackageError), None
    with ExitStack() as stack:
        if path.is_dir():
            listing = _folder_entries(path, bounds, all_files, follow, findings)
        elif not path.is_file():
            raise PackageError(label, "", "does not exist, or is neither a file nor a folder")
        elif Path(label).suffix.lower() in singles:
            listing = _Listing([_disk_entry(path, Path(label).name, Path(label).name)])
        else:
            packed = path.stat().st_size
            if packed == 0:
                raise PackageError(label, "", "is empty; send a zip archive with one file per item")
            if packed > bounds.max_archive_bytes:
                raise PackageError(label, "", f"is {size_text(packed)}, at most {size_text(bounds.max_archive_bytes)} are taken")
            stream = stack.enter_context(path.open("rb"))
            head = stream.read(STAND_IN_BYTES)
            if not head.startswith(b"PK"):
                kinds = ", ".join(singles)
                reason = stand_in(head, label) or f"is not a zip archive; send a .zip, or a single file named {kinds}"
                raise PackageError(label, "", reason)
            listing = _zip_entries(stream, label, bounds, stack, all_files, findings)
        entries = listing.entries
        total = 0
        for entry in entries:
            total += entry.size
            if entry.size > bounds.max_file_bytes:
                most = size_text(bounds.max_file_bytes)
                findings.add("", f"is {size_text(entry.size)}, at most {most} are taken for one file", entry.given)
        if total > bounds.max_total_bytes:
            most = size_text(bounds.max_total_bytes)
            findings.add("", f"unpacks to {size_text(total)}, at most {most} are taken")
        if packed and total > bounds.max_ratio * max(packed, _SMALL_PACKED * max(1, len(entries))):
            findings.add("", f"unpacks from {size_text(packed)} to {size_text(total)}; it looks like a zip bomb")
        folders = _checked_names(listing, bounds, findings, all_files)
        return Package(label, listing, folders, bounds, keep_top, stack.pop_all())


# --- where entries come from


def _disk_entry(path: Path, name: str, given: str) -> _Entry:
    return _Entry(name, given, path.stat().st_size, lambda: path.open("rb"))


def _folder_entries(root: Path, bounds: Bounds, all_files: bool, follow: Callable[[str], bool] | None, findings: Findings) -> _Listing:
    """Files and folders of a folder; links and special files are faults, except links that are followed."""
    listing = _Listing()
    found = []
    for one, inner in _walk(root, "", bounds.max_depth, all_files, listing):
        found.append((one, inner))
        if len(found) > bounds.max_entries:
            raise PackageError(findings.file, "", f"holds more than {bounds.max_entries} files and folders")
    page = _code_page([os.fsencode(inner) for _, inner in found])
    for one, inner in found:
        mode = one.stat(follow_symlinks=False).st_mode
        given = _decoded(os.fsencode(inner), page)
        name = _normal(given)
        if stat.S_ISDIR(mode):
            listing.folders.append(name)
        elif stat.S_ISREG(mode):
            listing.entries.append(_disk_entry(Path(one.path), name, given))
        elif stat.S_ISLNK(mode) and follow is not None and follow(name):
            target = Path(os.path.realpath(one.path))
            if not target.is_file():
                findings.add("", "is a symbolic link that leads to no file; put the file itself there", given)
                continue
            listing.entries.append(_disk_entry(target, name, given))
            if not target.is_relative_to(os.path.realpath(root)):
                listing.outside[name] = target
        else:
            findings.add("", _kind_fault(mode), given)
    return listing


def _walk(folder: Path, prefix: str, depth: int, all_files: bool, listing: _Listing) -> Iterator[tuple[os.DirEntry[str], str]]:
    with os.scandir(folder) as content:
        found = sorted(content, key=lambda entry: entry.name)
    for entry in found:
        name = prefix + entry.name
        if _is_skipped(entry.name, all_files):
            listing.skipped = listing.skipped or name
            continue
        yield entry, name
        # One level past the limit is listed, so that the depth check can name it; nothing further.
        if entry.is_dir(follow_symlinks=False) and depth >= 0:
            yield from _walk(Path(entry.path), f"{name}/", depth - 1, all_files, listing)


class _GuardedFile:
    """A file that refuses a huge read, because zipfile loads the whole central directory into memory before it counts the entries."""

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


def _zip_entries(stream: BinaryIO, label: str, bounds: Bounds, stack: ExitStack, all_files: bool, findings: Findings) -> _Listing:
    """Files and folders of an archive; signs of an attack or of damage are faults."""
    guarded = _GuardedFile(stream, max(2 * _CHUNK, bounds.max_entries * _DIRECTORY_BYTES_PER_ENTRY))
    try:
        archive = stack.enter_context(zipfile.ZipFile(guarded))
    except _DirectoryTooLarge:
        raise PackageError(label, "", f"lists too many files; at most {bounds.max_entries} are taken") from None
    except UNREADABLE as error:
        raise PackageError(label, "", f"is a broken zip archive ({excerpt(str(error))}); make it again") from None
    infos = archive.infolist()
    if len(infos) > bounds.max_entries:
        raise PackageError(label, "", f"holds {len(infos)} files and folders, at most {bounds.max_entries} are taken")
    _check_overlap(archive, label)
    # Names that do not say that they are UTF-8 were read as code page 437, which gives their bytes back.
    raw = [info.orig_filename.encode() if info.flag_bits & 0x800 else info.orig_filename.encode("cp437") for info in infos]
    page = _code_page(raw)
    listing = _Listing()
    for info, written in zip(infos, raw, strict=True):
        given = _decoded(written, page)
        name, is_folder = _normal(given), given.endswith(("/", "\\", "/."))
        if _is_skipped(name, all_files):
            listing.skipped = listing.skipped or name
        elif fault := _member_fault(info, is_folder):
            findings.add("", fault, given)
        elif is_folder:
            listing.folders += [name] if name else []  # the archive's root may be listed as ./
        else:
            listing.entries.append(_Entry(name, given, info.file_size, partial(archive.open, info)))
            if info.file_size > bounds.max_ratio * max(info.compress_size, _SMALL_PACKED):
                grows = f"unpacks from {size_text(info.compress_size)} to {size_text(info.file_size)}"
                findings.add("", f"{grows}, more than {bounds.max_ratio} times; it looks like a zip bomb", given)
    return listing


def _check_overlap(archive: zipfile.ZipFile, label: str) -> None:
    """Refuse files that share bytes: they are how a small archive unpacks to petabytes without a suspicious ratio."""
    end = 0
    for one in sorted(archive.infolist(), key=lambda one: one.header_offset):
        if one.header_offset < end:
            raise PackageError(label, "", f"holds files that overlap, at {excerpt(one.orig_filename)}; make it again")
        end = one.header_offset + 30 + one.compress_size
    if end > archive.start_dir:
        raise PackageError(label, "", "holds a file that runs into the archive's own list; make it again")


def _member_fault(info: zipfile.ZipInfo, is_folder: bool) -> str:
    """Reason why a member of an archive is refused by what the archive says of it; empty where it is not."""
    mode = info.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return _kind_fault(mode)
    if info.flag_bits & 0x1:
        return "is encrypted; make the archive without a password"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"is packed by an uncommon method (number {info.compress_type}); use plain deflate"
    return "is a folder that holds data of its own; make the archive again" if is_folder and info.file_size else ""


# --- names, normalised before they are judged


def _decoded(name: bytes, page: str) -> str:
    """A name that is UTF-8, whether an archive says so or not, or else in that code page."""
    try:
        return name.decode()
    except UnicodeError:
        return name.decode(page)


def _code_page(names: Iterable[bytes]) -> str:
    """Code page of those names that are not UTF-8: the first that reads all of them as paths.

    The second byte of a Japanese or Chinese letter may be the same as a backslash. Read in another code page, such a name has both kinds of
    separator, or two in a row.
    """
    unknown = []
    for name in names:
        try:
            name.decode()
        except UnicodeError:
            unknown.append(name)

    def fits(name: bytes, page: str) -> bool:
        try:
            text = name.decode(page)
        except UnicodeError:
            return False
        return not ("/" in text and "\\" in text) and "\\\\" not in text

    return next((page for page in _CODE_PAGES if all(fits(name, page) for name in unknown)), _CODE_PAGES[0])


def _normal(name: str) -> str:
    """The name with / between folders, without folders called . or nothing, and with accents in one encoding (NFC)."""
    name = name.replace("\\", "/")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return unicodedata.normalize("NFC", ("/" if name.startswith("/") else "") + "/".join(parts))


# --- checks on what was found


def _checked_names(listing: _Listing, bounds: Bounds, findings: Findings, all_files: bool) -> set[str]:
    """Refuse names that are not safe everywhere, or mean more than one file; return all folders."""
    entries = listing.entries
    for name, given in [(entry.name, entry.given) for entry in entries] + [(folder, folder) for folder in listing.folders]:
        if fault := _name_fault(name, bounds.max_depth, all_files):
            findings.add("", fault, given)
    findings.raise_if_any()
    if not entries:
        beside = f"; hidden and system files such as {excerpt(listing.skipped)} are not read" if listing.skipped else ""
        findings.add("", f"holds no files{beside}; put one file per item into it")
    parents = {str(parent) for entry in entries for parent in PurePosixPath(entry.name).parents} - {"."}
    folders = parents.union(listing.folders)
    seen: dict[str, str] = {_folded(folder): folder for folder in folders}
    for entry in entries:
        folded = _folded(entry.name)
        if folded not in seen:
            seen[folded] = entry.given
        elif seen[folded] == entry.given:
            findings.add("", "is named twice", entry.given)
        else:
            findings.add("", f"differs from {excerpt(seen[folded])} by case, separators or accents' encoding only", entry.given)
    findings.raise_if_any()
    return folders


def _name_fault(name: str, max_depth: int, all_files: bool) -> str:
    """Reason why a normalised name is refused; empty where it is not."""
    parts = name.split("/")
    if has_invisible(name, ("Cc", "Cf", "Cs", "Zl", "Zp")):
        return "has control or invisible characters in its name"
    if name.startswith("/") or name[1:2] == ":":
        return "has an absolute path; use names relative to the archive"
    if ".." in parts:
        return "leads outside the archive with .."
    if not name:
        return "has no name"
    if len(name) > MAX_NAME_LENGTH:
        return f"has a name of {len(name)} characters, at most {MAX_NAME_LENGTH} are taken"
    if len(parts) - 1 > max_depth:
        return f"lies {len(parts) - 1} folders deep, at most {max_depth} are taken"
    if not all_files and name.lower().endswith(ARCHIVE_SUFFIXES):
        return "is an archive within the upload; send its files directly"
    return ""


def _is_skipped(name: str, all_files: bool) -> bool:
    """Return whether a file is hidden, or lies in a hidden folder, or is one that systems make by themselves. A name that leads out of
    the upload is not: it is refused."""
    parts = name.split("/")
    if all_files:
        return any(part in _OLD_JUNK or part.startswith("._") for part in parts)
    if ".." in parts or not parts[0]:
        return False
    return any(part.startswith(".") or part.lower() in SYSTEM_NAMES or part.lower().endswith(_ZONE) for part in parts)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _kind_fault(mode: int) -> str:
    kind = "a symbolic link" if stat.S_ISLNK(mode) else "a special file"
    return f"is {kind}; put the file itself there"


def readable_member(name: str, at: tuple[int, int, int, int, int, int] | None = None) -> zipfile.ZipInfo:
    """Return a member of an archive for people, dated `at` (by default now). After unpacking, every user of the machine may read the
    file; by default `zipfile` lets only its owner read it."""
    info = zipfile.ZipInfo(name, at or time.localtime()[:6])
    info.external_attr, info.compress_type = READABLE, zipfile.ZIP_DEFLATED
    return info
