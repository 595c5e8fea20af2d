"""GBVS written down once more, as plainly as it goes: OpenCV for the pictures, whole matrices for the walks."""

from __future__ import annotations

import math
from functools import cache
from types import ModuleType

import numpy as np


def saliency(cv2: ModuleType, bgr: np.ndarray, compat: bool = False) -> np.ndarray:
    """float64[H, W] of uint8[H, W, 3] in BGR order."""
    channels = list(cv2.split(bgr / 255.0))
    channels.append(np.max(bgr / 255.0, axis=2))
    maps = []
    for level in range(1, 5):
        channels = [cv2.pyrDown(channel) for channel in channels]
        if level == 1:
            continue
        b, g, r, light = channels
        with np.errstate(divide="ignore", invalid="ignore"):
            maps.append(np.where(light > 0, np.abs(b - np.minimum(r, g)) / light, 0.0))
            maps.append(np.where(light > 0, np.abs(r - g) / light, 0.0))
        maps.append(light)
        for angle in (0, 45, 90, 135):
            responses = [
                cv2.filter2D(light, cv2.CV_64F, kernel(angle, phase, compat), borderType=cv2.BORDER_REPLICATE) for phase in (0, 90)
            ]
            maps.append(np.abs(responses[0]) + np.abs(responses[1]))
    maps = [cv2.resize(one, (32, 28), interpolation=cv2.INTER_CUBIC) for one in maps]
    maps = [one for one in maps if one.max() - one.min() >= 1e-9]
    if not maps:
        return np.ones(bgr.shape[:2])
    total = sum(conducted(one) for one in maps)
    total = (total - total.min()) / (total.max() - total.min())
    grown = cv2.resize(total, (bgr.shape[1], bgr.shape[0]), interpolation=cv2.INTER_CUBIC)
    return np.clip(grown, 0, 1)


def kernel(angle: int, phase: int, compat: bool) -> np.ndarray:
    found = np.zeros((27, 27))
    sin, cos = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    for i in range(-13, 14):
        for j in range(-13, 14):
            major = i * cos - j * sin
            minor = -i * sin + j * cos if compat else -i * sin - j * cos
            found[i + 13, j + 13] = math.cos(2 * major + math.radians(phase)) * math.exp(-(major**2) / 8 - minor**2 / 32)
    found -= found.mean()
    return found / math.sqrt((found**2).sum())


def conducted(values: np.ndarray) -> np.ndarray:
    """Activation and normalisation of one 28 × 32 map, the cells column by column."""
    cells = [(row, column) for column in range(32) for row in range(28)]
    distance = squared_distances(tuple(cells))
    m = np.array([values[cell] for cell in cells])
    first = np.exp(-distance / (2 * 4.5**2)) * np.abs(m[:, None] - m[None, :])
    v = equilibrium(first / first.sum(axis=0))
    second = np.exp(-distance / (2 * 1.8**2)) * v[:, None]
    v = equilibrium(second / second.sum(axis=0))
    found = np.empty((28, 32))
    for cell, value in zip(cells, v, strict=True):
        found[cell] = value
    return found


@cache
def squared_distances(cells: tuple[tuple[int, int], ...]) -> np.ndarray:
    where = np.array(cells, dtype=float)
    return (where[:, None, 0] - where[None, :, 0]) ** 2 + (where[:, None, 1] - where[None, :, 1]) ** 2


def equilibrium(matrix: np.ndarray) -> np.ndarray:
    v, moved, steps = np.ones(len(matrix)) / len(matrix), math.inf, 0
    while moved > 1e-4 and steps < 1000:
        after = matrix @ v
        moved, v, steps = np.linalg.norm(after - v), after, steps + 1
    return v / v.sum()
