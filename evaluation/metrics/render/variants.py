"""The `@mask` and `@bbox` variants of metrics: their specs, a metric within a view's mask, and on each object of the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.render.detections import LOOKING, Looking, detections
from evaluation.metrics.render.pair import NO_REFERENCE
from evaluation.metrics.result import ItemPartial, MetricResult, Status
from evaluation.metrics.spec import PRECISION, MetricSpec
from evaluation.metrics.tolerance import OF_NETWORKS

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
    """The metric within each view's mask, computed by `function`; `doc` continues after its name."""
    return replace(
        spec,
        key=f"{spec.key}@mask",
        title=f"{spec.title} in the mask",
        doc=f"{spec.title} {doc}. A view without a mask, or with an empty one, has no value.{note}",
        function=function,
        ahead=None,
        needs=("reference", "mask"),
    )


Compare = Callable[[np.ndarray, np.ndarray], float]


def each(pair: RenderPair, params: Mapping[str, Any], worst: float, compare: Compare, least: int = 1) -> MetricResult:
    """`compare(prediction, reference)` of the two crops uint8[h, w, 3] of every object found in the reference.

    Boxes reach from ⌊x1⌋, ⌊y1⌋ to ⌈x2⌉, ⌈y2⌉ in the image's pixels; crops with a side under `least` pixels are left
    out. `params` say how objects are looked for. Where there is no render to compare, every object gets `worst`.
    """
    if pair.reference.image is None:
        return NO_REFERENCE
    detector = params.get("detector", params.get("weights"))
    looking = Looking(str(detector), params["conf"], params["nms"], params["class_agnostic"])
    boxes = [box for box in detections(pair, looking).crops.tolist() if min(box[2] - box[0], box[3] - box[1]) >= least]
    gone = pair.not_alike
    values = [worst if gone else compare(pair.pred[y1:y2, x1:x2], pair.ref[y1:y2, x1:x2]) for x1, y1, x2, y2 in boxes]
    parts = {"objects": float(len(values))} | ({"mean_of_view": float(np.mean(values))} if values else {})
    status = gone.status if gone else Status.OK
    return MetricResult(None, status, parts=parts, partial={"values": values})


def mean_of_crops(items: Sequence[ItemPartial], params: Mapping[str, Any]) -> list[MetricResult]:
    """The mean over all objects of a scene, for each of its views; without any object there is none (`no_object`)."""
    values = [value for item in items if item.result.partial is not None for value in item.result.partial["values"]]
    if not values:
        return [MetricResult(None, Status.NO_OBJECT, item.result.flags, item.result.parts) for item in items]
    mean = float(np.mean(values))
    return [MetricResult(mean, Status.OK, item.result.flags, item.result.parts) for item in items]


def boxed(spec: MetricSpec, function: Callable[..., MetricResult], crops: str = "", note: str = "") -> MetricSpec:
    """The metric in the boxes of the objects, computed by `function`: a value for each scene."""
    given = (spec.weights,) if isinstance(spec.weights, str) else ()
    return replace(
        spec,
        key=f"{spec.key}@bbox",
        title=f"{spec.title} in boxes",
        doc=f"{spec.title} of single objects, which a detector finds in the references of a scene or the organizers marked. Both images "
        f"are cut to the object's box, and the value is the mean over all objects.{crops} A scene without objects has no value.{note}",
        origin=Origin((papers.OSIM,), "as in the paper, objects are cut out by their boxes and compared"),
        function=function,
        ahead=None,
        params=(*(param for param in spec.params if param != PRECISION), replace(LOOKING[0], name="detector"), *LOOKING[1:], PRECISION),
        weights=(*given, "yolox:detector"),
        tolerance=OF_NETWORKS,
        level="group",
        finish=mean_of_crops,
    )
