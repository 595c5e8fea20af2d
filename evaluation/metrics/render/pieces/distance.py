"""`piece_distance`: distance of a render's cells from its reference's, in features learnt from the reference images of the scene. Own
definition."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.render.image import resized, working_size
from evaluation.metrics.render.lite0_distance import UNTRIED
from evaluation.metrics.render.pair import RenderPair
from evaluation.metrics.render.pieces.features import DICTIONARY, LEAST_DEVIATION, SMALLEST, Features, Views
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.shared import remember
from evaluation.metrics.spec import Earlier, MetricSpec

if TYPE_CHECKING:
    from evaluation.metrics.shared import Arrays

CORRECTED = "scenes with repeated pictures"  # by a least deviation
_fitted: dict[Any, Arrays] = {}


def piece_distance(pair: RenderPair) -> MetricResult:
    """The mean over all cells of ‖x̂_reference − x̂_render‖ / d₀, at least 0; 0 where both are alike, 1 a step aside.

    Part: `beyond_step`, the share of cells that differ by more than a step aside. Flags: `too_small` (a side under 96 px, no value),
    `flat_references` (reference images in which nothing differs, no value), `resized` (looked at with a longer side of 960 px).
    """
    return _apart(pair, LEAST_DEVIATION)


def _apart(pair: RenderPair, least: float) -> MetricResult:
    """That, where no deviation of a feature is less than `least` of their median."""
    if nothing := unfit(pair, least):
        return nothing
    if pair.not_alike is not None:
        return pair.not_alike
    image = pair.reference.image
    assert image is not None  # or it would be unfit
    found, size = differences(pair, least), (image.width, image.height)
    shrunk = working_size(*size) != size and "resized" not in pair.flags
    return MetricResult(float(found.mean()), flags=("resized",) if shrunk else (), parts={"beyond_step": float((found > 1).mean())})


def unfit(pair: RenderPair, least: float) -> MetricResult | None:
    """The result without a value where the reference leaves nothing to compare by cells, and None where it does."""
    image = pair.reference.image
    if image is None:
        return MetricResult(None, Status.NOT_APPLICABLE)
    if min(working_size(image.width, image.height)) < SMALLEST:
        return MetricResult(None, Status.NOT_APPLICABLE, ("too_small",))
    if not features_of(pair, least).whitening.step:
        return MetricResult(None, Status.NOT_APPLICABLE, ("flat_references",))
    return None


def differences(pair: RenderPair, least: float) -> np.ndarray:
    """float64[h · w]: ‖x̂_reference − x̂_render‖ / d₀ of each cell, row by row, of a pair of equal sizes, done once for the pair."""

    def compute() -> np.ndarray:
        features, size = features_of(pair, least), working_size(pair.ref.shape[1], pair.ref.shape[0])
        ours, theirs = (features(resized(pixels, *size, "bilinear")).astype(np.float64) for pixels in (pair.ref, pair.pred))
        return np.linalg.norm(ours - theirs, axis=1) / features.whitening.step

    return pair.once(("pieces apart", least), compute)


def features_of(pair: RenderPair, least: float) -> Features:
    """The features of the pair's scene, fitted on its reference images, each at its own working size; on the pair's own where
    nobody has said which the scene's are."""

    own, scene = pair.reference.image, pair.reference.scene
    assert own is not None

    def fit() -> Arrays:
        images = Views(scene or [own]).images
        usable = [image for image in images if min(working_size(image.width, image.height)) >= SMALLEST]
        return Features.fit(Views(usable or [own]), DICTIONARY, least)[0].arrays()

    def compute() -> Features:
        arrays = pair.reference_once(
            f"pieces of the reference images, least {least}", lambda: remember(_fitted, (scene or own, least), fit)
        )
        return Features.of_arrays(arrays, DICTIONARY)

    return pair.once(("pieces of the reference images", least), compute)


PLACE = 90  # in lists of metrics of its kind
SPECS = (
    MetricSpec(
        key="piece_distance",
        title="Piece distance",
        family="render",
        higher_is_better=False,
        bounds=(0.0, None),
        unit="",
        params=(),
        worst="10",
        doc="Distance of render and reference in features learnt from the reference images of the scene: the mean over cells of 16 × 16 "
        "px. The scale is such that the same place seen from a slightly different viewpoint has a distance of about 1. It needs no "
        "weights. Images with a side under 96 px have no value, and images are scaled to at most 960 pixels on their longer side. For "
        "ranking, larger values count as 10.",
        origin=Origin((papers.PATCHES,), "our own definition; the dictionary of patches is the paper’s"),
        function=piece_distance,
        learnt=True,
        version=3,
        earlier=(Earlier(2, partial(_apart, least=0.0), CORRECTED),),
        warning=f"This metric is not LPIPS: it was not trained on people's answers. {UNTRIED}",
        formula="mean over cells p of ‖x̂_reference(p) − x̂_render(p)‖ / d₀, x̂ the features whitened by what a step aside changes, d₀ the "
        "median length of such a change",
    ),
)
