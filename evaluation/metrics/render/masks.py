"""What the `@mask` variants share: where the mask is, and what there is to say where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evaluation.metrics.result import MetricResult, Status

if TYPE_CHECKING:
    from evaluation.metrics.render.pair import RenderPair

NO_MASK = MetricResult(None, Status.NOT_APPLICABLE, ("no_mask",))
EMPTY_MASK = MetricResult(None, Status.EMPTY_MASK)


def inside(pair: RenderPair, border: int = 0) -> np.ndarray | MetricResult:
    """bool[H, W] of the pair's mask, without `border` pixels on every side; or the result without a value where the view
    has no mask or nothing is left of it. Both are the reference's doing, so this goes before any look at the render."""
    if pair.mask is None:
        return NO_MASK
    height, width = pair.mask.shape
    where = pair.mask[border : height - border, border : width - border] if border else pair.mask
    return where if where.any() else EMPTY_MASK
