"""Graph-based visual saliency: where people look first.

J. Harel, C. Koch, P. Perona, "Graph-Based Visual Saliency" (2006), with the channels, sizes and constants of the Python port in common use.
21 feature maps (two opponent colours, intensity and four orientations, at three scales) are resized to 28 × 32 cells. In each map a random
walk between cells prefers near cells that differ, so it gathers where the map is unusual. A second walk sharpens the result. The saliency
is the sum over the maps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import scipy

from evaluation.metrics.render.image import bicubic, halved

ROWS, COLUMNS = 28, 32
CELLS = ROWS * COLUMNS
LEVELS = (2, 3, 4)  # how often the picture is halved
ANGLES = (0, 45, 90, 135)
REACH = 13  # half the side of a Gabor filter, in pixels
SPREAD, SHARPNESS = 4.5, 1.8  # standard deviations, in cells: 0.15 and 0.06 of the mean side
CLOSE_ENOUGH, MAX_STEPS = 1e-4, 1000  # when a walk has come to rest
FLAT = 1e-9  # a feature map that varies by less says nothing
BLOCK = 64  # rows of a walk's matrix that are made at a time, to stay in the processor's cache


def saliency(image: np.ndarray, gabor_compat: bool = False) -> np.ndarray:
    """float64[H, W] in [0, 1] of an image uint8[H, W, 3] in RGB order; 1 everywhere if nothing is salient.

    `gabor_compat` repeats the sign slip of the port, whose filters at 45° and 135° are skewed.
    """
    maps = feature_maps(image, gabor_compat)
    kept = maps[np.ptp(maps, axis=(1, 2)) >= FLAT]
    if not len(kept):
        return np.ones(image.shape[:2])
    total = _sharpened(np.stack([_activation(one) for one in kept])).sum(axis=0)
    low, high = total.min(), total.max()
    if high <= low:
        return np.ones(image.shape[:2])
    return np.clip(bicubic((total - low) / (high - low), image.shape[1], image.shape[0]), 0.0, 1.0)


def feature_maps(image: np.ndarray, gabor_compat: bool = False) -> np.ndarray:
    """float64[21, 28, 32]: at each of three scales |b - min(r, g)| / L, |r - g| / L, L and four orientations of L."""
    red, green, blue = np.moveaxis(image / 255.0, -1, 0)
    pyramid = np.stack([blue, green, red, np.maximum(np.maximum(red, green), blue)])
    maps: list[np.ndarray] = []
    for level in range(1, LEVELS[-1] + 1):
        pyramid = halved(pyramid)
        if level in LEVELS:
            blue, green, red, light = pyramid
            colours = [np.abs(blue - np.minimum(red, green)), np.abs(red - green)]
            colours = [np.divide(one, light, out=np.zeros_like(light), where=light > 0) for one in colours]
            # |L * G(θ, 0°)| + |L * G(θ, 90°)|; beyond the edge L repeats the edge.
            padded = np.pad(light, REACH, mode="edge")
            shape = tuple(scipy.fft.next_fast_len(n, real=True) for n in padded.shape)
            found = scipy.fft.irfft2(scipy.fft.rfft2(padded, shape) * _filters(shape, gabor_compat), shape)
            height, width = light.shape
            response = np.abs(found[:, 2 * REACH : 2 * REACH + height, 2 * REACH : 2 * REACH + width])
            maps += [bicubic(one, COLUMNS, ROWS) for one in (*colours, light, *(response[:4] + response[4:]))]
    return np.stack(maps)


def gabor(angle: float, phase: float, compat: bool = False) -> np.ndarray:
    """float64[27, 27]: a wave across `angle` degrees under a bell twice as long as wide, of mean 0 and norm 1."""
    row, column = np.mgrid[-REACH : REACH + 1, -REACH : REACH + 1].astype(np.float64)
    cos, sin = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    across = row * cos - column * sin
    along = -row * sin + column * cos if compat else -row * sin - column * cos
    found = np.cos(2 * across + np.radians(phase)) * np.exp(-(across**2) / 8 - along**2 / 32)
    found -= found.mean()
    return found / np.linalg.norm(found)


@cache
def _filters(shape: tuple[int, int], compat: bool) -> np.ndarray:
    """Spectra of the eight filters: the four angles at phase 0°, then at 90°."""
    return scipy.fft.rfft2(np.stack([gabor(angle, phase, compat) for phase in (0, 90) for angle in ANGLES]), shape)


def _activation(values: np.ndarray) -> np.ndarray:
    """float64[28, 32]: where a walk is found that goes from b to a in proportion to exp(-d²(a, b) / 2σ²) |M_a - M_b|."""
    flat = values.ravel()
    near = _nearness()
    weights = np.empty((CELLS, CELLS))
    for start in range(0, CELLS, BLOCK):
        block = weights[start : start + BLOCK]
        np.subtract(flat[start : start + BLOCK, None], flat, out=block)
        np.abs(block, out=block)
        block *= near[start : start + BLOCK]
    leaving = weights.sum(axis=1)  # the matrix is symmetric: of its columns too
    return _rest(lambda v: weights @ (v / leaving), np.full(CELLS, 1 / CELLS)).reshape(ROWS, COLUMNS)


def _sharpened(activation: np.ndarray) -> np.ndarray:
    """float64[N, 28, 32]: the same with weights exp(-d² / 2σ²) v_a, which draws each map v together at its peaks.

    The bell is a product of one along rows and one along columns, so nothing of size 896 × 896 is needed.
    """
    rows, columns = _bell(ROWS, SHARPNESS), _bell(COLUMNS, SHARPNESS)
    uniform = np.full((ROWS, COLUMNS), 1 / CELLS)
    found = []
    for one in activation:
        leaving = rows @ one @ columns

        def step(v: np.ndarray, one: np.ndarray = one, leaving: np.ndarray = leaving) -> np.ndarray:
            return one * (rows @ (v / leaving) @ columns)

        found.append(_rest(step, uniform))
    return np.stack(found)


def _rest(step: Callable[[np.ndarray], np.ndarray], v: np.ndarray) -> np.ndarray:
    """The distribution at which the walk comes to rest when it starts at `v`, as shares that add up to 1."""
    for _ in range(MAX_STEPS):
        after = step(v)
        moved = np.linalg.norm(after - v)
        v = after
        if moved <= CLOSE_ENOUGH:
            break
    return v / v.sum()


def _bell(n: int, sigma: float) -> np.ndarray:
    place = np.arange(n, dtype=np.float64)
    return np.exp(-((place[:, None] - place) ** 2) / (2 * sigma**2))


@cache
def _nearness() -> np.ndarray:
    """float64[896, 896] over the cells, row by row."""
    return np.kron(_bell(ROWS, SPREAD), _bell(COLUMNS, SPREAD))
