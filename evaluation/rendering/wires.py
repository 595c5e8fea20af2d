"""Pictures of wireframes: straight lines of even width, seen without perspective from one place. PURE and deterministic.

All decisions are made in whole numbers. Ends of lines lie on a grid of a sixteenth of a sample. A sample belongs to a line if its middle is
within half the line's width. A pixel is the mean of its samples. The same wireframes therefore give the same picture bit for bit, for
any order of their edges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BLACK, BLUE, WHITE = (0, 0, 0), (0, 0, 255), (255, 255, 255)
GRID = 16  # steps of a sample in which ends of lines are placed
MAX_SIDE = 4096  # samples; beyond it the squares below would not fit into 64 bits


@dataclass(frozen=True)
class Viewpoint:
    """Viewpoint of a picture in parallel projection: azimuth from x towards y and elevation above the ground, in degrees, z upwards. The
    ball of `radius` around `centre` just fits into it."""

    centre: tuple[float, float, float]
    radius: float
    azimuth: float = 45.0
    elevation: float = 30.0

    def projected(self, points: NDArray[np.float64], side: int) -> NDArray[np.float64]:
        """Column and row float64[..., 2] of points float64[..., 3] in a picture of `side` by `side`; (0, 0) is its corner."""
        azimuth, elevation = math.radians(self.azimuth), math.radians(self.elevation)
        x, y, z = (points[..., axis] - self.centre[axis] for axis in range(3))
        right = y * math.cos(azimuth) - x * math.sin(azimuth)
        up = z * math.cos(elevation) - (x * math.cos(azimuth) + y * math.sin(azimuth)) * math.sin(elevation)
        return np.stack([0.5 + right / (2 * self.radius), 0.5 - up / (2 * self.radius)], axis=-1) * side


@dataclass(frozen=True, eq=False)
class Lines:
    """Segments float64[N, 2, 3] of one colour; `width` in pixels."""

    ends: NDArray[np.float64]
    colour: tuple[int, int, int] = BLACK
    width: float = 2.0


def picture(layers: Sequence[Lines], viewpoint: Viewpoint, side: int, samples: int = 2) -> NDArray[np.uint8]:
    """uint8[side, side, 3]: the layers on white, later ones over earlier ones; a pixel is the mean of `samples`² places.

    ValueError for a viewpoint without size or a picture too large to be drawn in whole numbers.
    """
    fine = side * samples
    if not (viewpoint.radius > 0 and math.isfinite(viewpoint.radius)) or not 0 < fine <= MAX_SIDE:
        raise ValueError(f"cannot draw {side} pixels with {samples} samples a side and a radius of {viewpoint.radius}")
    found = np.empty((fine, fine, 3), dtype=np.uint8)
    found[:] = WHITE
    for layer in layers:
        found[_covered(viewpoint.projected(layer.ends, fine), layer.width * samples / 2, fine)] = layer.colour
    blocks = found.reshape(side, samples, side, samples, 3).sum(axis=(1, 3), dtype=np.int64)
    return ((2 * blocks + samples**2) // (2 * samples**2)).astype(np.uint8)


def _covered(ends: NDArray[np.float64], half: float, side: int) -> NDArray[np.bool_]:
    """bool[side, side]: the samples whose middle is within `half` of a line; ends float64[N, 2, 2], columns and rows."""
    mask = np.zeros((side, side), dtype=bool)
    ends = _clipped(ends, -half - 2, side + half + 2)
    if not len(ends):
        return mask
    grid = np.rint(ends * GRID).astype(np.int64)
    reach = math.floor(half * GRID)
    steep = np.abs(grid[:, 1, 1] - grid[:, 0, 1]) > np.abs(grid[:, 1, 0] - grid[:, 0, 0])
    for turned in (False, True):
        own = grid[steep == turned]
        if len(own):
            across, down = _samples(own[..., ::-1] if turned else own, reach, side)
            mask[(across, down) if turned else (down, across)] = True
    return mask


def _samples(grid: NDArray[np.int64], reach: int, side: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Columns and rows of the samples within `reach` of lines int64[N, 2, 2] (in steps of the grid) that are wider than high."""
    backwards = grid[:, 0, 0] > grid[:, 1, 0]
    grid = np.where(backwards[:, None, None], grid[:, ::-1], grid)
    first = np.maximum((grid[:, 0, 0] - reach) // GRID - 1, 0)
    last = np.minimum((grid[:, 1, 0] + reach) // GRID + 1, side - 1)
    counts = np.maximum(last - first + 1, 0)
    line = np.repeat(np.arange(len(grid)), counts)
    column = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + first[line]
    (x, y), (dx, dy) = grid[line, 0].T, (grid[line, 1] - grid[line, 0]).T
    along = np.clip(column * GRID + GRID // 2 - x, 0, dx)
    middle = (y + np.where(dx > 0, along * dy // np.maximum(dx, 1), 0)) // GRID
    # A line that is wider than high is at most √2 times its width high in any column.
    spread = math.ceil(1.5 * reach / GRID) + 2
    row = middle[:, None] + np.arange(-spread, spread + 1)
    column, x, y, dx, dy = (np.broadcast_to(values[:, None], row.shape) for values in (column, x, y, dx, dy))
    px, py = column * GRID + GRID // 2 - x, row * GRID + GRID // 2 - y
    length, along = dx * dx + dy * dy, px * dx + py * dy
    beside = (px * dy - py * dx) ** 2 <= reach * reach * length
    at_ends = np.minimum(px * px + py * py, (px - dx) ** 2 + (py - dy) ** 2) <= reach * reach
    inside = np.where((along >= 0) & (along <= length) & (length > 0), beside, at_ends) & (row >= 0) & (row < side)
    return column[inside], row[inside]


def _clipped(ends: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """The parts of the segments within [low, high]² (Liang and Barsky), so that no number is ever large."""
    start, step = ends[:, 0], ends[:, 1] - ends[:, 0]
    enter, leave = np.zeros(len(ends)), np.ones(len(ends))
    there = np.ones(len(ends), dtype=bool)
    for axis in range(2):
        level = step[:, axis] == 0
        there &= ~level | ((start[:, axis] >= low) & (start[:, axis] <= high))
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = (low - start[:, axis]) / step[:, axis], (high - start[:, axis]) / step[:, axis]
        enter = np.where(level, enter, np.maximum(enter, np.minimum(one, other)))
        leave = np.where(level, leave, np.minimum(leave, np.maximum(one, other)))
    there &= enter <= leave
    start, step, enter, leave = start[there], step[there], enter[there, None], leave[there, None]
    # An end that lies inside is kept as it is.
    begin = np.where(enter > 0, start + enter * step, start)
    finish = np.where(leave < 1, start + leave * step, ends[there, 1])
    return np.stack([begin, finish], axis=1)
