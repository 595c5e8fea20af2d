"""Mean average precision of a detector, as COCO computes it: 101 recall levels, overlaps of 0.5 to 0.95. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

OVERLAPS = np.linspace(0.5, 0.95, 10)
LEVELS = np.linspace(0, 1, 101)


@dataclass(frozen=True, eq=False)
class Found:
    """Detections of one image: boxes float64[N, 4] (x1, y1, x2, y2), scores float64[N], classes int64[N]."""

    boxes: NDArray[np.floating[Any]]
    scores: NDArray[np.floating[Any]]
    classes: NDArray[np.int64]


def precisions(found: Sequence[Found], wanted: Sequence[NDArray[np.floating[Any]]], classes: int) -> NDArray[np.float64]:
    """float64[classes, 10]: the average precision of each class at each of OVERLAPS; NaN for a class without an object.

    `wanted` are the objects of each image, float[G, 5]: class, x1, y1, x2, y2.
    """
    table = np.empty((classes, len(OVERLAPS)))
    for number in range(classes):
        scores, right, total = [], [], 0
        for image, objects in zip(found, wanted, strict=True):
            own = image.classes == number
            order = np.argsort(-image.scores[own], kind="stable")
            targets = objects[objects[:, 0] == number, 1:]
            scores.append(image.scores[own][order])
            right.append(matched(image.boxes[own][order], targets))
            total += len(targets)
        order = np.argsort(-np.concatenate(scores), kind="stable")
        ordered = np.concatenate(right)[order]
        table[number] = [average_precision(ordered[:, k], total) for k in range(len(OVERLAPS))]
    return table


def average_precision(right: NDArray[np.bool_], wanted: int) -> float:
    """The average precision of detections, right or not in the order of their scores: the mean over LEVELS of recall of the best
    precision at that recall or a larger one."""
    if wanted == 0:
        return float("nan")
    hits = np.cumsum(right)
    precision = np.maximum.accumulate((hits / np.arange(1, len(right) + 1))[::-1])[::-1]
    place = np.searchsorted(hits / wanted, LEVELS - 1e-12, side="left")
    return float(np.where(place < len(right), precision[np.minimum(place, len(right) - 1)], 0.0).mean()) if len(right) else 0.0


def matched(boxes: NDArray[np.floating[Any]], targets: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
    """bool[N, 10]: does each box, best first, take a target that no box before it took, at each overlap?"""
    ious, out = overlaps(boxes, targets), np.zeros((len(boxes), len(OVERLAPS)), dtype=bool)
    for k, least in enumerate(OVERLAPS):
        free = np.ones(len(targets), dtype=bool)
        for n in range(len(boxes)):
            best = np.where(free, ious[n], -1.0)
            if len(targets) and best.max() >= least:
                out[n, k] = True
                free[best.argmax()] = False
    return out


def overlaps(a: NDArray[np.floating[Any]], b: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """float64[N, M]: intersection over union of boxes [N, 4] and [M, 4]."""
    sides = np.minimum(a[:, None, 2:], b[None, :, 2:]) - np.maximum(a[:, None, :2], b[None, :, :2])
    shared = np.prod(np.maximum(sides, 0), axis=2)
    areas = [np.prod(boxes[:, 2:] - boxes[:, :2], axis=1) for boxes in (a, b)]
    return shared / np.maximum(areas[0][:, None] + areas[1][None] - shared, 1e-12)
