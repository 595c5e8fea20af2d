"""The one picture by which `wf_learned` knows a wireframe and its reference: blue over black, from the canonical place."""

from __future__ import annotations

import numpy as np

from evaluation.metrics.wireframe.canon import segments
from evaluation.metrics.wireframe.pair import Pair
from evaluation.rendering.wires import BLACK, BLUE, Lines, Sight, picture

SIDE = 518  # pixels; a whole number of DINOv2's patches of 14
MARGIN = 1.15  # what is seen, over the ball around the reference
WIDTH = 2.0  # of a line, in pixels
VERSION = 1  # raised whenever a pixel can change


def sight(pair: Pair) -> Sight | None:
    """Azimuth 45°, elevation 30°, on the ball around the reference's vertices whose middle is that of their bounding box; None
    where that has no size. What the prediction holds beyond is cut off, it never changes the view."""
    squared = (pair.ref_vertices**2).sum(axis=1)
    radius = float(np.sqrt(squared.max())) if len(squared) else 0.0
    return Sight((0.0, 0.0, 0.0), MARGIN * radius) if radius > 0 else None


def canonical_view(pair: Pair) -> np.ndarray:
    """uint8[518, 518, 3]: the reference's edges in black and the prediction's in blue over them, on white, smoothed by two
    samples a side. ValueError for a reference without size."""
    place = sight(pair)
    if place is None:
        raise ValueError("a reference without size cannot be looked at")
    reference = Lines(segments(pair.ref_vertices, pair.ref_edges).ends, BLACK, WIDTH)
    prediction = Lines(segments(pair.pred_vertices, pair.pred_edges).ends, BLUE, WIDTH)
    return picture([reference, prediction], place, SIDE)
