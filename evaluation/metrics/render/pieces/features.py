"""Features of a scene's pictures, fitted on these: a dictionary or a backbone, whitened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

from evaluation.metrics.render import clean_views
from evaluation.metrics.render.image import resized
from evaluation.metrics.render.pieces.dictionary import Dictionary
from evaluation.metrics.render.pieces.whitening import Cells, Whitening, moved_from
from evaluation.metrics.seeds import generator

if TYPE_CHECKING:
    from evaluation.metrics.shared import Arrays
    from submissions.formats.render.views import Render

DICTIONARY = "dictionary"
SEED = "puzzlesim_pieces"  # of the places where patches are drawn
SMALLEST = 96  # px; a shorter side leaves too few cells
LEARNT_FROM = 3  # every third view


class Views(Sequence[np.ndarray]):
    """Pictures uint8[H, W, 3] of a scene, decoded when they are looked at; of more than 100 there are 100. All are brought to one
    `size` (width, height), or, where none is given, each to its own working size."""

    def __init__(self, images: Sequence[Render], size: tuple[int, int] | None = None) -> None:
        self.images = [images[place] for place in clean_views.subset(len(images))]
        self.size = size

    def __len__(self) -> int:
        return len(self.images)

    @overload
    def __getitem__(self, place: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[np.ndarray]: ...
    def __getitem__(self, place: int | slice) -> np.ndarray | Sequence[np.ndarray]:
        if isinstance(place, slice):
            return [self[at] for at in range(len(self))[place]]
        image = self.images[place]
        return resized(image.pixels(), *(self.size or clean_views.working_size(image.width, image.height)), "bilinear")


@dataclass(frozen=True, eq=False)
class Features:
    """The way pictures of a scene become whitened features, fitted on pictures of the scene.

    `dictionary` is None where a backbone gives the features. `cells` gives the raw ones.
    """

    dictionary: Dictionary | None
    whitening: Whitening
    cells: Cells

    @classmethod
    def fit(cls, views: Views, features: str) -> tuple[Features, list[np.ndarray]]:
        """The features of these views, and the raw ones of each view's cells, float32[h · w, D]."""
        learnt_from = (views[place] for place in range(0, len(views), LEARNT_FROM))
        dictionary = Dictionary.learn(learnt_from, generator(SEED)) if features == DICTIONARY else None
        cells = cells_of(features, dictionary)
        raw = [cells(view) for view in views]
        return cls(dictionary, Whitening.fit(np.concatenate(raw), [views[place] for place in moved_from(len(views))], cells), cells), raw

    def arrays(self) -> Arrays:
        """The arrays that `of_arrays` makes them of again."""
        learnt = (self.dictionary.mean, self.dictionary.whitener, self.dictionary.atoms) if self.dictionary else ()
        it = self.whitening
        return (it.mean, it.deviation, it.matrix, np.array([it.step]), *learnt)

    @classmethod
    def of_arrays(cls, arrays: Arrays, features: str) -> Features:
        """The inverse of `arrays`."""
        mean, deviation, matrix, step, *learnt = arrays
        dictionary = Dictionary(*learnt) if learnt else None
        return cls(dictionary, Whitening(mean, deviation, matrix, float(step[0])), cells_of(features, dictionary))

    def __call__(self, pixels: np.ndarray) -> np.ndarray:
        """float32[h · w, D]: x̂ of the cells of uint8[H, W, 3]."""
        return self.whitening(self.cells(pixels))


def cells_of(features: str, dictionary: Dictionary | None) -> Cells:
    """The function that gives the raw features of a picture's cells. WeightsError where a backbone's weights are not here."""
    if dictionary is not None:
        return dictionary.cells
    from evaluation.metrics.render.pieces.backbone import cells_by

    return cells_by(features)
