"""Pictures of triangles: shaded and textured, normals, and which item is seen where. PURE and deterministic.

Every pixel is the mean of `samples`² places in it, in linear light. Where they all see one triangle, it is shaded once, in
the pixel's middle: the smaller versions of the textures do the averaging there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.rendering.cameras import Camera
from evaluation.rendering.triangles import Atlas, Triangles
from evaluation.rendering.visibility import NOTHING, Seen, seen


@dataclass(frozen=True)
class Light:
    """A lamp at a place of the world. A surface that faces it at distance d gets `colour` (linear) / (1 + (d / reach)²)."""

    place: tuple[float, float, float]
    colour: tuple[float, float, float]
    reach: float = 2.0


@dataclass(frozen=True)
class Lighting:
    """Lamps, and light from above and from below (linear) that comes from everywhere; `headlight` shines from the camera."""

    lights: tuple[Light, ...] = ()
    above: tuple[float, float, float] = (0.45, 0.45, 0.45)
    below: tuple[float, float, float] = (0.25, 0.25, 0.25)
    headlight: float = 0.0


@dataclass(frozen=True, eq=False)
class Picture:
    """``colour``: uint8[H, W, 3] sRGB. ``normals``: float32[H, W, 3] in the camera's frame with x right, y up, z towards the
    viewer, (0, 0, 0) where nothing is seen. ``items``: int64[samples·H, samples·W], NOTHING (−1) where nothing is seen."""

    colour: NDArray[np.uint8]
    normals: NDArray[np.float32]
    items: NDArray[np.int64]


def picture(
    scene: Triangles,
    atlas: Atlas,
    camera: Camera,
    width: int,
    height: int,
    lighting: Lighting,
    background: Sequence[float] = (1.0, 1.0, 1.0),
    samples: int = 2,
    back_faces: bool = False,
) -> Picture:
    """One view; `background` is linear. With `back_faces` triangles are seen, and lit, from both sides."""
    found = seen(scene.corners, camera, width * samples, height * samples, back_faces)
    shader = _Shader(scene, atlas, camera, found, lighting, height)
    colour = np.tile(np.asarray(background, dtype=np.float32), (height * width, 1))
    normals = np.zeros((height * width, 3), dtype=np.float32)
    blocks = found.triangle.reshape(height, samples, width, samples).transpose(0, 2, 1, 3).reshape(height * width, -1)
    alike = np.logical_and.reduce([blocks[:, 0] == other for other in blocks.T])
    plain = np.flatnonzero(alike & (blocks[:, 0] != NOTHING))
    middle = (samples - 1) / 2
    colour[plain], normals[plain] = shader(blocks[plain, 0], plain % width * samples + middle, plain // width * samples + middle)
    mixed = np.flatnonzero(~alike)
    columns = np.repeat(mixed % width * samples, samples**2) + np.tile(np.tile(np.arange(samples), samples), len(mixed))
    rows = np.repeat(mixed // width * samples, samples**2) + np.tile(np.repeat(np.arange(samples), samples), len(mixed))
    owners = blocks[mixed].reshape(-1)
    hit = owners != NOTHING
    many, turned = np.tile(np.asarray(background, dtype=np.float32), (len(owners), 1)), np.zeros((len(owners), 3), dtype=np.float32)
    many[hit], turned[hit] = shader(owners[hit], columns[hit], rows[hit])
    colour[mixed] = many.reshape(-1, samples**2, 3).mean(axis=1)
    normals[mixed] = turned.reshape(-1, samples**2, 3).mean(axis=1)
    items = np.where(found.triangle == NOTHING, NOTHING, scene.items[found.triangle])
    return Picture(encoded(colour).reshape(height, width, 3), normals.reshape(height, width, 3), items)


def encoded(linear: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Linear light as 8-bit sRGB; the power in float64, whose last digit, in which libraries differ, is far from a pixel's."""
    clipped = np.clip(np.asarray(linear, dtype=np.float64), 0.0, 1.0)
    curve = np.where(clipped <= 0.0031308, 12.92 * clipped, 1.055 * clipped ** (1 / 2.4) - 0.055)
    return np.rint(255 * curve).astype(np.uint8)


def linear(srgb: NDArray[np.floating]) -> NDArray[np.float64]:
    """sRGB values in [0, 1] as linear light."""
    values = np.asarray(srgb, dtype=np.float64)
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def _total(values: NDArray[Any]) -> NDArray[Any]:
    """Sums of three each, values[N, 3], in their order: to the bit what `sum` says, which takes twenty times as long for so few."""
    return (values[:, 0] + values[:, 1]) + values[:, 2]


class _Shader:
    """Colours and normals of triangles at places of an image."""

    def __init__(self, scene: Triangles, atlas: Atlas, camera: Camera, found: Seen, lighting: Lighting, height: int) -> None:
        self._scene, self._atlas, self._camera, self._lighting = scene, atlas, camera, lighting
        self._planes = found.planes.astype(np.float32)
        self._step = 1 / (camera.focal * height)  # side of a pixel, at depth 1
        samples_high, samples_wide = found.triangle.shape
        self._focal, self._middle = camera.focal * samples_high, ((samples_wide - 1) / 2, (samples_high - 1) / 2)
        self._normals, self._uv = scene.normals.astype(np.float32), scene.uv.astype(np.float32)
        a, b, c = scene.corners.transpose(1, 0, 2)
        area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
        (du1, dv1), (du2, dv2) = (scene.uv[:, 1] - scene.uv[:, 0]).T, (scene.uv[:, 2] - scene.uv[:, 0]).T
        self._density = np.sqrt(np.abs(du1 * dv2 - du2 * dv1) / np.maximum(area, 1e-12)).astype(np.float32)  # of uv in the world

    def __call__(
        self, owner: NDArray[np.int64], column: NDArray[Any], row: NDArray[Any]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        column, row = column.astype(np.float32), row.astype(np.float32)
        planes = self._planes[owner]
        shares = planes[:, 0] * column[:, None] + planes[:, 1] * row[:, None] + planes[:, 2]
        depth = 1 / np.maximum(_total(shares), 1e-12)
        shares = np.clip(shares * depth[:, None], 0, 1)
        uv = np.einsum("nk,nkc->nc", shares, self._uv[owner])
        normal = np.einsum("nk,nkc->nc", shares, self._normals[owner])
        normal /= np.maximum(np.sqrt(_total(normal * normal)), 1e-12)[:, None]
        ray = np.stack([(column - self._middle[0]) / self._focal, (row - self._middle[1]) / self._focal, np.ones_like(row)], axis=1)
        # Turned in float64 and rounded once: in float32 a processor's kernel shows in the last digit, and that in a pixel.
        ray = (ray.astype(np.float64) @ self._camera.turn).astype(np.float32)
        facing = _total(ray * normal) > 0
        normal = np.where(facing[:, None], -normal, normal)
        base = self._atlas.colours(self._scene.materials[owner], uv, self._density[owner] * depth * np.float32(self._step))
        lit = base * self._light(self._camera.eye.astype(np.float32) + ray * depth[:, None], normal, ray)
        seen = (normal.astype(np.float64) @ self._camera.turn.T).astype(np.float32)
        return lit, seen * np.array([1, -1, -1], dtype=np.float32)

    def _light(self, place: NDArray[np.float32], normal: NDArray[np.float32], ray: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return what falls on surfaces, float32[N, 3]."""
        lighting = self._lighting
        up = (0.5 + 0.5 * normal[:, 2:]).astype(np.float32)
        light = up * np.array(lighting.above, np.float32) + (1 - up) * np.array(lighting.below, np.float32)
        if lighting.headlight:
            against = -_total(ray * normal) / np.sqrt(_total(ray * ray))
            light = light + np.float32(lighting.headlight) * np.maximum(against, 0)[:, None]
        for lamp in lighting.lights:
            towards = np.array(lamp.place, np.float32) - place
            squared = _total(towards * towards)
            against = np.maximum(_total(towards * normal), 0) / np.sqrt(squared + 1e-9)
            light = light + (against / (1 + squared / np.float32(lamp.reach**2)))[:, None] * np.array(lamp.colour, np.float32)
        return light
