"""Small images for tests: scenes of views, with all that a reference of renders may hold."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from submissions.formats.render.views import CleanViews, Render, Roi, View, encoded, render
from submissions.kinds import RENDER

WIDTH, HEIGHT = 40, 28


def pixels(number: int, width: int = WIDTH, height: int = HEIGHT) -> np.ndarray:
    """uint8 [H, W, 3]: smooth colours that differ from number to number."""
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin((x + k * y + 7 * number) / (5 + k)) for k in range(3)]
    return np.round(127.5 + 100 * np.stack(waves, axis=-1)).astype(np.uint8)


def view(number: int) -> View:
    return View(render(pixels(number)), WIDTH, HEIGHT)


def views(scenes: Mapping[str, int] | None = None) -> dict[str, View]:
    """Views by id: so many of each scene, by default three of the garden and two of the kitchen."""
    counts = scenes or {"garden": 3, "kitchen": 2}
    numbers = enumerate((f"{scene}/{n:03d}" for scene, count in counts.items() for n in range(count)), 1)
    return {name: view(number) for number, name in numbers}


def rich_views() -> dict[str, View]:
    """The garden has masks, regions and clean views; of the kitchen, clean views only; the object was asked for by a text."""
    clean = [CleanViews.of([render(pixels(number)) for number in numbers]) for numbers in ((50, 51, 52), (60, 61))]
    mask = encoded(np.where(pixels(70)[..., 0] > 127, 255, 0).astype(np.uint8))
    garden = {
        f"garden/{n:03d}": replace(
            view(n), mask=mask, rois=(Roi(1.0, 2.0, 20.5, 25.0, "pot"), Roi(0.0, 0.0, 1 / 3, 4.0, "leaf")), clean=clean[0]
        )
        for n in range(2)
    }
    kitchen = {"kitchen/a": View(None, WIDTH, HEIGHT, clean=clean[1]), "kitchen/b": View(None, clean=clean[1])}
    return {"0/0-7": View(None, prompt="a “red” chair"), **garden, **kitchen}


def noisy(item: View | Render, sigma: float, seed: int = 0) -> Render:
    """A render that differs from the view by normal noise of so many grey levels."""
    image = item.image if isinstance(item, View) else item
    noise = np.random.default_rng(seed).normal(scale=sigma, size=(image.height, image.width, 3))
    return render(np.clip(np.round(image.pixels() + noise), 0, 255).astype(np.uint8))


def file_of(array: np.ndarray, form: str = "PNG", **options: object) -> bytes:
    """An image file of an array, as Pillow writes it."""
    buffer = io.BytesIO()
    Image.fromarray(array).save(buffer, form, **options)
    return buffer.getvalue()


def write_folder(items: Mapping[str, View], folder: Path) -> Path:
    """A reference's folder."""
    for name, content in RENDER.files(items):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def archive(items: Mapping[str, Render]) -> bytes:
    """A zip with one PNG per view, as a team would upload it."""
    return zipped({f"{name}.png": item.png for name, item in items.items()})


def zipped(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        for name, data in files.items():
            package.writestr(name, data)
    return buffer.getvalue()
