"""The objects of a reference image: what a detector finds there, given the picture in a square, and what the organizer marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics.render.image import bilinear
from evaluation.metrics.spec import Param, Source
from evaluation.networks import weights as stored
from evaluation.networks.coco import NAMES

if TYPE_CHECKING:
    from evaluation.metrics.render.pair import RenderPair
    from evaluation.metrics.shared import Arrays


SIDE = 640  # of the square, in pixels
GREY = 114


@dataclass(frozen=True)
class Letterbox:
    """The place of an image of `width` × `height` pixels in the square: scaled by `ratio` to `inner_width` × `inner_height`
    of its `side` × `side`."""

    width: int
    height: int
    ratio: float
    inner_width: int
    inner_height: int
    side: int = SIDE

    @classmethod
    def of(cls, width: int, height: int, side: int = SIDE) -> Letterbox:
        """r = min(side / H, side / W); the scaled sides are rounded down, to at least 1."""
        if min(width, height) < 1:
            raise ValueError(f"an image must have pixels, got {width} × {height}")
        ratio = min(side / height, side / width)
        return cls(width, height, ratio, max(int(width * ratio), 1), max(int(height * ratio), 1), side)

    def scaled(self, pixels: np.ndarray) -> np.ndarray:
        """uint8[inner_height, inner_width, 3] of uint8[height, width, 3], bilinear without antialias."""
        return bilinear(pixels, self.inner_width, self.inner_height)

    def boxes(self, boxes: np.ndarray) -> np.ndarray:
        """float64[N, 4] in pixels of the square, of boxes x1, y1, x2, y2 in pixels of the image."""
        return np.asarray(boxes, dtype=np.float64).reshape(-1, 4) * self.ratio

    def original(self, boxes: np.ndarray) -> np.ndarray:
        """The inverse of `boxes`, no further than the image goes."""
        found = np.asarray(boxes, dtype=np.float64).reshape(-1, 4) / self.ratio
        return np.clip(found, 0.0, [self.width, self.height, self.width, self.height])


def letterboxed(pixels: np.ndarray, side: int = SIDE) -> np.ndarray:
    """float32[3, side, side] of uint8[H, W, 3] in RGB order: channels blue, green, red, values 0 to 255."""
    canvas = np.full((side, side, 3), GREY, dtype=np.uint8)
    inner = Letterbox.of(pixels.shape[1], pixels.shape[0], side).scaled(pixels)
    canvas[: inner.shape[0], : inner.shape[1]] = inner
    return np.ascontiguousarray(canvas[:, :, ::-1].transpose(2, 0, 1), dtype=np.float32)


NETWORK = "yolox"  # in evaluation/networks/weights.py
ROUNDING = 1e-6  # px; a box marked at whole pixels is there again after its way through the letterbox
PUBLISHED = ("yolox-x", "yolox-l", "yolox-m", "yolox-s", "yolox-tiny", "yolox-nano")
# The parameters of who looks for the objects of a reference, in the order of `Looking`.
LOOKING = (
    Param(
        "weights",
        PUBLISHED[0],
        "choice",
        choices=PUBLISHED,
        network="yolox",
        doc="The network that detects objects; the paper uses yolox-x. The networks are downloaded and know the 80 classes of COCO.",
        source=Source.PAPER,
    ),
    Param(
        "conf",
        0.35,
        "float",
        low=0.0,
        high=1.0,
        doc="An object counts if the detector's score (objectness times class probability) is at least this.",
        source=Source.PAPER,
    ),
    Param(
        "nms",
        0.65,
        "float",
        low=0.0,
        high=1.0,
        doc="If boxes overlap by more than this (intersection over union), only the best box is kept. The OSIM paper names no "
        "threshold. YOLOX removes boxes that overlap by more than 0.65 in its evaluations, by more than 0.3 in its demonstration.",
        source=Source.PEER,
    ),
    Param(
        "class_agnostic",
        False,
        "bool",
        doc="Suppress overlapping boxes of different classes too. The OSIM paper does not say; YOLOX's evaluation code does not, its "
        "demonstration does.",
        source=Source.OURS,
    ),
)


@dataclass(frozen=True)
class Looking:
    """The way objects are looked for: the detector, the score from which on they count, and the overlap from which on two are one."""

    weights: str
    conf: float
    nms: float
    class_agnostic: bool

    @property
    def key(self) -> str:
        """Names what is found in a given image."""
        return f"{detector_key(self.weights)} conf={self.conf!r} nms={self.nms!r} agnostic={self.class_agnostic}"


@dataclass(frozen=True)
class Detections:
    """Objects of one image.

    `boxes` float64[N, 4] are x1, y1, x2, y2 in pixels of the letterbox, within the picture and with x1 < x2, y1 < y2.
    `scores` float64[N] are 1 for objects marked by hand. `labels` name the classes.
    """

    boxes: np.ndarray
    scores: np.ndarray
    labels: tuple[str, ...]
    letterbox: Letterbox

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def original(self) -> np.ndarray:
        """float64[N, 4]: the boxes in pixels of the image."""
        return self.letterbox.original(self.boxes)

    @property
    def crops(self) -> np.ndarray:
        """int64[N, 4]: first column, first row, one past the last column, one past the last row, in pixels of the image."""
        return whole_pixels(self.original, self.letterbox.width, self.letterbox.height)


def detections(pair: RenderPair, looking: Looking) -> Detections:
    """The objects of the pair's reference image, most probable first, and then the marked ones.

    The detector runs once per reference. ValueError if the view has no reference image.
    """
    image = pair.reference.image  # not decoded for its size: what is looked for may be known already
    if image is None:
        raise ValueError("objects are detected in reference images, and this view has none")
    letterbox = Letterbox.of(image.width, image.height)
    boxes, scores, classes = pair.reference_once(f"objects {looking.key}", lambda: _found(pair, looking, letterbox))
    regions, labels = marked(pair, letterbox)
    return Detections(
        boxes=np.concatenate([boxes, regions]),
        scores=np.concatenate([scores, np.ones(len(regions))]),
        labels=(*(NAMES[number] for number in classes), *labels),
        letterbox=letterbox,
    )


def looked_at(weights: str, pixels: np.ndarray, level: str, detect: bool) -> tuple[np.ndarray, np.ndarray]:
    """One image uint8[H, W, 3], letterboxed, through the detector, on the best device there is.

    (features float32[C, h, w] of `level`, outputs float32[N, 5 + classes] as `evaluation.networks.yolox.decoded` gives
    them, or none of them where `detect` does not ask).
    """
    return all_looked_at(weights, [pixels], level, detect)[0]


def all_looked_at(weights: str, images: Sequence[np.ndarray], level: str, detect: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """`looked_at` of each of several images, which go through the detector together."""
    import torch

    from evaluation.networks.inference import in_batches
    from evaluation.networks.load import load

    shapes: list[tuple[int, ...]] = []

    def compute(device: torch.device, images: torch.Tensor) -> torch.Tensor:
        network: Any = load(NETWORK, weights, device)
        found = [one for one in network.looked_at(images, level, detect) if one is not None]
        shapes[:] = [tuple(one.shape[1:]) for one in found]
        return torch.cat([one.flatten(1) for one in found], dim=1)

    rows = in_batches(compute, [torch.from_numpy(letterboxed(pixels)) for pixels in images], batch=len(images))
    cut, none = int(np.prod(shapes[0])), np.empty((0, 5), dtype=np.float32)
    return [(row.numpy()[:cut].reshape(shapes[0]), row.numpy()[cut:].reshape(shapes[1]) if detect else none) for row in rows]


def reference_looked_at(pair: RenderPair, weights: str, level: str) -> tuple[np.ndarray, np.ndarray]:
    """`looked_at` for the pair's reference with detection, once for all metrics of the pair that ask for that level."""
    return pair.once(("looked at", weights, level), lambda: looked_at(weights, pair.ref, level, detect=True))


def detector_key(weights: str) -> str:
    """Names a detector, and how large it sees things, exactly."""
    return f"{weights} {stored.digest(NETWORK, weights)} at {SIDE}"


def chosen(outputs: np.ndarray, looking: Looking) -> Arrays:
    """Detections among a detector's outputs [N, 5 + classes], the most probable first: boxes float64[M, 4] (x1, y1, x2, y2), scores
    float64[M] (objectness times class probability), class numbers int32[M].
    """
    values = outputs.astype(np.float64)
    classes = values[:, 5:].argmax(axis=1) if len(values) else np.empty(0, dtype=np.int64)
    scores = values[:, 4] * values[np.arange(len(values)), 5 + classes] if len(values) else np.empty(0)
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] >= looking.conf]
    centres, halves = values[order, :2], values[order, 2:4] / 2
    boxes = np.concatenate([centres - halves, centres + halves], axis=1)
    kept = suppressed(boxes, None if looking.class_agnostic else classes[order], looking.nms)
    return boxes[kept], scores[order][kept], classes[order][kept].astype(np.int32)


def suppressed(boxes: np.ndarray, classes: np.ndarray | None, threshold: float) -> np.ndarray:
    """int64: which of the boxes [N, 4], best first, are left when each removes those after it that overlap it by more
    than `threshold` (intersection over union); boxes of different `classes` leave each other alone."""
    alive = np.ones(len(boxes), dtype=bool)
    areas = np.prod(np.maximum(boxes[:, 2:] - boxes[:, :2], 0), axis=1)
    for n in range(len(boxes)):
        if not alive[n]:
            continue
        rest = n + 1 + np.flatnonzero(alive[n + 1 :])
        if classes is not None:
            rest = rest[classes[rest] == classes[n]]
        sides = np.minimum(boxes[n, 2:], boxes[rest, 2:]) - np.maximum(boxes[n, :2], boxes[rest, :2])
        shared = np.prod(np.maximum(sides, 0), axis=1)
        alive[rest[shared > threshold * (areas[n] + areas[rest] - shared)]] = False
    return np.flatnonzero(alive)


def within(boxes: np.ndarray, letterbox: Letterbox) -> tuple[np.ndarray, np.ndarray]:
    """(boxes [N, 4] clipped to the picture in the letterbox, bool[N]: which of them then still have an inside)."""
    last = [letterbox.inner_width - 1, letterbox.inner_height - 1]
    clipped = np.clip(boxes, 0.0, [*last, *last])
    return clipped, (clipped[:, 2:] > clipped[:, :2]).all(axis=1)


def whole_pixels(boxes: np.ndarray, width: int, height: int) -> np.ndarray:
    """int64[N, 4]: the smallest rectangles of whole pixels around boxes [N, 4], within the image; the ends are exclusive."""
    low, high = np.floor(boxes[:, :2] + ROUNDING), np.ceil(boxes[:, 2:] - ROUNDING)
    return np.clip(np.concatenate([low, high], axis=1), 0, [width, height, width, height]).astype(np.int64)


def marked(pair: RenderPair, letterbox: Letterbox) -> tuple[np.ndarray, tuple[str, ...]]:
    """(boxes float64[N, 4] in pixels of the letterbox, within the picture; labels) of the regions that an organizer marked."""
    given = np.array([[roi.x1, roi.y1, roi.x2, roi.y2] for roi in pair.rois], dtype=np.float64).reshape(-1, 4)
    boxes, inside = within(letterbox.boxes(given), letterbox)
    return boxes[inside], tuple(roi.label for roi, kept in zip(pair.rois, inside, strict=True) if kept)


def _found(pair: RenderPair, looking: Looking, letterbox: Letterbox) -> Arrays:
    _, outputs = reference_looked_at(pair, looking.weights, "dark5")
    boxes, scores, classes = chosen(outputs, looking)
    boxes, inside = within(boxes, letterbox)
    return boxes[inside], scores[inside], classes[inside]
