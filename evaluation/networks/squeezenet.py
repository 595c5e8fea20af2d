"""SqueezeNet 1.1 (Iandola et al., 2016), with the parameter names of its published ImageNet weights."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from evaluation.networks.taps import Taps

TAPS = (2, 5, 8, 10, 11, 12, 13)
CHANNELS = (64, 128, 256, 384, 384, 512, 512)  # of the seven feature maps; their strides are 2, 4, 8, 16, 16, 16, 16


class Fire(nn.Module):
    """A 1×1 convolution down to `squeezed` channels, then 1×1 and 3×3 ones side by side, `expanded` channels each."""

    kernel_size, stride, padding = 3, 1, 1  # how far a place of the result looks

    def __init__(self, channels: int, squeezed: int, expanded: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, squeezed, 1)
        self.expand1x1 = nn.Conv2d(squeezed, expanded, 1)
        self.expand3x3 = nn.Conv2d(squeezed, expanded, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu_(self.squeeze(x))
        return torch.relu_(torch.cat([self.expand1x1(x), self.expand3x3(x)], dim=1))


class SqueezeNet(nn.Module):
    """float32[B, 3, H, W], normalised as its weights want it, to logits [B, classes].

    `features(x, last=None)` gives the list of its seven feature maps (all after a ReLU), or those up to number `last`.
    A side must have at least 17 px for all of them.
    """

    def __init__(self, classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        layers = [
            nn.Conv2d(3, 64, 3, stride=2),
            nn.ReLU(inplace=True),
            _pool(),
            Fire(64, 16, 64),
            Fire(128, 16, 64),
            _pool(),
            Fire(128, 32, 128),
            Fire(256, 32, 128),
            _pool(),
            Fire(256, 48, 192),
            Fire(384, 48, 192),
            Fire(384, 64, 256),
            Fire(512, 64, 256),
        ]
        self.features = Taps(layers, TAPS)
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Conv2d(512, classes, 1), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1))

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.features.everything(x)).flatten(1)


def _pool() -> nn.Module:
    return nn.MaxPool2d(3, stride=2, ceil_mode=True)
