"""Triangles to be drawn: triangles with normals, texture coordinates, materials and the item each belongs to. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Triangles:
    """Corners turn anticlockwise seen from outside.

    ``corners`` and ``normals``: float64[T, 3, 3], in the world, normals of length 1; ``uv``: float64[T, 3, 2], texture
    coordinates, 1 is once over the texture, rows run along v; ``materials``: int64[T], rows of the textures; ``items``:
    int64[T], what the triangle is part of, 0 for the surroundings.
    """

    corners: NDArray[np.float64]
    normals: NDArray[np.float64]
    uv: NDArray[np.float64]
    materials: NDArray[np.int64]
    items: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.corners)

    def placed(self, turn: float, scale: float, at: Sequence[float] | NDArray[np.float64], item: int, first_material: int = 0) -> Triangles:
        """Turned about z (radians), scaled, moved to `at`, as item number `item`, its materials counted from `first_material`."""
        c, s = np.cos(turn), np.sin(turn)
        about = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        return Triangles(
            self.corners @ about * scale + np.asarray(at, dtype=np.float64),
            self.normals @ about,
            self.uv,
            self.materials + first_material,
            np.full(len(self), item),
        )


def joined(parts: Sequence[Triangles]) -> Triangles:
    """All of them in one."""
    return Triangles(*(np.concatenate([getattr(part, name) for part in parts]) for name in Triangles.__dataclass_fields__))


def flat_normals(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[T, 3, 3]: each triangle's own normal at its three corners; (0, 0, 0) for one without area."""
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(cross, axis=1, keepdims=True)
    normal = cross / np.where(length > 0, length, 1.0)
    return np.repeat(normal[:, None], 3, axis=1)
