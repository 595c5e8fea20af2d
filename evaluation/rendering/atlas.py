"""Textures of one size with their smaller versions, looked up by material, place and size of a pixel. PURE."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


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
