"""EfficientNet-Lite0, and its features at places of a picture. PURE.

The network is by Tan and Le, "EfficientNet" (2019), in the variant for phones: ReLU6, without squeeze and excitation. Its parameters
have the names of the published file. Blocks are numbered from 0; the signed numbers behind block 2, 4 and 10 are the features, of
stride 4, 8 and 16. A convolution of stride 2 pads one more behind than before, so feature j of stride s has its centre at pixel
s·j + s − 1, not at s·j + s/2.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

# Of the blocks in a row: how many, kernel, stride of the first, how much wider they are inside, channels of the result.
STAGES = ((1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320))
STEM, HEAD, CLASSES = 32, 1280, 1000
EPSILON = 1e-3  # of batch norms
TAPS = {4: 2, 8: 4, 16: 10}  # stride of features -> the block that precedes them
CHANNELS = {4: 24, 8: 40, 16: 112}
MIDDLE, SCALE = 127.0, 128.0
MARGIN = 32  # px that a picture is extended by, and what its sides become a multiple of
TINY = 1e-10


class Convolution(nn.Conv2d):
    """A convolution without a bias, padded so that stride 1 keeps the size and stride 2 halves it, with one more pixel behind."""

    def __init__(self, channels: int, width: int, kernel: int, stride: int = 1, groups: int = 1) -> None:
        super().__init__(channels, width, kernel, stride, 0 if stride == 2 else kernel // 2, groups=groups, bias=False)
        self.before = (kernel - 2) // 2

    def forward(self, x: Tensor) -> Tensor:
        if self.stride[0] == 2:
            x = functional.pad(x, (self.before, self.before + 1) * 2)
        return super().forward(x)


class Block(nn.Module):
    """An inverted bottleneck: wider by a 1×1 convolution, one per channel, narrower by a 1×1 convolution without an activation."""

    def __init__(self, channels: int, width: int, kernel: int, stride: int, wider: int) -> None:
        super().__init__()
        inside = channels * wider
        if wider > 1:
            self._expand_conv = Convolution(channels, inside, 1)
            self._bn0 = nn.BatchNorm2d(inside, EPSILON)
        self._depthwise_conv = Convolution(inside, inside, kernel, stride, groups=inside)
        self._bn1 = nn.BatchNorm2d(inside, EPSILON)
        self._project_conv = Convolution(inside, width, 1)
        self._bn2 = nn.BatchNorm2d(width, EPSILON)
        self.adds = stride == 1 and channels == width

    def forward(self, x: Tensor) -> Tensor:
        inner = functional.relu6(self._bn0(self._expand_conv(x))) if hasattr(self, "_expand_conv") else x
        inner = functional.relu6(self._bn1(self._depthwise_conv(inner)))
        inner = self._bn2(self._project_conv(inner))
        return inner + x if self.adds else inner


class Lite0(nn.Module):
    """Pictures float32[B, 3, H, W] from 0 to 255, with sides that are multiples of 32, to logits [B, 1000] of the classes of ImageNet."""

    def __init__(self) -> None:
        super().__init__()
        self._conv_stem = Convolution(3, STEM, 3, 2)
        self._bn0 = nn.BatchNorm2d(STEM, EPSILON)
        blocks: list[nn.Module] = []
        channels = STEM
        for count, kernel, stride, wider, width in STAGES:
            for number in range(count):
                blocks.append(Block(channels, width, kernel, stride if number == 0 else 1, wider))
                channels = width
        self._blocks = nn.ModuleList(blocks)
        self._conv_head = Convolution(channels, HEAD, 1)
        self._bn1 = nn.BatchNorm2d(HEAD, EPSILON)
        self._fc = nn.Linear(HEAD, CLASSES)

    def behind(self, x: Tensor, blocks: Sequence[int]) -> list[Tensor]:
        """The numbers behind each of these blocks, which ascend; blocks after the last of them are not computed."""
        x = functional.relu6(self._bn0(self._conv_stem((x - MIDDLE) / SCALE)))
        found = []
        for number, block in enumerate(self._blocks[: blocks[-1] + 1]):
            x = block(x)
            if number in blocks:
                found.append(x)
        return found

    def forward(self, x: Tensor) -> Tensor:
        (x,) = self.behind(x, (len(self._blocks) - 1,))
        return self._fc(functional.relu6(self._bn1(self._conv_head(x))).mean((2, 3)))


def extended(x: Tensor) -> Tensor:
    """Pictures [B, 3, H, W], whose sides have at least 64 px, by their mirror image: 32 px before, at least 32 behind, up to a multiple
    of 32."""
    behind = [MARGIN + -side % MARGIN for side in x.shape[2:]]
    return functional.pad(x, (MARGIN, behind[1], MARGIN, behind[0]), mode="reflect")


def maps(network: Lite0, x: Tensor, strides: Sequence[int]) -> list[Tensor]:
    """The features of extended pictures at each of these ascending strides, in float32: [B, C, (H + 64 …) / s, (W + 64 …) / s]."""
    return [found.float() for found in network.behind(extended(x), [TAPS[stride] for stride in strides])]


def dense(network: Lite0, x: Tensor, strides: Sequence[int] = tuple(TAPS)) -> list[Tensor]:
    """The features of pictures float32[B, 3, H, W] whose centre lies in the picture, for each stride s: [B, C, H // s, W // s]."""
    found = []
    for stride, whole in zip(strides, maps(network, x, strides), strict=True):
        rows, columns = (slice(MARGIN // stride, MARGIN // stride + side // stride) for side in x.shape[2:])
        found.append(whole[:, :, rows, columns])
    return found


def at_centres(whole: Tensor, stride: int, cells: tuple[int, int], size: int, first: int = 0) -> Tensor:
    """A map [B, C, h, w] of that stride, which begins with feature `first` of the extended picture, read bilinearly at the centres of
    `cells` (rows, columns) of `size` × `size` px: [B, C, rows, columns]. Beyond its edge it is as at its edge."""
    weights = []
    for count, side in zip(cells, whole.shape[2:], strict=True):
        place = (torch.arange(count, device=whole.device) * size + (size - 1) / 2 + MARGIN - (stride - 1)) / stride - first
        place = place.clamp(0, side - 1)
        weights.append((1 - (place[:, None] - torch.arange(side, device=whole.device)).abs()).clamp(min=0))
    down, across = weights
    return down @ (whole @ across.T)


def unit(features: Tensor) -> Tensor:
    """Features [B, C, …] brought to length 1 along their channels: f / (‖f‖ + 1e-10)."""
    return features / (torch.linalg.vector_norm(features, dim=1, keepdim=True) + TINY)
