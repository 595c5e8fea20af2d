"""Images brought to another size: by area, bilinear or bicubic."""

from __future__ import annotations

import numpy as np
from PIL import Image

FILTERS = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}  # by Pillow
KINDS = ("area", *FILTERS)


def resized(pixels: np.ndarray, width: int, height: int, kind: str) -> np.ndarray:
    """The image [H, W, C] or [H, W] in another size, in its own type: uint8 (rounded, halves up) or floats.

    `kind` is one of KINDS. "area" is the exact mean over the part of the image that a new pixel covers. "bilinear" and
    "bicubic" (a = -0.5; floats in float32) widen their support by the factor of shrinking, which is what is called
    antialias; bicubic may overshoot floats. The edges are the image's own: nothing is padded.
    """
    if (pixels.shape[1], pixels.shape[0]) == (width, height):
        return pixels
    if kind == "area":
        found = _means(_means(pixels.astype(np.float64), height, 0), width, 1)
        return np.floor(found + 0.5).astype(np.uint8) if pixels.dtype == np.uint8 else found.astype(pixels.dtype)
    if pixels.dtype == np.uint8:
        return np.asarray(Image.fromarray(np.ascontiguousarray(pixels)).resize((width, height), FILTERS[kind]))
    planes = pixels[..., None] if pixels.ndim == 2 else pixels
    done = [
        np.asarray(Image.fromarray(np.ascontiguousarray(planes[..., n], dtype=np.float32)).resize((width, height), FILTERS[kind]))
        for n in range(planes.shape[2])
    ]
    return np.stack(done, axis=-1).reshape((height, width, *pixels.shape[2:])).astype(pixels.dtype)


def to_size(pixels: np.ndarray, width: int, height: int) -> np.ndarray:
    """uint8 [H, W, 3] brought to another size as `resize="reference"` says: by area where it shrinks, else bicubic.

    An image that shrinks in one direction and grows in the other does the one after the other.
    """
    across, down = min(width, pixels.shape[1]), min(height, pixels.shape[0])
    return resized(resized(pixels, across, down, "area"), width, height, "bicubic")


def _means(values: np.ndarray, n: int, axis: int) -> np.ndarray:
    """Means over n equal stretches of an axis, which may begin and end within a pixel: differences of the running sum,
    which is linear within one."""
    values = np.moveaxis(values, axis, 0)
    running = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])
    at = np.arange(n + 1) * (len(values) / n)
    whole = np.minimum(at.astype(np.int64), len(values) - 1)
    share = (at - whole).reshape(-1, *[1] * (values.ndim - 1))
    sums = running[whole] + share * values[whole]
    return np.moveaxis(np.diff(sums, axis=0) * (n / len(values)), 0, axis)
