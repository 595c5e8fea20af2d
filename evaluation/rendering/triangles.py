"""Triangles to be drawn, each with normals, texture coordinates, material and the item it belongs to; and the textures. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Triangles:
    """Corners turn anticlockwise seen from outside.

    ``corners`` and ``normals``: float64[T, 3, 3], in the world, normals of length 1. ``uv``: float64[T, 3, 2], texture
    coordinates; 1 is once over the texture, rows run along v. ``materials``: int64[T], rows of the textures. ``items``:
    int64[T], the item that the triangle is part of, 0 for the surroundings.
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


class Atlas:
    """Textures float[S, S, 3] in linear light, S a power of two; they repeat in both directions."""

    def __init__(self, textures: Sequence[NDArray[np.floating]] | NDArray[np.floating]) -> None:
        levels = [np.asarray(textures, dtype=np.float32)]
        self.size = levels[0].shape[1]
        if levels[0].shape[1:] != (self.size, self.size, 3) or self.size & (self.size - 1):
            raise ValueError("textures must be square with a power of two as their side, and of three channels")
        while levels[-1].shape[1] > 1:
            n, side = len(levels[-1]), levels[-1].shape[1] // 2
            levels.append(levels[-1].reshape(n, side, 2, side, 2, 3).mean(axis=(2, 4)))
        self._sides = np.array([level.shape[1] for level in levels])
        self._starts = np.cumsum([0] + [level.size // 3 for level in levels[:-1]])
        self._texels = np.concatenate([level.reshape(-1, 3) for level in levels])

    def colours(self, materials: NDArray[np.int64], uv: NDArray[np.float32], pixel: NDArray[np.float32]) -> NDArray[np.float32]:
        """float32[N, 3]: bilinear samples, from the version where `pixel`, the side of a pixel in uv units, is about a texel."""
        level = np.log2(np.maximum(pixel * self.size, 1e-6)).round().clip(0, len(self._sides) - 1).astype(np.int64)
        side = self._sides[level]
        place = uv * side[:, None].astype(np.float32) - np.float32(0.5)
        whole = np.floor(place)
        right, down = (place - whole).T[..., None]
        u0, v0 = whole.astype(np.int64).T
        u0, v0 = u0 & (side - 1), v0 & (side - 1)
        u1, v1 = (u0 + 1) & (side - 1), (v0 + 1) & (side - 1)
        start = self._starts[level] + materials * side * side
        upper, lower = start + v0 * side, start + v1 * side
        texels = self._texels
        above = texels[upper + u0] * (1 - right) + texels[upper + u1] * right
        below = texels[lower + u0] * (1 - right) + texels[lower + u1] * right
        return above * (1 - down) + below * down
