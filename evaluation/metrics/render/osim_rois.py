"""Objectness similarity without a detector: how much of each place that an organizer marked is there, by the features of
EfficientNet-Lite0. Own definition; what follows from r and s is `osim`'s.

A cell p of a region counts t(p), the mean of the cosines of render and reference there at the strides 8 and 16, at least 0. r is the mean
of t over the cells of 16 × 16 px whose centre is in the region. Versions 2 and 3 took features that are learnt from the reference images.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.render.detections import ROUNDING, Letterbox, marked
from evaluation.metrics.render.image import resized, working_size
from evaluation.metrics.render.lite0_distance import SMALLEST, UNTRIED, WEIGHTS, cosines
from evaluation.metrics.render.osim import OSIM, of_view, salient_in
from evaluation.metrics.render.pieces.distance import CORRECTED, differences, unfit
from evaluation.metrics.render.pieces.features import CELL, LEAST_DEVIATION, grid
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.spec import PRECISION, Earlier
from evaluation.metrics.tolerance import EXACT

if TYPE_CHECKING:
    from evaluation.metrics.render.pair import RenderPair

MIN_CELLS = 4  # a region of fewer is passed over
STRIDES = (8, 16)
LEARNT = {"weights": None, "learnt": True, "tolerance": EXACT}  # of versions whose features are learnt from the reference images


def osim_rois(pair: RenderPair, saliency: str, gabor_compat: bool, low_quality_rule: str, weights: str) -> MetricResult:
    """The marked regions of one view, as the partial result from which `osim.finish` makes the scene's value.

    A render that is missing, or of another size, is alike nowhere: r = 0. Regions of fewer than 4 cells are passed over (flag
    `small_regions`). A view whose reference has no image, or one with a side under 96 px (flag `too_small`), does not apply; one
    without regions shows no object. The value here is the view's own, and no score.
    """
    image = pair.reference.image
    if image is None:
        return MetricResult(None, Status.NOT_APPLICABLE)
    if min(working_size(image.width, image.height)) < SMALLEST:
        return MetricResult(None, Status.NOT_APPLICABLE, ("too_small",))
    return _of_view(pair, saliency, gabor_compat, lambda: likeness(pair, weights))


def _by_pieces(pair: RenderPair, saliency: str, gabor_compat: bool, least: float, **of_the_scene: object) -> MetricResult:
    """Versions 2 and 3: t(p) = 1 / (1 + (‖x̂_reference − x̂_render‖ / d₀)²), where no deviation of a feature is less than `least` of their
    median. The other parameters are as in `osim.finish`."""
    return unfit(pair, least) or _of_view(pair, saliency, gabor_compat, lambda: 1 / (1 + differences(pair, least) ** 2))


def likeness(pair: RenderPair, weights: str) -> np.ndarray:
    """float64[h · w]: t of each cell, row by row, of a pair of equal sizes, both at the reference's working size."""
    from evaluation.networks import lite0

    size = working_size(pair.ref.shape[1], pair.ref.shape[0])
    ours, theirs = (resized(pixels, *size, "bilinear") for pixels in (pair.ref, pair.pred))
    read = [
        lite0.at_centres(one[None, None], stride, grid(*size), CELL, lite0.MARGIN // stride)[0, 0].numpy().ravel()
        for stride, one in zip(STRIDES, cosines(ours, theirs, weights, STRIDES), strict=True)
    ]
    return np.clip(np.mean(read, axis=0, dtype=np.float64), 0.0, 1.0)


def _of_view(pair: RenderPair, saliency: str, gabor_compat: bool, seen: Callable[[], np.ndarray]) -> MetricResult:
    """The view's result, by `seen`, t float64[h · w] of its cells."""
    image = pair.reference.image
    assert image is not None  # or it would be unfit
    width, height = image.width, image.height
    letterbox = Letterbox.of(width, height)
    boxes, labels = marked(pair, letterbox)
    original = letterbox.original(boxes)
    cells = [inside(box, (width, height)) for box in original]
    kept = [place for place, covered in enumerate(cells) if covered.sum() >= MIN_CELLS]
    kind = "gabor_compat" if gabor_compat and saliency == "gbvs" else saliency
    (salient,) = pair.reference_once(f"saliency of regions {kind}", lambda: (salient_in(pair, boxes[kept], letterbox, kind),))
    unlike = pair.not_alike
    if unlike is not None or pair.preparing or not kept:
        alike = np.zeros(len(kept))
    else:
        there = seen()
        alike = np.array([there[cells[place]].mean() for place in kept])
    rows = ((labels[place], original[place], 1.0, r, s) for place, r, s in zip(kept, alike, salient, strict=True))
    found = of_view(unlike, rows)
    return replace(found, flags=("small_regions",)) if len(kept) < len(cells) else found


def inside(box: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """bool[h · w]: which cells of an image of that size (width, height) have their centre in the box x1, y1, x2, y2 in its pixels."""
    working = working_size(*size)
    rows, columns = grid(*working)
    down = (np.arange(rows) + 0.5) * CELL * size[1] / working[1]
    across = (np.arange(columns) + 0.5) * CELL * size[0] / working[0]
    (x1, y1), (x2, y2) = box[:2] - ROUNDING, box[2:] + ROUNDING
    return np.outer((y1 <= down) & (down <= y2), (x1 <= across) & (across <= x2)).ravel()


PLACE = 100  # in lists of metrics of its kind
SPECS = (
    replace(
        OSIM,
        key="osim_rois",
        title="OSIM in marked regions",
        params=(*(param for param in OSIM.params if param.name in ("saliency", "gabor_compat", "low_quality_rule")), WEIGHTS, PRECISION),
        doc="Are the marked regions of a scene still there? In each region that the organizers marked, features of EfficientNet-Lite0 of "
        "render and reference are compared at the same place. Labels are weighted by the visual saliency of their regions. A "
        "missing view counts 0 for its regions; regions of fewer than 4 cells of 16 × 16 px are ignored; a scene without regions has no "
        "value.",
        origin=Origin((papers.OSIM, papers.EFFICIENTNET), "our own definition: OSIM without its detector, with EfficientNet-Lite0"),
        function=osim_rois,
        formula="Σ s_l o_l / Σ s_l over labels l; o_l: mean over the label's regions, and over the cells of each, of max(0, mean over "
        "strides 8, 16 of cos(x, y)); x, y: features of both images there; s_l: mean saliency of the regions' boxes",
        weights="lite0",
        ahead=None,
        version=4,
        earlier=(
            Earlier(2, partial(_by_pieces, least=0.0), CORRECTED, LEARNT),
            Earlier(3, partial(_by_pieces, least=LEAST_DEVIATION), "noise that made objects count as gone", LEARNT),
        ),
        warning="The metric finds no objects itself; it compares only the regions that an organizer marked. Its values are not OSIM's. "
        f"{UNTRIED}",
    ),
)
