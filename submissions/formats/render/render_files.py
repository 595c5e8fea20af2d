"""Renders in files: reading what was sent, references in folders, and the forms that are stored."""

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from submissions.formats.archive import Package, open_package
from submissions.formats.errors import Remarks
from submissions.formats.layout import normals_of
from submissions.formats.render import folder, store
from submissions.formats.render.folder import files
from submissions.formats.render.images import MAX_PIXELS, WHITE, Colour, Size, read_image
from submissions.formats.render.resample import to_size
from submissions.formats.render.store import pack, stored_extents, stored_image, stored_regions, unpack
from submissions.formats.render.views import Render, View, by_scene, clean_images, encoded

__all__ = [
    "beside",
    "file_limit",
    "files",
    "load",
    "load_folder",
    "pack",
    "read_render",
    "reference_warnings",
    "save",
    "stored_extents",
    "stored_image",
    "stored_regions",
    "stored_size",
    "unpack",
    "write_png",
]


def file_limit(max_width: int, max_height: int) -> int:
    """The most bytes a file with one image of that size is given: more than 16-bit RGBA takes without compression."""
    return 2_000_000 + 9 * min(max_width * max_height, MAX_PIXELS)


def read_render(
    data: bytes,
    name: str,
    max_width: int,
    max_height: int,
    companions: Callable[[], tuple[bytes, str] | None] | None = None,
    background: Colour = WHITE,
    size: Size = (0, 0),
    resize: bool = False,
    remarks: Remarks | None = None,
) -> Render:
    """One render as 8-bit sRGB on ``background``. ``size`` is the reference view's (0, 0: any will do); a render of another
    is refused, or, with ``resize``, brought to it: by area where it shrinks, by bicubic interpolation where it grows.

    ``companions`` gives the picture of normals beside it and its name, or None. Raises ``FormatError``.
    """
    most = (max_width, max_height)
    pixels = read_image(data, name, background, most, (0, 0) if resize else size, remarks)
    pixels, resized = _in_size(pixels, size)
    if resized and remarks is not None:
        remarks.add("Images were resized to the size of their views", [name])
    beside_it = companions() if companions else None
    normal = None
    if beside_it is not None:
        normal = encoded(_in_size(read_image(*beside_it, background, most, remarks=remarks), size)[0])
    return Render(encoded(pixels), pixels.shape[1], pixels.shape[0], resized, normal)


def beside(package: Package, name: str) -> Callable[[], tuple[bytes, str] | None]:
    """Return a function that gives the picture of normals beside a generated object's image, if there is one."""
    normals = normals_of(name)
    there = any(file.name == normals for file in package.files) if normals else False
    return lambda: (package.read(normals), normals) if there else None


def load_folder(path: Path, background: Colour = WHITE, remarks: Remarks | None = None) -> dict[str, View]:
    """The views of a reference's folder or zip archive, as ``render_folder`` describes it. Raises ``FormatError``."""
    with open_package(path) as package:
        return folder.read(package, path.name, background, remarks)


def write_png(item: Render | View) -> bytes:
    """The image of a render, or of a view that has one. ValueError if there is none."""
    image = item.image if isinstance(item, View) else item
    if image is None:
        raise ValueError("a view without a reference image cannot be written as an image")
    return image.png


def save(items: Mapping[str, Any], path: Path) -> None:
    """``pack`` into a file, image by image."""
    with path.open("wb") as target:
        store.write(items, target)


def load(path: Path, only: Collection[str] | None = None) -> dict[str, Any]:
    """Return what ``save`` wrote, all items or ``only`` some. Raises ``FormatError``."""
    with path.open("rb") as source:
        return store.read(source, only, path)


def stored_size(item: Render) -> int:
    """Bytes of the images of an item."""
    return len(item.png) + len(item.normal or b"")


def reference_warnings(views: Mapping[str, View]) -> list[str]:
    """Sentences about what an organizer may not have meant."""
    return [said for scene, named in by_scene(views).items() for said in _scene_warnings(scene, named)]


def _scene_warnings(scene: str, named: Mapping[str, View]) -> Iterator[str]:
    masked = [name for name, view in named.items() if view.mask is not None]
    if masked and len(masked) < len(named):
        yield f"{scene}: {len(named) - len(masked)} of {len(named)} views have no mask, so masked metrics have no value there."
    empty = [name for name in masked if not np.any(named[name].mask_pixels())]
    if empty:
        yield f"{scene}/{empty[0]}: the mask has nothing inside, so masked metrics have no value there ({len(empty)} such)."
    clean = clean_images(named.values())
    if len(clean) == 1:
        yield f"{scene}: there is one clean view only; metrics without an aligned reference say little then."
    pngs = {image.png for image in clean}
    same = [name for name, view in named.items() if view.image and view.image.png in pngs]
    if same:
        yield f"{scene}/{same[0]}: a clean view of the scene is this very image, so copying it scores full marks ({len(same)} such)."


def _in_size(pixels: NDArray[np.uint8], size: Size) -> tuple[NDArray[np.uint8], bool]:
    """The pixels in the requested size, and whether they were resized."""
    height, width = pixels.shape[:2]
    if not all(size) or size == (width, height):
        return pixels, False
    return to_size(pixels, *size), True
