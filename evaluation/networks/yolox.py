"""The YOLOX detectors: backbone, feature pyramid, decoupled head; a small one of our own; and the loss they are trained by. PURE.

Z. Ge et al., "YOLOX: Exceeding YOLO Series in 2021" (arXiv 2107.08430). The modules carry the names of the published
implementation, so that its files load as they are; `build` makes the published sizes, and `Yolox` takes any backbone
that yields features at strides 8, 16 and 32. `build_small` makes the in-house detector, which is no published network: the
same pyramid and head on a backbone of SqueezeNet's size, trained on procedural scenes, and what its weights are called says so.

Images go in as BGR, float32[B, 3, H, W] with values 0 to 255, H and W multiples of 32; see `evaluation.metrics.render.detections`.
Objects of an image to train on are float[G, 5]: class, centre x, centre y, width and height in pixels of the input.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

STRIDES = (8, 16, 32)
LEVELS = ("dark3", "dark4", "dark5", "p3", "p4", "p5")  # what `Yolox.features` can return
CHANNELS = (256, 512, 1024)  # of those levels at width 1
HIDDEN = 256  # channels inside the head at width 1
EPS, MOMENTUM = 1e-3, 0.03  # of every batch norm


@dataclass(frozen=True)
class Size:
    """The shape of one published detector: multipliers of depth and width, and whether 3×3 convolutions are depthwise."""

    depth: float
    width: float
    depthwise: bool = False


SIZES: Mapping[str, Size] = MappingProxyType(
    {
        "yolox-nano": Size(0.33, 0.25, depthwise=True),
        "yolox-tiny": Size(0.33, 0.375),
        "yolox-s": Size(0.33, 0.5),
        "yolox-m": Size(0.67, 0.75),
        "yolox-l": Size(1.0, 1.0),
        "yolox-x": Size(1.33, 1.25),
    }
)


class Conv(nn.Module):
    """Convolution without bias that keeps the size (but for the stride), batch norm, SiLU."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, (kernel - 1) // 2, groups=groups, bias=False)
        self.bn = nn.BatchNorm2d(outputs, eps=EPS, momentum=MOMENTUM)

    def forward(self, x: Tensor) -> Tensor:
        return functional.silu(self.bn(self.conv(x)), inplace=True)


class Depthwise(nn.Module):
    """A convolution of each channel by itself, then a 1×1 convolution across them."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1) -> None:
        super().__init__()
        self.dconv = Conv(inputs, inputs, kernel, stride, groups=inputs)
        self.pconv = Conv(inputs, outputs, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.pconv(self.dconv(x))


class Bottleneck(nn.Module):
    """1×1 then 3×3 convolution, added to the input where `shortcut` says so."""

    def __init__(self, channels: int, shortcut: bool, depthwise: bool) -> None:
        super().__init__()
        self.conv1 = Conv(channels, channels, 1)
        self.conv2 = (Depthwise if depthwise else Conv)(channels, channels, 3)
        self.shortcut = shortcut

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv2(self.conv1(x))
        return y + x if self.shortcut else y


class CSPLayer(nn.Module):
    """Half of the channels go through `n` bottlenecks, the other half past them."""

    def __init__(self, inputs: int, outputs: int, n: int, shortcut: bool = True, depthwise: bool = False) -> None:
        super().__init__()
        half = outputs // 2
        self.conv1 = Conv(inputs, half, 1)
        self.conv2 = Conv(inputs, half, 1)
        self.conv3 = Conv(2 * half, outputs, 1)
        self.m = nn.Sequential(*(Bottleneck(half, shortcut, depthwise) for _ in range(n)))

    def forward(self, x: Tensor) -> Tensor:
        return self.conv3(torch.cat((self.m(self.conv1(x)), self.conv2(x)), dim=1))


class Pooling(nn.Module):
    """Spatial pyramid pooling: maxima over windows of 5, 9 and 13 cells beside the cell itself."""

    WINDOWS = (5, 9, 13)

    def __init__(self, channels: int) -> None:
        super().__init__()
        half = channels // 2
        self.conv1 = Conv(channels, half, 1)
        self.conv2 = Conv(half * (1 + len(self.WINDOWS)), channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv1(x)
        pooled = [functional.max_pool2d(x, window, stride=1, padding=window // 2) for window in self.WINDOWS]
        return self.conv2(torch.cat([x, *pooled], dim=1))


class Focus(nn.Module):
    """The four pixels of every 2×2 square as channels (down the columns first), then a 3×3 convolution."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.conv = Conv(12, outputs, 3)

    def forward(self, x: Tensor) -> Tensor:
        corners = (x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2])
        return self.conv(torch.cat(corners, dim=1))


class CSPDarknet(nn.Module):
    """The published backbone. Its `channels` are those of dark3, dark4 and dark5, which it returns in that order."""

    def __init__(self, depth: float = 1.0, width: float = 1.0, depthwise: bool = False) -> None:
        super().__init__()
        base, n = int(width * 64), max(round(depth * 3), 1)
        conv = Depthwise if depthwise else Conv

        def stage(inputs: int, blocks: int) -> list[nn.Module]:
            return [conv(inputs, 2 * inputs, 3, 2), CSPLayer(2 * inputs, 2 * inputs, blocks, depthwise=depthwise)]

        self.stem = Focus(base)
        self.dark2 = nn.Sequential(*stage(base, n))
        self.dark3 = nn.Sequential(*stage(2 * base, 3 * n))
        self.dark4 = nn.Sequential(*stage(4 * base, 3 * n))
        self.dark5 = nn.Sequential(
            conv(8 * base, 16 * base, 3, 2),
            Pooling(16 * base),
            CSPLayer(16 * base, 16 * base, n, shortcut=False, depthwise=depthwise),
        )
        self.channels = (4 * base, 8 * base, 16 * base)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        dark3 = self.dark3(self.dark2(self.stem(x)))
        dark4 = self.dark4(dark3)
        return dark3, dark4, self.dark5(dark4)


class PAFPN(nn.Module):
    """The feature pyramid over a backbone: from coarse to fine, and back.

    `backbone` maps images to (dark3, dark4, dark5) at strides 8, 16, 32 and says in `channels` how many channels those
    have; the pyramid's own levels p3, p4, p5 have `channels` channels.
    """

    def __init__(self, backbone: Any, channels: Sequence[int], blocks: int, depthwise: bool = False) -> None:
        super().__init__()
        conv = Depthwise if depthwise else Conv
        dark3, dark4, dark5 = backbone.channels
        p3, p4, p5 = channels

        def layer(inputs: int, outputs: int) -> CSPLayer:
            return CSPLayer(inputs, outputs, blocks, shortcut=False, depthwise=depthwise)

        self.backbone = backbone
        self.lateral_conv0 = Conv(dark5, p4, 1)
        self.C3_p4 = layer(p4 + dark4, p4)
        self.reduce_conv1 = Conv(p4, p3, 1)
        self.C3_p3 = layer(p3 + dark3, p3)
        self.bu_conv2 = conv(p3, p3, 3, 2)
        self.C3_n3 = layer(2 * p3, p4)
        self.bu_conv1 = conv(p4, p4, 3, 2)
        self.C3_n4 = layer(2 * p4, p5)

    def forward(self, dark3: Tensor, dark4: Tensor, dark5: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        coarse = self.lateral_conv0(dark5)
        middle = self.reduce_conv1(self.C3_p4(torch.cat((_doubled(coarse), dark4), dim=1)))
        p3 = self.C3_p3(torch.cat((_doubled(middle), dark3), dim=1))
        p4 = self.C3_n3(torch.cat((self.bu_conv2(p3), middle), dim=1))
        return p3, p4, self.C3_n4(torch.cat((self.bu_conv1(p4), coarse), dim=1))


class Head(nn.Module):
    """Class, box and objectness of every cell of every level; classes and boxes have branches of their own."""

    def __init__(self, classes: int, channels: Sequence[int], hidden: int, depthwise: bool = False) -> None:
        super().__init__()
        conv = Depthwise if depthwise else Conv

        def branch() -> nn.Sequential:
            return nn.Sequential(conv(hidden, hidden, 3), conv(hidden, hidden, 3))

        self.stems = nn.ModuleList(Conv(inputs, hidden, 1) for inputs in channels)
        self.cls_convs = nn.ModuleList(branch() for _ in channels)
        self.reg_convs = nn.ModuleList(branch() for _ in channels)
        self.cls_preds = nn.ModuleList(nn.Conv2d(hidden, classes, 1) for _ in channels)
        self.reg_preds = nn.ModuleList(nn.Conv2d(hidden, 4, 1) for _ in channels)
        self.obj_preds = nn.ModuleList(nn.Conv2d(hidden, 1, 1) for _ in channels)
        self.set_prior(0.01)

    def set_prior(self, probability: float) -> None:
        """Let an untrained head find every class, and any object, this probable everywhere."""
        for conv in (*self.cls_preds, *self.obj_preds):
            nn.init.constant_(conv.bias, -math.log((1 - probability) / probability))

    def forward(self, levels: Sequence[Tensor]) -> list[Tensor]:
        outputs = []
        for k, level in enumerate(levels):
            x = self.stems[k](level)
            boxes = self.reg_convs[k](x)
            scores = self.cls_preds[k](self.cls_convs[k](x))
            outputs.append(torch.cat((self.reg_preds[k](boxes), self.obj_preds[k](boxes), scores), dim=1))
        return outputs


class Yolox(nn.Module):
    """A detector: `backbone` (any module with `channels` that yields dark3, dark4, dark5), pyramid and head.

    The published names put the backbone inside the pyramid: `backbone.backbone.*`, `backbone.*`, `head.*`.
    """

    def __init__(
        self, backbone: nn.Module, classes: int, channels: Sequence[int], hidden: int, blocks: int, depthwise: bool = False
    ) -> None:
        super().__init__()
        self.backbone = PAFPN(backbone, channels, blocks, depthwise)
        self.head = Head(classes, channels, hidden, depthwise)
        self.classes = classes

    def forward(self, x: Tensor) -> list[Tensor]:
        """The output of the head for images float32[B, 3, H, W] (BGR, 0 to 255): per stride float32[B, 5 + classes, h, w].

        Channels 0 to 3 are the box relative to the cell, 4 the logit of there being an object, then the classes' logits.
        """
        return self.head(self.backbone(*self.backbone.backbone(x)))

    def features(self, x: Tensor, level: str) -> Tensor:
        """float32[B, C, H / stride, W / stride] of the named level, one of LEVELS."""
        return self.looked_at(x, level)[0]

    def looked_at(self, x: Tensor, level: str, detect: bool = False) -> tuple[Tensor, Tensor | None]:
        """(features of `level`, `decoded` outputs where `detect` asks for them), in one pass that goes no further than it must."""
        if level not in LEVELS:
            raise ValueError(f"no level {level!r} of YOLOX; there are: {', '.join(LEVELS)}")
        dark = self.backbone.backbone(x)
        at = LEVELS.index(level)
        if at < len(dark) and not detect:
            return dark[at], None
        pyramid = self.backbone(*dark)
        return (*dark, *pyramid)[at], decoded(self.head(pyramid)) if detect else None


def build(name: str, classes: int = 80) -> Yolox:
    """An untrained detector of a published size, by a name of SIZES; ValueError names those there are."""
    if name not in SIZES:
        raise ValueError(f"no YOLOX of size {name!r}; there are: {', '.join(SIZES)}")
    size = SIZES[name]
    channels = [int(n * size.width) for n in CHANNELS]
    backbone = CSPDarknet(size.depth, size.width, size.depthwise)
    return Yolox(backbone, classes, channels, int(HIDDEN * size.width), round(3 * size.depth), size.depthwise)


def decoded(outputs: Sequence[Tensor]) -> Tensor:
    """float32[B, N, 5 + classes] from the head's outputs: per cell, finest stride first and row by row, the box as centre
    x, y, width and height in pixels of the input, the probability of an object, and that of each class given one."""
    parts = []
    for output, stride in zip(outputs, STRIDES, strict=True):
        height, width = output.shape[-2:]
        flat = output.flatten(2).transpose(1, 2)
        centres = (flat[..., :2] + grid(height, width, flat)) * stride
        parts.append(torch.cat((centres, flat[..., 2:4].exp() * stride, flat[..., 4:].sigmoid()), dim=-1))
    return torch.cat(parts, dim=1)


def grid(height: int, width: int, like: Tensor) -> Tensor:
    """[height · width, 2]: column and row of every cell, row by row, in `like`'s type and place."""
    rows, columns = torch.meshgrid(
        torch.arange(height, dtype=like.dtype, device=like.device), torch.arange(width, dtype=like.dtype, device=like.device), indexing="ij"
    )
    return torch.stack((columns, rows), dim=-1).reshape(-1, 2)


def _doubled(x: Tensor) -> Tensor:
    return functional.interpolate(x, scale_factor=2.0, mode="nearest")


SMALL_CHANNELS = (48, 96, 128)  # of the pyramid
SMALL_HIDDEN = 48  # inside the head


class Fire(nn.Module):
    """SqueezeNet's block with batch norm: down to `squeezed` channels, then 1×1 and 3×3 convolutions side by side."""

    def __init__(self, inputs: int, squeezed: int, outputs: int) -> None:
        super().__init__()
        self.squeeze = Conv(inputs, squeezed, 1)
        self.expand1x1 = Conv(squeezed, outputs // 2, 1)
        self.expand3x3 = Conv(squeezed, outputs // 2, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.squeeze(x)
        return torch.cat((self.expand1x1(x), self.expand3x3(x)), dim=1)


class FireBackbone(nn.Module):
    """SqueezeNet 1.1's blocks, one stride further: images to dark3, dark4, dark5 at strides 8, 16, 32."""

    channels = (256, 512, 512)

    def __init__(self) -> None:
        super().__init__()
        self.stem = Conv(3, 32, 3, stride=2)
        self.dark2 = nn.Sequential(_pool(), Fire(32, 16, 64), Fire(64, 16, 128))
        self.dark3 = nn.Sequential(_pool(), Fire(128, 32, 256), Fire(256, 32, 256))
        self.dark4 = nn.Sequential(_pool(), Fire(256, 48, 384), Fire(384, 48, 384), Fire(384, 64, 512))
        self.dark5 = nn.Sequential(_pool(), Fire(512, 64, 512), Fire(512, 64, 512))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        dark3 = self.dark3(self.dark2(self.stem(x / 255)))
        dark4 = self.dark4(dark3)
        return dark3, dark4, self.dark5(dark4)


def build_small(classes: int) -> Yolox:
    """An untrained detector of this kind; images go in as into the published ones (BGR, 0 to 255)."""
    return Yolox(FireBackbone(), classes, SMALL_CHANNELS, SMALL_HIDDEN, blocks=1)


def _pool() -> nn.Module:
    return nn.MaxPool2d(3, stride=2, padding=1)


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
