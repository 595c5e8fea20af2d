"""`python -m evaluation corrupt`: damaged copies of wireframes, as files that can be handed in."""

from __future__ import annotations

import argparse
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from evaluation.local import CannotScore, using_files
from evaluation.properties.corruptions import KINDS, LEVELS, corrupt
from submissions.formats.archive import readable_member
from submissions.formats.errors import FormatError
from submissions.formats.wireframe.wireframe_files import SUFFIXES, Wireframe, load_folder, write_json, write_npz, write_obj

WRITERS = {"obj": write_obj, "json": write_json, "npz": write_npz}
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # equal archives for equal wireframes


def run(options: argparse.Namespace, progress: Callable[[str, int], Any]) -> str:
    """Do what the options ask, and say in a sentence what was written. Raises CannotScore."""
    target = options.target
    _refuse_first(_wrong_kinds(options))
    kinds = [(kind, level) for kind in KINDS for level in LEVELS] if options.all else [(options.kind, options.level)]
    sources = _sources(options.source)
    form = SUFFIXES.get(target.suffix.lower())
    one_file = options.source.is_file() and options.source.suffix.lower() in SUFFIXES and len(sources) == 1 and not options.all
    _refuse_first(
        {
            f"{target} is already there; name a new file, a new folder or an empty one.": target.exists()
            and not (target.is_dir() and not any(target.iterdir())),
            f"{target} names one file, but there are several to write; name a folder or a .zip.": form and not one_file,
            f"{target} and --format {options.format} name different formats; leave one of them out.": form
            and options.format not in (None, form),
        }
    )
    suffix = options.format or form or "obj"
    files = []  # names, with a folder for each kind and level where there are several, and contents
    with closing(progress("corrupting", len(sources) * len(kinds))) as bar:
        for kind, level in kinds:
            folder = f"{kind}_{level}/" if options.all else ""
            for name, frame in sources.items():
                files.append((f"{folder}{name}.{suffix}", WRITERS[suffix](corrupt(frame, kind, level, options.seed, name))))
                bar.update(1)
    with using_files(f"{target} cannot be written"):
        _write(target, files, is_file=bool(form))
    return f"{len(files)} file{'' if len(files) == 1 else 's'} written to {target}."


def _refuse_first(faults: Mapping[str, object]) -> None:
    """Raise CannotScore with the first of the sentences that is true."""
    for sentence, is_so in faults.items():
        if is_so:
            raise CannotScore(sentence)


def _wrong_kinds(options: argparse.Namespace) -> dict[str, object]:
    """Faults of the options that say which damage is wanted."""
    one = not options.all
    return {
        "--all writes every kind at every level; leave out --kind and --level.": options.all and (options.kind or options.level),
        "Name a --kind and a --level, or ask for --all.": one and not (options.kind and options.level),
        f"There is no kind {options.kind}; there are {', '.join(KINDS)}.": one and options.kind not in KINDS,
        f"There is no level {options.level}; there are {', '.join(LEVELS)}.": one and options.level not in LEVELS,
    }


def _sources(source: Path) -> dict[str, Wireframe]:
    """The wireframes to damage, each with an edge."""
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
    return sources


def _write(target: Path, files: Sequence[tuple[str, bytes]], is_file: bool) -> None:
    """Write the one file, an archive, or a folder."""
    if is_file:
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
