"""Polygons as triangles, and the colours of faces from those of materials and corners."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# What a face without a colour of its own gets where other faces of the file have one.
PLAIN = (200, 200, 200)


def fan(corners: NDArray[Any], sizes: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Polygons of at least 3 corners, one after the other in ``corners``, as triangles around each one's first corner.

    Returns [F, 3], of the corners' type, and, for each triangle, the polygon it came from.
    """
    if len(sizes) and (sizes == 3).all():
        return corners.reshape(-1, 3), np.arange(len(sizes))
    polygon = np.repeat(np.arange(len(sizes)), sizes - 2)
    first = (np.cumsum(sizes) - sizes)[polygon]
    step = np.arange(len(polygon)) - np.repeat(np.cumsum(sizes - 2) - (sizes - 2), sizes - 2)
    return np.stack([corners[first], corners[first + step + 1], corners[first + step + 2]], axis=1), polygon


def bytes_of(colours: NDArray[np.floating] | NDArray[np.integer]) -> NDArray[np.uint8]:
    """Colours [N, 3] as bytes: whole numbers are 0 to 255 already, others 0 to 1. What is out of range is cut off."""
    with np.errstate(over="ignore"):  # beyond the largest number is out of range too
        scaled = np.asarray(colours, np.float64) * (1 if colours.dtype.kind in "iu" else 255)
    return np.clip(np.rint(np.nan_to_num(scaled, nan=0.0)), 0, 255).astype(np.uint8)


def from_corners(colours: NDArray[np.uint8], faces: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The mean colour of each face's corners; ``faces`` must be in range."""
    return np.rint(colours[faces].mean(axis=1)).astype(np.uint8)


def srgb(linear: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Linear light 0 to 1 as sRGB bytes, by the curve of IEC 61966-2-1."""
    light = np.clip(np.nan_to_num(linear, nan=0.0), 0, 1)
    curve = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.rint(255 * curve).astype(np.uint8)
