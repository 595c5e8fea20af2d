"""Damage that renders suffer, done to pictures: noise, blur, compression, floaters, a shift of colour or of place. PURE.

All take and give uint8[H, W, 3]. Random numbers come from the caller, so that more of the same damage can only add to it.
"""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter

Picture = NDArray[np.uint8]
CAST = (1.0, 0.2, -0.8)  # of a shift of colour: towards orange


def noisy(image: Picture, noise: NDArray[np.float64], levels: float) -> Picture:
    """Picture with `noise` float64[H, W, 3] of standard deviation 1, times so many grey levels, added."""
    return _rounded(image + levels * noise)


def blurred(image: Picture, sigma: float) -> Picture:
    """Picture under a Gaussian of `sigma` px; it is mirrored beyond the edge."""
    return _rounded(gaussian_filter(image.astype(np.float64), (sigma, sigma, 0), mode="reflect"))


def compressed(image: Picture, quality: int) -> Picture:
    """Picture after a JPEG of that quality (1 to 95), with colours at half the resolution."""
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "JPEG", quality=quality, subsampling=2)
    with Image.open(buffer) as found:
        return np.array(found.convert("RGB"))


def with_floaters(image: Picture, rng: np.random.Generator, count: int) -> Picture:
    """Behind `count` soft blobs, as badly placed splats look; of one generator's state, more begin with the same ones."""
    height, width = image.shape[:2]
    y, x = np.mgrid[0:height, 0:width]
    found = image.astype(np.float64)
    for _ in range(count):
        middle, spread = rng.uniform(0, 1, 2) * (height, width), rng.uniform(0.03, 0.12, 2) * max(height, width)
        turn, colour, most = rng.uniform(0, np.pi), rng.uniform(40, 230, 3), rng.uniform(0.5, 0.95)
        along, across = _turned(y - middle[0], x - middle[1], turn)
        opacity = most * np.exp(-((along / spread[0]) ** 2 + (across / spread[1]) ** 2) / 2)[..., None]
        found = (1 - opacity) * found + opacity * colour
    return _rounded(found)


def tinted(image: Picture, levels: float) -> Picture:
    """Picture with its colours shifted by so many grey levels, towards orange."""
    return _rounded(image + levels * np.array(CAST))


def moved(image: Picture, right: int, down: int) -> Picture:
    """Picture moved by so many whole pixels; the edge is continued into the gap."""
    height, width = image.shape[:2]
    rows, columns = np.clip(np.arange(height) - down, 0, height - 1), np.clip(np.arange(width) - right, 0, width - 1)
    return image[rows[:, None], columns]


def _turned(y: NDArray[np.float64], x: NDArray[np.float64], angle: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    c, s = np.cos(angle), np.sin(angle)
    return c * y - s * x, s * y + c * x


def _rounded(values: NDArray[np.float64]) -> Picture:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)
