"""Features turned and stretched so that the same cell seen from a step aside lies near, in every direction. Own definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.metrics.render.image import resized
from evaluation.metrics.render.pieces.dictionary import grid

SHIFTS = ((4, -6), (-7, 3))  # px: rows, columns
BORDER = 2  # cells that wrap round
ENLARGED, CENTRE = 1.08, (10, 14)  # how far the third copy is enlarged; rows and columns of cells that are compared
LEVELLED = 0.3  # of the mean variance that is added to each
SMALLEST = 1e-6  # is added to a standard deviation

Cells = Callable[[np.ndarray], np.ndarray]  # from uint8[H, W, 3] to float32[h · w, D]


@dataclass(frozen=True, eq=False)
class Whitening:
    """x̂ = ((x − `mean`) / `deviation`) `matrix`: float32[D], float32[D], float32[D, D]. `step` is d₀, the median length of what
    differs between a cell and the same cell a step aside."""

    mean: np.ndarray
    deviation: np.ndarray
    matrix: np.ndarray
    step: float

    @classmethod
    def fit(cls, features: np.ndarray, views: Sequence[np.ndarray], cells: Cells) -> Whitening:
        """The whitening of all cells' features float32[K, D] by moved copies of the pictures uint8[H, W, 3], all of one size.

        Z = (moved − original) / deviation; with ZᵀZ/n = V diag(e) Vᵀ the matrix is V diag(1/√(e + .3 · mean e)).
        """
        mean = features.mean(axis=0, dtype=np.float64)
        deviation = features.std(axis=0, dtype=np.float64) + SMALLEST
        differences = np.concatenate([part for pixels in views for part in _differences(pixels, cells)]) / deviation
        values, vectors = np.linalg.eigh(differences.T @ differences / len(differences))
        values = np.maximum(values, 0.0)
        level = LEVELLED * values.mean()
        if level == 0.0:  # pictures in which nothing ever differs
            level = 1.0
        matrix = vectors / np.sqrt(values + level)
        step = float(np.median(np.linalg.norm(differences @ matrix, axis=1)))
        return cls(mean.astype(np.float32), deviation.astype(np.float32), matrix.astype(np.float32), step)

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """float32[K, D]: x̂ of features float32[K, D]."""
        return ((features - self.mean) / self.deviation) @ self.matrix


def moved_from(count: int) -> range:
    """The clean views, of `count`, that are moved: about eight of them."""
    return range(0, count, max(1, count // 8))


def _differences(pixels: np.ndarray, cells: Cells) -> list[np.ndarray]:
    """float32[n, D] three times: what differs between cells and the same cells of a moved copy."""
    height, width = pixels.shape[:2]
    rows, columns = grid(width, height)

    original = cells(pixels).reshape(rows, columns, -1)

    def moved(picture: np.ndarray, top: int, left: int) -> np.ndarray:
        """The differences of the inner cells, without `top` rows and `left` columns on either side, from the original's, as [n, D]."""
        difference = cells(picture).reshape(rows, columns, -1) - original
        return difference[top : rows - top, left : columns - left].reshape(-1, difference.shape[2])

    found = [moved(np.roll(pixels, shift, axis=(0, 1)), BORDER, BORDER) for shift in SHIFTS]
    tall, wide = round(height / ENLARGED), round(width / ENLARGED)
    top, left = (height - tall) // 2, (width - wide) // 2
    near = resized(np.ascontiguousarray(pixels[top : top + tall, left : left + wide]), width, height, "bicubic")
    inner = tuple((n - min(most, n)) // 2 for n, most in zip((rows, columns), CENTRE, strict=True))
    return [*found, moved(near, *inner)]
