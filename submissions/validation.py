"""The check of an upload: which items it holds, what is wrong, and what its team is asked. Page, API, client and worker share it."""

import difflib
import re
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any

from submissions.entry_states import Reason
from submissions.formats import plausibility, wrong_kind
from submissions.formats.archive import Package, open_package
from submissions.formats.errors import FormatError, Remarks, excerpt, size_text
from submissions.formats.layout import is_companion, is_silent, item_of
from submissions.formats.wireframe.s23dr import FILE_NAMES, judge_s23dr
from submissions.kinds import Family
from submissions.manifest import Item, Manifest

MAX_PROBLEMS = 100
MAX_NAMES = 5_000  # of a phase, among which one is looked for that a file may have been meant to be
CLOSE = 0.8  # how alike two names must be, of 1
MAX_FAULTS = 10  # tracebacks kept: a reader that fails at one file fails at its neighbours in the same place
OUR_FAULT = (
    "could not be read because of an error in Plumbline, which is not your fault; "
    "send it in another format or written by another program, or ask the organizers"
)


class Fault(StrEnum):
    """Reason for which an upload is refused."""

    CONTENT = "content"  # a reader says what is wrong in a file
    READER = "reader"  # our reader broke down
    SUFFIX = "suffix"  # no file has a suffix of the phase
    FORMAT = "format"  # one file has another suffix
    NO_ITEM = "no_item"  # a file is named after no item
    NAME_ALONE = "name_alone"  # the only file of an item has the suffix of a text that explains
    TWICE = "twice"
    BESIDE_TABLE = "beside_table"
    FOLDER = "folder"  # a folder is named like a file
    SPACE = "space"  # the items take more than is kept
    MISSING = "missing"
    EMPTY = "empty"  # not one item was sent


@dataclass(frozen=True)
class Problem:
    """One reason to refuse: the file, the place in it (may be empty), and what is wrong there, in words and as data."""

    file: str
    where: str
    reason: str
    fault: Fault = Fault.CONTENT

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.where, self.reason) if part)


@dataclass(frozen=True)
class ReaderFault:
    """A fault of ours: the file at which a reader broke down, and the traceback, for operators only."""

    file: str
    traceback: str


@dataclass(frozen=True)
class Verdict:
    """The items of an upload, and what is wrong with it.

    - ``items``: the items that could be read, by id, in the manifest's order.
    - ``missing``: the ids of the other items.
    - ``problems``: why the upload is rejected, the first hundred of ``n_problems``.
    - ``warnings``: sentences about an upload that is accepted.
    - ``to_confirm``: questions that put the entry on hold until its team answers them.
    - ``hold``: the first reason for these questions, a ``submissions.entry_states.Reason``, or empty.
    - ``faults``: crashes of our own readers, which are among the problems too.
    """

    items: dict[str, Any]
    missing: tuple[str, ...]
    problems: tuple[Problem, ...]
    n_problems: int
    warnings: tuple[str, ...] = ()
    faults: tuple[ReaderFault, ...] = ()
    to_confirm: tuple[str, ...] = ()
    hold: str = ""

    @property
    def accepted(self) -> bool:
        return self.n_problems == 0


@dataclass
class _Notes:
    """Problems and warnings while they are collected."""

    problems: list[Problem] = field(default_factory=list)
    count: int = 0
    warnings: list[str] = field(default_factory=list)
    sent: set[str] = field(default_factory=set)  # items that the upload has a file of, readable or not
    files: list[str] = field(default_factory=list)  # that items were read from
    degenerate: dict[str, str] = field(default_factory=dict)  # by file, or item of a table, that holds nothing to score: what it holds
    faults: list[ReaderFault] = field(default_factory=list)
    remarks: Remarks = field(default_factory=Remarks)

    def problem(self, file: str, reason: str, fault: Fault, where: str = "") -> None:
        self.count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(file, where, reason, fault))

    def error(self, file: str, error: Exception) -> None:
        """Note what reading ``file`` raised: the faults that the reader found, or else a crash of the reader itself. Raises
        ``MemoryError`` again, which says nothing about the file."""
        if isinstance(error, FormatError):
            for one in error.all():
                self.problem(one.file, one.reason, Fault.CONTENT, one.where)
            self.count += error.count - len(error.all())
        elif isinstance(error, MemoryError):
            raise error
        else:
            self.problem(file, OUR_FAULT, Fault.READER)
            if len(self.faults) < MAX_FAULTS:
                lines = "".join(traceback.format_exception(error, limit=-20)).replace("\0", r"\0")
                self.faults.append(ReaderFault(file, lines.encode("ascii", "backslashreplace").decode()))


def validate(
    path: Path,
    manifest: Manifest,
    progress: Callable[[int, int], None] | None = None,
    name: str | None = None,
    own_machine: bool = False,
) -> Verdict:
    """Reads all of the upload at ``path`` (zip archive, folder or single file) and checks it against the manifest.

    ``progress`` is called with (files read, files in all). ``name`` is what the participant called the file. On the participant's
    ``own_machine``, links in a folder are followed where they are named like files of items. Every fault of the upload, and every crash
    of a reader, becomes a problem of the verdict. Raises ``OSError`` where the path cannot be read, and ``MemoryError``.
    """
    notes = _Notes()
    try:
        follow = item_files(manifest) if own_machine else None
        kind = manifest.kind
        with open_package(path, manifest.bounds, name, keep_top=kind.grouped, follow=follow, singles=kind.singles) as package:
            read = _read_package(package, manifest, notes, progress or (lambda done, total: None))
        return _verdict(read, manifest, notes)
    except OSError:
        raise
    except Exception as error:
        notes.error(excerpt(name or path.name), error)
        return Verdict({}, manifest.item_ids, tuple(notes.problems), notes.count, faults=tuple(notes.faults))


def _verdict(read: Mapping[str, Any], manifest: Manifest, notes: _Notes) -> Verdict:
    """The verdict on an upload of which this was read: what its items lack, and what its team is asked to confirm."""
    kind, items = manifest.kind, {item: read[item] for item in manifest.item_ids if item in read}
    wrong = wrong_kind.sentences(kind, len(items), notes.degenerate)
    notes.warnings += [] if wrong else _hollow(kind, items)
    missing = tuple(item for item in manifest.item_ids if item not in items)
    absent = [item for item in missing if item not in notes.sent]
    if manifest.missing == "reject":
        for item in absent:
            notes.problem(item, "is missing; this phase wants every item", Fault.MISSING)
    elif not items and not notes.count:
        notes.problem("", f"holds none of {_place(manifest)}'s items; name each file after its item", Fault.EMPTY)
    elif items and absent:
        notes.warnings.append(f"{_some(absent)} missing; missing items get the worst value of each metric.")
    asked: dict[Reason, list[str]] = {}
    if not notes.count:
        folders = [] if kind.grouped else plausibility.folders(notes.files)  # a group's folders have a meaning
        asked = {Reason.KIND: wrong, Reason.INPUTS: plausibility.sentences(items, manifest), Reason.FOLDERS: folders}
    return Verdict(
        items,
        missing,
        tuple(notes.problems),
        notes.count,
        (*notes.warnings, *notes.remarks.sentences()),
        tuple(notes.faults),
        to_confirm=tuple(sentence for sentences in asked.values() for sentence in sentences),
        hold=next((reason.value for reason, sentences in asked.items() if sentences), ""),
    )


def _hollow(kind: Family, items: Mapping[str, Any]) -> list[str]:
    """Warnings of items that hold nothing to score."""
    empty = [item for item, content in items.items() if not kind.size(content)[1]]
    sized = {} if kind.images else {item: content for item, content in items.items() if item not in empty}
    flat = [item for item, content in sized.items() if kind.is_degenerate(content)]
    lacks = ((empty, f"without {kind.nothing}."), (flat, f"of zero size; an item needs {kind.needs}."))
    return [f"{_some(names)} {lack}" for names, lack in lacks if names]


def item_files(manifest: Manifest) -> Callable[[str], bool]:
    """Test of a file's name: True for one that holds an item of the phase, or a table of all of them."""
    ids = frozenset(manifest.item_ids)

    def holds_item(name: str) -> bool:
        path = PurePosixPath(name)
        if "s23dr" in manifest.formats and (path.name in FILE_NAMES or path.suffix.lower() in manifest.kind.tables):
            return True
        is_read = manifest.kind.suffixes.get(path.suffix.lower()) in manifest.formats
        return is_read and item_of(manifest.kind, name, ids) is not None

    return holds_item


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"{shown} {'is' if len(names) == 1 else 'are'}"


def _read_package(package: Package, manifest: Manifest, notes: _Notes, progress: Callable[[int, int], None]) -> dict[str, Any]:
    for folder in sorted(package.folders):
        if PurePosixPath(folder).suffix.lower() in manifest.kind.singles:
            notes.problem(folder, "is a folder named like a file; put the file itself there", Fault.FOLDER)
    if "s23dr" in manifest.formats:
        for file in package.files:
            path = PurePosixPath(file.name)
            if path.suffix.lower() == ".parquet" or (path.name in FILE_NAMES and path.stem not in manifest.item_ids):
                return _read_table(package, file.name, manifest, notes, progress)
    sources = _sources(package, manifest, notes)
    notes.sent.update(item.id for item, _ in sources)
    items: dict[str, Any] = {}
    kept = 0
    for done, (item, name) in enumerate(sources):
        progress(done, len(sources))
        try:
            items[item.id] = manifest.kind.read(package, name, item.limits, remarks=notes.remarks, **manifest.reading(item))
            if not manifest.kind.images and manifest.kind.is_degenerate(items[item.id]):
                notes.degenerate[name] = wrong_kind.contents(manifest.kind, items[item.id], name, package.read(name))
        except Exception as error:
            notes.error(name, error)
            continue
        notes.files.append(name)
        kept += manifest.kind.stored_size(items[item.id])
        if kept > manifest.kind.max_stored:
            most = size_text(manifest.kind.max_stored)
            said = f"and the {manifest.kind.plural} before it take more than {most} without loss; send fewer or smaller ones"
            notes.problem(name, said, Fault.SPACE)
            break
    progress(len(sources), len(sources))
    return items


def _read_table(package: Package, table: str, manifest: Manifest, notes: _Notes, progress: Callable[[int, int], None]) -> dict[str, Any]:
    for file in package.files:
        if file.name != table and not is_companion(manifest.kind, file.name):
            notes.problem(file.name, f"is beside {table}, which holds all items; send one or the other", Fault.BESIDE_TABLE)
    progress(0, 1)
    limits = {item.id: item.limits for item in manifest.items}
    try:
        found, findings = judge_s23dr(package.read(table), table, limits, notes.remarks)
        notes.sent.update(found)
        findings.raise_if_any()
    except Exception as error:
        notes.error(table, error)
        # A file that cannot be read at all says nothing about which samples are missing from it.
        notes.sent.update(notes.sent or manifest.item_ids)
        return {}
    finally:
        progress(1, 1)
    frames = {sample: frame for sample, frame in found.items() if frame is not None}
    for sample, frame in frames.items():
        if manifest.kind.is_degenerate(frame):
            notes.degenerate[sample] = wrong_kind.contents(manifest.kind, frame, table, b"")
    return frames


def _sources(package: Package, manifest: Manifest, notes: _Notes) -> list[tuple[Item, str]]:
    """Return each item with its file. Other files become problems, or warnings where they may be ignored."""
    items = {item.id: item for item in manifest.items}
    there = f"{_place(manifest)} ({_wanted(manifest)})"
    suffixes = Counter(PurePosixPath(file.name).suffix.lower() for file in package.files)
    wanted = {suffix for suffix in suffixes if manifest.kind.suffixes.get(suffix) in manifest.formats}
    if not wanted:
        notes.problem(package.label, f"no file has a suffix of {there}; found {_counts_by_suffix(suffixes)}", Fault.SUFFIX)
        notes.sent.update(items)  # one sentence says it of all items
        return []
    taken: dict[str, str] = {}
    companions: list[str] = []
    for file in package.files:
        in_format = PurePosixPath(file.name).suffix.lower() in wanted
        item = item_of(manifest.kind, file.name, items)
        if in_format and item in taken:
            notes.problem(file.name, f"is a second file for {item}, after {taken[item]}", Fault.TWICE)
        elif in_format and item is not None:
            taken[item] = file.name
        elif is_companion(manifest.kind, file.name):
            companions += [] if is_silent(manifest.kind, file.name) else [file.name]
        elif not in_format:
            notes.problem(file.name, f"is not in a format of {there}", Fault.FORMAT)
        else:
            notes.problem(file.name, _no_item(file.name, manifest, len(notes.problems)), Fault.NO_ITEM)
    unread = []
    for name in companions:
        item = item_of(manifest.kind, name, items)
        if item is None or item in taken:
            unread.append(name)
        else:
            notes.problem(name, f"has the name of an item, but no suffix of {there}", Fault.NAME_ALONE)
            notes.sent.add(item)
    notes.warnings += [f"{_some(unread)} not read."] if unread else []
    return [(items[item], taken[item]) for item in manifest.item_ids if item in taken]


def _counts_by_suffix(suffixes: Counter[str]) -> str:
    """Numbers of files of the three most frequent suffixes, for a sentence."""
    return " and ".join(f"{n} {suffix or 'suffixless'} file{'' if n == 1 else 's'}" for suffix, n in suffixes.most_common(3))


def _wanted(manifest: Manifest) -> str:
    """Suffixes and file names that the phase takes, for a sentence."""
    tables = " or ".join(FILE_NAMES) if "s23dr" in manifest.formats else ""
    return ", ".join(filter(None, (manifest.kind.wanted(manifest.formats), tables)))


def _place(manifest: Manifest) -> str:
    """Noun of what items belong to: a phase, or at home the reference."""
    return "this phase" if manifest.phase else "the reference"


def _no_item(file: str, manifest: Manifest, known: int) -> str:
    """Return what is wrong with a file that is named after no item, and a question that names the item that was probably meant. No question
    where no name is similar, and after the first problems, because nobody reads the others."""
    how = f"an item of {_place(manifest)}; name each file after its item"
    if manifest.kind.grouped:
        how = f"a view of {_place(manifest)}; put each file into its scene's folder and name it after the view"
    said = f"is not {how}"
    if known >= MAX_PROBLEMS or len(manifest.items) > MAX_NAMES:
        return said
    path = PurePosixPath(file)
    name = f"{path.parent.name}/{path.stem}" if manifest.kind.grouped and path.parent.name else path.stem
    plain = {_plain(item): item for item in manifest.item_ids}
    if _plain(name) in plain:
        return f"{said}; did you mean {plain[_plain(name)]}?"
    near = difflib.get_close_matches(name, manifest.item_ids, 1, CLOSE)
    # A scene's long name makes all its views alike, so the ends of the names are compared too.
    alike = [difflib.SequenceMatcher(None, name.rpartition("/")[2], one.rpartition("/")[2]).ratio() for one in near]
    return f"{said}; did you mean {near[0]}?" if near and alike[0] >= CLOSE else said


def _plain(name: str) -> str:
    """Return a name in small letters, without signs between words and without leading zeros."""
    return "".join(re.findall(r"[a-z]+|[1-9][0-9]*|0(?![0-9])", name.casefold()))
