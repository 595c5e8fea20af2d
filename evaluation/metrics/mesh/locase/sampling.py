"""View that the network has of a mesh around each of its vertices: the points it looks at, their frames, and patches of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from evaluation.metrics.mesh.locase.alignment import Shape
from evaluation.metrics.mesh.locase.arithmetic import direction, lengths, power, total, totals

NEIGHBOURS = 64
CHANNELS = 7
_ROWS = 256  # points whose distances to all others are in memory together
_LARGEST = 1e4  # nothing in a patch is larger; only absurd shapes get there


class Surroundings:
    """The neighbourhoods of a shape's points float64[N, 3]."""

    def __init__(self, points: np.ndarray) -> None:
        self.points = points

    def neighbours(self, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The 64 points nearest to each of Q query points, nearest first: (numbers int64[Q, 64], distances float64[Q, 64]). The first is
        the point itself. Equally distant points are in the order of their numbers, because search trees return them in any order. With
        fewer than 64 points the list is repeated.
        """
        count = min(NEIGHBOURS, len(self.points))
        found = [self._nearest(queries[part], count) for part in parts(len(queries), _ROWS)]
        number, square = (np.concatenate(rows) for rows in zip(*found, strict=True))
        again = np.arange(NEIGHBOURS) % count
        return number[:, again], np.sqrt(square[:, again])

    def _nearest(self, queries: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers int64[Q, count] and squared distances float64[Q, count] of the nearest points."""
        square = np.zeros((len(queries), len(self.points)))
        for axis in self.points.T:
            away = axis - axis[queries, None]
            square += away * away
        square[np.arange(len(queries)), queries] = -1.0
        number = np.argsort(square, axis=1, kind="stable")[:, :count]
        return number, np.maximum(np.take_along_axis(square, number, axis=1), 0.0)

    def radius(self) -> float:
        """Mean distance from a point to its 64 neighbours: the unit of length of patches."""
        return float(self.neighbours(np.arange(len(self.points)))[1].mean())

    def patches(self, queries: np.ndarray, radius: float) -> np.ndarray:
        """float32[Q, 64, 7]: where a neighbour lies from the point (3) and how far (1), in radii; the point itself (3)."""
        number, distance = self.neighbours(queries)
        here = self.points[queries][:, None]
        away = (self.points[number] - here) / radius
        tensor = np.concatenate([away, (distance / radius)[..., None], np.broadcast_to(here, away.shape)], axis=-1)
        return np.clip(tensor, -_LARGEST, _LARGEST).astype(np.float32)


def turned(patches: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """float32[..., 7]: patches whose places, of the neighbour and of the point itself, are turned by a matrix float64[3, 3]."""
    matrix = turn.astype(np.float32).T
    return np.concatenate([patches[..., :3] @ matrix, patches[..., 3:4], patches[..., 4:] @ matrix], axis=-1)


def parts(n: int, size: int) -> list[np.ndarray]:
    """The numbers 0 to n - 1 in pieces of at most `size`."""
    return [np.arange(start, min(start + size, n)) for start in range(0, n, size)]


MAX_SEEN = 512
NEARLY_EQUAL = 0.05  # of the larger of two eigenvalues: axes whose eigenvalues differ by less may come in either order
_CELLS_PER_OCTAVE = 8
_SWEEPS = 8
_FOLDS = tuple(range(2, 17))
_CLEAR = 0.02  # of the moment of the absolute values
_DECIMALS = 9  # of a coordinate in mean radii


@dataclass(frozen=True)
class Sampling:
    """The way in which a reference and everything compared with it are looked at.

    `radius` is the unit of length of patches. `cell` is the side of the grid cells, of which one point each is kept; 0 if the
    reference is so small that all points are kept. Both are in mean radii of the reference. `folds` is for the first and second axis,
    and for the second and third. If their eigenvalues are nearly equal, it is the power of the places in their plane that settles
    the axes; else 0.
    """

    radius: float
    cell: float
    folds: tuple[int, int]

    @property
    def frames(self) -> np.ndarray:
        """float64[4, 8 or 24, 3, 3]: the rotations that turn the axes' directions, in each order that they may come in."""
        first, second = self.folds
        made = []
        for order in permutations(range(3)):
            if (order[0] != 0 and not first) or (order[2] != 2 and not second):
                continue
            axes = np.eye(3)[list(order)]
            turns = [np.array(signs)[:, None] * axes for signs in product((1.0, -1.0), repeat=3)]
            made += [turn for turn in turns if np.linalg.det(turn) > 0]
        return np.array(made)

    def to_array(self) -> np.ndarray:
        """float64[4]; see `from_array`."""
        return np.array([self.radius, self.cell, *self.folds], dtype=np.float64)

    @classmethod
    def from_array(cls, values: np.ndarray) -> Sampling:
        """The sampling that `to_array` wrote down."""
        return cls(float(values[0]), float(values[1]), (int(values[2]), int(values[3])))


def sampling(reference: Shape) -> Sampling:
    """The sampling of an aligned reference."""
    variances = totals(reference.points * reference.points)
    even = [variances[k + 1] > (1 - NEARLY_EQUAL) * variances[k] for k in range(2)]
    first, second = (4, 4) if all(even) else (_fold(reference, k) if even[k] else 0 for k in range(2))
    folds = (first, second)
    cell = _cell(_settled(reference, folds)) if len(reference.points) > MAX_SEEN else 0.0
    seen = sampled(reference, Sampling(1.0, cell, folds))
    return Sampling(Surroundings(seen.points).radius(), cell, folds)


def sampled(points: Shape, how: Sampling) -> Shape:
    """The points of an aligned mesh that are looked at: the one nearest to the middle of each cell, with the whole cell's weight.

    Cells have the reference's size, so that both meshes are seen with one grain; the middle of one is the origin, so that mirror
    images are thinned alike.
    """
    turned = _settled(points, how.folds)
    cell = how.cell or (_cell(turned) if len(turned) > MAX_SEEN else 0.0)
    if not cell:
        return Shape(turned, points.weights)
    number = _occupied(turned, cell)
    away = lengths(turned - np.round(turned / cell) * cell)
    order = np.lexsort((np.arange(len(turned)), away, number))
    kept = np.sort(order[np.unique(number[order], return_index=True)[1]])
    return Shape(turned[kept], np.bincount(number, points.weights)[number[kept]])


def _fold(points: Shape, first: int) -> int:
    """The lowest power of the places in the plane of an axis and the next whose moment says where the axes are.

    It is the order of the shape's own symmetry: 4 for a square table, 3 for a tripod, 2 for a shape without one.
    """
    x, y = points.points[:, first], points.points[:, first + 1]
    far, nothing = np.sqrt(x * x + y * y), np.zeros_like(x)
    strengths = []
    for fold in _FOLDS:
        real, imaginary = _moment(x, y, points.weights, fold)
        strengths.append(math.sqrt(real * real + imaginary * imaginary) / _moment(far, nothing, points.weights, fold)[0])
    enough = np.flatnonzero(np.array(strengths) > _CLEAR)
    return _FOLDS[int(enough[0] if len(enough) else np.argmax(strengths))]


def _moment(x: np.ndarray, y: np.ndarray, weights: np.ndarray, fold: int) -> tuple[float, float]:
    """Real and imaginary part of the weighted mean of a power of the places x + iy in a plane, in units of the farthest.

    The squared absolute value keeps the second from being 0 always.
    """
    reach = math.sqrt((x * x + y * y).max()) or 1.0
    x, y = x / reach, y / reach
    square = x * x + y * y
    real, imaginary = power(x, y, fold)
    return total(weights * (real * square)), total(weights * (imaginary * square))


def _settled(points: Shape, folds: tuple[int, int]) -> np.ndarray:
    """The points, turned within the planes of nearly equal eigenvalues to where the mean of that power of the places is positive.

    There the principal axes hang by a hair: noise that nobody sees turns them by any angle. The coordinates are rounded, so that of a
    symmetric shape places that mirror one another do so to the last bit.
    """
    planes = [(plane, fold) for plane, fold in (((0, 1), folds[0]), ((1, 2), folds[1]), ((0, 2), min(folds))) if fold]
    turned = points.points.copy()
    for _ in range(_SWEEPS if len(planes) > 1 else len(planes)):
        for (a, b), fold in planes:
            x, y = turned[:, a], turned[:, b]
            cosine, sine = direction(*_moment(x, y, points.weights, fold), fold)
            turned[:, a], turned[:, b] = x * cosine + y * sine, y * cosine - x * sine
    return np.round(turned, _DECIMALS)


def _cell(points: np.ndarray) -> float:
    """The smallest cell, of eight sizes an octave, that leaves no more than MAX_SEEN occupied.

    It is no smaller than the rounding of coordinates, which matters if all but a few points lie in one place.
    """
    step = int(np.ceil(np.log2(2 * np.abs(points).max()) * _CELLS_PER_OCTAVE))
    while _side(step - 1) > 10.0**-_DECIMALS and len(np.unique(_occupied(points, _side(step - 1)))) <= MAX_SEEN:
        step -= 1
    return _side(step)


def _side(step: int) -> float:
    """The side of cells a number of steps above 1; in a root's last digits libraries differ, so they are left out."""
    octave, rest = divmod(step, _CELLS_PER_OCTAVE)
    return math.ldexp(round(2 ** (rest / _CELLS_PER_OCTAVE), 12), octave)


def _occupied(points: np.ndarray, cell: float) -> np.ndarray:
    """int64[N]: one number for the cell of each point, 0 to the number of occupied cells - 1."""
    place = np.clip(np.round(points / cell), -(2**20), 2**20).astype(np.int64) + 2**20
    return np.unique((place[:, 0] << 42) | (place[:, 1] << 21) | place[:, 2], return_inverse=True)[1]
