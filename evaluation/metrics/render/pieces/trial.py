"""The score of a picture without one of the scene's clean views, for the trial of the metric on these views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics.render import clean_views
from evaluation.metrics.render.pieces.dictionary import grid
from evaluation.metrics.render.pieces.metric import Scene

if TYPE_CHECKING:
    from submissions.formats.render import CleanViews


class PiecesScorer:
    """`puzzlesim_pieces` on the clean views of a scene, at their working size. Matches, δ and the clean ratios do without the view
    that is left out; the dictionary and the whitening stay as they were fitted on all."""

    def __init__(self, clean: CleanViews, features: str) -> None:
        size = clean_views.working_size(clean.images[0].width, clean.images[0].height)
        self.scene = Scene.fit(clean.images, size, features)
        self.views = len(self.scene.clean.places)

    def score(self, pixels: np.ndarray, without: int | None) -> tuple[float, np.ndarray]:
        """(the mean of u, u float64[h, w]) of uint8[H, W, 3], which is brought to the views' size."""
        found = self.scene.plausible(pixels, without)
        return found.score, found.u.reshape(grid(*self.scene.size))


def scorer(clean: CleanViews, params: Mapping[str, Any]) -> PiecesScorer:
    """The trial's scorer on clean views, of which there must be three (ValueError). WeightsError where a backbone's are not here."""
    if len(clean.images) < 3:
        raise ValueError("a clean view is held against two others at least")
    return PiecesScorer(clean, str(params["features"]))
