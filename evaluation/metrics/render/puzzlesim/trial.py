"""The score of a picture without one of the scene's clean views, for the trial of the metric on these views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics.render import clean_views

if TYPE_CHECKING:
    from evaluation.metrics.render.puzzlesim.similarity import Scene
    from submissions.formats.render import CleanViews


class MapScorer:
    """`puzzlesim` on the clean views of a scene, at their working size. The features of the others are computed anew when another
    view is left out, so ask for all scores without one view before the next."""

    def __init__(self, clean: CleanViews, weights: str) -> None:
        from evaluation.networks.inference import best_device
        from evaluation.networks.load import load

        self._images = [clean.images[place] for place in clean_views.subset(len(clean.images))]
        self._size = clean_views.working_size(self._images[0].width, self._images[0].height)
        self._device = best_device().type
        self._network = load("backbone", weights, self._device)
        self._scene: tuple[int | None, Scene] | None = None
        self.views = len(self._images)

    def score(self, pixels: np.ndarray, without: int | None) -> tuple[float, np.ndarray]:
        """(the mean of the map, the map float32[H, W]) of uint8[H, W, 3]."""
        from evaluation.metrics.render.puzzlesim import similarity

        if self._scene is None or self._scene[0] != without:
            others = (image.pixels() for place, image in enumerate(self._images) if place != without)
            self._scene = None  # before the next one needs the room
            self._scene = without, similarity.scene(self._network, others, self._size, self._device)
        found = self._scene[1].map(pixels)
        return float(np.clip(found.mean(dtype=np.float64), 0.0, 1.0)), found


def scorer(clean: CleanViews, params: Mapping[str, Any]) -> MapScorer:
    """The trial's scorer on clean views, of which there must be two (ValueError). WeightsError where the weights are not here."""
    if len(clean.images) < 2:
        raise ValueError("a clean view is held against another at least")
    return MapScorer(clean, str(params["weights"]))
