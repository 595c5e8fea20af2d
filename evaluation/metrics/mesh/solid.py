"""A closed surface as a solid: which way its faces look, what lies inside along rays, and its exact volume by booleans.

A place is inside where the winding number is at least 1. So a shell within another adds nothing, and a shell turned the other way is
a hollow. Rays cross a closed surface as often inwards as outwards. The place where an edge crosses the line of a ray is computed from
its lower end for both of its faces, so no ray slips between two faces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from evaluation.metrics.mesh.occupancy import cuts, spread
from evaluation.metrics.mesh.surface import Surface, cross

if TYPE_CHECKING:
    from manifold3d import Manifold

OUTSIDE = 0.5  # the winding number of the others below which a shell that is turned inwards is no hollow in them
# Above so many faces in both meshes, or pairs of faces that may meet, a boolean takes longer than the metric may.
MOST_FACES, MOST_MEETINGS, ASKED = 200_000, 5_000_000, 64
MOST_CELLS = 2_000_000  # that the faces of all sides may lie over; where they lie over more, there are fewer rays
MOST_SHELLS = 64  # that are united to one solid where they overlap
FEWEST = 8  # cells a side
MOST_INWARD = 256  # shells turned inwards that are asked for what they lie in; where there are more, all are hollows
AGREED = 1e-6  # of the volume: allowed difference between the rays and the solid of a surface


@dataclass(frozen=True, eq=False)
class Shells:
    """A closed surface: `points` float64[P, 3], `faces` int64[M, 3] turned outwards (hollows inwards), `shell` int64[M], the
    connected part of each face, and `volumes` float64, the signed volume of each part."""

    points: np.ndarray
    faces: np.ndarray
    shell: np.ndarray
    volumes: np.ndarray


def shells(surface: Surface) -> Shells | None:
    """The surface with its faces turned the right way; None where it has a boundary or only one side.

    Faces that do not agree with their neighbours are turned as these are, where each edge has two faces. A mesh that is
    turned inside out as a whole is turned over, and so is a part of it that is turned inwards and lies in no other.
    """
    import igl

    faces = surface.oriented
    edge, counts, agreed = _edges(faces)
    if not len(faces) or (counts % 2).any():
        return None
    if not agreed:
        faces = igl.bfs_orient(np.ascontiguousarray(faces))[0].astype(np.int64)
        if (counts != 2).any() or not _edges(faces)[2]:
            return None
    face = np.repeat(np.arange(len(faces)), 3)
    links = scipy.sparse.coo_array((np.ones(len(edge), dtype=bool), (face, edge + len(faces))), shape=(len(faces) + len(counts),) * 2)
    shell = scipy.sparse.csgraph.connected_components(links, directed=False)[1][: len(faces)].astype(np.int64)
    signed = np.einsum("ij,ij->i", surface.points[faces[:, 0]], cross(surface.points, faces)) / 6
    volumes = np.bincount(shell, signed)
    # Where faces had to be turned to agree, which way a part looks is an accident.
    turned = np.full(len(volumes), volumes.sum() < 0) if agreed else volumes < 0
    faces, volumes = _turned(faces, turned[shell]), np.where(turned, -volumes, volumes)
    inward = volumes < 0
    if 0 < inward.sum() <= MOST_INWARD:
        first = np.unique(shell, return_index=True)[1][inward]
        outward = ~inward[shell]
        lost = np.ones(len(first), dtype=bool)
        if outward.any():
            tree = igl.FastWindingNumberBVH()
            tree.init(surface.points, np.ascontiguousarray(faces[outward]), 2)
            lost = tree.winding_number(surface.points[faces[first]].mean(axis=1), 2.0) < OUTSIDE
        over = np.zeros(len(volumes), dtype=bool)
        over[np.flatnonzero(inward)[lost]] = True
        faces, volumes = _turned(faces, over[shell]), np.where(over, -volumes, volumes)
    return Shells(surface.points, faces, shell, volumes)


def _edges(faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """(number of the edge at each side of each face int64[3 M], sides of each edge, whether each is passed as often either way)."""
    sides = faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    ascending = np.sort(sides, axis=1)
    _, edge, counts = np.unique(ascending[:, 0] << 32 | ascending[:, 1], return_inverse=True, return_counts=True)
    return edge, counts, not np.bincount(edge, np.where(sides[:, 0] < sides[:, 1], 1, -1)).any()


def _turned(faces: np.ndarray, which: np.ndarray) -> np.ndarray:
    return np.where(which[:, None], faces[:, [0, 2, 1]], faces)


@dataclass(frozen=True, eq=False)
class Rays:
    """Two rays along one axis at random places in each cell of the base of a box.

    `low` and `high` float64[3]: the box, its axes in the order `axes`; rays run along the last. `base` float64[2, 2, n, n]:
    for either ray of each cell its place along the first and the second axis, by the cell's numbers along them.
    """

    axes: tuple[int, int, int]
    low: np.ndarray
    high: np.ndarray
    base: np.ndarray

    @classmethod
    def through(cls, sides: Sequence[Shells], n: int, rng: np.random.Generator) -> Rays:
        """n times n cells, or as many as MOST_CELLS allows, across the axis that the faces lie across most, where rays see the most."""
        areas = sum(np.abs(cross(side.points, side.faces)).sum(axis=0) for side in sides)
        along = int(np.argmax(areas))
        axes = (*(axis for axis in range(3) if axis != along), along)
        ends = np.concatenate([[side.points.min(axis=0), side.points.max(axis=0)] for side in sides])[:, axes]
        low, high = ends.min(axis=0), ends.max(axis=0)
        base = np.maximum((high - low)[:2], np.finfo(float).tiny)
        wide, large = len(np.concatenate([side.faces for side in sides])), areas[along] / 2 / base.prod()
        across = sum(float((np.ptp(side.points[side.faces][:, :, axes[:2]], axis=1) / base).sum()) for side in sides)
        while n > FEWEST and wide + across * n + large * n**2 > MOST_CELLS:
            n = max(FEWEST, n * 3 // 4)
        first, second = (low[axis] + (np.arange(n) + rng.random((2, n, n))) / n * (high - low)[axis] for axis in range(2))
        return cls(axes, low, high, np.stack([first.transpose(0, 2, 1), second], axis=1))  # type: ignore[arg-type]

    @property
    def area(self) -> float:
        """That of one cell."""
        n = self.base.shape[-1]
        return float(np.prod((self.high - self.low)[:2])) / n**2


def inside_lengths(sides: Sequence[Shells], rays: Rays, tolerance: float) -> tuple[np.ndarray, list[float]]:
    """(lengths float64[K, 2, n * n], doubled). `lengths`: how much of both rays of each cell is inside each side and, last, inside all.
    `doubled`: for each side the volume where its winding number is neither 0 nor 1. Lengths up to `tolerance` count nothing."""
    n = rays.base.shape[-1]
    lengths, doubled = np.zeros((len(sides) + 1, 2, n * n)), np.zeros(len(sides))
    for which in range(2):
        found = [_crossings(side, rays, which) for side in sides]
        ray, height, turn = (np.concatenate(part) for part in zip(*found, strict=True))
        side_of = np.repeat(np.arange(len(sides)), [len(part[0]) for part in found])
        order = np.lexsort((height, ray))
        ray, height, turn, side_of = ray[order], height[order], turn[order], side_of[order]
        length = np.diff(height, append=0.0)
        length[(np.diff(ray, append=-1) != 0) | (length <= tolerance)] = 0.0
        everywhere = np.ones(len(ray), dtype=bool)
        for number in range(len(sides)):
            winding = np.cumsum(np.where(side_of == number, turn, 0))  # 0 again where a ray ends
            inside = winding >= 1
            lengths[number, which] = np.bincount(ray, length * inside, minlength=n * n)
            doubled[number] += length[(winding != 0) & (winding != 1)].sum() * rays.area / 2
            everywhere &= inside
        lengths[-1, which] = np.bincount(ray, length * everywhere, minlength=n * n)
    return lengths, doubled.tolist()


def _crossings(side: Shells, rays: Rays, which: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(ray, height, turn) of every crossing of a face and a ray; turn is 1 where the ray enters there, -1 where it leaves."""
    points, n = side.points[:, rays.axes], rays.base.shape[-1]
    odd = rays.axes == (0, 2, 1)  # a mirrored order of axes turns all faces over
    x_of, y_of = rays.base[which]
    size = np.maximum((rays.high - rays.low)[:2] / n, np.finfo(float).tiny)
    corners = points[side.faces]
    (leftmost, lowest, _), (rightmost, highest, _) = corners.min(axis=1).T, corners.max(axis=1).T
    first_row, last_row = (np.clip(np.floor((end - rays.low[1]) / size[1]).astype(np.int64), 0, n - 1) for end in (lowest, highest))
    found = []
    for face, row in spread(first_row, last_row + 1):
        left, right = _reach(corners[face], rays.low[1] + row * size[1], rays.low[1] + (row + 1) * size[1])
        columns = (np.clip(np.floor((end - rays.low[0]) / size[0]), 0, n - 1).astype(np.int64) for end in (left, right))
        first, last = columns
        for span, column in spread(first, last + 1):
            which_face = face[span]
            x, y = x_of[column, row[span]], y_of[column, row[span]]
            near = (lowest[which_face] <= y) & (y < highest[which_face]) & (leftmost[which_face] <= x) & (x < rightmost[which_face])
            span, column, x, y = span[near], column[near], x[near], y[near]
            up, down, met = cuts(points, side.faces[which_face[near]], y)
            rightwards = up[:, 0] < down[:, 0]
            start, end = np.where(rightwards[:, None], (up, down), (down, up))
            hit = np.flatnonzero(met & (start[:, 0] <= x) & (x < end[:, 0]))
            share = (x[hit] - start[hit, 0]) / (end[hit, 0] - start[hit, 0])
            height = start[hit, 1] + share * (end[hit, 1] - start[hit, 1])
            found.append((column[hit] * n + row[span[hit]], height, np.where(rightwards[hit] != odd, 1, -1)))
    if not found:
        return np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64)
    ray, height, turn = (np.concatenate(part) for part in zip(*found, strict=True))
    return ray, height, turn


def _reach(corners: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest x of each face (float64[M, 3, 3]) between the lines at y = low and high, which it reaches into."""
    left, right = np.full(len(low), np.inf), np.full(len(low), -np.inf)
    for side in range(3):
        a, b = corners[:, side], corners[:, (side + 1) % 3]
        rise = b[:, 1] - a[:, 1]
        flat = rise == 0
        for line in (low, high):
            share = np.clip((line - a[:, 1]) / np.where(flat, 1.0, rise), 0.0, 1.0)
            x = np.where(flat, a[:, 0], a[:, 0] + share * (b[:, 0] - a[:, 0]))
            left, right = np.minimum(left, x), np.maximum(right, x)
    return left, right


def exact(side: Shells, doubled: float, rays: Rays, tolerance: float) -> Manifold | None:
    """The solid that the shells enclose, for booleans; None if they are no manifold, or overlap so that they enclose no solid."""
    if not doubled:
        return _manifold(side.points, side.faces)
    if not 1 < len(side.volumes) <= MOST_SHELLS or meetings(side, side) > MOST_MEETINGS:
        return None  # one shell that cuts itself
    import manifold3d

    parts = [_manifold(side.points, side.faces[side.shell == number], inwards=volume < 0) for number, volume in enumerate(side.volumes)]
    if any(part is None for part in parts):
        return None
    full = [part for part, volume in zip(parts, side.volumes, strict=True) if volume >= 0]
    hollow = [part for part, volume in zip(parts, side.volumes, strict=True) if volume < 0]
    united = manifold3d.Manifold.batch_boolean(full, manifold3d.OpType.Add)
    if hollow:
        united -= manifold3d.Manifold.batch_boolean(hollow, manifold3d.OpType.Add)
    # Whether it is what the shells enclose is asked of the rays: shells that cut themselves, or a hollow in two of them, are not.
    found = united.to_mesh64()
    faces = np.asarray(found.tri_verts, dtype=np.int64)
    stands = Shells(np.asarray(found.vert_properties)[:, :3], faces, np.zeros(len(faces), np.int64), np.array([united.volume()]))
    (lengths, also_doubled) = inside_lengths([side, stands], rays, tolerance)
    one, other, both = lengths.sum(axis=(1, 2))
    return united if max(one, other) - both <= AGREED * max(one, other) and not also_doubled[1] else None


def _manifold(points: np.ndarray, faces: np.ndarray, inwards: bool = False) -> Manifold | None:
    import manifold3d

    used, renumbered = np.unique(faces[:, ::-1] if inwards else faces, return_inverse=True)
    mesh = manifold3d.Mesh64(vert_properties=points[used], tri_verts=renumbered.reshape(-1, 3).astype(np.uint64))
    found = manifold3d.Manifold(mesh)
    return found if found.status() == manifold3d.Error.NoError else None


def meetings(one: Shells, other: Shells) -> float:
    """About how many pairs of faces of the two have boxes that meet."""
    boxes = [(corners.min(axis=1), corners.max(axis=1)) for corners in (side.points[side.faces] for side in (one, other))]
    (low, high), (others_low, others_high) = boxes
    asked = np.unique(np.linspace(0, len(low) - 1, ASKED).astype(np.int64))
    counts = [((others_low <= high[face]) & (others_high >= low[face])).all(axis=1).sum() for face in asked]
    return float(np.mean(counts)) * len(low)
