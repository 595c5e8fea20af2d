"""One view's render and reference, made ready for the metrics, with the work they share."""

from __future__ import annotations

import math
from collections.abc import MutableMapping
from typing import TYPE_CHECKING

import numpy as np

from evaluation.metrics.render.image import to_float
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.shared import Arrays, SharedWork

if TYPE_CHECKING:
    from submissions.formats.render.views import CleanViews, Render, Roi, View

MISSING = MetricResult(0.0, Status.MISSING_PRED)  # `scoring` puts the metric's worst value in its place
MISMATCH = MetricResult(0.0, Status.SIZE_MISMATCH)
NO_REFERENCE = MetricResult(None, Status.NOT_APPLICABLE)


class RenderPair(SharedWork):
    """A render (None if it is missing) and the reference view.

    Images are decoded when a metric first looks at them, so that a pair costs no more than its own two. `flags` belong
    to every result of the pair: "resized" where the render was sent in another size and brought to the reference's.
    """

    def __init__(
        self, prediction: Render | None, reference: View, unit_scale: float = 1.0, prepared: MutableMapping[str, Arrays] | None = None
    ) -> None:
        super().__init__(prepared)
        if not (math.isfinite(unit_scale) and unit_scale > 0):
            raise ValueError(f"unit_scale must be a positive number, got {unit_scale}")
        self.unit_scale = float(unit_scale)
        self.prediction, self.reference = self.given = prediction, reference
        self.flags: tuple[str, ...] = ("resized",) if prediction is not None and prediction.resized else ()

    @classmethod
    def of(
        cls, prediction: Render | None, reference: View, unit_scale: float = 1.0, prepared: MutableMapping[str, Arrays] | None = None
    ) -> RenderPair:
        """The pair of a render and a view."""
        return cls(prediction, reference, unit_scale, prepared)

    @staticmethod
    def itself(reference: View) -> Render | None:
        """The render with the best score against the view: its image; any clean view of the scene if there is none."""
        if reference.image is not None or reference.clean is None:
            return reference.image
        return reference.clean.images[0]

    @property
    def pred(self) -> np.ndarray:
        """uint8[H, W, 3]; must not be read if the render is missing."""
        assert self.prediction is not None
        return self.once("pred", self.prediction.pixels)

    @property
    def ref(self) -> np.ndarray:
        """uint8[H, W, 3]; must not be read if only clean views of the scene are known."""
        assert self.reference.image is not None
        return self.once("ref", self.reference.image.pixels)

    @property
    def pred_float(self) -> np.ndarray:
        """float64[H, W, 3] in [0, 1], as `pred`."""
        return self.once("pred float", lambda: to_float(self.pred))

    @property
    def ref_float(self) -> np.ndarray:
        """float64[H, W, 3] in [0, 1], as `ref`."""
        return self.once("ref float", lambda: to_float(self.ref))

    @property
    def mask(self) -> np.ndarray | None:
        """bool[H, W] in the reference's size, True inside, or None where the view has no mask."""
        return self.once("mask", self.reference.mask_pixels)

    @property
    def rois(self) -> tuple[Roi, ...]:
        """The regions that an organizer marked, in the reference's pixels."""
        return self.reference.rois

    @property
    def clean(self) -> CleanViews | None:
        """The clean views of the scene, shared by its items, or None."""
        return self.reference.clean

    @property
    def missing(self) -> MetricResult | None:
        """The result of a metric that needs no aligned reference where there is no render, or one of the wrong size."""
        if self.prediction is None:
            return MISSING
        wanted = (self.reference.width, self.reference.height)
        return MISMATCH if all(wanted) and wanted != (self.prediction.width, self.prediction.height) else None

    @property
    def not_alike(self) -> MetricResult | None:
        """The result of a full-reference metric where the two images cannot be compared, and None where they can.

        A view without a reference image has no value; a render that is missing or of another size gets the worst.
        """
        if self.reference.image is None:
            return NO_REFERENCE
        if self.prediction is None or self.missing is not None:
            return self.missing
        alike = (self.prediction.width, self.prediction.height) == (self.reference.image.width, self.reference.image.height)
        return None if alike else MISMATCH
