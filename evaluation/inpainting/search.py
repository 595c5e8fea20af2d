"""The search for the part of an image that is best replaced (METRICS: recursive inpainting with Puzzle Similarity).

For a threshold τ the mask is where the similarity map S is below it; the image is filled there and its map computed anew.
The gain of a mask M is δ = Σ_M (Ŝ − S) / (λ |M|) with λ = |M|^(1/4): the mean improvement inside, less for large masks.
The interval of thresholds is narrowed around the best: τ* ± std(Ŝ*) / α.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluation.inpainting.filler import Filler, apply

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
                    found = _tried(image, before, mask, float(threshold), similarity, fill)
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
    return Outcome(best.image, best.mask, True, best.threshold, best.gain, before, best.map, tuple(chain))


def _tried(image: np.ndarray, before: np.ndarray, mask: np.ndarray, threshold: float, similarity: Map, fill: Filler) -> _Found:
    filled = apply(fill, image, mask)
    after = similarity(filled)
    return _Found(threshold, gain(before, after, mask), mask, filled, after)
