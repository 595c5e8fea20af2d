"""The cells of a picture, and features of them by a dictionary of small patches that is learnt from clean views. Own definition.

A. Coates, H. Lee, A. Ng, "An Analysis of Single-Layer Networks in Unsupervised Feature Learning" (2011) gives the form of
the dictionary: whitened patches, k-means, and the activation by how much nearer than usual a centroid is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.lib.stride_tricks import sliding_window_view

CELL = 16  # px, the side of a cell
PATCH, STEP = 6, 2  # px: the side of a patch, and from one patch to the next
DRAWN = 3000  # patches of each view that is learnt from
ATOMS, ROUNDS = 128, 8  # centroids, and rounds of k-means
NOISE = 1e-3  # variance of noise of 8 levels of 255; weaker patterns do not count
SPREAD, CUT = 6.0, 3.0  # the Gaussian that pools, in px, and where it is cut, in standard deviations
CHANNELS = ATOMS + 3
LUMA = np.array([[0.299, 0.587, 0.114], [-0.299 / 1.772, -0.587 / 1.772, 0.886 / 1.772], [0.701 / 1.402, -0.587 / 1.402, -0.114 / 1.402]])
_ROWS = 32  # of patches that are looked at together


def grid(width: int, height: int) -> tuple[int, int]:
    """(h, w): rows and columns of the whole cells of a picture of that size in pixels."""
    return height // CELL, width // CELL


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Patterns of 6 × 6 px: `mean` float32[108], `whitener` float32[108, 108] (symmetric) and `atoms` float32[128, 108], the
    centroids of whitened patches."""

    mean: np.ndarray
    whitener: np.ndarray
    atoms: np.ndarray

    @classmethod
    def learn(cls, views: Iterable[np.ndarray], rng: np.random.Generator) -> Dictionary:
        """The dictionary of pictures uint8[H, W, 3], from 3,000 patches of each, at places drawn by `rng`.

        Whitening is V diag(1/√(e + 10⁻³)) Vᵀ of the covariance V diag(e) Vᵀ. The centroids start as 128 of the whitened patches;
        of 8 rounds of k-means each leaves a centroid that nothing is nearest to at 0.
        """
        drawn = []
        for pixels in views:
            windows = sliding_window_view(pixels, (PATCH, PATCH), axis=(0, 1))
            rows, columns = (rng.integers(0, side, DRAWN) for side in windows.shape[:2])
            drawn.append(_patches(windows[rows, columns]))
        patches = np.concatenate(drawn)
        mean = patches.mean(axis=0, dtype=np.float64)
        centred = patches - mean
        values, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
        whitener = (vectors / np.sqrt(np.maximum(values, 0.0) + NOISE)) @ vectors.T
        whitened = (centred @ whitener).astype(np.float32)
        atoms = whitened[rng.choice(len(whitened), ATOMS, replace=False)]
        for _ in range(ROUNDS):
            nearest = ((atoms**2).sum(axis=1) - 2 * whitened @ atoms.T).argmin(axis=1)
            counts = np.bincount(nearest, minlength=ATOMS)
            chosen = scipy.sparse.csr_array((np.ones(len(nearest)), (nearest, np.arange(len(nearest)))), shape=(ATOMS, len(nearest)))
            atoms = ((chosen @ whitened.astype(np.float64)) / np.maximum(counts, 1)[:, None]).astype(np.float32)
        return cls(mean.astype(np.float32), whitener.astype(np.float32), atoms)

    def cells(self, pixels: np.ndarray) -> np.ndarray:
        """float32[h · w, 131]: the features of the cells of uint8[H, W, 3], row by row; both sides are at least 16 px.

        At every second pixel the patch has z_k = ‖A(x − m) − c_k‖ and the activations max(0, mean z − z_k), which stand at its
        centre. These, and Y, Cb, Cr, are pooled by a Gaussian of 6 px and read at the cells' centres, between pixels bilinearly.
        """
        height, width = pixels.shape[:2]
        windows = sliding_window_view(pixels, (PATCH, PATCH), axis=(0, 1))[::STEP, ::STEP]
        across, down = windows.shape[1], windows.shape[0]
        first = (PATCH - 1) / 2
        by_row, by_column = pooling(height // CELL, down, first, STEP), pooling(width // CELL, across, first, STEP)
        factor = np.concatenate([self.whitener, self.whitener @ self.atoms.T], axis=1)  # one product for |A(x − m)|² and <A(x − m), c_k>
        lengths = (self.atoms**2).sum(axis=1)
        pooled = np.zeros((len(by_row), across * ATOMS), dtype=np.float32)
        for start in range(0, down, _ROWS):
            block = _patches(windows[start : start + _ROWS].reshape(-1, 3, PATCH, PATCH)) - self.mean
            product = block @ factor
            whitened, distance = product[:, : block.shape[1]], product[:, block.shape[1] :]
            distance *= -2
            distance += np.einsum("pc,pc->p", whitened, whitened)[:, None]
            distance += lengths
            np.sqrt(np.maximum(distance, 0.0, out=distance), out=distance)
            active = np.maximum(distance.mean(axis=1, keepdims=True) - distance, 0.0)
            pooled += by_row[:, start : start + _ROWS] @ active.reshape(-1, across * ATOMS)
        patterns = np.matmul(by_column, pooled.reshape(len(by_row), across, ATOMS))
        colour = (pixels.reshape(-1, 3) @ (LUMA.T / 255).astype(np.float32)).reshape(height, width * 3)
        rows = pooling(height // CELL, height, 0.0, 1) @ colour
        colours = np.matmul(pooling(width // CELL, width, 0.0, 1), rows.reshape(len(by_row), width, 3))
        return np.concatenate([patterns, colours], axis=2).reshape(-1, CHANNELS)


@lru_cache(maxsize=32)
def pooling(cells: int, samples: int, first: float, step: int) -> np.ndarray:
    """float32[cells, samples]: what each sample is worth to each cell along one axis. Not to be written to.

    Samples stand at `first` + n · `step` px. A Gaussian of 6 px, cut at three standard deviations and reflected at the ends,
    is read at the cells' centres, 16 n + 7.5 px, bilinearly.
    """
    smooth = scipy.ndimage.gaussian_filter1d(np.eye(samples), SPREAD / step, axis=0, mode="reflect", truncate=CUT)
    place = (np.arange(cells) * CELL + (CELL - 1) / 2 - first) / step
    below = np.floor(place).astype(np.int64)
    share = (place - below)[:, None]
    found = ((1 - share) * smooth[below] + share * smooth[below + 1]).astype(np.float32)
    found.flags.writeable = False
    return found


def _patches(windows: np.ndarray) -> np.ndarray:
    """float32[P, 108] in [0, 1] of windows uint8[P, 3, 6, 6]."""
    return windows.reshape(len(windows), -1).astype(np.float32) / np.float32(255)
