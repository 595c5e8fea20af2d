"""Small rooms with views from different places, and what may go wrong with a view."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from submissions.formats.render.views import CleanViews, render

WIDTH, HEIGHT = 160, 128


def views(count: int, width: int = WIDTH, height: int = HEIGHT, seed: int = 3) -> list[np.ndarray]:
    """uint8[H, W, 3] of one made-up wall seen through windows a step apart: textured panels of several colours under soft light."""
    rng = np.random.default_rng(seed)
    tall, wide = height + 64, width + 48 * count
    y, x = np.mgrid[0:tall, 0:wide]
    wall = np.stack([120 + 30 * np.sin(x / 61 + n) + 20 * np.cos(y / 47) for n in range(3)], axis=-1)
    for _ in range(wide // 5):
        top, left = rng.integers(0, tall - 40), rng.integers(0, wide - 50)
        part = (slice(top, top + int(rng.integers(16, 40))), slice(left, left + int(rng.integers(16, 50))))
        stripes = np.sin(x[part] / rng.uniform(1, 6) + y[part] / rng.uniform(1, 6))
        wall[part] = rng.integers(30, 226, 3) + rng.uniform(0, 30) * stripes[..., None]
    wall = np.clip(wall + rng.normal(0, 2, wall.shape), 0, 255).astype(np.uint8)
    lefts, tops = 40 * np.arange(count) + rng.integers(0, 8, count), rng.integers(0, 64, count)
    return [wall[top : top + height, left : left + width] for top, left in zip(tops, lefts, strict=True)]


def clean(pictures: Sequence[np.ndarray]) -> CleanViews:
    return CleanViews.of(render(picture) for picture in pictures)


def empty(picture: np.ndarray) -> dict[str, np.ndarray]:
    """Pictures of that size in which there is nothing."""
    mean = np.broadcast_to(picture.mean(axis=(0, 1)).astype(np.uint8), picture.shape)
    return {"mean": mean, **{name: np.full_like(picture, level) for name, level in (("grey", 128), ("black", 0), ("white", 255))}}


def spoilt(picture: np.ndarray) -> np.ndarray:
    """The picture with a quarter of it smeared."""
    found = picture.copy()
    height, width = picture.shape[0] // 2, picture.shape[1] // 2
    found[:height, :width] = found[:height, :width].mean(axis=1, keepdims=True).astype(np.uint8)
    return found
