"""The training of a YOLOX detector: its loss, and the assignment of cells to objects (SimOTA). PURE.

YOLOX, arXiv 2107.08430, §2.1. Objects of an image are float[G, 5]: class, centre x, centre y, width and height in pixels
of the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from evaluation.networks.yolox import STRIDES, grid

RADIUS = 1.5  # a cell may answer for an object whose centre is no further from its own, in cells and along each axis
CANDIDATES = 10  # the best cells whose overlaps say how many answer for an object
IOU_WEIGHT, IOU_COST, FAR_COST = 5.0, 3.0, 1e6


@dataclass(frozen=True)
class Loss:
    """`total` is what is minimised: the sum of the others, each over the number of cells that answer for an object."""

    total: Tensor
    iou: Tensor
    objectness: Tensor
    classes: Tensor
    l1: Tensor
    cells: int


@dataclass(frozen=True)
class Cells:
    """All cells of all strides, finest first: column and row float[N, 2], stride float[N, 1]."""

    places: Tensor
    strides: Tensor

    @property
    def centres(self) -> Tensor:
        """float[N, 2], in pixels of the input."""
        return (self.places + 0.5) * self.strides


@dataclass(frozen=True)
class Assignment:
    """The cells that answer for an object: bool[N], and for those the object's index and the overlap with it, [P]."""

    cells: Tensor
    objects: Tensor
    ious: Tensor


def loss(outputs: Sequence[Tensor], objects: Sequence[Tensor], l1: bool = False) -> Loss:
    """The loss of the head's raw `outputs` for a batch whose images hold `objects`.

    total = 5 Σ (1 − IoU²) + Σ BCE(objectness) + Σ BCE(classes, one-hot · IoU) (+ Σ |box − its target| where `l1`, as in
    the last epochs of the paper), each divided by the number of cells that answer for an object, or 1.
    """
    flat = torch.cat([output.flatten(2).transpose(1, 2) for output in outputs], dim=1)
    cells = _cells(outputs)
    boxes = torch.cat(((flat[..., :2] + cells.places) * cells.strides, flat[..., 2:4].exp() * cells.strides), dim=-1)
    classes = flat.shape[-1] - 5
    answered, wanted_classes, wanted_boxes, wanted_raw = [], [], [], []
    for image, found in enumerate(objects):
        assignment = assign(found, boxes[image], flat[image, :, 4], flat[image, :, 5:], cells)
        answered.append(assignment.cells)
        matched = found[assignment.objects]
        one_hot = functional.one_hot(matched[:, 0].long(), classes)
        wanted_classes.append(one_hot * assignment.ious[:, None])
        wanted_boxes.append(matched[:, 1:])
        wanted_raw.append(_raw(matched[:, 1:], Cells(cells.places[assignment.cells], cells.strides[assignment.cells])))
    chosen = torch.stack(answered)
    count = int(chosen.sum())
    over = max(count, 1)
    iou = IOU_WEIGHT * (1 - _iou(boxes[chosen], torch.cat(wanted_boxes)) ** 2).sum() / over
    objectness = _entropy(flat[..., 4], chosen.to(flat.dtype)) / over
    named = _entropy(flat[..., 5:][chosen], torch.cat(wanted_classes).to(flat.dtype)) / over
    absolute = (flat[..., :4][chosen] - torch.cat(wanted_raw)).abs().sum() / over if l1 else flat.new_zeros(())
    return Loss(iou + objectness + named + absolute, iou, objectness, named, absolute, count)


@torch.no_grad()
def assign(objects: Tensor, boxes: Tensor, objectness: Tensor, classes: Tensor, cells: Cells) -> Assignment:
    """SimOTA for one image.

    `objects` [G, 5]; `boxes` [N, 4] as centre and size in pixels, `objectness` [N] and `classes` [N, C] as logits. Only
    cells within RADIUS of some object's centre take part. An object takes its cheapest cells, as many as its best
    CANDIDATES overlaps add up to (at least one); a cell wanted by several answers for the one it is cheapest for.
    """
    distance = (cells.centres[None] - objects[:, None, 1:3]).abs()
    near = (distance < RADIUS * cells.strides).all(dim=-1)
    taking_part = near.any(dim=0)
    nobody = Assignment(torch.zeros_like(taking_part), objects.new_zeros(0, dtype=torch.long), boxes.new_zeros(0))
    if not taking_part.any():
        return nobody
    ious = _iou(objects[:, None, 1:], boxes[None, taking_part])
    cost = _class_cost(objects[:, 0].long(), objectness[taking_part], classes[taking_part])
    cost = cost - IOU_COST * torch.log(ious + 1e-8) + FAR_COST * ~near[:, taking_part]
    best = ious.topk(min(CANDIDATES, ious.shape[1]), dim=1).values
    wanted = best.sum(dim=1).int().clamp(min=1)
    order = cost.argsort(dim=1, stable=True).argsort(dim=1)
    taken = order < wanted[:, None]
    contested = taken.sum(dim=0) > 1
    cheapest = cost[:, contested].argmin(dim=0)
    taken[:, contested] = functional.one_hot(cheapest, len(objects)).T.bool()
    answering = taken.any(dim=0)
    matched = taken[:, answering].int().argmax(dim=0)
    chosen = taking_part.clone()
    chosen[taking_part] = answering
    return Assignment(chosen, matched, ious[:, answering].gather(0, matched[None])[0])


def _class_cost(wanted: Tensor, objectness: Tensor, classes: Tensor) -> Tensor:
    """[G, M]: binary cross entropy of √(class · objectness) of each cell against each object's class, over all classes."""
    scores = (classes.float().sigmoid() * objectness.float().sigmoid()[:, None]).sqrt()
    yes = -scores.log().clamp(min=-100)
    no = -(1 - scores).log().clamp(min=-100)
    return no.sum(dim=1)[None] + (yes - no).T[wanted]


def _cells(outputs: Sequence[Tensor]) -> Cells:
    places = [grid(output.shape[-2], output.shape[-1], output) for output in outputs]
    strides = [place.new_full((len(place), 1), stride) for place, stride in zip(places, STRIDES, strict=True)]
    return Cells(torch.cat(places), torch.cat(strides))


def _raw(boxes: Tensor, cells: Cells) -> Tensor:
    """The output of the head for it to be decoded as `boxes`."""
    return torch.cat((boxes[:, :2] / cells.strides - cells.places, torch.log(boxes[:, 2:] / cells.strides + 1e-8)), dim=1)


def _iou(a: Tensor, b: Tensor) -> Tensor:
    """Intersection over union of boxes given as centre and size, with broadcasting."""
    low = torch.maximum(a[..., :2] - a[..., 2:] / 2, b[..., :2] - b[..., 2:] / 2)
    high = torch.minimum(a[..., :2] + a[..., 2:] / 2, b[..., :2] + b[..., 2:] / 2)
    shared = (high - low).clamp(min=0).prod(dim=-1)
    return shared / (a[..., 2:].prod(dim=-1) + b[..., 2:].prod(dim=-1) - shared + 1e-16)


def _entropy(logits: Tensor, wanted: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(logits, wanted, reduction="sum")
