"""`python -m evaluation corrupt`: damaged copies of wireframes, as files that can be handed in."""

from __future__ import annotations

import argparse
import zipfile
from collections.abc import Callable
from typing import Any

from evaluation.local import CannotScore
from evaluation.properties.corruptions import KINDS, LEVELS, corrupt
from submissions.formats.archive import readable_member
from submissions.formats.errors import FormatError
from submissions.formats.wireframe.wireframe_files import SUFFIXES, load_folder, write_json, write_npz, write_obj

WRITERS = {"obj": write_obj, "json": write_json, "npz": write_npz}
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # equal archives for equal wireframes


def run(options: argparse.Namespace, progress: Callable[[str, int], Any]) -> str:
    """Do what the options ask, and say in a sentence what was written. Raises CannotScore."""
    if options.all and (options.kind or options.level):
        raise CannotScore("--all writes every kind at every level; leave out --kind and --level.")
    if not options.all and not (options.kind and options.level):
        raise CannotScore("Name a --kind and a --level, or ask for --all.")
    if not options.all and options.kind not in KINDS:
        raise CannotScore(f"There is no kind {options.kind}; there are {', '.join(KINDS)}.")
    if not options.all and options.level not in LEVELS:
        raise CannotScore(f"There is no level {options.level}; there are {', '.join(LEVELS)}.")
    kinds = [(kind, level) for kind in KINDS for level in LEVELS] if options.all else [(options.kind, options.level)]
    source, target = options.source, options.target
    if not source.exists():
        raise CannotScore(f"There is nothing at {source}.")
    try:
        sources = load_folder(source)
    except FormatError as error:
        raise CannotScore(f"The wireframes cannot be read: {error}.") from error
    if not sources:
        raise CannotScore(f"{source} holds no wireframe; files end in {', '.join(SUFFIXES)} or are S23DR tables.")
    for name, frame in sources.items():
        if not (frame.edges[:, 0] != frame.edges[:, 1]).any():
            raise CannotScore(f"{name} has no edge, so there is nothing to damage; leave it out.")
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
        files = []  # names, with a folder for each kind and level where there are several, and contents
        for kind, level in kinds:
            folder = f"{kind}_{level}/" if options.all else ""
            for name, frame in sources.items():
                files.append((f"{folder}{name}.{form}", WRITERS[form](corrupt(frame, kind, level, options.seed, name))))
                bar.update(1)
    finally:
        bar.close()
    try:
        if target_form:
            target.write_bytes(files[0][1])
        elif target.suffix.lower() == ".zip":
            with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, data in files:
                    archive.writestr(readable_member(name, _LONG_AGO), data)
        else:
            for name, data in files:
                path = target / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
    except OSError as error:
        raise CannotScore(f"{target} cannot be written: {error.strerror or error}.") from error
    return f"{len(files)} file{'' if len(files) == 1 else 's'} written to {target}."
