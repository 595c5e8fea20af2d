"""Solid tubes around edges, and the volume two sets of them share (manifold3d, float64)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from manifold3d import Manifold, Mesh64, OpType


@dataclass(frozen=True)
class Overlap:
    """Volumes of two unions of solids and of what they share. `pairwise`: see `overlap`."""

    first: float
    second: float
    shared: float
    pairwise: bool = False

    @property
    def iou(self) -> float:
        """Shared volume over joint volume, 0 if there is none."""
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
    faces = _prism_faces(corners.shape[1] // 2)
    return [Manifold(Mesh64(vert_properties=points, tri_verts=faces)) for points in corners]


def overlap(first: Sequence[Manifold], second: Sequence[Manifold]) -> Overlap:
    """What the union of `first` and the union of `second` measure and share.

    Where a union does not come out as a solid, the shared volume is that of the union of all
    intersections of one solid of each side.
    """
    one = Manifold.batch_boolean(first, OpType.Add)
    other = Manifold.batch_boolean(second, OpType.Add)
    volumes = one.volume(), other.volume()
    if min(volumes) > 0:
        return Overlap(*volumes, (one ^ other).volume())
    pieces = [a ^ b for a in first for b in second if _boxes_meet(a.bounding_box(), b.bounding_box())]
    return Overlap(*volumes, Manifold.batch_boolean(pieces, OpType.Add).volume(), pairwise=True)


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


def _boxes_meet(a: Sequence[float], b: Sequence[float]) -> bool:
    return all(a[i] <= b[i + 3] and b[i] <= a[i + 3] for i in range(3))
