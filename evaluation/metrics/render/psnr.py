"""`psnr`: peak signal-to-noise ratio; of the whole image, within a mask, and of the objects."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.render import variants
from evaluation.metrics.render.variants import inside, masked
from evaluation.metrics.result import MetricResult
from evaluation.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from evaluation.metrics.render.pair import RenderPair

MAX_DB = 100.0  # dB, of images that are alike
CAPPED = "psnr_capped"


def ratio(one: np.ndarray, other: np.ndarray, where: np.ndarray | None = None) -> tuple[float, bool]:
    """(-10·log10(MSE) in dB between two images [H, W, 3], at most 100; whether it was more).

    The mean squared error is over all pixels and channels, or those pixels where `where` bool[H, W] holds (at least
    one). Both images are uint8, whose difference is then found exactly, or floats in [0, 1].
    """
    if one.dtype == np.uint8:
        difference, peak = one.astype(np.int32) - other, 255.0
    else:
        difference, peak = one - other, 1.0
    squares = difference * difference if where is None else difference[where] ** 2
    error = float(squares.sum(dtype=np.float64)) / squares.size / peak**2
    value = -10 * math.log10(error) if error > 0 else math.inf
    return min(value, MAX_DB), value > MAX_DB


def psnr(pair: RenderPair) -> MetricResult:
    """The PSNR of the whole image, flagged `psnr_capped` where it would be more than 100 dB."""
    return pair.not_alike or _result(*ratio(pair.pred, pair.ref))


def psnr_mask(pair: RenderPair) -> MetricResult:
    """The same over the pixels within the view's mask."""
    where = inside(pair)
    if isinstance(where, MetricResult):
        return where
    return pair.not_alike or _result(*ratio(pair.pred, pair.ref, where))


def psnr_bbox(pair: RenderPair, **params: object) -> MetricResult:
    """The values in each object's box; `objects.mean_of_crops` makes the scene's value of it."""
    return variants.each(pair, params, 0.0, lambda pred, ref: ratio(pred, ref)[0])


def _result(value: float, capped: bool) -> MetricResult:
    return MetricResult(value, flags=(CAPPED,) if capped else ())


_PSNR = MetricSpec(
    key="psnr",
    title="PSNR",
    family="render",
    higher_is_better=True,
    bounds=(0.0, 100.0),
    unit="dB",
    params=(),
    worst="0",
    doc="Peak signal-to-noise ratio of the whole image; capped at 100 dB, the value of identical images.",
    origin=Origin((papers.NERFBASELINES,), "the usual conventions for novel views"),
    function=psnr,
    formula="−10 log₁₀ MSE, over all pixels and channels of images in [0, 1]",
)

PLACE = 10  # in lists of metrics of its kind
SPECS = (_PSNR, masked(_PSNR, psnr_mask, "over the pixels within the mask"), variants.boxed(_PSNR, psnr_bbox))
