"""Objectness similarity without a detector: how much of each place that an organizer marked is there, by features that are learnt
from the reference images of the scene. Own definition; what follows from r and s is `osim`'s.

A cell p of a region counts t(p) = 1 / (1 + (‖x̂_reference − x̂_render‖ / d₀)²), which a step aside makes a half; r is the mean of t over
the cells of 16 × 16 px whose centre is in the region.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.render.detections import ROUNDING, Letterbox, marked
from evaluation.metrics.render.image import working_size
from evaluation.metrics.render.osim import OSIM, of_view, salient_in
from evaluation.metrics.render.pieces.distance import CORRECTED, UNTRIED, differences, unfit
from evaluation.metrics.render.pieces.features import CELL, LEAST_DEVIATION, grid
from evaluation.metrics.spec import Earlier
from evaluation.metrics.tolerance import EXACT

if TYPE_CHECKING:
    from evaluation.metrics.render.pair import RenderPair
    from evaluation.metrics.result import MetricResult

MIN_CELLS = 4  # a region of fewer is passed over


def osim_rois(pair: RenderPair, saliency: str, gabor_compat: bool, low_quality_rule: str) -> MetricResult:
    """The marked regions of one view, as the partial result from which `osim.finish` makes the scene's value.

    A render that is missing, or of another size, is alike nowhere: r = 0. Regions of fewer than 4 cells are passed over (flag
    `small_regions`). A view whose reference has no image, or nothing to compare by cells, does not apply; one without regions
    shows no object. The value here is the view's own, and no score.
    """
    return _of_view(pair, saliency, gabor_compat, LEAST_DEVIATION)


def _of_view(pair: RenderPair, saliency: str, gabor_compat: bool, least: float, **of_the_scene: object) -> MetricResult:
    """That, where no deviation of a feature is less than `least` of their median; other parameters are those of `osim.finish`."""
    if nothing := unfit(pair, least):
        return nothing
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
        seen = 1 / (1 + differences(pair, least) ** 2)
        alike = np.array([seen[cells[place]].mean() for place in kept])
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


SPECS = (
    replace(
        OSIM,
        key="osim_rois",
        title="OSIM in marked regions",
        params=tuple(param for param in OSIM.params if param.name in ("saliency", "gabor_compat", "low_quality_rule")),
        doc="Are the marked regions of a scene still there? Render and reference are compared at the same place within each region that "
        "the organizer marked, in features that are learnt from the reference images of the scene, and the labels are weighed by how much "
        "their regions catch the eye. It needs no weights. A missing view counts 0 for its regions; regions of fewer than 4 cells of 16 × "
        "16 px are passed over; a scene without regions has no value.",
        origin=Origin((papers.OSIM,), "our own definition, after the paper’s, without its detector"),
        function=osim_rois,
        formula="Σ s_l o_l / Σ s_l over labels l, o_l the mean over the label's regions of the mean over the region's cells of "
        "1 / (1 + (‖x̂_reference − x̂_render‖ / d₀)²), s_l the mean saliency of their boxes",
        weights=None,
        ahead=None,
        tolerance=EXACT,
        learnt=True,
        version=3,
        earlier=(Earlier(2, partial(_of_view, least=0.0), CORRECTED),),
        warning=f"It has no notion of an object, only of the places that somebody marked: its values are not OSIM's. {UNTRIED}",
    ),
)
