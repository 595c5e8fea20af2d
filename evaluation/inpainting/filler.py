"""What fills a hole: diffusion of our own, a program, or a Python function."""

from __future__ import annotations

import importlib
import io
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Protocol

import numpy as np
from PIL import Image

from evaluation.inpainting import diffusion

OURS = {"harmonic": diffusion.harmonic, "biharmonic": diffusion.biharmonic}
PLACES = ("{image}", "{mask}", "{out}")


class FillerError(ValueError):
    """A filler cannot be had or did not do its work; one sentence."""


class Filler(Protocol):
    """Replaces a part of an image."""

    def __call__(self, image: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """uint8[H, W, 3] of the same size from uint8[H, W, 3] and bool[H, W], True where it is to be replaced.

        What it returns elsewhere is not looked at.
        """


def filler(name: str, seconds: float = 600.0) -> Filler:
    """A filler by name: "harmonic" or "biharmonic", a command line that holds {image}, {mask} and {out}, or a dotted name.

    A command gets paths of PNG files (the mask white where the image is to be replaced), must write the last one and has
    `seconds` for it; it is started without a shell. FillerError where the name is none of these.
    """
    if name in OURS:
        return OURS[name]
    if any(place in name for place in PLACES):
        missing = [place for place in PLACES if place not in name]
        if missing:
            raise FillerError(f"The command {name!r} says nowhere where {missing[0]} goes; it needs {', '.join(PLACES)}.")
        return _Command(shlex.split(name), seconds)
    module, _, function = name.replace(":", ".").rpartition(".")
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError):
        raise FillerError(
            f"There is no filler {name!r}; give one of {', '.join(OURS)}, a command with {', '.join(PLACES)}, or package.module.function."
        ) from None
    if not callable(found):
        raise FillerError(f"{name} is no function of an image and a mask; name one that is.")
    return found


def apply(fill: Filler, image: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The image with the masked pixels as the filler has them, all others as they were. FillerError for what is no such image."""
    filled = np.asarray(fill(image, mask))
    if filled.shape != image.shape or filled.dtype != np.uint8:
        raise FillerError(f"The filler gave {filled.dtype} of the shape {filled.shape}; it must give uint8 of the shape {image.shape}.")
    return np.where(mask[..., None], filled, image)


class _Command:
    """A program that fills holes."""

    def __init__(self, words: list[str], seconds: float) -> None:
        self.words, self.seconds = words, seconds

    def __call__(self, image: np.ndarray, mask: np.ndarray) -> np.ndarray:
        with tempfile.TemporaryDirectory() as folder:
            paths = {place: str(Path(folder) / f"{place[1:-1]}.png") for place in PLACES}
            Image.fromarray(image).save(paths["{image}"])
            Image.fromarray(mask.astype(np.uint8) * 255).save(paths["{mask}"])
            words = list(self.words)
            for place, path in paths.items():
                words = [word.replace(place, path) for word in words]
            try:
                done = subprocess.run(words, capture_output=True, timeout=self.seconds, check=False)
            except (OSError, subprocess.TimeoutExpired) as error:
                raise FillerError(f"The filler {words[0]} did not do its work: {error}.") from error
            if done.returncode:
                last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["it says nothing"]
                raise FillerError(f"The filler {words[0]} ended with {done.returncode}: {last[0]}.")
            return _read(Path(paths["{out}"]), words[0])


def _read(path: Path, program: str) -> np.ndarray:
    try:
        with Image.open(io.BytesIO(path.read_bytes())) as image:
            return np.asarray(image.convert("RGB"))
    except (OSError, ValueError) as error:
        raise FillerError(f"The filler {program} left no image that can be read at {{out}}.") from error
