"""The published sets that this service knows: manifests that ship, the operator's manifests, and facts on sets not tried yet. PURE."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from leaderboard.evidence import manifest as manifests
from leaderboard.evidence.manifest import Manifest
from submissions.formats.errors import excerpt

FOLDER = Path(__file__).with_name("sets")
RECORDS = Path(__file__).with_name("records")
NOT_TRIED = "not_tried.toml"
RECORD = "record.toml"  # of an operator's own set, beside its manifest


@dataclass(frozen=True)
class NotTried:
    """A set that nobody has brought in with this service: what is known of it, without digests."""

    name: str
    title: str
    people: str
    values: str
    where: str
    licence: str
    problems: str


class NoSuchSet(LookupError):
    """There is no manifest of that name; one sentence."""


def shipped() -> dict[str, Path]:
    """The manifests of the catalogue, by the set's name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.yaml"))}


@cache
def not_tried() -> tuple[NotTried, ...]:
    """Sets that an operator may bring in next, in the order of their use."""
    rows = tomllib.loads((FOLDER / NOT_TRIED).read_text())
    return tuple(NotTried(name=name, **about) for name, about in rows.items())


def own(folder: Path) -> dict[str, Path]:
    """The operator's own manifests: `NAME/evidence.yaml` below the folder of evidence."""
    return {path.parent.name: path for path in sorted(folder.glob(f"*/{manifests.FILE_NAME}"))} if folder.is_dir() else {}


def path_of(name: str, folder: Path) -> Path:
    """The file of a set's manifest."""
    return (shipped() | own(folder))[name]


def find(name: str, folder: Path) -> Manifest:
    """The manifest of a set: the operator's own, else the catalogue's. Raises `NoSuchSet`, and `DocumentError` for one that is faulty."""
    known = shipped() | own(folder)  # of one name the operator's own counts
    if name in known:
        found = manifests.parse(known[name].read_bytes(), known[name].name)
        if found.name != name:
            raise NoSuchSet(f"{known[name]} is the manifest of {found.name}, not of {name}; put it into a folder of that name.")
        return found
    waiting = next((one for one in not_tried() if one.name == name), None)
    if waiting is not None:
        raise NoSuchSet(f"{name} was not tried here: write {folder / name / manifests.FILE_NAME} for it. Where it is: {waiting.where}.")
    raise NoSuchSet(f"There is no set {excerpt(name)}; there are: {', '.join(sorted(known))}.")
