"""The files beside `challenge.yaml`: texts, references, inputs. Nothing outside the folder is read."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings

from evaluation.rendering import objects
from evaluation.work.picture_import import rewritten_picture
from evaluation.work.reference_import import Unreadable, items_of
from evaluation.work.sandbox import Sandbox, sandbox
from leaderboard.bundle.definition import FileDef, ReferenceDef
from submissions.formats.file_digest import file_digest
from submissions.formats.render.page_picture import MAX_FILE_BYTES
from submissions.formats.yaml_document import Reader
from submissions.kinds import Family
from submissions.models import ChallengeFile

MAX_TEXT_BYTES = 1_000_000
MAX_NAME = 160
DRAWING_SECONDS = 86_400  # 266 views of each of many meshes take hours, and the person who applies a bundle can stop it


class Folder:
    """The folder of one bundle, by resolved path."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def find(self, reader: Reader, key: str) -> Path | None:
        """Return what the required `key` names: an existing file or folder inside the bundle; else a fault."""
        given = reader.text(key)
        if not given:
            return None
        parts = PurePosixPath(given).parts
        if given.startswith("/") or ".." in parts or "\\" in given or given[1:2] == ":":
            reader.fault(key, f'expected a path inside the bundle, found "{given}"')
            return None
        path = (self.root / given).resolve()
        if not path.is_relative_to(self.root):
            reader.fault(key, f'expected a path inside the bundle; "{given}" is a link that leads out of it')
        elif not os.path.exists(path):  # nor is there one whose name is longer than names can be, at which Path.exists raises
            reader.fault(key, f'expected a file or folder; there is no "{given[:120]}" in the bundle')
        else:
            return path
        return None

    def markdown(self, reader: Reader, key: str) -> str:
        """The text of the optional `key`, or of the file that `key`_file names; only one of them is allowed."""
        file_key = f"{key}_file"
        if file_key not in reader.nodes:
            reader.node(file_key, None)
            return reader.text(key, "") or ""
        if key in reader.nodes:
            reader.fault(file_key, f"expected {key} or {file_key}, not both")
        reader.node(key, None)
        path = self.find(reader, file_key)
        if path is None:
            return ""
        if not path.is_file():
            reader.fault(file_key, "expected a text file, found a folder")
            return ""
        return text_in(path, reader, file_key, MAX_TEXT_BYTES, "utf-8-sig") or ""

    def reference(self, reader: Reader | None, family: Family, background: str = "#ffffff") -> ReferenceDef | None:
        """The items that `path` names (a folder, a .zip or one file) with their `groups` and `note`; images are laid on
        `background`. With `render`, the path holds meshes of generated objects, and the items are views drawn of them."""
        if reader is None:
            return None
        path = self.find(reader, "path")
        drawing = _drawing(reader, family)
        note = reader.text("note", "", most=240)
        groups_reader = reader.reader("groups")
        reader.close()
        if path is None:
            return None
        # The faults of its files are named too, but nothing is drawn for what is refused.
        draws = not (drawing and reader.problems.found)
        try:
            items, remarks = items_of(path, family, background, drawing, child=sandbox, seconds=DRAWING_SECONDS, draws=draws)
        except Unreadable as error:
            for fault in error.faults:
                reader.fault("path", f"expected readable {family.plural}; {fault}")
            return None
        if not draws:
            _groups(groups_reader, {}, family)
            return None
        for sentence in reference_faults(items, family):
            reader.fault("path", sentence)
        groups = _groups(groups_reader, items, family)
        return ReferenceDef(
            sha256=hashlib.sha256(family.pack(items)).hexdigest(),
            item_ids=tuple(items),
            groups=groups,
            note=note,
            load=lambda: items,
            prompted=lambda: any(getattr(item, "prompt", "") for item in items.values()),
            remarks=tuple(remarks),
        )

    def files(self, reader: Reader, key: str, kind: str) -> tuple[FileDef, ...]:
        """The files that a list names: `path`, and optionally `name` and `title` as participants see them."""
        by_name: dict[str, FileDef] = {}
        for entry in reader.readers(key):
            path = self.find(entry, "path")
            name = entry.text("name", None)
            title = entry.text("title", "", most=MAX_NAME)
            entry.close()
            if path is None:
                continue
            if not path.is_file():
                entry.fault("path", "expected one file, found a folder; pack it into a .zip")
                continue
            name = path.name if name is None else name
            size, is_picture = path.stat().st_size, kind == ChallengeFile.Kind.PICTURE
            if is_picture and size > MAX_FILE_BYTES:
                entry.fault("path", f"expected a picture of at most {MAX_FILE_BYTES:,} bytes, found {size:,}")
                continue
            fault = name_fault(name) or (f'"{name}" is in this list twice' if name in by_name else "")
            if fault:
                entry.fault("name" if "name" in entry.nodes else "path", fault)
            try:
                by_name[name] = picture_file(path.read_bytes(), name, title, sandbox) if is_picture else local_file(path, kind, name, title)
            except Unreadable as error:
                entry.fault("path", f"expected a picture; {' '.join(error.faults)}")
        return tuple(sorted(by_name.values(), key=lambda file: file.name))


def text_in(path: Path, reader: Reader, key: str, most: int, encoding: str = "utf-8") -> str | None:
    """The text of the file that a key names; else None, and a fault of the key."""
    size = path.stat().st_size
    if size > most:
        reader.fault(key, f"expected at most {most:,} bytes of text, found {size:,}")
        return None
    try:
        text = path.read_bytes().decode(encoding)
    except UnicodeDecodeError:
        reader.fault(key, f"expected text in UTF-8; save {path.name} in that encoding")
        return None
    if "\0" in text:
        reader.fault(key, f"expected a text; {path.name} holds NUL characters")
        return None
    return text


def local_file(path: Path, kind: str, name: str, title: str) -> FileDef:
    return FileDef(kind=kind, name=name, title=title, size=path.stat().st_size, sha256=file_digest(path), content=lambda: path)


def picture_file(given: bytes, name: str, title: str, child: Sandbox) -> FileDef:
    """A picture for pages, re-encoded by `child`. Raises `Unreadable`."""
    data = rewritten_picture(given, name, child=child, seconds=settings.READ_SECONDS)
    digests = (hashlib.sha256(one).hexdigest() for one in (data, given))
    return FileDef(ChallengeFile.Kind.PICTURE, name, title, len(data), next(digests), lambda: data, given_sha256=next(digests))


def name_fault(name: str) -> str:
    """Reason why a file's name cannot be offered for download; empty where it can."""
    odd = [c for c in name if c in '/\\:*?"<>|' or unicodedata.category(c)[0] == "C"]
    if not name or name.strip(". ") != name or odd or len(name) > MAX_NAME:
        return f'expected a plain file name of at most {MAX_NAME} characters, found "{name[:60]}"'
    return ""


def reference_faults(items: Mapping[str, Any], family: Family) -> list[str]:
    """Reasons why no entry could be measured against these items; empty where one can."""
    if not items:
        return [f"expected {family.plural} ({family.wanted(family.formats)}), one file per item; found none"]
    faults: list[str] = []
    folded: dict[str, str] = {}
    for name, item in items.items():
        if not family.is_id(name):
            faults.append(f"{name}: expected {family.id_rule}")
        elif folded.setdefault(name.casefold(), name) != name:
            faults.append(f"{name}: expected names that differ by more than case; there is {folded[name.casefold()]} too")
        if family.is_degenerate(item):
            faults.append(f"{name}: expected {family.needs}; mend or leave out this item")
    return faults


def _drawing(reader: Reader, family: Family) -> objects.Drawing | None:
    """Return how views of meshes are drawn, by the optional key `render`."""
    given = reader.reader("render")
    if given is None:
        return None
    usual = objects.Drawing()
    values = {
        "views": given.choice("views", list(objects.SETS), usual.views),
        "size": given.integer("size", usual.size, *objects.SIDES),
        "up": given.choice("up", list(objects.UPS), usual.up),
        "seeds": given.integer("seeds", usual.seeds, 1, objects.MAX_SEEDS),
    }
    given.close()
    if not family.images:
        reader.fault("render", f"expected no such key; {family.plural} are measured as they are")
        return None
    try:
        return objects.Drawing(**values)
    except ValueError:  # already reported; the files are still worth reading
        return usual


def _groups(reader: Reader | None, items: Mapping[str, Any], family: Family) -> tuple[tuple[str, str], ...]:
    if reader is None:
        return ()
    if family.grouped:
        reader.problems.add(
            reader.path, f"expected no groups; {family.plural} are averaged by the part of their id before the slash", reader.line
        )
        return ()
    groups = {}
    for item in list(reader.nodes):
        group = reader.text(item, most=120)
        if item not in items:
            reader.fault(item, "expected an item of the reference; there is none of that name")
        elif group and group != item:
            groups[item] = group
    return tuple(sorted(groups.items()))
