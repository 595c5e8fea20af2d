"""The in-house detector: YOLOX's pyramid and head on a backbone of SqueezeNet's size. PURE.

It is no published network. Its weights are trained on procedural scenes, and what they are called says so.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from evaluation.networks.yolox import Conv, Yolox

CHANNELS = (48, 96, 128)  # of the pyramid
HIDDEN = 48  # inside the head


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


def build(classes: int) -> Yolox:
    """An untrained detector of this kind; images go in as into the published ones (BGR, 0 to 255)."""
    return Yolox(FireBackbone(), classes, CHANNELS, HIDDEN, blocks=1)


def _pool() -> nn.Module:
    return nn.MaxPool2d(3, stride=2, padding=1)
