"""The YOLOX detectors: backbone, feature pyramid, decoupled head. PURE.

Z. Ge et al., "YOLOX: Exceeding YOLO Series in 2021" (arXiv 2107.08430). The modules carry the names of the published
implementation, so that its files load as they are; `build` makes the published sizes.

Images go in as BGR, float32[B, 3, H, W] with values 0 to 255, H and W multiples of 32; see `evaluation.metrics.render.detections`.
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
    """Convolution without bias that keeps the size (except for the stride), batch norm, SiLU."""

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
    """The published backbone. Its `channels` are for dark3, dark4 and dark5, which it returns in that order."""

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
    """float32[B, N, 5 + classes] from the head's outputs. Cells are listed row by row, finest stride first. Each has its box (centre x, y,
    width and height in pixels of the input), the probability of an object, and of each class given an object."""
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
