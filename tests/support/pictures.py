"""Renders and views for tests of what is shown of them: small pictures in which one can tell where one is."""

from __future__ import annotations

import numpy as np

from submissions.formats.render.views import CleanViews, Render, Roi, View, encoded, render

WIDTH, HEIGHT = 96, 64


def picture(seed: int, noise: float = 0.0) -> np.ndarray:
    """uint8[64, 96, 3]: slopes of colour with a square that is elsewhere for each seed, and noise."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    found = np.stack([2.6 * x, 3.9 * y, 1.6 * (x + y)], axis=-1)
    left = 8 + 11 * seed % 60
    found[20:44, left : left + 24] = (240, 230, 40)
    found += np.random.default_rng(seed).normal(scale=255 * noise, size=found.shape)
    return np.clip(found, 0, 255).astype(np.uint8)


def mask() -> bytes:
    """The left half is inside."""
    return encoded(np.where(np.arange(WIDTH) < WIDTH // 2, 255, 0).astype(np.uint8)[None].repeat(HEIGHT, axis=0))


def views(n: int = 3, scene: str = "garden", clean: bool = True, masked: bool = False) -> dict[str, View]:
    """`n` views of one scene with reference images, a region marked in each, and two clean views."""
    both = CleanViews.of(render(picture(seed)) for seed in (70, 71)) if clean else None
    rois = (Roi(8.0, 20.0, 32.0, 44.0, "square"),)
    return {f"{scene}/view_{k}": View(render(picture(k)), WIDTH, HEIGHT, mask() if masked else None, rois, both) for k in range(1, n + 1)}


def renders(n: int = 3, scene: str = "garden", noise: float = 0.05) -> dict[str, Render]:
    """An entry's renders of the same views: the later, the noisier."""
    return {f"{scene}/view_{k}": render(picture(k, noise * k)) for k in range(1, n + 1)}
