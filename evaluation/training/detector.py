"""Learning to find the objects of procedural rooms: the in-house detector of the YOLOX family. PURE."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from evaluation.metrics.render.detections import suppressed
from evaluation.networks import yolox
from evaluation.networks.yolox import Yolox, decoded
from evaluation.networks.yolox import loss as yolox_loss
from evaluation.synthetic.objects import KINDS
from evaluation.training.augment import cut, damaged, recoloured
from evaluation.training.precision import OVERLAPS, Found, matched, precisions
from evaluation.training.resumable_run import Plan, generator
from evaluation.training.scenes import Scene

SIZES = (0.75, 0.875, 1.0, 1.125, 1.25)  # of the input in a step, over the plan's size, to whole strides of 32
L1_FROM = 0.85  # of the steps; as in the paper, boxes are refined at the end
MIN_PIXELS = 5  # of an object's side in what the network sees
MIN_LEFT = 0.3  # of an object's box within the cut, for it to be looked for
DAMAGED = 0.25
MIN_SCORE, OVERLAP, MAX_DETECTIONS = 0.01, 0.65, 100  # of the detections that are judged
SURE = 0.35  # the score from which osim takes an object for one


class Finding:
    """The lesson: whole views, nearer and farther, mirrored, recoloured and at times damaged."""

    def __init__(self, scenes: Sequence[Scene], plan: Plan) -> None:
        self.scenes, self.plan = scenes, plan

    def network(self) -> Yolox:
        """Untrained, for the classes of the procedural objects."""
        return yolox.build_small(len(KINDS))

    def loss(self, model: nn.Module, step: int) -> Tensor:
        """YOLOX's loss, with its L1 part towards the end."""
        images, objects = self.drawn(step)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.plan.half):
            outputs = model(images.contiguous(memory_format=torch.channels_last))
        return yolox_loss([one.float() for one in outputs], objects, l1=step >= L1_FROM * self.plan.steps).total

    def drawn(self, step: int) -> tuple[Tensor, list[Tensor]]:
        """Images float32[B, 3, S, S] (BGR, 0 to 255) and the objects of each, float32[G, 5]: class, centre, size."""
        rng, n = generator(self.plan, f"step {step}"), self.plan.batch
        size = round(self.plan.size * SIZES[int(rng.integers(len(SIZES)))] / 32) * 32
        rows, mirrored = rng.integers(len(self.scenes), size=n), rng.uniform(size=n) < 0.5
        images, objects = [], []
        for row, flip in zip(rows, mirrored, strict=True):
            scene = self.scenes[row]
            # The part of a view that is taken: from a half of it on, its aspect within a sixth of the view's.
            side = scene.image.shape[0]
            share = np.clip(rng.uniform(0.5, 1.15) * np.exp(rng.normal(0, 0.08, 2)), 0.4, 1.0) * side
            low = rng.uniform(0, 1, 2) * (side - share)
            window = np.concatenate([low, low + share])
            image = torch.from_numpy(scene.image).permute(2, 0, 1)[None].float() / 255
            images.append(cut(image, window[None], size, np.array([flip])))
            objects.append(torch.from_numpy(_seen(scene.boxes, window, size, bool(flip))).float())
        batch = damaged(recoloured(torch.cat(images), rng), rng, DAMAGED)
        return batch.flip(1) * 255, objects


def _seen(boxes: np.ndarray, window: np.ndarray, size: int, flip: bool) -> np.ndarray:
    """The objects [G, 5] (class, x1, y1, x2, y2) of a view as they lie in the window: class, centre, size."""
    scale = size / (window[2:] - window[:2])
    low, high = (boxes[:, 1:3] - window[:2]) * scale, (boxes[:, 3:5] - window[:2]) * scale
    inner_low, inner_high = np.clip(low, 0, size), np.clip(high, 0, size)
    if flip:
        inner_low, inner_high = inner_low.copy(), inner_high.copy()
        inner_low[:, 0], inner_high[:, 0] = size - inner_high[:, 0], size - inner_low[:, 0]
    sides = inner_high - inner_low
    left = np.prod(sides, axis=1) / np.maximum(np.prod(high - low, axis=1), 1e-9)
    kept = (sides >= MIN_PIXELS).all(axis=1) & (left >= MIN_LEFT)
    return np.concatenate([boxes[:, :1], (inner_low + inner_high) / 2, sides], axis=1)[kept]


@torch.no_grad()
def found(network: Yolox, scene: Scene, size: int, least: float = MIN_SCORE) -> Found:
    """Return what the detector finds in a view scaled to `size`; boxes in pixels of the view. A cell may name several classes."""
    side = scene.image.shape[0]
    image = torch.from_numpy(scene.image).permute(2, 0, 1)[None].float() / 255
    seen = cut(image, np.array([[0, 0, side, side]]), size, np.array([False])).flip(1) * 255
    values = decoded(network.eval()(seen))[0].double().numpy()
    scores = values[:, 4:5] * values[:, 5:]
    cells, classes = np.nonzero(scores >= least)
    order = np.argsort(-scores[cells, classes], kind="stable")[: 10 * MAX_DETECTIONS]
    cells, classes = cells[order], classes[order]
    boxes = np.concatenate([values[cells, :2] - values[cells, 2:4] / 2, values[cells, :2] + values[cells, 2:4] / 2], axis=1)
    kept = suppressed(boxes, classes, OVERLAP)[:MAX_DETECTIONS]
    boxes = np.clip(boxes[kept] * side / size, 0, side)
    return Found(boxes, scores[cells, classes][kept], classes[kept])


def figures(network: Yolox, scenes: Sequence[Scene], size: int, progress: Callable[[], None] | None = None) -> dict[str, object]:
    """mAP at an overlap of 0.5 and over 0.5 to 0.95, and of each class at 0.5, on views scaled to `size`; and with scores of at
    least SURE the number of detections and the shares of them that are right and of the objects that are found."""
    seen = []
    for scene in scenes:
        seen.append(found(network, scene, size))
        if progress is not None:
            progress()
    table = precisions(seen, [scene.boxes for scene in scenes], len(KINDS))
    there = ~np.isnan(table[:, 0])
    objects = int(sum(len(scene.boxes) for scene in scenes))
    # What is left of the detections at a score of SURE, judged at an overlap of 0.5.
    right = count = 0
    for image, scene in zip(seen, scenes, strict=True):
        kept = image.scores >= SURE
        count += int(kept.sum())
        for kind in np.unique(image.classes[kept]):
            own, wanted = kept & (image.classes == kind), scene.boxes[scene.boxes[:, 0] == kind, 1:]
            right += int(matched(image.boxes[own], wanted)[:, 0].sum())
    return {
        "views": len(scenes),
        "objects": objects,
        "size": size,
        "map_50": float(table[there, 0].mean()),
        "map_50_95": float(table[there].mean()),
        "sure": count,
        "sure_precision": right / count if count else None,
        "sure_recall": right / objects if objects else None,
        "by_class_50": {kind: float(table[n, 0]) for n, kind in enumerate(KINDS) if there[n]},
        "overlaps": [float(value) for value in OVERLAPS],
    }
