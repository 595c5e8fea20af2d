"""The convolutions of AlexNet (Krizhevsky, 2014: "One weird trick"), with the parameter names of its published ImageNet weights."""

from __future__ import annotations

from torch import Tensor, nn

from evaluation.networks.taps import Taps

TAPS = (2, 5, 8, 10, 12)
CHANNELS = (64, 192, 384, 256, 256)


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
        self.features = Taps(layers, TAPS)

    def forward(self, x: Tensor) -> Tensor:
        return self.features.everything(x)
