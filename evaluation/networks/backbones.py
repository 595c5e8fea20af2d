"""Backbones trained on ImageNet, with the parameter names of their published weights, and colours as they expect them.

SqueezeNet 1.1 (Iandola et al., 2016), AlexNet (Krizhevsky, 2014: "One weird trick") and VGG-16 (Simonyan and Zisserman, 2014): of the
last two the convolutions. Each is a stack of layers that returns the activations at several places of it, not only at its end. PURE.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from evaluation.networks.tiles import Tile


class Taps(nn.Sequential):
    """Layers in order, with `taps`: after how many of them a feature map is handed out, ascending.

    The layers' names in a state dict are their numbers, as in any nn.Sequential.
    """

    def __init__(self, layers: list[nn.Module], taps: tuple[int, ...]) -> None:
        super().__init__(*layers)
        self.taps = taps

    def walk(self, x: Tensor, last: int | None = None, tile: Tile | None = None) -> Iterator[Tensor]:
        """The feature map at each tap, one after the other, so that none need be kept longer than it is looked at.

        `x` is float32[B, C, H, W]. Layers behind tap number `last` (from 0; None: the last one) are not computed. With a
        `tile` only its part of each map is computed and handed out.
        """
        end = self.taps[-1 if last is None else last]
        for count, layer in enumerate(self, start=1):
            x = layer(x) if tile is None else tile.apply(count - 1, layer, x)
            if count in self.taps:
                yield x if tile is None else tile.own(count - 1, x)
            if count == end:
                return

    def forward(self, x: Tensor, last: int | None = None) -> list[Tensor]:
        """All that `walk` gives, as a list."""
        return list(self.walk(x, last))

    def everything(self, x: Tensor) -> Tensor:
        """The output of the last layer."""
        for layer in self:
            x = layer(x)
        return x


SQUEEZENET_TAPS = (2, 5, 8, 10, 11, 12, 13)  # the strides of their maps are 2, 4, 8, 16, 16, 16, 16


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
        self.features = Taps(layers, SQUEEZENET_TAPS)
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Conv2d(512, classes, 1), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1))

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.features.everything(x)).flatten(1)


def _pool() -> nn.Module:
    return nn.MaxPool2d(3, stride=2, ceil_mode=True)


ALEXNET_TAPS = (2, 5, 8, 10, 12)


class AlexNet(nn.Module):
    """`features(x, last=None)`: float32[B, 3, H, W], normalised, to the list of its five feature maps (all after a ReLU).

    The fully connected layers of the published file are not part of it. A side must have at least 31 px.
    """

    def __init__(self) -> None:
        super().__init__()
        layers = [
            nn.Conv2d(3, 64, 11, stride=4, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2),
            nn.Conv2d(64, 192, 5, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, stride=2),
            nn.Conv2d(192, 384, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(384, 256, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(256, 256, 3, padding=1),
            nn.ReLU(inplace=True),
        ]
        self.features = Taps(layers, ALEXNET_TAPS)

    def forward(self, x: Tensor) -> Tensor:
        return self.features.everything(x)


VGG_BLOCKS = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))  # channels and convolutions between two poolings
VGG_TAPS = (4, 9, 16, 23, 30)  # relu1_2, relu2_2, relu3_3, relu4_3, relu5_3


class Vgg16(nn.Module):
    """`features(x, last=None)`: float32[B, 3, H, W], normalised, to the list of its five feature maps (all after a ReLU).

    The fully connected layers of the published file are not part of it. A side must have at least 16 px.
    """

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        channels = 3
        for width, convolutions in VGG_BLOCKS:
            if layers:
                layers.append(nn.MaxPool2d(2, stride=2))
            for _ in range(convolutions):
                layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(inplace=True)]
                channels = width
        self.features = Taps(layers, VGG_TAPS)

    def forward(self, x: Tensor) -> Tensor:
        return self.features.everything(x)


# LPIPS writes it as shift (-0.030, -0.088, -0.188) and scale (0.458, 0.448, 0.450) of images in [-1, 1]; the same numbers.
SHIFT, SCALE = (-0.030, -0.088, -0.188), (0.458, 0.448, 0.450)


def to_tensor(pixels: np.ndarray) -> Tensor:
    """float32[3, H, W] from uint8[H, W, 3] (divided by 255) or floats in [0, 1]."""
    tensor = torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1)))
    return tensor.float() / 255 if tensor.dtype == torch.uint8 else tensor.float()


def imagenet(x: Tensor) -> Tensor:
    """float32[B, 3, H, W] in [0, 1] as the backbones want it: (2x - 1 - shift) / scale in each channel."""
    shift, scale = (torch.tensor(values, device=x.device).view(1, 3, 1, 1) for values in (SHIFT, SCALE))
    return (2 * x - 1 - shift) / scale
