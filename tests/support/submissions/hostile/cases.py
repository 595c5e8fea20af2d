"""Hostile uploads: how each is written into a folder, and the sentence that must refuse it."""

import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

from submissions.manifest import Item, Manifest

MANIFEST = Manifest(
    challenge="hostile",
    phase="one",
    family="wireframe",
    items=(Item("house_01", "house_01", (100, 100)), Item("house_02", "house_02", (20_000, 60_000))),
    formats=("json", "obj", "npz", "s23dr"),
    missing="worst",
    unit="m",
    unit_scale=1.0,
)
GOOD = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nl 1 2 3\n"

Build = Callable[[Path], Path]
Content = bytes | Callable[[], bytes]  # called where it is written, if making it takes long


class Cases(dict[str, tuple[Build, str]]):
    """By name: the function that writes an upload into a folder and returns its path, and a pattern of the sentence."""

    def case(self, sentence: str) -> Callable[[Build], Build]:
        """Adds a builder under its own name."""

        def add(build: Build) -> Build:
            self[build.__name__] = (build, sentence)
            return build

        return add

    def files(self, sentence: str, name: str, contents: dict[str, Content]) -> None:
        """Adds a case per content: a zip with that one file, called ``name``."""
        for label, content in contents.items():
            members: list[tuple[str, Content]] = [(name, content)]
            self[label] = (lambda folder, members=members: zipped(folder, members, zipfile.ZIP_STORED), sentence)

    def names(self, sentence: str, **named: str) -> None:
        """Adds a case per name: a zip with a good file and one of that name."""
        for label, name in named.items():
            members = [("house_01.obj", GOOD), (name, GOOD)]
            self[label] = (lambda folder, members=members: zipped(folder, members), sentence)

    def whole(self, sentence: str, **contents: bytes) -> None:
        """Adds a case per content: a file entry.zip that is just these bytes."""
        for label, content in contents.items():
            self[label] = (lambda folder, content=content: written(folder / "entry.zip", content), sentence)


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def zipped(folder: Path, members: Iterable[tuple[str | zipfile.ZipInfo, Content]], method: int = zipfile.ZIP_DEFLATED) -> Path:
    path = folder / "entry.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data() if callable(data) else data)
    return path


def patched(path: Path, change: Callable[[bytearray], None]) -> Path:
    data = bytearray(path.read_bytes())
    change(data)
    return written(path, data)
