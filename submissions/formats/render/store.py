"""The stored form of renders and views: a JSON list of the items, followed by their PNGs.

The file: ``MAGIC``, the length of the list (uint64, little-endian), the list, and the images. Each image is read when its
item is asked for, so a slice of an entry costs the memory of its own images.
"""

import json
import os
import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from submissions.formats.artifact import Extent
from submissions.formats.errors import FormatError
from submissions.formats.render.views import CleanViews, Render, Roi, SceneImages, View, with_scenes

MAGIC = b"PLRENDER"
MAX_LIST_BYTES = 64_000_000
_LENGTH = struct.Struct("<Q")

Place = list[int]  # where an image begins behind the list, and its length in bytes


def write(items: Mapping[str, Render | View], target: BinaryIO) -> None:
    """Writes many renders, or many views, to ``target``; ``read`` is the inverse."""
    blobs = _Blobs()
    sets: dict[str, int] = {}
    clean: list[Any] = []
    listed = []
    for name, item in items.items():
        if isinstance(item, Render):
            listed.append({"id": name, "render": _render(item, blobs)})
            continue
        if item.clean is not None and item.clean.sha256 not in sets:
            sets[item.clean.sha256] = len(clean)
            clean.append({"sha256": item.clean.sha256, "images": [_render(image, blobs) for image in item.clean.images]})
        view = {
            "size": [item.width, item.height],
            "image": None if item.image is None else _render(item.image, blobs),
            "mask": blobs.add(item.mask),
            "rois": [[roi.x1, roi.y1, roi.x2, roi.y2, roi.label] for roi in item.rois],
            "clean": None if item.clean is None else sets[item.clean.sha256],
            "prompt": item.prompt,
        }
        listed.append({"id": name, "view": view})
    text = json.dumps({"items": listed, "clean": clean}, separators=(",", ":")).encode()
    target.write(MAGIC + _LENGTH.pack(len(text)) + text)
    for blob in blobs.parts:
        target.write(blob)


def pack(items: Mapping[str, Render | View]) -> bytes:
    """The same as bytes; the same items give the same bytes."""
    target = BytesIO()
    write(items, target)
    return target.getvalue()


def unpack(data: bytes) -> dict[str, Any]:
    """The items that ``pack`` stored, in the same order. Raises ``FormatError`` where ``data`` is not that."""
    return read(BytesIO(data))


def read(source: BinaryIO, only: Collection[str] | None = None, path: Path | None = None) -> dict[str, Any]:
    """The items of a stored file, all or ``only`` some, in their order; the bytes of others are not read.

    Views know the reference images of their scene where all are read, or where ``path`` says where the file lies, so that
    these can be read later.
    """
    with _understood():
        stored = _Stored.open(source)
        items = {entry["id"]: stored.item(entry) for entry in stored.items if only is None or entry["id"] in only}
        views = {name: item for name, item in items.items() if isinstance(item, View)}
        if only is None:
            return items | with_scenes(views)
        if path is None or not views:
            return items
        images: dict[str, list[Any]] = {}
        for entry in stored.items:
            if entry["view"]["image"] is not None:
                images.setdefault(entry["id"].partition("/")[0], []).append(entry["view"]["image"])
        scenes = {name: SceneImages(len(found), partial(stored.later, path, found)) for name, found in images.items()}
        return {name: replace(view, scene=scenes.get(name.partition("/")[0])) for name, view in views.items()}


def stored_extents(source: BinaryIO) -> dict[str, Extent]:
    """The bytes of each stored item's PNG; views of which no image is known are left out. Only the list is read."""
    with _understood():
        images = {entry["id"]: entry.get("render") or entry["view"]["image"] for entry in _Stored.open(source).items}
        return {name: Extent(int(image["image"][1])) for name, image in images.items() if image is not None}


def stored_regions(source: BinaryIO) -> dict[str, tuple[Roi, ...]]:
    """The regions of each stored view that has a reference image. Only the list is read."""
    with _understood():
        views = {entry["id"]: entry["view"] for entry in _Stored.open(source).items}
        return {name: tuple(Roi(*roi) for roi in view["rois"]) for name, view in views.items() if view["image"] is not None}


def stored_image(source: BinaryIO, name: str) -> bytes | None:
    """The PNG of one stored view; None where there is no such view, or no image of it. No other image is read."""
    with _understood():
        stored = _Stored.open(source)
        image = next((entry["view"]["image"] for entry in stored.items if entry["id"] == name), None)
        return None if image is None else stored._render(image).png


@contextmanager
def _understood() -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, LookupError, struct.error, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError("artifact", "", "is not a stored set of renders") from None


@dataclass
class _Blobs:
    """Images while they are laid one behind the other."""

    parts: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, data: bytes | None) -> Place | None:
        if data is None:
            return None
        place = [self.size, len(data)]
        self.parts.append(data)
        self.size += len(data)
        return place


def _render(item: Render, blobs: _Blobs) -> dict[str, Any]:
    found: dict[str, Any] = {"size": [item.width, item.height], "image": blobs.add(item.png)}
    if item.resized:
        found["resized"] = True
    if item.normal is not None:
        found["normal"] = blobs.add(item.normal)
    return found


class _Stored:
    """A stored file that is open: its list, and images on demand."""

    def __init__(self, source: BinaryIO, base: int, size: int, content: Mapping[str, Any]) -> None:
        self.source, self.base, self.size = source, base, size
        self.items, self._sets = content["items"], content["clean"]
        self._clean: dict[int, CleanViews] = {}

    @classmethod
    def open(cls, source: BinaryIO) -> "_Stored":
        size = source.seek(0, os.SEEK_END)
        source.seek(0)
        head = source.read(len(MAGIC) + _LENGTH.size)
        if not head.startswith(MAGIC):
            raise ValueError("another kind of file")
        (length,) = _LENGTH.unpack(head[len(MAGIC) :])
        if length > min(size, MAX_LIST_BYTES):
            raise ValueError("a list longer than the file")
        return cls(source, len(head) + length, size, json.loads(source.read(length)))

    def item(self, entry: Mapping[str, Any]) -> Render | View:
        if "render" in entry:
            return self._render(entry["render"])
        view = entry["view"]
        clean = None
        if view["clean"] is not None:
            # One object for all views of a scene.
            if view["clean"] not in self._clean:
                stored = self._sets[view["clean"]]
                self._clean[view["clean"]] = CleanViews(tuple(self._render(image) for image in stored["images"]), stored["sha256"])
            clean = self._clean[view["clean"]]
        return View(
            image=None if view["image"] is None else self._render(view["image"]),
            width=view["size"][0],
            height=view["size"][1],
            mask=self._blob(view["mask"]),
            rois=tuple(Roi(*roi) for roi in view["rois"]),
            clean=clean,
            prompt=view["prompt"],
        )

    def later(self, path: Path, entries: Sequence[Mapping[str, Any]], place: int) -> Render:
        """One of these images, of the same file, when it may have been closed."""
        with path.open("rb") as source:
            return _Stored(source, self.base, self.size, {"items": [], "clean": []})._render(entries[place])

    def _render(self, entry: Mapping[str, Any]) -> Render:
        png = self._blob(entry["image"])
        if png is None:
            raise ValueError("a render without an image")
        width, height = entry["size"]
        return Render(png, width, height, entry.get("resized", False), self._blob(entry.get("normal")))

    def _blob(self, place: Place | None) -> bytes | None:
        if place is None:
            return None
        start, length = place
        if start < 0 or length < 0 or self.base + start + length > self.size:
            raise ValueError("an image beyond the end")
        self.source.seek(self.base + start)
        return self.source.read(length)
