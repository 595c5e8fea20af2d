"""The convolutions of VGG-16 (Simonyan and Zisserman, 2014), with the parameter names of its published ImageNet weights."""

from __future__ import annotations

from torch import Tensor, nn

from evaluation.networks.taps import Taps

BLOCKS = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))  # channels and convolutions between two poolings
TAPS = (4, 9, 16, 23, 30)  # relu1_2, relu2_2, relu3_3, relu4_3, relu5_3
CHANNELS = (64, 128, 256, 512, 512)


class Vgg16(nn.Module):
    """`features(x, last=None)`: float32[B, 3, H, W], normalised, to the list of its five feature maps (all after a ReLU).

    The fully connected layers of the published file are not part of it. A side must have at least 16 px.
    """

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        channels = 3
        for width, convolutions in BLOCKS:
            if layers:
                layers.append(nn.MaxPool2d(2, stride=2))
            for _ in range(convolutions):
                layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(inplace=True)]
                channels = width
        self.features = Taps(layers, TAPS)

    def forward(self, x: Tensor) -> Tensor:
        return self.features.everything(x)
