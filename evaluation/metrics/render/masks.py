"""The `@mask` variants: their spec, where the mask is, and the result where it is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.spec import MetricSpec

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


def masked(spec: MetricSpec, function: Callable[..., MetricResult], doc: str, note: str = "") -> MetricSpec:
    """The metric within each view's mask, computed by `function`; `doc` goes on from its name."""
    return replace(
        spec,
        key=f"{spec.key}@mask",
        title=f"{spec.title} in the mask",
        doc=f"{spec.title} {doc}. A view without a mask, or with an empty one, has no value.{note}",
        function=function,
        needs=("reference", "mask"),
    )
