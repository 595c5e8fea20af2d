"""Solid tubes around edges, and the volume two sets of them share (manifold3d, float64)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from evaluation.metrics.spec import Effort

if TYPE_CHECKING:
    from manifold3d import Manifold

EXACT_SIDES = 64
EFFORT = Effort(seconds=0.6, size=30, power=2.0, by=1)  # of exact volumes; twice the edges take more than twice as long


@dataclass(frozen=True)
class Overlap:
    """Volumes of two unions of solids and of what they share. `pairwise`: see `overlap`; `equal`: see `with_itself`."""

    first: float
    second: float
    shared: float
    pairwise: bool = False
    equal: bool = False

    @property
    def iou(self) -> float:
        """Shared volume over joint volume, 0 if there is none."""
        if self.equal:
            return 1.0
        joint = self.first + self.second - self.shared
        return self.shared / joint if joint > 0 else 0.0


def prisms(ends: np.ndarray, across: np.ndarray, radius: float, sections: int) -> np.ndarray:
    """float64[S, 2 * sections, 3]: corners of a prism around each segment of ends[S, 2, 3].

    Its two faces are centred on the ends; corner k lies at angle 2 pi k / sections from across[:, 0]
    towards across[:, 1] (float64[S, 2, 3], the directions of the face's own axes).
    """
    angle = 2 * np.pi * np.arange(sections) / sections
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1) * radius
    offsets = ring @ across
    return np.concatenate([ends[:, :1] + offsets, ends[:, 1:] + offsets], axis=1)


def solids(corners: np.ndarray) -> list[Manifold]:
    """A solid for each prism of `prisms`."""
    from manifold3d import Manifold, Mesh64

    faces = _prism_faces(corners.shape[1] // 2)
    return [Manifold(Mesh64(vert_properties=points, tri_verts=faces)) for points in corners]


def distinct(ends: np.ndarray) -> np.ndarray:
    """The segments[S, 2, 3] with each given once, in the given order, whichever way round it was repeated.

    A repeated segment adds nothing to a union, but turned round its tube has the same faces only up to
    rounding, and there the boolean engine was seen to lose a thirtieth of the volume.
    """
    return ends[np.sort(np.unique(_from_the_lesser_end(ends), axis=0, return_index=True)[1])]


def same(first: np.ndarray, second: np.ndarray) -> bool:
    """True if both are the same set of segments[S, 2, 3], in any order, direction and repetition."""
    one, other = (np.unique(_from_the_lesser_end(ends), axis=0) for ends in (first, second))
    return np.array_equal(one, other)


def polyhedra(ends: np.ndarray, radius: float, primitive: str) -> list[Manifold]:
    """64-sided tubes around segments[S, 2, 3] with the volume of the true ones; round ends as balls of 64 segments."""
    from manifold3d import Manifold

    ends = distinct(ends)
    along = ends[:, 1] - ends[:, 0]
    axes = orthonormal(along / np.linalg.norm(along, axis=1, keepdims=True))
    step = 2 * np.pi / EXACT_SIDES
    tubes = solids(prisms(ends, axes, radius * np.sqrt(step / np.sin(step)), EXACT_SIDES))
    if primitive == "cylinder":
        return tubes
    unit = Manifold.sphere(1.0, EXACT_SIDES)
    size = radius * float(np.cbrt(4 / 3 * np.pi / unit.volume()))
    ball = unit.scale((size, size, size))
    places = np.unique(ends.reshape(-1, 3), axis=0)
    return tubes + [ball.translate(tuple(place)) for place in places.tolist()]


def union(parts: Sequence[Manifold]) -> Manifold:
    """The union of solids."""
    from manifold3d import Manifold, OpType

    return Manifold.batch_boolean(parts, OpType.Add)


def union_mesh(parts: Sequence[Manifold]) -> tuple[np.ndarray, np.ndarray]:
    """The union of solids as arrays that can be kept: vertices float64[V, 3] and faces uint64[F, 3]."""
    mesh = union(parts).to_mesh64()
    return np.array(mesh.vert_properties), np.array(mesh.tri_verts)


def from_mesh(vertices: np.ndarray, faces: np.ndarray) -> Manifold:
    """The solid of a `union_mesh`."""
    from manifold3d import Manifold, Mesh64

    return Manifold(Mesh64(vert_properties=vertices.copy(), tri_verts=faces.copy()))  # it refuses arrays that are read only


def overlap(first: Sequence[Manifold], second: Sequence[Manifold], second_union: Manifold | None = None) -> Overlap:
    """The volumes of the union of `first` and the one of `second` (made unless it is given), and the one they share.

    If a union does not come out as a solid, the shared volume is of the union of all intersections of one solid of each side.
    """
    one, other = union(first), second_union or union(second)
    volumes = one.volume(), other.volume()
    if min(volumes) > 0:
        return Overlap(*volumes, (one ^ other).volume())
    pieces = []
    for a, b in product(first, second):
        box, of_b = a.bounding_box(), b.bounding_box()
        if all(box[i] <= of_b[i + 3] and of_b[i] <= box[i + 3] for i in range(3)):
            pieces.append(a ^ b)
    return Overlap(*volumes, union(pieces).volume(), pairwise=True)


def with_itself(solid: Manifold) -> Overlap:
    """The overlap of equal solids, which is the whole solid; the geometry engine's own result is wrong in the last digits."""
    volume = solid.volume()
    return Overlap(volume, volume, volume, equal=True)


def orthonormal(directions: np.ndarray) -> np.ndarray:
    """float64[S, 2, 3]: two unit vectors across each unit direction, so that the three are right-handed."""
    axis = np.eye(3)[np.abs(directions).argmin(axis=1)]
    first = np.cross(axis, directions)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([first, np.cross(directions, first)], axis=1)


def _prism_faces(sections: int) -> np.ndarray:
    """uint64[4 * sections - 4, 3], seen from outside counter-clockwise."""
    here = np.arange(sections)
    after = (here + 1) % sections
    fan = np.arange(1, sections - 1)
    apex = np.zeros_like(fan)
    faces = [
        np.stack([here, after, after + sections], axis=1),
        np.stack([here, after + sections, here + sections], axis=1),
        np.stack([apex, fan + 1, fan], axis=1),
        np.stack([apex, fan, fan + 1], axis=1) + sections,
    ]
    return np.concatenate(faces).astype(np.uint64)


def _from_the_lesser_end(ends: np.ndarray) -> np.ndarray:
    """float64[S, 6]: the segments[S, 2, 3], each from its lexicographically smaller end."""
    swapped = [tuple(one) > tuple(other) for one, other in ends.tolist()]
    return np.where(np.array(swapped, dtype=bool)[:, None, None], ends[:, ::-1], ends).reshape(-1, 6)
