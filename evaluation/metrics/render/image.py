"""Images as numbers, and in other sizes. Nothing changes the gamma.

`resized` resizes pictures for people and for comparing; it widens its filters when shrinking. `bilinear`, `bicubic` and the halving
of a Gaussian pyramid do not. They are OpenCV's INTER_LINEAR, INTER_CUBIC and pyrDown, with which networks and saliency maps of the
field were made. A pixel's centre lies at half a pixel there, and the image is repeated or mirrored beyond its edge.
`working_size` and `subset` say at which size, and at how many of a scene's clean views, metrics look.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from submissions.formats.render.resample import KINDS, resized, to_size

__all__ = ["KINDS", "resized", "to_float", "to_size"]


def to_float(pixels: np.ndarray) -> np.ndarray:
    """float64 of the same shape in [0, 1] from uint8 (divided by 255); floats are clipped to [0, 1].

    ValueError for another kind of number, or one that is not finite.
    """
    if pixels.dtype == np.uint8:
        return pixels / 255.0
    if not np.issubdtype(pixels.dtype, np.floating) or not np.isfinite(pixels).all():
        raise ValueError(f"an image must be uint8 or finite floats, got {pixels.dtype}")
    return np.clip(pixels.astype(np.float64), 0.0, 1.0)


CUBIC = -0.75  # the parameter a of the cubic kernel
TAPS = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16  # of the pyramid


def bilinear(pixels: np.ndarray, width: int, height: int) -> np.ndarray:
    """uint8 or float [H, W, C] at another size: each new pixel between its four neighbours. uint8 is rounded, halves up."""
    exact = np.float32 if pixels.dtype == np.uint8 else np.float64  # of 8 bits, single precision loses nothing that is kept
    rows, above, below = _between(pixels.shape[0], height)
    columns, left, right = _between(pixels.shape[1], width)
    tall = rows.astype(exact).reshape(-1, 1, 1)
    first = pixels[above].astype(exact)
    found = first + tall * (pixels[below].astype(exact) - first)
    wide = columns.astype(exact).reshape(1, -1, 1)
    first = found[:, left]
    found = first + wide * (found[:, right] - first)
    return (found + exact(0.5)).astype(np.uint8) if pixels.dtype == np.uint8 else found


def bicubic(values: np.ndarray, width: int, height: int) -> np.ndarray:
    """float64 [..., H, W] at another size, by the cubic kernel with a = -0.75; it may overshoot."""
    return cubic_weights(values.shape[-2], height) @ values @ cubic_weights(values.shape[-1], width).T


@lru_cache(maxsize=256)
def cubic_weights(n: int, m: int) -> np.ndarray:
    """float64[m, n]: what each of n samples is worth to each of m; rows add up to 1. Not to be written to."""
    place = (np.arange(m) + 0.5) * (n / m) - 0.5
    first = np.floor(place).astype(np.int64)
    weights = np.zeros((m, n))
    for tap in range(-1, 3):
        at = np.clip(first + tap, 0, n - 1)
        distance = np.abs(place - (first + tap))
        near = ((CUBIC + 2) * distance - (CUBIC + 3)) * distance**2 + 1
        far = ((CUBIC * distance - 5 * CUBIC) * distance + 8 * CUBIC) * distance - 4 * CUBIC
        np.add.at(weights, (np.arange(m), at), np.where(distance <= 1, near, np.where(distance < 2, far, 0.0)))
    weights.flags.writeable = False
    return weights


def halved(values: np.ndarray) -> np.ndarray:
    """float64 [..., ⌈H/2⌉, ⌈W/2⌉]: smoothed by 1 4 6 4 1 along both axes, then every other row and column.

    Beyond the edge the picture is mirrored about its outermost pixels.
    """
    height, width = ((n + 1) // 2 * 2 for n in values.shape[-2:])
    rows = np.take(values, mirrored(np.arange(-2, height + 1), values.shape[-2]), axis=-2)
    below = [rows[..., tap : tap + height - 1 : 2, :] for tap in range(5)]
    halfway = (TAPS[2] * below[2] + TAPS[1] * (below[1] + below[3])) + TAPS[0] * (below[0] + below[4])
    columns = np.take(halfway, mirrored(np.arange(-2, width + 1), values.shape[-1]), axis=-1)
    beside = [columns[..., tap : tap + width - 1 : 2] for tap in range(5)]
    return (TAPS[2] * beside[2] + TAPS[1] * (beside[1] + beside[3])) + TAPS[0] * (beside[0] + beside[4])


def mirrored(at: np.ndarray, n: int) -> np.ndarray:
    """Indices below n for any whole numbers: …2 1 | 0 1 2 … n-1 | n-2 …"""
    if n == 1:
        return np.zeros_like(at)
    folded = np.mod(at, 2 * n - 2)
    return np.minimum(folded, 2 * n - 2 - folded)


def _between(n: int, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(share of the second, index of the first, index of the second) of the two samples each of m lies between."""
    place = (np.arange(m) + 0.5) * (n / m) - 0.5
    first = np.floor(place).astype(np.int64)
    return place - first, np.clip(first, 0, n - 1), np.clip(first + 1, 0, n - 1)


LONGEST = 960  # px; a longer side is shrunk to it
MAX_VIEWS = 100


def working_size(width: int, height: int) -> tuple[int, int]:
    """(width, height) at which an image is looked at: its own, or shrunk so that the longer side is 960 px."""
    if max(width, height) <= LONGEST:
        return width, height
    scale = LONGEST / max(width, height)
    return max(1, round(width * scale)), max(1, round(height * scale))


def subset(count: int) -> list[int]:
    """The views, of `count`, that are looked at: all, or 100 by a uniform stride."""
    return list(range(count)) if count <= MAX_VIEWS else [place * count // MAX_VIEWS for place in range(MAX_VIEWS)]
