"""Inputs of a metric as the items that files give: paths, arrays, tensors, and objects of trimesh, open3d and PIL. PURE.

Arrays pass the checks that files pass, so a value of arrays equals the value of a file with the same numbers, bit for bit. Nothing is
guessed: what may be read in two ways is refused. Every message is one sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from submissions.formats import arrays
from submissions.formats.archive import open_package
from submissions.formats.arrays import Mesh, Naming, Wireframe
from submissions.formats.errors import Findings, FormatError
from submissions.formats.render.render_files import read_render
from submissions.formats.render.views import INSIDE, CleanViews, Render, SceneImages, View, encoded
from submissions.kinds import FAMILIES, RENDER, Family

UNITS = {"km": 1000.0, "m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "in": 0.0254, "ft": 0.3048}  # in metres
CHANNELS = (1, 3, 4)
SEEN = 1e-3  # of an 8-bit step: what rounding to 8 bits changes by less is what the image was made of


class InputError(ValueError):
    """A metric cannot be computed of what it was called with; one sentence."""


def metres_per(unit: str | float) -> float:
    """Metres in a unit of length: the name of one, or a number of metres."""
    if isinstance(unit, str):
        if unit not in UNITS:
            raise InputError(f"there is no unit {unit!r}; give one of {', '.join(UNITS)}, or metres as a number")
        return UNITS[unit]
    if isinstance(unit, bool) or not isinstance(unit, (int, float)) or not (math.isfinite(unit) and unit > 0):
        raise InputError(f"unit must be one of {', '.join(UNITS)}, or a positive number of metres, got {unit!r}")
    return float(unit)


def item(data: Any, family: Family, side: str, metric: str, notes: list[str]) -> Any:
    """One wireframe, mesh or image. `side` names it in messages ("prediction"), `metric` who asks for it; `notes` gain what was changed."""
    if isinstance(data, (Wireframe, Mesh, Render)):
        if type(data) is not (Render if family.images else family.elements.item):
            raise _other_kind(metric, family, side, f"a {type(data).__name__.lower()}")
        return data
    if isinstance(data, (str, PathLike)):
        return _of_file(Path(data), family, side, metric)
    return _image(data, side, notes) if family.images else _model(data, family, side, metric)


def view(reference: Any, side: str, metric: str, notes: list[str], mask: Any = None, clean: Any = None, prompt: str = "") -> View:
    """View that a render is compared with: an image, or clean views of its scene, or a text; `mask` is where metrics of a mask look."""
    if isinstance(reference, View):
        return reference
    image = None if reference is None else item(reference, RENDER, side, metric, notes)
    inside = None if mask is None else _mask(mask)
    size = (image.width, image.height) if image is not None else (0, 0)
    if inside is not None:
        if image is not None and inside.shape != (image.height, image.width):
            raise InputError(f"the mask must have the shape {(image.height, image.width)}, as its image has, got {inside.shape}")
        size = (inside.shape[1], inside.shape[0])
    views = None if clean is None else _clean(clean, metric, notes)
    scene = None if image is None else SceneImages(1, lambda _: image)
    png = None if inside is None else encoded(inside.astype(np.uint8) * 255)
    return View(image, size[0], size[1], png, (), views, prompt, scene)


def many(data: Any, side: str) -> list[Any]:
    """The items of a sequence or a mapping."""
    if isinstance(data, Mapping):
        return list(data.values())
    if isinstance(data, (str, PathLike)):
        path = Path(data)
        if not path.is_dir():
            raise InputError(f"there is no folder of {side}s at {path}")
        return sorted(found for found in path.iterdir() if not found.name.startswith("."))
    if isinstance(data, Sequence) or (hasattr(data, "ndim") and data.ndim == 4):
        return list(data)
    raise InputError(f"the {side}s must be a list or a folder of images, got {_named(data)}")


# --- files


def _of_file(path: Path, family: Family, side: str, metric: str) -> Any:
    if not path.exists():
        raise InputError(f"there is no {side} at {path}")
    suffix = path.suffix.lower()
    others = [one for one in FAMILIES.values() if suffix in one.suffixes]
    try:
        if suffix in family.suffixes:
            with open_package(path) as package:
                return family.read(package, package.files[0].name, family.most)
        if path.is_file() and others:
            raise _other_kind(metric, family, side, f"{path.name}, a {others[0].singular}")
        found = {} if family.images else family.load_folder(path)
    except FormatError as error:
        raise InputError(f"the {side} cannot be read: {error}") from None
    if len(found) != 1:
        several = f"holds {len(found)} {family.plural}" if found else f"holds no {family.singular} ({', '.join(family.suffixes)})"
        raise InputError(f"{path} {several}; name the file of one {family.singular}, or use plumbline.evaluate for many")
    return next(iter(found.values()))


# --- vertices with edges or faces


def _model(data: Any, family: Family, side: str, metric: str) -> Wireframe | Mesh:
    wanted: arrays.Elements = family.elements
    label, alone = wanted.label, _points(data, wanted)
    vertices, elements, scores = _taken_apart(data, family, side, metric) if alone is None else (alone, (), None)
    points = _numbers(vertices, side, "vertices", "V", 3, "iuf")
    try:
        rows = _numbers(elements, side, label, label[0].upper(), wanted.columns, "iuf")
    except InputError as error:
        shape = np.shape(_array(elements))
        for other in FAMILIES.values():
            if not other.images and other is not family and shape[1:] == (other.elements.columns,):
                theirs = f"which are {other.elements.label} of a {other.singular}"
                raise InputError(f"{error}, {theirs}; {metric} is a metric of {family.plural}") from None
        raise
    for name, count, most in zip(family.sizes, (len(points), len(rows)), family.most, strict=True):
        if count > most:
            raise InputError(f"the {side} has {count:,} {name}; at most {most:,} are taken")

    def place(name: str) -> Callable[[int], str]:
        return lambda n: f"{name}[{n}]"

    findings = Findings(f"the {side}")
    naming = Naming(place("vertices"), place(label), place("edge_score"), element=label[:-1])
    try:
        found: Wireframe | Mesh = wanted.make(points, rows, None if scores is None else _array(scores), naming, findings)
        findings.raise_if_any()
    except FormatError as error:
        raise InputError(str(error)) from None
    return found


def _points(data: Any, wanted: arrays.Elements) -> Any:
    """Vertices of a bare array [N, 3], or of another program's cloud of points; None for all that has elements."""
    if not wanted.points or isinstance(data, (tuple, list, Mapping)) or any(hasattr(data, name) for _, name in wanted.attributes):
        return None
    return next((getattr(data, name) for name in wanted.points if hasattr(data, name)), data if hasattr(data, "shape") else None)


def _taken_apart(data: Any, family: Family, side: str, metric: str) -> tuple[Any, Any, Any]:
    """(vertices, edges or faces, scores of edges or None) of a pair, a mapping or an object with attributes of these names."""
    wanted: arrays.Elements = family.elements
    label = wanted.label
    if isinstance(data, (tuple, list)) and len(data) in (2, 3 if wanted.scored else 2):
        return data[0], data[1], data[2] if len(data) == 3 else None
    if isinstance(data, Mapping):
        if not {"vertices", label} <= data.keys():
            raise InputError(f'the {side} must have "vertices" and "{label}", got {", ".join(map(repr, data)) or "an empty mapping"}')
        return data["vertices"], data[label], data.get("edge_score")
    if any(hasattr(data, name) for name in wanted.foreign):
        raise _other_kind(metric, family, side, "a mesh")
    for vertices, elements in wanted.attributes:
        if hasattr(data, vertices) and hasattr(data, elements):
            return getattr(data, vertices), getattr(data, elements), getattr(data, "edge_score", None) if wanted.scored else None
    points = ", an array [N, 3] of points" if wanted.points else ""
    raise InputError(f"the {side} must be a path, (vertices, {label}){points}, or an object with these attributes, got {_named(data)}")


def _numbers(data: Any, side: str, label: str, letter: str, columns: int, kinds: str) -> np.ndarray:
    """An array [N, columns] of numbers; an empty one may have any shape."""
    found = _array(data)
    if found.size == 0:
        return np.empty((0, columns), dtype=np.float64 if label == "vertices" else np.int64)
    if found.dtype.kind not in kinds:
        raise InputError(f"the {side}'s {label} must be numbers, got {found.dtype}")
    if found.ndim != 2 or found.shape[1] != columns:
        raise InputError(f"the {side}'s {label} must have the shape [{letter}, {columns}], got {found.shape}")
    return found


def _array(data: Any) -> np.ndarray:
    """An array of a sequence, or of a tensor wherever it lies."""
    if hasattr(data, "detach"):
        data = data.detach().cpu().numpy()
    try:
        return np.asarray(data)
    except ValueError:  # rows of different lengths
        return np.array([None])


# --- images


def _image(data: Any, side: str, notes: list[str]) -> Render:
    if hasattr(data, "getbands"):  # of PIL, which holds them in modes that files hold them in
        data = np.asarray(data if data.mode in ("L", "RGB", "RGBA") else data.convert("RGBA" if "transparency" in data.info else "RGB"))
    pixels = _channels_last(_eight_bits(_array(data), side, notes), side)
    height, width = pixels.shape[:2]
    if max(height, width) > max(RENDER.most) or not (height and width):
        raise InputError(f"the {side} is {width} × {height} pixels; 1 to {RENDER.most[0]:,} on each side are taken")
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[..., 0]
    try:
        return read_render(encoded(pixels), f"{side}.png", *RENDER.most)
    except FormatError as error:
        raise InputError(f"the {side} cannot be read: {error}") from None


def _eight_bits(found: np.ndarray, side: str, notes: list[str]) -> np.ndarray:
    """uint8 of an image of 8 bits, or of floats in [0, 1]."""
    if found.dtype == np.uint8:
        return found
    if found.dtype.kind != "f" or not found.size:
        raise InputError(f"the {side} must be an image of uint8, or of floats in [0, 1], got {found.dtype} of the shape {found.shape}")
    if not np.isfinite(found).all():
        raise InputError(f"the {side} has a pixel that is not finite")
    low, high = float(found.min()), float(found.max())
    if low < 0 or high > 1:
        raise InputError(f"the {side} is an image of floats from {low:.6g} to {high:.6g}; they must lie in [0, 1]: scale or clip them")
    scaled = found.astype(np.float64) * 255
    rounded = np.floor(scaled + 0.5)
    if float(np.abs(scaled - rounded).max()) > SEEN:
        notes.append(f"The {side} was rounded to 8 bits, as image files are.")
    return rounded.astype(np.uint8)


def _channels_last(found: np.ndarray, side: str) -> np.ndarray:
    """[H, W] or [H, W, C] of an image whose channels come first or last."""
    if found.ndim == 2:
        return found
    if found.ndim != 3:
        raise InputError(f"the {side} must have the shape [H, W, C], [C, H, W] or [H, W], got {found.shape}")
    last, first = found.shape[2] in CHANNELS, found.shape[0] in CHANNELS
    if last and first:
        raise InputError(
            f"the {side} has the shape {found.shape}, whose channels may be first or last; give [H, W, 3] of a larger image, or a file"
        )
    if not (last or first):
        raise InputError(f"the {side} must have 1, 3 or 4 channels, first or last, got the shape {found.shape}")
    return found if last else np.moveaxis(found, 0, 2)


def _mask(data: Any) -> np.ndarray:
    """bool [H, W] of an array of booleans or of grey values, or of a file."""
    if isinstance(data, (str, PathLike)):
        with Image.open(data) as image:
            found = np.asarray(image.convert("L"))
    else:
        found = _array(data)
    if found.ndim != 2 or found.dtype not in (np.bool_, np.uint8):
        raise InputError(f"the mask must be booleans or uint8 of the shape [H, W], got {found.dtype} {found.shape}")
    return found if found.dtype == np.bool_ else found > INSIDE


def _clean(data: Any, metric: str, notes: list[str]) -> CleanViews:
    if isinstance(data, CleanViews):
        return data
    images = [item(one, RENDER, "reference", metric, notes) for one in many(data, "reference")]
    try:
        return CleanViews.of(images)
    except ValueError:
        sizes = sorted({(image.width, image.height) for image in images})
        shown = ", ".join(f"{width} × {height}" for width, height in sizes[:4]) or "no image"
        raise InputError(f"the references must be images of one size, got {shown}") from None


def _other_kind(metric: str, family: Family, side: str, got: str) -> InputError:
    return InputError(f"{metric} is a metric of {family.plural}; the {side} is {got}")


def _named(data: Any) -> str:
    shape = (
        f" of the shape {tuple(data.shape)}" if hasattr(data, "shape") else f" of {len(data)}" if isinstance(data, (tuple, list)) else ""
    )
    return f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}{shape}".removeprefix("builtins.")
