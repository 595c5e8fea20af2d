"""Cells of a grid that have their centre inside a mesh or on its surface, and a sample of cells that represents all.

Rays run along z through the centres of all columns. They meet faces row by row, as in filling a polygon: the point where an edge crosses a
row is computed once for all faces that share the edge. So no ray slips between two faces, and each ray crosses a closed mesh an even number
of times. Cells of a closed mesh are inside by the parity of crossings. For other meshes a sample of the cells is tested by the generalised
winding number, with a tree of dipoles for far faces (Barill et al., 2018). The cost of a cell is estimated from the sizes of the near
faces, and as many cells are tested as fit into SECONDS, however large the faces are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evaluation.metrics.mesh.surface import Surface, cross

INSIDE = 0.5  # the winding number from which on a place is inside
# How far from a part of the mesh, in its radii, the tree takes that as one. Roughly first; where that leaves a doubt finely,
# which is off by less than 0.01 of a turn.
ROUGHLY, FINELY = 1.0, 2.0
DOUBT = 0.35  # three times the largest error seen of the rough value
SECONDS = 2.0  # of one core, for one mesh
MAX_PLACES = 1 << 18
MIN_PLACES = 1 << 10
PLACE, FACE = 4e-6, 0.3e-6  # seconds, measured: for a place, and for each face near it
IN_CACHE = 10_000  # faces below which each costs less, in proportion


def inside_by_winding(surface: Surface, places: np.ndarray) -> np.ndarray:
    """bool[K]: whether the mesh's generalised winding number is at least a half at each of places[K, 3]."""
    import igl

    tree = igl.FastWindingNumberBVH()
    tree.init(surface.points, surface.oriented, 2)
    value = tree.winding_number(places, ROUGHLY)
    doubtful = np.flatnonzero(np.abs(value - INSIDE) <= DOUBT)
    if len(doubtful):
        value[doubtful] = tree.winding_number(places[doubtful], FINELY)
    return value >= INSIDE


def affordable(surface: Surface) -> int:
    """The number of places of a cube about the mesh that can be asked for its winding number in SECONDS.

    A face is looked at for itself within FINELY of its radii.
    """
    corners = surface.points[surface.faces]
    reach = FINELY * np.linalg.norm(corners - corners.mean(axis=1, keepdims=True), axis=2).max(axis=1)
    side = float(np.ptp(surface.points, axis=0).max())
    near = float(np.minimum(4 / 3 * np.pi * (reach / side) ** 3, 1.0).sum())
    seconds = PLACE + FACE * near * min(1.0, len(surface) / IN_CACHE)
    return int(np.clip(SECONDS / seconds, MIN_PLACES, MAX_PLACES))


CHUNK = 1 << 20  # crossings looked at together


@dataclass(frozen=True, eq=False)
class Grid:
    """`n` cells along each axis, of the size `h`; `low` float64[3] is the corner of the first."""

    low: np.ndarray
    h: float
    n: int

    def centres(self, axis: int) -> np.ndarray:
        """float64[n]: the coordinates of the centres along an axis."""
        return self.low[axis] + (np.arange(self.n) + 0.5) * self.h

    def within(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """int64[3] each: the first cell that a box reaches into, and the first beyond it; equal along an axis that it misses."""
        first = np.clip(np.floor((low - self.low) / self.h).astype(np.int64), 0, self.n)
        return first, np.maximum(np.clip(np.ceil((high - self.low) / self.h).astype(np.int64), 0, self.n), first)


@dataclass(frozen=True, eq=False)
class Sample:
    """One cell of each of the blocks that a grid was cut into: `cells` int64[K, 3], and `stands_for` int64[K], the cells of its
    block. Neighbours in the arrays are mostly neighbours in space."""

    cells: np.ndarray
    stands_for: np.ndarray

    def places(self, grid: Grid) -> np.ndarray:
        """float64[K, 3]: the centres."""
        return grid.low + (self.cells + 0.5) * grid.h

    def sum(self, values: np.ndarray) -> float:
        """The sum of values[K] over all cells, as the sample tells it."""
        return float(values @ self.stands_for)

    def error(self, values: np.ndarray) -> float:
        """The standard error of that sum, from the differences of neighbouring blocks, so rather too large than too small."""
        uncertain = np.where(self.stands_for > 1, values * self.stands_for, 0.0)
        even = uncertain[: len(uncertain) // 2 * 2].reshape(-1, 2)
        return float(np.linalg.norm(even[:, 0] - even[:, 1]))


def stratified(n: int, low: np.ndarray, high: np.ndarray, most: int, rng: np.random.Generator) -> Sample:
    """At most about `most` cells of a grid of n cells a side, one drawn in each of as many `blocks`; all, if they are no more."""
    start, size = blocks(n, low, high, most)
    return Sample(start + np.floor(rng.random(start.shape) * size).astype(np.int64), size.prod(axis=1))


def blocks(n: int, low: np.ndarray, high: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(first cell, cells along each axis) int64[K, 3] of at most about `most` blocks that fill a grid of n cells a side.

    Half of them lie in the cuboid of the cells low[3] to high[3] (exclusive), half in the rest, so that what counts is seen
    as well where a grid is much larger.
    """
    halves = [[(np.zeros(3, np.int64), np.full(3, n))]]
    if (low < high).all():
        rest = []  # the cuboids that fill the grid up around that one
        for axis in range(3):  # the whole grid on the axes to come, no more than the cuboid on those before
            least = np.where(np.arange(3) < axis, low, 0)
            end = np.where(np.arange(3) < axis, high, n)
            rest.append((least, np.where(np.arange(3) == axis, low, end)))
            rest.append((np.where(np.arange(3) == axis, high, least), end))
        rest = [part for part in rest if (part[0] < part[1]).all()]
        halves = [part for part in ([(low, high)], rest) if part]
    starts, sizes = zip(*(_blocks(part, most // len(halves)) for part in halves), strict=True)
    return np.concatenate(starts), np.concatenate(sizes)


def _blocks(cuboids: list[tuple[np.ndarray, np.ndarray]], most: int) -> tuple[np.ndarray, np.ndarray]:
    """(first cell, cells along each axis) int64[K, 3] of cubes that fill the cuboids, as small as `most` of them allow."""
    side = 1
    while sum(int(np.prod(-(-(high - low) // side))) for low, high in cuboids) > max(most, len(cuboids)):
        side += 1
    starts, sizes = [], []
    for low, high in cuboids:
        axes = [np.arange(low[axis], high[axis], side) for axis in range(3)]
        start = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        starts.append(start)
        sizes.append(np.minimum(start + side, high) - start)
    return np.concatenate(starts), np.concatenate(sizes)


def grid_around(*points: np.ndarray, n: int) -> Grid:
    """The cubic grid of n cells a side about the box of all points, its cells as large as the longest side asks."""
    everything = np.concatenate([[p.min(axis=0), p.max(axis=0)] for p in points])
    low, high = everything.min(axis=0), everything.max(axis=0)
    side = float((high - low).max())
    return Grid((low + high) / 2 - side / 2, side / n, n)


def closed(faces: np.ndarray) -> bool:
    """True if every edge is shared by exactly two faces."""
    edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    _, counts = np.unique(edges[:, 0] << 32 | edges[:, 1], return_counts=True)
    return bool(len(counts)) and bool((counts == 2).all())


def filled(surface: Surface, grid: Grid) -> np.ndarray:
    """bool[n, n, n] by (x, y, z): whether the surface, which is closed, lies below each centre an odd number of times.

    A centre on a face is taken to be just above it.
    """
    found = np.zeros((grid.n, grid.n, grid.n + 1), dtype=np.int8)
    cells, centres = found.reshape(-1), grid.centres(2)
    for column, height in _hits(surface.points, surface.faces, grid):
        np.add.at(cells, column * (grid.n + 1) + np.searchsorted(centres, height), np.int8(1))
    np.cumsum(found, axis=2, out=found, dtype=found.dtype)
    return (found[:, :, :-1] & 1).astype(bool)


def mark_surface(surface: Surface, grid: Grid, tolerance: float, inside: np.ndarray) -> None:
    """Set `inside` (bool[n, n, n]) where a centre lies on a face, give or take `tolerance`."""
    normals = cross(surface.points, surface.faces)
    steepest = np.abs(normals).argmax(axis=1)
    for along in range(3):
        chosen = steepest == along
        if not chosen.any():
            continue
        # The faces that lie more across this axis than across any other, which becomes their third.
        first, second = (axis for axis in range(3) if axis != along)
        axes = (first, second, along)
        view = np.moveaxis(inside, axes, (0, 1, 2))
        x_centres, y_centres, z_centres = (grid.centres(axis) for axis in axes)
        corners, across = surface.points[surface.faces[chosen]][:, :, axes], normals[chosen][:, axes]
        slopes = across[:, :2] / across[:, 2:]
        low, high = corners[:, :, 1].min(axis=1), corners[:, :, 1].max(axis=1)
        rows = np.searchsorted(y_centres, low - tolerance), np.searchsorted(y_centres, high + tolerance, side="right")
        for face, row in spread(*rows):
            left, right = _reach(corners[face], np.clip(y_centres[row], low[face], high[face]))
            columns = np.searchsorted(x_centres, left - tolerance), np.searchsorted(x_centres, right + tolerance, side="right")
            for span, column in spread(*columns):
                which, at = face[span], row[span]
                apart = np.stack([x_centres[column], y_centres[at]], axis=1) - corners[which, 0, :2]
                height = corners[which, 0, 2] - np.einsum("ij,ij->i", slopes[which], apart)
                level = np.clip(np.round((height - z_centres[0]) / grid.h), 0, grid.n - 1).astype(np.int64)
                near = np.abs(z_centres[level] - height) <= tolerance
                view[column[near], at[near], level[near]] = True


def _reach(corners: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest x of each face (float64[M, 3, 3]) on the line at its y, which meets it."""
    left, right = np.full(len(y), np.inf), np.full(len(y), -np.inf)
    for side in range(3):
        a, b = corners[:, side], corners[:, (side + 1) % 3]
        rise = b[:, 1] - a[:, 1]
        meets = (np.minimum(a[:, 1], b[:, 1]) <= y) & (y <= np.maximum(a[:, 1], b[:, 1]))
        share = np.clip((y - a[:, 1]) / np.where(rise == 0, 1.0, rise), 0.0, 1.0)
        x = a[:, 0] + share * (b[:, 0] - a[:, 0])
        for end in (x, np.where(rise == 0, b[:, 0], x)):
            left = np.where(meets & (end < left), end, left)
            right = np.where(meets & (end > right), end, right)
    return left, right


def _hits(points: np.ndarray, faces: np.ndarray, grid: Grid) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(column, height) of all crossings of a face and the line through a column x * n + y, in pieces.

    A line through an edge meets one of the two faces there (intervals are half open), whichever way round they are.
    """
    x_centres, y_centres = grid.centres(0), grid.centres(1)
    heights = points[faces][:, :, 1]
    rows = np.searchsorted(y_centres, heights.min(axis=1)), np.searchsorted(y_centres, heights.max(axis=1))
    for face, row in spread(*rows):
        up, down, _ = cuts(points, faces[face], y_centres[row])
        left, right = np.where(up[:, :1] < down[:, :1], (up, down), (down, up))
        columns = np.searchsorted(x_centres, left[:, 0]), np.searchsorted(x_centres, right[:, 0])
        for span, column in spread(*columns):
            share = (x_centres[column] - left[span, 0]) / (right[span, 0] - left[span, 0])
            height = left[span, 1] + share * (right[span, 1] - left[span, 1])
            yield column * grid.n + row[span], height


def cuts(points: np.ndarray, faces: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(up, down, met) of M faces. `up` and `down` float64[M, 2]: (x, z) where the side that rises in y, and the side that falls,
    crosses the face's `y`. `met` bool[M]: the face meets this y; its upper end does not."""
    up, down, met = np.zeros((len(faces), 2)), np.zeros((len(faces), 2)), np.zeros(len(faces), dtype=bool)
    for side in range(3):
        a, b = points[faces[:, side]], points[faces[:, (side + 1) % 3]]
        rises = (a[:, 1] <= y) & (y < b[:, 1])
        falls = (b[:, 1] <= y) & (y < a[:, 1])
        # From the lower end, so that the two faces of an edge get the same number to the last bit.
        lower, upper = np.where(falls[:, None], (b, a), (a, b))
        rise = upper[:, 1] - lower[:, 1]
        share = (y - lower[:, 1]) / np.where(rise == 0, 1.0, rise)
        at = (lower + share[:, None] * (upper - lower))[:, [0, 2]]
        up[rises], down[falls] = at[rises], at[falls]
        met |= rises
    return up, down, met


def spread(start: np.ndarray, stop: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(which, number) for every whole number of every interval start[which] <= number < stop[which], some at a time."""
    counts = np.maximum(stop - start, 0)
    reached = np.cumsum(counts)
    begin = 0
    while begin < len(counts):
        before = reached[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(reached, before + CHUNK, side="right")))
        part = counts[begin:end]
        which = np.repeat(np.arange(begin, end), part)
        number = np.arange(len(which)) - np.repeat(np.cumsum(part) - part, part) + start[which]
        if len(which):
            yield which, number
        begin = end
