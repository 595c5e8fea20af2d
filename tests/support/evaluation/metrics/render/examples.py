"""The images of the worked examples, and pairs made of arrays."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter

from evaluation.metrics.render.pair import RenderPair
from submissions.formats.render.views import Roi, View, encoded, render

_Y, _X = np.mgrid[0:16, 0:16].astype(np.float64)
A = np.stack([(_X + _Y) / 30, _X / 15, _Y / 15], axis=-1)
B = np.clip(A + 0.1, 0, 1)
C = A[:, ::-1]


def pair(pred, ref, mask=None, rois=(), prepared=None) -> RenderPair:
    """A pair of two images uint8[H, W, 3] (or None for a missing render)."""
    given = None if mask is None else encoded(np.where(mask, 255, 0).astype(np.uint8))
    view = View(render(ref), ref.shape[1], ref.shape[0], given, tuple(Roi(*box) for box in rois))
    return RenderPair.of(None if pred is None else render(pred), view, prepared=prepared)


def blurred(pixels: np.ndarray, sigma: float) -> np.ndarray:
    """The image under a Gaussian blur."""
    return np.clip(gaussian_filter(pixels.astype(np.float64), (sigma, sigma, 0)), 0, 255).round().astype(np.uint8)


def noisy(pixels: np.ndarray, sigma: float, seed: int = 0) -> np.ndarray:
    """The image with Gaussian noise of so many grey levels: the same noise at every size."""
    noise = np.random.default_rng(seed).normal(0, 1, pixels.shape)
    return np.clip(pixels + sigma * noise, 0, 255).round().astype(np.uint8)
