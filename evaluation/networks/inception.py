"""Inception-v3 as the Fréchet inception distance uses it (Szegedy et al., 2015; the 2015-12-05 weights).

Against the classifier of the same name: the average poolings inside the blocks leave the padding out of the mean, the last block pools by
maximum, and images are resized as TensorFlow 1 did. The parameter names are the published file's. Only what leads to the 2048 features of
the third pooling is here; the file's classifier is not read.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

SIDE = 299
CHANNELS = 2048


class Conv(nn.Module):
    """Convolution without bias, batch norm, ReLU."""

    def __init__(self, channels: int, wanted: int, kernel: int | tuple[int, int], stride: int = 1, padding: int | tuple[int, int] = 0):
        super().__init__()
        self.conv = nn.Conv2d(channels, wanted, kernel, stride, padding, bias=False)
        self.bn = nn.BatchNorm2d(wanted, eps=0.001)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu_(self.bn(self.conv(x)))


class A(nn.Module):
    """35×35: 1×1, 5×5, two 3×3 and a pooling, side by side."""

    def __init__(self, channels: int, pooled: int) -> None:
        super().__init__()
        self.branch1x1 = Conv(channels, 64, 1)
        self.branch5x5_1 = Conv(channels, 48, 1)
        self.branch5x5_2 = Conv(48, 64, 5, padding=2)
        self.branch3x3dbl_1 = Conv(channels, 64, 1)
        self.branch3x3dbl_2 = Conv(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = Conv(96, 96, 3, padding=1)
        self.branch_pool = Conv(channels, pooled, 1)

    def forward(self, x: Tensor) -> Tensor:
        five = self.branch5x5_2(self.branch5x5_1(x))
        three = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return torch.cat([self.branch1x1(x), five, three, self.branch_pool(_mean_around(x))], 1)


class B(nn.Module):
    """35×35 to 17×17."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.branch3x3 = Conv(channels, 384, 3, stride=2)
        self.branch3x3dbl_1 = Conv(channels, 64, 1)
        self.branch3x3dbl_2 = Conv(64, 96, 3, padding=1)
        self.branch3x3dbl_3 = Conv(96, 96, 3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        double = self.branch3x3dbl_3(self.branch3x3dbl_2(self.branch3x3dbl_1(x)))
        return torch.cat([self.branch3x3(x), double, F.max_pool2d(x, 3, 2)], 1)


class C(nn.Module):
    """17×17: 1×1, a 7×7 and two 7×7 taken apart into rows and columns, and a pooling."""

    def __init__(self, channels: int, inner: int) -> None:
        super().__init__()
        row, column = partial(Conv, kernel=(1, 7), padding=(0, 3)), partial(Conv, kernel=(7, 1), padding=(3, 0))
        self.branch1x1 = Conv(channels, 192, 1)
        self.branch7x7_1 = Conv(channels, inner, 1)
        self.branch7x7_2 = row(inner, inner)
        self.branch7x7_3 = column(inner, 192)
        self.branch7x7dbl_1 = Conv(channels, inner, 1)
        self.branch7x7dbl_2 = column(inner, inner)
        self.branch7x7dbl_3 = row(inner, inner)
        self.branch7x7dbl_4 = column(inner, inner)
        self.branch7x7dbl_5 = row(inner, 192)
        self.branch_pool = Conv(channels, 192, 1)

    def forward(self, x: Tensor) -> Tensor:
        seven = self.branch7x7_3(self.branch7x7_2(self.branch7x7_1(x)))
        double = self.branch7x7dbl_3(self.branch7x7dbl_2(self.branch7x7dbl_1(x)))
        double = self.branch7x7dbl_5(self.branch7x7dbl_4(double))
        return torch.cat([self.branch1x1(x), seven, double, self.branch_pool(_mean_around(x))], 1)


class D(nn.Module):
    """17×17 to 8×8."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.branch3x3_1 = Conv(channels, 192, 1)
        self.branch3x3_2 = Conv(192, 320, 3, stride=2)
        self.branch7x7x3_1 = Conv(channels, 192, 1)
        self.branch7x7x3_2 = Conv(192, 192, (1, 7), padding=(0, 3))
        self.branch7x7x3_3 = Conv(192, 192, (7, 1), padding=(3, 0))
        self.branch7x7x3_4 = Conv(192, 192, 3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        seven = self.branch7x7x3_4(self.branch7x7x3_3(self.branch7x7x3_2(self.branch7x7x3_1(x))))
        return torch.cat([self.branch3x3_2(self.branch3x3_1(x)), seven, F.max_pool2d(x, 3, 2)], 1)


class E(nn.Module):
    """8×8: 1×1, a 3×3 and two 3×3 fanned out into rows and columns, and a pooling: by mean, or by `maximum`."""

    def __init__(self, channels: int, maximum: bool) -> None:
        super().__init__()
        self.maximum = maximum
        self.branch1x1 = Conv(channels, 320, 1)
        self.branch3x3_1 = Conv(channels, 384, 1)
        self.branch3x3_2a = Conv(384, 384, (1, 3), padding=(0, 1))
        self.branch3x3_2b = Conv(384, 384, (3, 1), padding=(1, 0))
        self.branch3x3dbl_1 = Conv(channels, 448, 1)
        self.branch3x3dbl_2 = Conv(448, 384, 3, padding=1)
        self.branch3x3dbl_3a = Conv(384, 384, (1, 3), padding=(0, 1))
        self.branch3x3dbl_3b = Conv(384, 384, (3, 1), padding=(1, 0))
        self.branch_pool = Conv(channels, 192, 1)

    def forward(self, x: Tensor) -> Tensor:
        three = self.branch3x3_1(x)
        double = self.branch3x3dbl_2(self.branch3x3dbl_1(x))
        pooled = F.max_pool2d(x, 3, 1, padding=1) if self.maximum else _mean_around(x)
        fanned = [self.branch3x3_2a(three), self.branch3x3_2b(three), self.branch3x3dbl_3a(double), self.branch3x3dbl_3b(double)]
        return torch.cat([self.branch1x1(x), *fanned, self.branch_pool(pooled)], 1)


class FidInception(nn.Module):
    """Images float32[B, 3, H, W] with values 0 to 255 to float32[B, 2048]."""

    def __init__(self) -> None:
        super().__init__()
        self.Conv2d_1a_3x3 = Conv(3, 32, 3, stride=2)
        self.Conv2d_2a_3x3 = Conv(32, 32, 3)
        self.Conv2d_2b_3x3 = Conv(32, 64, 3, padding=1)
        self.Conv2d_3b_1x1 = Conv(64, 80, 1)
        self.Conv2d_4a_3x3 = Conv(80, 192, 3)
        self.Mixed_5b, self.Mixed_5c, self.Mixed_5d = A(192, 32), A(256, 64), A(288, 64)
        self.Mixed_6a = B(288)
        self.Mixed_6b, self.Mixed_6c, self.Mixed_6d, self.Mixed_6e = C(768, 128), C(768, 160), C(768, 160), C(768, 192)
        self.Mixed_7a = D(768)
        self.Mixed_7b, self.Mixed_7c = E(1280, maximum=False), E(2048, maximum=True)

    def forward(self, x: Tensor) -> Tensor:
        x = (resize(x, SIDE, SIDE) - 128) / 128
        x = F.max_pool2d(self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x))), 3, 2)
        x = F.max_pool2d(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(x)), 3, 2)
        x = self.Mixed_5d(self.Mixed_5c(self.Mixed_5b(x)))
        x = self.Mixed_6e(self.Mixed_6d(self.Mixed_6c(self.Mixed_6b(self.Mixed_6a(x)))))
        x = self.Mixed_7c(self.Mixed_7b(self.Mixed_7a(x)))
        return x.mean((2, 3))


def resize(x: Tensor, height: int, width: int) -> Tensor:
    """float32[B, C, H, W] resampled bilinearly as TensorFlow 1 did: pixel i of the result lies at i·(H/height) of `x`.

    No half-pixel shift, no antialias; what would lie beyond the last pixel takes the last pixel.
    """
    for dim, size in ((2, height), (3, width)):
        have = x.shape[dim]
        at = torch.arange(size, dtype=torch.float32, device=x.device) * (have / size)
        low = at.floor().long().clamp(max=have - 1)
        shape = [1] * x.ndim
        shape[dim] = size
        part = (at - low).reshape(shape)
        first, second = x.index_select(dim, low), x.index_select(dim, (low + 1).clamp(max=have - 1))
        x = first + (second - first) * part
    return x


def _mean_around(x: Tensor) -> Tensor:
    return F.avg_pool2d(x, 3, 1, padding=1, count_include_pad=False)
