"""A picture as the detectors take it: scaled to fit a square, in its upper left corner, the rest grey."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.metrics.render.resample import bilinear

SIDE = 640  # of the square, in pixels, where a detector asks for no other
GREY = 114


@dataclass(frozen=True)
class Letterbox:
    """The place of an image of `width` × `height` pixels in the square: scaled by `ratio` to `inner_width` × `inner_height`
    of its `side` × `side`."""

    width: int
    height: int
    ratio: float
    inner_width: int
    inner_height: int
    side: int = SIDE

    @classmethod
    def of(cls, width: int, height: int, side: int = SIDE) -> Letterbox:
        """r = min(side / H, side / W); the scaled sides are rounded down, to at least 1."""
        if min(width, height) < 1:
            raise ValueError(f"an image must have pixels, got {width} × {height}")
        ratio = min(side / height, side / width)
        return cls(width, height, ratio, max(int(width * ratio), 1), max(int(height * ratio), 1), side)

    def scaled(self, pixels: np.ndarray) -> np.ndarray:
        """uint8[inner_height, inner_width, 3] of uint8[height, width, 3], bilinear without antialias."""
        return bilinear(pixels, self.inner_width, self.inner_height)

    def boxes(self, boxes: np.ndarray) -> np.ndarray:
        """float64[N, 4] in pixels of the square, of boxes x1, y1, x2, y2 in pixels of the image."""
        return np.asarray(boxes, dtype=np.float64).reshape(-1, 4) * self.ratio

    def original(self, boxes: np.ndarray) -> np.ndarray:
        """The inverse of `boxes`, no further than the image goes."""
        found = np.asarray(boxes, dtype=np.float64).reshape(-1, 4) / self.ratio
        return np.clip(found, 0.0, [self.width, self.height, self.width, self.height])


def letterboxed(pixels: np.ndarray, side: int = SIDE) -> np.ndarray:
    """float32[3, side, side] of uint8[H, W, 3] in RGB order: channels blue, green, red, values 0 to 255."""
    canvas = np.full((side, side, 3), GREY, dtype=np.uint8)
    inner = Letterbox.of(pixels.shape[1], pixels.shape[0], side).scaled(pixels)
    canvas[: inner.shape[0], : inner.shape[1]] = inner
    return np.ascontiguousarray(canvas[:, :, ::-1].transpose(2, 0, 1), dtype=np.float32)
