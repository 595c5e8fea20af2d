"""Images as numbers, and in other sizes. Nothing changes the gamma."""

from __future__ import annotations

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
