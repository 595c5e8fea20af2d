"""Pictures made up for tests, all different in kind."""

from __future__ import annotations

import numpy as np


def checked(grey: bool = False) -> np.ndarray:
    """uint8[96, 128, 3]: the slow ramps with a red rectangle for which saliency figures are on record."""
    y, x = np.mgrid[0:96, 0:128]
    image = np.stack([100 + y // 3, np.full_like(x, 80), 60 + x // 2], axis=-1).astype(np.uint8)
    image[30:60, 70:110] = (220, 30, 20)
    return np.repeat(image[..., :1], 3, axis=-1) if grey else image


def blobs(height: int, width: int, seed: int = 0, count: int = 12) -> np.ndarray:
    """uint8[height, width, 3]: coloured discs, some lit from the side, on a noisy ground."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    image = rng.uniform(60, 200, 3) + rng.normal(0, 6, (height, width, 3)) + (x / width * 40)[..., None]
    for _ in range(count):
        cy, cx, radius = rng.uniform(0, height), rng.uniform(0, width), rng.uniform(0.04, 0.2) * min(height, width)
        inside = (y - cy) ** 2 + (x - cx) ** 2 < radius**2
        image[inside] = rng.uniform(0, 255, 3) + ((x - cx) / radius * 30)[inside, None]
    return np.clip(image, 0, 255).astype(np.uint8)
