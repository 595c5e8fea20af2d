"""Objectness similarity: are the objects of a scene still recognisable, weighed by how much they catch the eye.

METRICS "osim": a detector finds the objects of the reference views. For object i of class l, r_il is the mean cosine of
the detector's features of render and reference over the cells of its box, and s_il the mean saliency of its box. With
o_l and s_l their means over all objects of the class in the scene,

    OSIM = Σ_l s_l o_l / Σ_l s_l .

The evidence is stored with the result. An item's result carries its objects as parts, `object_07_x1` and so on (see `as_parts`), which
live and are hidden with its other parts. A page draws them without a network: `objects_of` reads them back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.render import gbvs
from evaluation.metrics.render.detections import (
    LOOKING,
    SIDE,
    Detections,
    Letterbox,
    Looking,
    all_looked_at,
    detections,
    detector_key,
    looked_at,
    reference_looked_at,
)
from evaluation.metrics.result import ItemPartial, MetricResult, Status
from evaluation.metrics.shared import for_all
from evaluation.metrics.spec import PRECISION, MetricSpec, Param, Source
from evaluation.metrics.tolerance import OF_NETWORKS, Tolerance

if TYPE_CHECKING:
    from evaluation.metrics.render.pair import RenderPair
    from evaluation.metrics.shared import Arrays

NOTHING = 1e-12  # a sum of saliencies that is no more weighs nothing
ZERO = 1e-8  # a feature vector that is no longer points nowhere
MAX_KEPT = 100  # objects of one view that are kept as parts; the value counts all
PREFIX = "object_"
FIELDS = ("x1", "y1", "x2", "y2", "confidence", "r", "s", "weight")
RED, ALPHA = (255, 0, 0), 0.4  # of the rectangles over what is hard to recognise


@dataclass(frozen=True)
class SeenObject:
    """One object of one view: its class, its box in pixels of the image and the detector's confidence. `r` is the similarity of
    render and reference there, `s` the saliency, and `weight` its class's in the scene, known after `finish`."""

    label: str
    x1: float
    y1: float
    x2: float
    y2: float
    confidence: float
    r: float
    s: float
    weight: float = 0.0

    @property
    def box(self) -> tuple[float, float, float, float]:
        return self.x1, self.y1, self.x2, self.y2


@dataclass(frozen=True)
class SeenClass:
    """One class in a scene: mean r (o) and mean s of its objects, its share of the weight, how many there are."""

    label: str
    o: float
    s: float
    weight: float
    count: int


@dataclass(frozen=True)
class Scene:
    """OSIM of a scene, and the classes it is made of, heaviest first."""

    value: float
    classes: tuple[SeenClass, ...]


def osim(
    pair: RenderPair,
    weights: str,
    conf: float,
    nms: float,
    class_agnostic: bool,
    feature: str,
    saliency: str,
    gabor_compat: bool,
    low_quality_rule: str,
) -> MetricResult:
    """The objects of one view, as the partial result from which `finish` makes the scene's value.

    A render that is missing, or of another size, is alike nowhere: r = 0. A view without a reference image has nothing
    to look at (not_applicable). The value here is the view's own OSIM, and no score.
    """
    if pair.reference.image is None:
        return MetricResult(None, Status.NOT_APPLICABLE)
    looking = Looking(weights, conf, nms, class_agnostic)
    found = detections(pair, looking)
    kind = "gabor_compat" if gabor_compat and saliency == "gbvs" else saliency
    salient, cells, features = pair.reference_once(
        f"osim {looking.key} {feature} {kind}", lambda: _reference(pair, found, weights, feature, kind)
    )
    unlike = pair.not_alike
    alike = np.zeros(len(found)) if unlike is not None else _alike(pair, found, weights, feature, cells, features)
    return of_view(unlike, zip(found.labels, found.original, found.scores, alike, salient, strict=True))


def ahead(pairs: Sequence[RenderPair], weights: str, conf: float, nms: float, class_agnostic: bool, feature: str, **_: Any) -> None:
    """The detector's features of several pairs' renders together, of those whose reference shows an object."""
    looking = Looking(weights, conf, nms, class_agnostic)
    usable = [pair for pair in pairs if pair.not_alike is None and not pair.preparing and len(detections(pair, looking))]
    for_all(usable, _render_key(weights, feature), lambda some: all_looked_at(weights, [one.pred for one in some], feature, detect=False))


def _render_key(weights: str, level: str) -> tuple[str, str, str]:
    return "render looked at", detector_key(weights), level


def of_view(unlike: MetricResult | None, rows: Iterable[tuple[str, np.ndarray, float, float, float]]) -> MetricResult:
    """The result of a view from its objects (label, box in pixels of the image, confidence, r, s), for `finish`; `unlike` is why the
    render could not be compared, if it could not."""
    objects = [
        SeenObject(label, float(x1), float(y1), float(x2), float(y2), float(score), float(r), float(s))
        for label, (x1, y1, x2, y2), score, r, s in rows
    ]
    partial = {"objects": [[one.label, *one.box, one.confidence, one.r, one.s] for one in objects]}
    value = scene(objects).value if objects else None
    status = Status.NO_OBJECT if not objects else Status.OK if unlike is None else unlike.status
    return MetricResult(value, status, partial=partial)


def finish(items: Sequence[ItemPartial], params: Mapping[str, Any]) -> list[MetricResult]:
    """The value of a scene from its views, the same for each of them; their parts hold what was found on each.

    `no_object` where the reference views show none, `not_applicable` where there are no reference views.
    """
    seen = [[SeenObject(*row) for row in (item.result.partial or {}).get("objects", ())] for item in items]
    every = [one for objects in seen for one in objects]
    if not every:
        looked = any(item.result.partial is not None for item in items)
        status, parts = (Status.NO_OBJECT, as_parts([])) if looked else (Status.NOT_APPLICABLE, {})
        return [MetricResult(None, status, item.result.flags, parts) for item in items]
    found = scene(every)
    weight = {one.label: one.weight for one in found.classes}
    results = []
    for item, objects in zip(items, seen, strict=True):
        flags = (*item.result.flags, "objects_cut") if len(objects) > MAX_KEPT else item.result.flags
        parts = as_parts([replace(one, weight=weight[one.label]) for one in objects])
        results.append(MetricResult(found.value, Status.OK, flags, parts))
    return results


def scene(objects: Iterable[SeenObject]) -> Scene:
    """OSIM of a scene's objects (at least one), in [0, 1]; classes without any saliency between them count alike."""
    classes: dict[str, list[SeenObject]] = {}
    for one in objects:
        classes.setdefault(one.label, []).append(one)
    if not classes:
        raise ValueError("a scene without objects has no OSIM")
    labels = sorted(classes)
    o = np.array([math.fsum(one.r for one in classes[label]) / len(classes[label]) for label in labels])
    s = np.array([math.fsum(one.s for one in classes[label]) / len(classes[label]) for label in labels])
    shares = s / s.sum() if s.sum() > NOTHING else np.full(len(labels), 1 / len(labels))
    rows = [
        SeenClass(label, float(o[n]), float(s[n]), float(shares[n]), len(classes[label]))
        for n, label in sorted(enumerate(labels), key=lambda place: (-shares[place[0]], place[1]))
    ]
    return Scene(min(max(math.fsum(shares * o), 0.0), 1.0), tuple(rows))


def cells_of(boxes: np.ndarray, stride: int, side: int = SIDE) -> np.ndarray:
    """int64[N, 4]: the first and last column and row of cells of boxes x1, y1, x2, y2 in pixels of the letterbox, as
    x1', y1', x2', y2'; both ends belong to the box."""
    return np.minimum(np.floor(boxes / stride), side // stride - 1).astype(np.int64)


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """float64[K]: the cosine of each pair of rows of [K, C]; of two zero vectors it is 1, of one and another 0."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    lengths = np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)
    zero = lengths[0] <= ZERO, lengths[1] <= ZERO
    product = np.einsum("kc,kc->k", a, b) / np.maximum(lengths[0] * lengths[1], ZERO**2)
    return np.where(zero[0] | zero[1], (zero[0] & zero[1]).astype(np.float64), np.clip(product, -1.0, 1.0))


def low_quality(objects: Iterable[SeenObject], value: float) -> list[SeenObject]:
    """The objects that are less alike than the scene is as a whole (rule "below_scene")."""
    return [one for one in objects if one.r < value]


def masked(image: np.ndarray, objects: Iterable[SeenObject]) -> np.ndarray:
    """A copy of uint8[H, W, 3] with the boxes of `objects` under red of opacity 0.4, once where they overlap."""
    height, width = image.shape[:2]
    inside = np.zeros((height, width), dtype=bool)
    for one in objects:
        x1, y1 = max(math.floor(one.x1), 0), max(math.floor(one.y1), 0)
        inside[y1 : min(math.ceil(one.y2), height), x1 : min(math.ceil(one.x2), width)] = True
    found = image.copy()
    found[inside] = np.floor((1 - ALPHA) * image[inside] + ALPHA * np.array(RED) + 0.5).astype(np.uint8)
    return found


def as_parts(objects: Sequence[SeenObject]) -> dict[str, float]:
    """A view's objects as named numbers, the first MAX_KEPT of them, and how many there are (`objects`), with the mean of
    their r and s as `r` and `s`. Of object 7 there are the FIELDS, as `object_07_x1`, and its class, `object_07_is_chair`: 1.
    """
    if not objects:
        return {"objects": 0.0}
    means = {name: math.fsum(getattr(one, name) for one in objects) / len(objects) for name in ("r", "s")}
    parts = {"objects": float(len(objects)), **means}
    for number, one in enumerate(objects[:MAX_KEPT]):
        parts |= {f"{PREFIX}{number:02d}_{name}": float(getattr(one, name)) for name in FIELDS}
        parts[f"{PREFIX}{number:02d}_is_{one.label}"] = 1.0
    return parts


def objects_of(parts: Mapping[str, float]) -> tuple[SeenObject, ...]:
    """The objects that `as_parts` put among an item's parts; names that belong to nothing of the item (NaN) are passed over."""
    found: dict[int, dict[str, Any]] = {}
    for name, value in parts.items():
        number, _, what = name.removeprefix(PREFIX).partition("_")
        if not name.startswith(PREFIX) or math.isnan(value):
            continue
        fields = found.setdefault(int(number), {})
        if what.startswith("is_"):
            fields["label"] = what.removeprefix("is_")
        else:
            fields[what] = float(value)
    return tuple(SeenObject(**found[number]) for number in sorted(found))


def report(views: Mapping[str, Sequence[SeenObject]]) -> dict[str, Any]:
    """A scene's objects by view as plain JSON: its value, its classes, and per object whether it is of low quality."""
    found = scene(one for objects in views.values() for one in objects)
    weight = {one.label: one.weight for one in found.classes}
    return {
        "osim": found.value,
        "classes": [{"class": one.label, "o": one.o, "s": one.s, "weight": one.weight, "count": one.count} for one in found.classes],
        "objects": [
            {
                "view": view,
                "class": one.label,
                "box": list(one.box),
                "confidence": one.confidence,
                "r": one.r,
                "s": one.s,
                "weight": weight[one.label],
                "low_quality": one.r < found.value,
            }
            for view, objects in views.items()
            for one in objects
        ],
    }


def mean_within(values: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """float64[N]: the mean of [H, W] over each box of whole numbers x1, y1, x2, y2, both ends included."""
    return np.array([values[y1 : y2 + 1, x1 : x2 + 1].mean() for x1, y1, x2, y2 in boxes])


def salient_in(pair: RenderPair, boxes: np.ndarray, letterbox: Letterbox, kind: str) -> np.ndarray:
    """float64[N]: the mean saliency of the reference within each of the boxes float64[N, 4], in pixels of the letterbox. `kind` is
    gbvs, gabor_compat, or none: all 0."""
    if kind == "none" or not len(boxes):
        return np.zeros(len(boxes))
    key = ("saliency", kind, letterbox.side)
    image = pair.once(key, lambda: gbvs.saliency(letterbox.scaled(pair.ref), kind == "gabor_compat"))
    return mean_within(image, np.floor(boxes).astype(np.int64))


def _reference(pair: RenderPair, found: Detections, weights: str, level: str, kind: str) -> Arrays:
    """(saliency of each object float64[N]; the cells under any of them int32[K]; the reference's features there float32[K, C])."""
    if not len(found):
        return np.empty(0), np.empty(0, dtype=np.int32), np.empty((0, 0), dtype=np.float32)
    features, _ = reference_looked_at(pair, weights, level)
    covered = np.zeros(features.shape[1:], dtype=bool)
    for x1, y1, x2, y2 in _cells(found, features):
        covered[y1 : y2 + 1, x1 : x2 + 1] = True
    cells = np.flatnonzero(covered)
    return salient_in(pair, found.boxes, found.letterbox, kind), cells.astype(np.int32), np.ascontiguousarray(_rows(features, cells))


def _alike(pair: RenderPair, found: Detections, weights: str, level: str, cells: np.ndarray, features: np.ndarray) -> np.ndarray:
    """r of each object, float64[N]."""
    if not len(found):
        return np.empty(0)
    own, _ = pair.once(_render_key(weights, level), lambda: looked_at(weights, pair.pred, level, detect=False))
    grid = np.zeros(own.shape[1:])
    grid.flat[cells] = cosines(features, _rows(own, cells))
    return mean_within(grid, _cells(found, own))


def _cells(found: Detections, features: np.ndarray) -> np.ndarray:
    """The cells of all boxes at the level that has these features [C, h, w]."""
    return cells_of(found.boxes, found.letterbox.side // features.shape[1], found.letterbox.side)


def _rows(features: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """float32[K, C]: the features [C, h, w] of the given cells, numbered row by row."""
    return features.reshape(len(features), -1)[:, cells].T


_OBJECTS = Tolerance(relative=1e-3, absolute=1e-2)

OSIM = MetricSpec(
    key="osim",
    title="OSIM",
    family="render",
    higher_is_better=True,
    bounds=(0.0, 1.0),
    unit="",
    params=(
        *LOOKING,
        Param(
            "feature",
            "dark5",
            "choice",
            choices=("dark3", "dark4", "dark5", "p3", "p4", "p5"),
            doc="The layer of the detector whose features are compared: dark3 to dark5 are of its backbone, p3 to p5 of its feature "
            "pyramid (strides 8, 16 and 32).",
            source=Source.PAPER,
        ),
        Param(
            "saliency",
            "gbvs",
            "choice",
            choices=("gbvs", "none"),
            doc="Weights of the classes; none: all classes have the same weight.",
            source=Source.PAPER,
        ),
        Param(
            "gabor_compat",
            False,
            "bool",
            doc="Use the orientation filters of the saliency map with the sign error of the common Python port.",
            source=Source.OURS,
        ),
        Param(
            "low_quality_rule",
            "below_scene",
            "choice",
            choices=("below_scene",),
            doc="Which objects are marked as hard to recognise: those with a lower similarity than the whole scene.",
            source=Source.PAPER,
        ),
        PRECISION,
    ),
    worst="0",
    doc="Are the objects of a scene still there? A detector finds objects in the reference views. Within each object's box, the "
    "detector's features of the render are compared with those of the reference. Classes are weighted by the visual saliency of their "
    "objects. If a view is missing, its objects count 0. If the reference views of a scene show no object, the scene has no value.",
    origin=Origin((papers.OSIM,)),
    function=osim,
    ahead=ahead,
    finish=finish,
    formula="Σ s_l o_l / Σ s_l over classes l; o_l: mean over the class's objects of the mean cosine of features in the object's box; s_l: "
    "mean saliency of the objects' boxes",
    weights="yolox",
    # Boxes are in pixels: a side at 0 is as exact as one at 600.
    tolerance=replace(OF_NETWORKS, parts=((f"{PREFIX}*", _OBJECTS), ("objects", _OBJECTS))),
    level="group",
)

PLACE = 70  # in lists of metrics of its kind
SPECS = (OSIM,)
