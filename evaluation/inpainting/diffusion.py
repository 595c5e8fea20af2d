"""Filling holes of an image from their edges, by diffusion.

Harmonic: each filled pixel is the mean of its neighbours, so that Δu = 0 in the hole and u is the image on its edge.
Biharmonic: ΔΔu = 0, which carries on slopes as well as values, in the sense of least squares: the filled pixels make the
sum of (Δu)² over the hole and its edge as small as it can be. At the image's border the missing neighbours are left out.
Large holes are solved at a smaller size first and smoothed at the full one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

MOST = 60_000  # pixels of holes that are solved for at once
SWEEPS = 40  # of smoothing, after a solution of half the size has been enlarged
Solver = Callable[[np.ndarray, np.ndarray], np.ndarray]  # float64[H, W, C] and bool[H, W] to float64[n, C] at the mask's pixels
_NEIGHBOURS = ((0, 1), (0, -1), (1, 0), (-1, 0))


def harmonic(image: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """uint8[H, W, 3]: the image with the pixels where `mask` (bool[H, W]) is true filled harmonically.

    ValueError where nothing is left to fill from.
    """
    return _filled(image, mask, _harmonic)


def biharmonic(image: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """As `harmonic`, with ΔΔu = 0; what overshoots the range of 0 to 255 is cut off."""
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
    if mask.sum() <= MOST or min(mask.shape) < 4:
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
