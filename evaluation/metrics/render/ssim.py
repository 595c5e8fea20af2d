"""`ssim`: structural similarity (Wang et al., 2004); of the whole image, within a mask, and of the objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.render import variants
from evaluation.metrics.render.image import to_float
from evaluation.metrics.render.variants import inside, masked
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.spec import MetricSpec

if TYPE_CHECKING:
    from evaluation.metrics.render.pair import RenderPair

WINDOW, SIGMA = 11, 1.5
BORDER = WINDOW // 2
C1, C2 = 0.01**2, 0.03**2
MIN_VARIANCE = float(np.finfo(np.float32).eps) ** 2
_OFFSETS = np.arange(WINDOW) - BORDER
KERNEL = np.exp(-(_OFFSETS**2) / (2 * SIGMA**2)) / np.exp(-(_OFFSETS**2) / (2 * SIGMA**2)).sum()

TOO_SMALL = MetricResult(None, Status.NOT_APPLICABLE, ("too_small",))


def similarity(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """float64[H - 10, W - 10]: the structural similarity around each pixel of two images float64[H, W, 3] in [0, 1].

    (2μxμy + C1)(2σxy + C2) / ((μx² + μy² + C1)(σx² + σy² + C2)) with means, variances and covariance under a Gaussian
    window of 11×11 (σ 1.5) that lies within the image. The result is the mean over channels. Variances are at
    least the square of float32's rounding unit and |σxy| at most √(σx²σy²). ValueError for sides under 11 px.
    """
    if min(one.shape[:2]) < WINDOW:
        raise ValueError(f"SSIM needs at least {WINDOW} px on every side, got {one.shape[1]}x{one.shape[0]}")
    return np.mean([_channel(one[..., n], other[..., n]) for n in range(one.shape[2])], axis=0)


def ssim(pair: RenderPair) -> MetricResult:
    """The mean of the similarity over the image; `not_applicable` where a side of it is under 11 px."""
    if pair.reference.image is not None and min(pair.ref.shape[:2]) < WINDOW:
        return TOO_SMALL
    return pair.not_alike or MetricResult(float(_map(pair).mean()))


def ssim_mask(pair: RenderPair) -> MetricResult:
    """The same over the mask, less the border of 5 px in which no window fits."""
    if pair.reference.image is not None and min(pair.ref.shape[:2]) < WINDOW:
        return TOO_SMALL
    where = inside(pair, BORDER)
    if isinstance(where, MetricResult):
        return where
    return pair.not_alike or MetricResult(float(_map(pair)[where].mean()))


def ssim_bbox(pair: RenderPair, **params: object) -> MetricResult:
    """The values in each object's box of at least 11 px; `objects.mean_of_crops` makes the scene's value of it."""
    return variants.each(pair, params, 0.0, lambda pred, ref: float(similarity(to_float(pred), to_float(ref)).mean()), least=WINDOW)


def _map(pair: RenderPair) -> np.ndarray:
    return pair.once("ssim", lambda: similarity(pair.pred_float, pair.ref_float))


def _channel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    mean_x, mean_y = _blurred(x), _blurred(y)
    square_x, square_y, both = mean_x * mean_x, mean_y * mean_y, mean_x * mean_y
    variance_x = np.maximum(_blurred(x * x) - square_x, MIN_VARIANCE)
    variance_y = np.maximum(_blurred(y * y) - square_y, MIN_VARIANCE)
    most = np.sqrt(variance_x * variance_y)
    covariance = np.clip(_blurred(x * y) - both, -most, most)
    return (2 * both + C1) * (2 * covariance + C2) / ((square_x + square_y + C1) * (variance_x + variance_y + C2))


def _blurred(plane: np.ndarray) -> np.ndarray:
    """The Gaussian mean around each pixel in whose surroundings the window fits."""
    rows = scipy.ndimage.correlate1d(plane, KERNEL, axis=0)[BORDER:-BORDER]
    return scipy.ndimage.correlate1d(rows, KERNEL, axis=1)[:, BORDER:-BORDER]


_SSIM = MetricSpec(
    key="ssim",
    title="SSIM",
    family="render",
    higher_is_better=True,
    bounds=(-1.0, 1.0),
    unit="",
    params=(),
    worst="0",
    doc="Structural similarity under a Gaussian window of 11 × 11 px, the mean over channels and over all positions where the window fits "
    "into the image. Images with a side under 11 px have no value. It equals scikit-image's value with gaussian_weights, sigma=1.5, "
    "use_sample_covariance=False and data_range=1.0 up to rounding (3·10⁻¹³). torchmetrics 1.9 also counts the padded border; its value "
    "differed by up to 0.007 where we compared them.",
    origin=Origin((papers.SSIM,)),
    function=ssim,
    formula="(2μxμy + C₁)(2σxy + C₂) / ((μx² + μy² + C₁)(σx² + σy² + C₂)), C₁ = 0.01², C₂ = 0.03², σ = 1.5 px",
)

PLACE = 20  # in lists of metrics of its kind
SPECS = (
    _SSIM,
    masked(_SSIM, ssim_mask, "over the places within the mask whose window fits into the image"),
    variants.boxed(_SSIM, ssim_bbox, " Boxes under 11 px are left out."),
)
