"""Colours as the networks that were trained on ImageNet expect them. PURE."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

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
