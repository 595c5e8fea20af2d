"""Triangle seen at each sample of an image: a z-buffer over spans of rows. PURE.

A triangle has corners p0, p1, p2 in the camera's frame, M = [p0 p1 p2]. The ray through a sample, d = (x, y, 1), meets it at
depth z where M b = d: the weights of the corners are z·b, and Σ b = 1/z. All four are linear in the sample's column and row.
So a row of a triangle is the range of columns where they are positive, and no triangle need be clipped (M. Olano and
T. Greer, "Triangle Scan Conversion using 2D Homogeneous Coordinates", 1997).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.rendering.cameras import Camera

NEAREST = 1e-3  # depth, as a share of the largest depth of a corner
NOTHING = -1
AT_ONCE = 4_000_000  # samples drawn in one go, which bounds the memory
_SLACK = 1e-7  # of a column, so that no sample falls between two triangles that share an edge


@dataclass(frozen=True, eq=False)
class Seen:
    """``triangle``: int64[H, W], NOTHING if there is none. ``planes``: float64[T, 3, 3]: the rows are factors of column, row
    and 1 (in samples, their middles at whole numbers), the columns are b0, b1, b2 of the module's text."""

    triangle: NDArray[np.int64]
    planes: NDArray[np.float64]


def seen(corners: NDArray[np.float64], camera: Camera, width: int, height: int, back_faces: bool = True) -> Seen:
    """Return what a camera sees of triangles float64[T, 3, 3], at width × height samples; without `back_faces`, not their backs."""
    points = camera.seen(corners)
    planes, front = _planes(points, camera, width, height)
    drawn = front != 0 if back_faces else front > 0
    deepest = float(points[..., 2].max(initial=0.0))
    owner, row, low, high = _spans(points, planes, drawn, NEAREST * max(deepest, 1e-9), width, height, camera.focal)
    best = np.zeros(width * height, dtype=np.uint64)
    depth = planes.sum(axis=2)
    counts = high - low + 1
    for part in _parts(counts):
        _draw(best, depth[owner[part]], row[part], low[part], counts[part], part.start, width)
    found = np.full(width * height, NOTHING, dtype=np.int64)
    hit = best > 0
    found[hit] = owner[(best[hit] & np.uint64(0xFFFFFFFF)).astype(np.int64)]
    return Seen(found.reshape(height, width), planes)


def _planes(points: NDArray[np.float64], camera: Camera, width: int, height: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The planes of every triangle, and on which side it is seen: 1 its front, −1 its back, 0 edge-on."""
    p0, p1, p2 = points[:, 0], points[:, 1], points[:, 2]
    rows = np.stack([np.cross(p1, p2), np.cross(p2, p0), np.cross(p0, p1)], axis=1)
    volume = (p0 * rows[:, 0]).sum(axis=1)
    size = np.linalg.norm(rows, axis=2).max(axis=1) * np.linalg.norm(points, axis=2).max(axis=1)
    flat = np.abs(volume) <= 1e-14 * size
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(flat[:, None, None], 0.0, rows / volume[:, None, None])
    focal = camera.focal * height
    pixels = np.array([[1 / focal, 0, (0.5 - width / 2) / focal], [0, 1 / focal, (0.5 - height / 2) / focal], [0, 0, 1]])
    # With y down and z ahead the frame is right-handed, so a front (anticlockwise from outside) has a negative volume.
    return (inverse @ pixels).transpose(0, 2, 1), np.where(flat, 0.0, -np.sign(volume))


def _spans(
    points: NDArray[np.float64], planes: NDArray[np.float64], drawn: NDArray[np.bool_], near: float, width: int, height: int, focal: float
) -> tuple[NDArray[np.int64], ...]:
    """Triangle, row, first and last column of every row of every triangle that has a sample in it."""
    depth = points[..., 2]
    drawn = drawn & (depth.max(axis=1) > near)
    whole = depth.min(axis=1) > near
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = height / 2 - 0.5 + points[..., 1] / depth * focal * height
    first = np.where(whole, np.ceil(rows.min(axis=1) - _SLACK), 0.0)
    last = np.where(whole, np.floor(rows.max(axis=1) + _SLACK), height - 1.0)
    first, last = np.clip(first, 0, height).astype(np.int64), np.clip(last, -1, height - 1).astype(np.int64)
    numbers = np.flatnonzero(drawn & (last >= first))
    count = last[numbers] - first[numbers] + 1
    owner = np.repeat(numbers, count)
    row = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count - first[numbers], count)
    low, high = np.zeros(len(owner)), np.full(len(owner), width - 1.0)
    total = planes.sum(axis=2)
    limits = [(planes[:, :, k], 0.0) for k in range(3)]
    limits.append((-total, 1 / near))  # no nearer than `near`
    for factors, over in limits:
        slope, rest = factors[owner, 0], factors[owner, 1] * row + factors[owner, 2] + over
        with np.errstate(divide="ignore", invalid="ignore"):
            place = -rest / slope
        low = np.where(slope > 0, np.maximum(low, place - _SLACK), low)
        high = np.where(slope < 0, np.minimum(high, place + _SLACK), high)
        high = np.where((slope == 0) & (rest < 0), -1.0, high)
    low, high = np.ceil(np.clip(low, 0, width)).astype(np.int64), np.floor(np.clip(high, -1, width - 1)).astype(np.int64)
    kept = high >= low
    return owner[kept], row[kept], low[kept], high[kept]


def _parts(counts: NDArray[np.int64]) -> list[slice]:
    """The spans in runs of about AT_ONCE samples."""
    if len(counts) == 0:
        return []
    ends = np.cumsum(counts)
    cuts = np.searchsorted(ends, np.arange(AT_ONCE, ends[-1], AT_ONCE))
    borders = np.unique(np.concatenate([[0], cuts, [len(counts)]]))
    return [slice(int(a), int(b)) for a, b in itertools.pairwise(borders)]


def _draw(
    best: NDArray[np.uint64],
    depth: NDArray[np.float64],
    row: NDArray[np.int64],
    low: NDArray[np.int64],
    counts: NDArray[np.int64],
    first: int,
    width: int,
) -> None:
    """Enter spans into the buffer. An entry is 1/z as the bits of a float32, which order as the numbers do, over the span."""
    ends = np.cumsum(counts)
    step = np.arange(ends[-1]) - np.repeat(ends - counts, counts)
    start = (depth[:, 0] * low + depth[:, 1] * row + depth[:, 2]).astype(np.float32)
    nearness = np.repeat(start, counts) + np.repeat(depth[:, 0].astype(np.float32), counts) * step.astype(np.float32)
    np.maximum(nearness, np.float32(1e-30), out=nearness)
    entry = nearness.view(np.uint32).astype(np.uint64) << np.uint64(32)
    entry |= np.repeat(np.arange(first, first + len(counts), dtype=np.uint64), counts)
    np.maximum.at(best, np.repeat(row * width + low, counts) + step, entry)
