"""Filling holes of an image from their edges, by diffusion.

Harmonic: each filled pixel is the mean of its neighbours, so that Δu = 0 in the hole and u is the image on its edge.
Biharmonic: ΔΔu = 0 in the sense of least squares, which carries on slopes as well as values. The filled pixels minimise the
sum of (Δu)² over the hole and its edge. At the image's border the missing neighbours are left out.
Large holes are solved at a smaller size first and smoothed at the full one.
"""

from __future__ import annotations

import importlib
import io
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from PIL import Image
from scipy import sparse
from scipy.sparse.linalg import splu

MAX_PIXELS = 60_000  # pixels of holes that are solved for together
SWEEPS = 40  # of smoothing, after a solution of half the size has been enlarged
Solver = Callable[[np.ndarray, np.ndarray], np.ndarray]  # float64[H, W, C] and bool[H, W] to float64[n, C] at the mask's pixels
_NEIGHBOURS = ((0, 1), (0, -1), (1, 0), (-1, 0))


def harmonic(image: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """uint8[H, W, 3]: the image with the pixels where `mask` (bool[H, W]) is true filled harmonically.

    ValueError where nothing is left to fill from.
    """
    return _filled(image, mask, _harmonic)


def biharmonic(image: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Fill the hole as `harmonic` does, with ΔΔu = 0; values outside 0 to 255 are clipped."""
    return _filled(image, mask, _biharmonic)


def _filled(image: np.ndarray, mask: np.ndarray, solve: Solver) -> np.ndarray:
    if image.shape[:2] != mask.shape:
        raise ValueError(f"the mask is {mask.shape}, the image {image.shape[:2]}")
    if mask.all():
        raise ValueError("the whole image is to be replaced, so that there is nothing to fill it from")
    if not mask.any():
        return image.copy()
    values = _solved(image.astype(np.float64), mask, solve)
    return np.where(mask[..., None], np.clip(np.rint(values), 0, 255), image).astype(np.uint8)


def _solved(values: np.ndarray, mask: np.ndarray, solve: Solver) -> np.ndarray:
    """float64[H, W, C] with the holes filled; too many pixels are first filled at half the size."""
    if mask.sum() <= MAX_PIXELS or min(mask.shape) < 4:
        found = values.copy()
        found[mask] = solve(values, mask)
        return found
    small, hole = _halved(values, mask)
    if hole.all():
        small, hole = np.broadcast_to(values[~mask].mean(axis=0), small.shape), np.zeros_like(hole)
    coarse = _solved(small, hole, solve)
    height, width = mask.shape
    found = np.where(mask[..., None], coarse.repeat(2, axis=0).repeat(2, axis=1)[:height, :width], values)
    for _ in range(SWEEPS):
        around, count = _sum_of_neighbours(found)
        found[mask] = (around / count[..., None])[mask]
    return found


def _halved(values: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values and mask at half the size (rounded up): means over the known pixels of each 2 × 2, a hole where there is none."""
    height, width = (-(-side // 2) * 2 for side in mask.shape)
    known = np.zeros((height, width))
    known[: mask.shape[0], : mask.shape[1]] = ~mask
    padded = np.zeros((height, width, values.shape[2]))
    padded[: mask.shape[0], : mask.shape[1]] = values * ~mask[..., None]
    count = known.reshape(height // 2, 2, width // 2, 2).sum(axis=(1, 3))
    total = padded.reshape(height // 2, 2, width // 2, 2, -1).sum(axis=(1, 3))
    return total / np.maximum(count, 1)[..., None], count == 0


def _sum_of_neighbours(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sum over the two to four neighbours of each pixel, and how many they are."""
    total, count = np.zeros_like(values), np.zeros(values.shape[:2])
    total[1:] += values[:-1]
    total[:-1] += values[1:]
    total[:, 1:] += values[:, :-1]
    total[:, :-1] += values[:, 1:]
    count[1:] += 1
    count[:-1] += 1
    count[:, 1:] += 1
    count[:, :-1] += 1
    return total, count


def _laplacian(mask: np.ndarray, rows: np.ndarray) -> sparse.csr_matrix:
    """Σ over neighbours (u(q) − u(p)) at the pixels of `rows`, as a matrix [rows.sum(), H · W]."""
    height, width = mask.shape
    y, x = np.nonzero(rows)
    number = np.arange(len(y))
    entries = []
    for down, across in _NEIGHBOURS:
        inside = (y + down >= 0) & (y + down < height) & (x + across >= 0) & (x + across < width)
        entries.append((number[inside], ((y + down) * width + x + across)[inside], np.ones(inside.sum())))
        entries.append((number[inside], (y * width + x)[inside], -np.ones(inside.sum())))
    at, to, values = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    return sparse.csr_matrix((values, (at, to)), shape=(len(y), height * width))


def _harmonic(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """float64[n, C] at the pixels of the mask."""
    matrix, flat, pixels = _laplacian(mask, mask), mask.reshape(-1), values.reshape(-1, values.shape[2])
    return _lu(-matrix[:, flat], matrix[:, ~flat] @ pixels[~flat])


def _biharmonic(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    around = mask.copy()
    around[1:] |= mask[:-1]
    around[:-1] |= mask[1:]
    around[:, 1:] |= mask[:, :-1]
    around[:, :-1] |= mask[:, 1:]
    matrix, flat, pixels = _laplacian(mask, around), mask.reshape(-1), values.reshape(-1, values.shape[2])
    inner = matrix[:, flat]
    return _lu(inner.T @ inner, -(inner.T @ (matrix[:, ~flat] @ pixels[~flat])))


def _lu(matrix: sparse.spmatrix, right: np.ndarray) -> np.ndarray:
    return splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}, diag_pivot_thresh=0.0).solve(right)


# What fills a hole: diffusion of our own, a program, or a Python function.


OURS = {"harmonic": harmonic, "biharmonic": biharmonic}
PLACES = ("{image}", "{mask}", "{out}")


class FillerError(ValueError):
    """A filler is missing or failed; one sentence."""


class Filler(Protocol):
    """Replaces a part of an image."""

    def __call__(self, image: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """uint8[H, W, 3] of the same size from uint8[H, W, 3] and bool[H, W], True where it is to be replaced.

        Pixels outside the mask are ignored in the result.
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
        raise FillerError(f"{name} is not a function of an image and a mask; name one that is.")
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


# The search for the part of an image that is best replaced (METRICS: recursive inpainting with Puzzle Similarity).
#
# For a threshold τ the mask is where the similarity map S is below it; the image is filled there and its map computed again.
# The gain of a mask M is δ = Σ_M (Ŝ − S) / (λ |M|) with λ = |M|^(1/4): the mean improvement inside, less for large masks.
# The interval of thresholds is narrowed around the best: τ* ± std(Ŝ*) / α.


PENALTY = 4  # p of λ = |M|^(1/p)
ALPHA = 10.0
CANDIDATES = 8
ROUNDS = 5
NARROW = 1e-3
LARGEST = 0.5  # share of the image that a mask may have
TRIM = (1.0, 60.0)  # percentiles of the map between which the first thresholds lie

Map = Callable[[np.ndarray], np.ndarray]  # uint8[H, W, 3] -> float[H, W]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Trial:
    """One threshold that was tried: its round (from 1), the gain and how many pixels were replaced."""

    round: int
    threshold: float
    gain: float
    pixels: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """The image with the best mask replaced, or as it was where nothing gained: then `mask` is empty and `changed` false.

    `before` and `after` are the maps float[H, W] of the given and the returned image; `chain` is every trial in order.
    """

    image: np.ndarray
    mask: np.ndarray
    changed: bool
    threshold: float | None
    gain: float
    before: np.ndarray
    after: np.ndarray
    chain: tuple[Trial, ...]


@dataclass(frozen=True, eq=False)
class _Found:
    threshold: float
    gain: float
    mask: np.ndarray
    image: np.ndarray
    map: np.ndarray


def gain(before: np.ndarray, after: np.ndarray, mask: np.ndarray) -> float:
    """δ of two maps and a mask that is not empty."""
    count = int(mask.sum())
    return float((after.astype(np.float64) - before)[mask].sum() / (count ** (1 / PENALTY) * count))


def inpaint(
    image: np.ndarray,
    similarity: Map,
    fill: Filler,
    candidates: int = CANDIDATES,
    rounds: int = ROUNDS,
    progress: Progress | None = None,
) -> Outcome:
    """Replace the part of uint8[H, W, 3] whose replacement raises the similarity most; `progress` gets (done, total) of trials.

    Thresholds whose mask is empty or over half of the image are skipped; those with a mask that was tried before are not
    tried again, which changes nothing.
    """
    before = similarity(image)
    low, high = np.percentile(before, TRIM)
    gains: dict[int, float] = {}  # by the mask's size: the mask of a larger threshold holds that of a smaller one
    chain: list[Trial] = []
    best: _Found | None = None
    for turn in range(1, rounds + 1):
        for place, threshold in enumerate(np.linspace(low, high, candidates)):
            mask = before < threshold
            count = int(mask.sum())
            if 0 < count <= LARGEST * mask.size:
                if count not in gains:
                    filled = apply(fill, image, mask)
                    after = similarity(filled)
                    found = _Found(float(threshold), gain(before, after, mask), mask, filled, after)
                    gains[count] = found.gain
                    best = found if best is None or found.gain > best.gain else best
                chain.append(Trial(turn, float(threshold), gains[count], count))
            if progress is not None:
                progress((turn - 1) * candidates + place + 1, rounds * candidates)
        if best is None or best.gain <= 0:
            return Outcome(image, np.zeros(image.shape[:2], bool), False, None, 0.0, before, before, tuple(chain))
        reach = float(best.map.std()) / ALPHA
        low, high = best.threshold - reach, best.threshold + reach
        if high - low < NARROW:
            break
    assert best is not None  # a round without one has returned
    return Outcome(best.image, best.mask, True, best.threshold, best.gain, before, best.map, tuple(chain))
