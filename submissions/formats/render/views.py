"""Renders of entries and views of references, as they are after reading: compressed in memory, and decoded on use.

Every image becomes a PNG of 8-bit sRGB, so that all entries are quantised alike. An item of this family is a view; its id is
``scene/view``, and its group is the scene.
"""

import hashlib
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import overload

import numpy as np
from numpy.typing import NDArray
from PIL import Image

INSIDE = 127  # a pixel of a mask above this is inside
MAX_SIDE = 1e6  # of a region's box, in pixels
MAX_LABEL = 80  # characters of a region's label


@dataclass(frozen=True)
class Render:
    """One image: ``png``, 8-bit sRGB RGB without alpha, of ``width`` × ``height`` pixels.

    ``resized`` says that it was sent in another size and brought to the reference's by the phase's rule. ``normal`` is the picture of
    normals beside a generated object's image, in the same form, or None.
    """

    png: bytes
    width: int
    height: int
    resized: bool = False
    normal: bytes | None = None

    def pixels(self) -> NDArray[np.uint8]:
        """uint8 [H, W, 3], decoded again at each call."""
        return _decoded(self.png, "RGB", (self.width, self.height))

    def same_as(self, other: "Render") -> bool:
        """Return whether both hold the same pixels and normals, however these are compressed."""

        def shown(png: bytes) -> NDArray[np.uint8]:  # a picture of normals may have a size of its own
            with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
                return np.asarray(image)

        if self.resized != other.resized or (self.normal is None) != (other.normal is None):
            return False
        pairs = ((self.png, other.png), (self.normal or b"", other.normal or b""))
        return all(a == b or np.array_equal(shown(a), shown(b)) for a, b in pairs)


@dataclass(frozen=True)
class Roi:
    """A region of interest that an organizer marked: a box in the reference's own pixels, and what is in it.

    ``x1 < x2`` and ``y1 < y2``; the origin is the image's upper left corner.
    """

    x1: float
    y1: float
    x2: float
    y2: float
    label: str

    @property
    def fault(self) -> str:
        """Return the fault of a region, as the end of a sentence that begins with it; empty if a reference may have it."""
        if not all(abs(side) <= MAX_SIDE for side in (self.x1, self.y1, self.x2, self.y2)):
            return f"needs four numbers of at most {MAX_SIDE:,.0f}"
        if not (self.x1 < self.x2 and self.y1 < self.y2):
            return "needs x1 < x2 and y1 < y2"
        return f"needs a label of at most {MAX_LABEL} characters" if len(self.label) > MAX_LABEL else ""


@dataclass(frozen=True)
class CleanViews:
    """The clean views of a scene, all of one size, for metrics that need no aligned reference.

    One object is shared by the views of a scene; ``sha256`` (hex) names the set by its pixels, in order.
    """

    images: tuple[Render, ...]
    sha256: str

    @classmethod
    def of(cls, images: Iterable[Render]) -> "CleanViews":
        """The set of these images, in this order. ValueError if there is none, or if their sizes differ."""
        found = tuple(images)
        if len({(image.width, image.height) for image in found}) != 1:
            raise ValueError("clean views of a scene must be there, and all of one size")
        digest = hashlib.sha256(f"{found[0].width}x{found[0].height}".encode())
        for image in found:
            digest.update(image.pixels().tobytes())
        return cls(found, digest.hexdigest())


class SceneImages(Sequence[Render]):
    """The reference images of a scene, in the order of its views, for metrics that learn from all of them whichever view they
    look at. One object is shared by the views of a scene; an image is read when it is asked for."""

    def __init__(self, count: int, read: Callable[[int], Render]) -> None:
        self._count, self._read = count, read

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Render: ...

    @overload
    def __getitem__(self, place: slice) -> list[Render]: ...

    def __getitem__(self, place: int | slice) -> Render | list[Render]:
        if isinstance(place, slice):
            return [self._read(one) for one in range(*place.indices(self._count))]
        if not 0 <= place < self._count:
            raise IndexError(place)
        return self._read(place)


@dataclass(frozen=True)
class View:
    """One item of a reference: the view that an entry's render is compared with.

    ``image`` is None where only clean views of the scene are known. ``width`` and ``height`` are what is to be sent; 0, 0
    where any size will do. ``mask`` is a PNG of one channel in the same size, above 127 inside, or None. ``prompt`` is
    the text that a generated object was asked for with, where there is one. ``scene`` are the reference images of all views of
    its scene; None where nobody has said which these are.
    """

    image: Render | None
    width: int = 0
    height: int = 0
    mask: bytes | None = None
    rois: tuple[Roi, ...] = ()
    clean: CleanViews | None = None
    prompt: str = ""
    scene: SceneImages | None = field(default=None, compare=False, repr=False)

    def same_as(self, other: "View") -> bool:
        """Return whether both ask for the same and hold the same pixels, however these are compressed."""
        plain = ("width", "height", "rois", "prompt")
        if any(getattr(self, name) != getattr(other, name) for name in plain):
            return False
        if (self.clean and self.clean.sha256) != (other.clean and other.clean.sha256):
            return False
        if self.mask != other.mask:
            inside, others = self.mask_pixels(), other.mask_pixels()
            if inside is None or others is None or not np.array_equal(inside, others):
                return False
        if self.image is None or other.image is None:
            return self.image is other.image
        return self.image.same_as(other.image)

    def mask_pixels(self) -> NDArray[np.bool_] | None:
        """bool [H, W], True inside; None where there is no mask."""
        if self.mask is None:
            return None
        return _decoded(self.mask, "L", (self.width, self.height)) > INSIDE


def by_scene(views: Mapping[str, View]) -> dict[str, dict[str, View]]:
    """The views of each scene by the name that they have there, in the same order."""
    found: dict[str, dict[str, View]] = {}
    for item, view in views.items():
        scene, _, name = item.partition("/")
        found.setdefault(scene, {})[name] = view
    return found


def clean_images(views: Iterable[View]) -> tuple[Render, ...]:
    """The clean views of the scene of these views; empty if it has none."""
    return next((view.clean.images for view in views if view.clean), ())


def with_scenes(views: Mapping[str, View]) -> dict[str, View]:
    """The views by ``scene/view``, in the same order, each with the reference images of its scene among these."""
    scenes = {scene: [view.image for view in named.values() if view.image is not None] for scene, named in by_scene(views).items()}
    shared = {scene: SceneImages(len(images), images.__getitem__) for scene, images in scenes.items() if images}
    return {name: replace(view, scene=shared.get(name.partition("/")[0])) for name, view in views.items()}


def encoded(pixels: NDArray[np.uint8]) -> bytes:
    """The PNG of uint8 [H, W, 3] (RGB) or [H, W] (grey), losslessly."""
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(buffer, "PNG", compress_level=3)
    return buffer.getvalue()


def render(pixels: NDArray[np.uint8], resized: bool = False) -> Render:
    """A ``Render`` of uint8 [H, W, 3]."""
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3:
        raise ValueError(f"a render must be uint8 of the shape [H, W, 3], got {pixels.dtype} {pixels.shape}")
    return Render(encoded(pixels), pixels.shape[1], pixels.shape[0], resized)


def _decoded(png: bytes, mode: str, size: tuple[int, int]) -> NDArray[np.uint8]:
    """A PNG of our own as an array; ValueError if it has another mode or size than declared."""
    with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
        if image.mode != mode or image.size != size:
            raise ValueError(f"a stored image is {image.mode} of {image.size}, expected {mode} of {size}")
        return np.asarray(image)
