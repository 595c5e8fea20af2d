"""Filling meshes that are not closed: the generalised winding number on a grid, decided as exactly as for one point.

Each connected piece of the mesh's boundary gets a fan of triangles about its middle, which closes it. The winding
number of the closed whole is an integer, counted by rays; that of the mesh is less by that of the fans alone. These
are few, and away from them their field is smooth with a known bound on its slope (it depends on the boundary only), so
whole blocks of cells are decided by one value, and only cells at the fans and at the boundary one by one.

A mesh that is nearly all boundary (loose triangles) has the field of its own faces taken instead, by the tree of
dipoles of Barill et al. (2018), more finely where that leaves a doubt, and exactly where doubt is left then. There the
bound supposes that within one empty ball the field differs by no more than over all blocks seen so far, and UNSEEN;
how far it may then drift in a smaller ball is known.
"""

from __future__ import annotations

from collections.abc import Callable

import igl
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from evaluation.metrics.mesh.occupancy import Grid, crossings
from evaluation.metrics.mesh.surface import Surface

INSIDE = 0.5  # the winding number from which on a centre is inside
SLACK = 1e-9  # rounding of a winding number
BLOCK = 8  # cells along each side of the blocks looked at first
MOST_EDGES = 2_000  # of the boundary, above which a mesh counts as loose triangles
# Of the tree of dipoles, by how far from a part of the mesh it takes that as one: the largest error, with room to spare.
# Each step takes over three times as long as the one before, the last nearly a third of the exact sum over 20,000 faces;
# it is taken only where the one before leaves a doubt.
APPROXIMATE = {1.0: 0.35, 1.5: 0.05, 2.5: 0.006}
FOR_BLOCKS = (1.0, 1.5)  # as finely as is worth it for a block: what is left is halved
UNSEEN = 1.0  # how far a field may go beyond its values in the middles of blocks, both ways together
CHUNK = 1 << 21  # pairs of a block and a boundary edge looked at together
# A centre on a face counts as just above it: everything is taken there, in cells along x, y, z.
ABOVE = np.array([1e-7, 1e-9, 1e-5])

# From middles float64[K, 3] and a radius: the least and the most that any point within the radius may get.
Bounds = Callable[[np.ndarray, float], tuple[np.ndarray, np.ndarray]]


def inside_by_winding(surface: Surface, grid: Grid) -> np.ndarray:
    """bool[n, n, n]: whether the mesh's generalised winding number is at least 0.5 at each centre."""
    points, fans, ends = boundary_fans(surface)
    if len(fans) > MOST_EDGES:
        return by_blocks(grid, LooseField(surface).bounds) > 0
    # At the very points where the fans' field is taken: a fan may pass between a centre and the point just above it.
    shifted = Grid(grid.low + ABOVE * grid.h, grid.h, grid.n)
    whole = crossings(points, np.concatenate([surface.oriented, fans]), shifted, signed=True)
    if not len(fans):
        return whole >= 1
    return whole >= by_blocks(grid, lambda middles, around: _fan_bounds(points, fans, ends, middles, around))


def by_blocks(grid: Grid, bounds: Bounds) -> np.ndarray:
    """int16[n, n, n]: what each centre gets, where `bounds` of a radius of 0 are equal.

    Blocks of cells that get the same all over are taken at once, the others are halved.
    """
    n = -(-grid.n // BLOCK)
    found, undecided, size = np.zeros((n, n, n), np.int16), np.ones((n, n, n), bool), BLOCK
    while True:
        middles = grid.low + ((np.argwhere(undecided) + 0.5) * size + ABOVE) * grid.h
        least, most = bounds(middles, np.sqrt(3) / 2 * (size - 1) * grid.h)
        found[undecided] = np.where(least == most, most, 0).astype(np.int16)
        undecided[undecided] = least != most
        if size == 1:
            return found[: grid.n, : grid.n, : grid.n]
        size //= 2
        for axis in range(3):
            found, undecided = found.repeat(2, axis=axis), undecided.repeat(2, axis=axis)


def boundary_fans(surface: Surface) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(points with the fans' middles added, fans int64[B, 3], ends float64[B, 2, 3] of the boundary edge of each fan).

    Mesh and fans together have no boundary: along every edge as many faces go one way as the other.
    """
    directed = surface.oriented[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    forward = directed[:, 0] < directed[:, 1]
    edges, which = np.unique(np.sort(directed, axis=1), axis=0, return_inverse=True)
    net = np.bincount(which.ravel(), np.where(forward, 1, -1), minlength=len(edges)).astype(np.int64)
    edges, net = edges[net != 0], net[net != 0]
    if not len(edges):
        return surface.points, np.empty((0, 3), np.int64), np.empty((0, 2, 3))
    edges = np.repeat(np.where(net[:, None] > 0, edges, edges[:, ::-1]), np.abs(net), axis=0)
    used, compact = np.unique(edges, return_inverse=True)
    compact = compact.reshape(-1, 2)
    graph = coo_array((np.ones(len(edges)), tuple(compact.T)), shape=(len(used),) * 2)
    pieces, piece = connected_components(graph, directed=False)
    middles = np.stack([np.bincount(piece, surface.points[used, axis], minlength=pieces) for axis in range(3)], axis=1)
    middles /= np.bincount(piece)[:, None]
    apex = len(surface.points) + piece[compact[:, 0]]
    points = np.concatenate([surface.points, middles])
    return points, np.stack([edges[:, 1], edges[:, 0], apex], axis=1).astype(np.int64), surface.points[edges]


def _fan_bounds(
    points: np.ndarray, fans: np.ndarray, ends: np.ndarray, middles: np.ndarray, around: float
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the integer winding number from which on a centre is inside, the fans' own taken off."""
    value = igl.winding_number(points, fans, middles)
    spread = np.zeros(len(middles))
    if around:
        rows = max(1, CHUNK // len(fans))
        for start in range(0, len(middles), rows):
            part = slice(start, start + rows)
            spread[part] = around / (4 * np.pi) * _slope(ends, middles[part], around)
        squared, _, _ = igl.point_mesh_squared_distance(middles, points, fans)
        spread[squared <= around**2] = np.inf
    return np.ceil(INSIDE + value - spread - SLACK), np.ceil(INSIDE + value + spread - SLACK)


def _slope(ends: np.ndarray, middles: np.ndarray, around: float) -> np.ndarray:
    """float64[K]: a bound on the slope of the solid angle of a surface with the boundary `ends` within `around` of each point.

    The slope is the integral of dl x r / r^3 along the boundary, so at most that of dl / r^2, which for a segment at
    the height p over its line is the angle it is seen under divided by p.
    """
    along = ends[:, 1] - ends[:, 0]
    lengths = np.linalg.norm(along, axis=1)
    along = along / lengths[:, None]
    base = np.einsum("ij,ij->i", ends[:, 0], along)
    begin = base - middles @ along.T  # where the segment begins and ends, from the foot of each point
    finish = begin + lengths
    squared = (middles**2).sum(axis=1)[:, None] - 2 * middles @ ends[:, 0].T + (ends[:, 0] ** 2).sum(axis=1)
    height = np.sqrt(np.maximum(squared - begin**2, 1e-18))
    past = np.maximum(np.maximum(begin, -finish), 0.0)  # how far the foot lies beside the segment
    nearest = np.hypot(height, past)
    seen = (np.arctan2(finish, height) - np.arctan2(begin, height)) / height
    with np.errstate(divide="ignore", invalid="ignore"):
        nearer = np.where(nearest > around, nearest / (nearest - around), np.inf)
    return (seen * nearer**2).sum(axis=1)


class LooseField:
    """The winding number by all faces of a surface, and the range of its values so far (that of a closed mesh at least)."""

    def __init__(self, surface: Surface) -> None:
        self.surface, self.least, self.most = surface, 0.0, 1.0
        self._tree = igl.FastWindingNumberBVH()
        self._tree.init(surface.points, surface.oriented, 2)

    def bounds(self, middles: np.ndarray, around: float) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of whether a centre is inside (1) or not (0)."""
        accuracies = FOR_BLOCKS if around else tuple(APPROXIMATE)
        value, error = self._approximate(middles, accuracies[0])
        self.least, self.most = min(self.least, float(value.min()) - error[0]), max(self.most, float(value.max()) + error[0])
        moves = self._drift(middles, around) if around else np.zeros(len(middles))
        for accuracy in accuracies[1:]:
            asked = _in_doubt(value, error, moves)
            if len(asked):
                value[asked], error[asked] = self._approximate(middles[asked], accuracy)
        if not around:
            asked = _in_doubt(value, error, moves)
            if len(asked):
                value[asked] = igl.winding_number(self.surface.points, self.surface.oriented, middles[asked])
            error[:] = 0.0  # no more than what has been decided already
        least, most = value - moves - error, value + moves + error
        return (least >= INSIDE - SLACK).astype(np.int16), (most >= INSIDE - SLACK).astype(np.int16)

    def _approximate(self, places: np.ndarray, accuracy: float) -> tuple[np.ndarray, np.ndarray]:
        """The field, both float64[K], and how far off it may be."""
        return self._tree.winding_number(places, accuracy), np.full(len(places), APPROXIMATE[accuracy])

    def _drift(self, middles: np.ndarray, around: float) -> np.ndarray:
        """float64[K]: by how much the field may change within the radius of each middle."""
        squared, _, _ = igl.point_mesh_squared_distance(middles, self.surface.points, self.surface.oriented)
        return (self.most - self.least + UNSEEN) * drift(around / np.sqrt(np.maximum(squared, around**2)))


def _in_doubt(value: np.ndarray, error: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """Numbers of those that are not decided yet and would be if the field were known better."""
    gap = np.abs(value - INSIDE)
    return np.flatnonzero((gap <= moves + error) & (gap + error > moves))


def drift(share: np.ndarray) -> np.ndarray:
    """Between the middle of a ball and a point at this share of its radius (in [0, 1]): the largest difference of a
    function that is harmonic in it and whose values differ by at most 1; 0 at the middle, 1 at the rim.

    Its values are means over the rim, weighted by Poisson's kernel P and at the middle by 1. So the difference is at most
    the mean of P - 1 over the cap in which P = (1 - r^2) / |y - z|^3 is above 1, and some function has it.
    """
    r = np.clip(share, 1e-3, 1 - 1e-9)  # it only grows, and very near to 0 digits would be lost
    inner = 1 - r**2
    cap = (1 + r**2 - inner ** (2 / 3)) / (2 * r)  # the cosine at which P is 1
    found = inner / (2 * r) * (1 / (1 - r) - inner ** (-1 / 3)) - (1 - cap) / 2
    return np.where(share < 1, found, 1.0)
