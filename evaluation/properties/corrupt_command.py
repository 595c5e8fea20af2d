"""`python -m evaluation corrupt`: damaged copies of wireframes, as files that can be handed in."""

from __future__ import annotations

import argparse
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from evaluation.local import CannotScore
from evaluation.properties.corruptions import KINDS, LEVELS, corrupt
from submissions.formats.errors import FormatError
from submissions.formats.wireframe.wireframe_files import SUFFIXES, Wireframe, load_folder, write_json, write_npz, write_obj

WRITERS = {"obj": write_obj, "json": write_json, "npz": write_npz}
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # equal archives for equal wireframes


def run(options: argparse.Namespace, progress: Callable[[str, int], Any]) -> str:
    """Do what the options ask, and say in a sentence what was written. Raises CannotScore."""
    kinds = _kinds(options)
    source, target = options.source, options.target
    sources = _sources(source)
    target_form = SUFFIXES.get(target.suffix.lower())
    one_file = source.is_file() and source.suffix.lower() in SUFFIXES and len(sources) == 1
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise CannotScore(f"{target} is already there; name a new file, a new folder or an empty one.")
    if target_form and (options.all or not one_file):
        raise CannotScore(f"{target} names one file, but there are several to write; name a folder or a .zip.")
    form = options.format or target_form or "obj"
    if target_form and form != target_form:
        raise CannotScore(f"{target} and --format {form} name different formats; leave one of them out.")
    bar = progress("corrupting", len(sources) * len(kinds))
    try:
        files = list(_files(sources, kinds, options, form, bar))
    finally:
        bar.close()
    try:
        _write(target, files, whole=bool(target_form))
    except OSError as error:
        raise CannotScore(f"{target} cannot be written: {error.strerror or error}.") from error
    return f"{len(files)} file{'' if len(files) == 1 else 's'} written to {target}."


def _kinds(options: argparse.Namespace) -> list[tuple[str, str]]:
    if options.all:
        if options.kind or options.level:
            raise CannotScore("--all writes every kind at every level; leave out --kind and --level.")
        return [(kind, level) for kind in KINDS for level in LEVELS]
    if not (options.kind and options.level):
        raise CannotScore("Name a --kind and a --level, or ask for --all.")
    if options.kind not in KINDS:
        raise CannotScore(f"There is no kind {options.kind}; there are {', '.join(KINDS)}.")
    if options.level not in LEVELS:
        raise CannotScore(f"There is no level {options.level}; there are {', '.join(LEVELS)}.")
    return [(options.kind, options.level)]


def _sources(path: Path) -> dict[str, Wireframe]:
    if not path.exists():
        raise CannotScore(f"There is nothing at {path}.")
    try:
        found = load_folder(path)
    except FormatError as error:
        raise CannotScore(f"The wireframes cannot be read: {error}.") from error
    if not found:
        raise CannotScore(f"{path} holds no wireframe; files end in {', '.join(SUFFIXES)} or are S23DR tables.")
    for name, frame in found.items():
        if not (frame.edges[:, 0] != frame.edges[:, 1]).any():
            raise CannotScore(f"{name} has no edge, so there is nothing to damage; leave it out.")
    return found


def _files(
    sources: dict[str, Wireframe], kinds: list[tuple[str, str]], options: argparse.Namespace, form: str, bar: Any
) -> Iterator[tuple[str, bytes]]:
    """Names, with a folder for each kind and level where there are several, and contents."""
    for kind, level in kinds:
        folder = f"{kind}_{level}/" if options.all else ""
        for name, frame in sources.items():
            damaged = corrupt(frame, kind, level, options.seed, name)
            yield f"{folder}{name}.{form}", WRITERS[form](damaged)
            bar.update(1)


def _write(target: Path, files: list[tuple[str, bytes]], whole: bool) -> None:
    """Into the one file that `target` is (`whole`), into a zip, or into a folder."""
    if whole:
        target.write_bytes(files[0][1])
    elif target.suffix.lower() == ".zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files:
                archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), data, zipfile.ZIP_DEFLATED)
    else:
        for name, data in files:
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
