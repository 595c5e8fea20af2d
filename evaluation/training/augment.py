"""Changes to batches of training images: geometry, colours, and the artefacts that renders show. PURE.

Images are float32[B, 3, H, W], 0 to 1, RGB. All randomness comes from the generator that is passed in.
"""

from __future__ import annotations

import io

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional


def cut(images: Tensor, boxes: np.ndarray, size: int, mirrored: np.ndarray, angles: np.ndarray | None = None) -> Tensor:
    """[B, 3, size, size]: of each image the rectangle x1, y1, x2, y2 (pixels; beyond the image it is mirrored), left and right swapped if
    `mirrored`, turned by `angles` (radians) about its middle."""
    height, width = images.shape[2:]
    steps = (torch.arange(size) + 0.5) / size * 2 - 1
    v, u = torch.meshgrid(steps, steps, indexing="ij")
    turn = torch.zeros(len(boxes)) if angles is None else torch.from_numpy(angles).float()
    flip = torch.from_numpy(np.where(mirrored, -1.0, 1.0)).float()
    c, s = torch.cos(turn)[:, None, None], torch.sin(turn)[:, None, None]
    across, down = (c * u - s * v) * flip[:, None, None], s * u + c * v
    box = torch.from_numpy(np.asarray(boxes)).float()
    middle, half = (box[:, :2] + box[:, 2:]) / 2, (box[:, 2:] - box[:, :2]) / 2
    x = (middle[:, 0, None, None] + across * half[:, 0, None, None]) / width * 2 - 1
    y = (middle[:, 1, None, None] + down * half[:, 1, None, None]) / height * 2 - 1
    return functional.grid_sample(images, torch.stack([x, y], -1), padding_mode="reflection", align_corners=False)


def recoloured(images: Tensor, rng: np.random.Generator) -> Tensor:
    """Other exposure, contrast, saturation and white balance for each image; at times grey."""
    n = len(images)

    def drawn(low: float, high: float, columns: int = 1) -> Tensor:
        return torch.from_numpy(rng.uniform(low, high, (n, columns, 1, 1))).float()

    images = images * drawn(0.85, 1.15, 3)
    grey = images.mean(dim=1, keepdim=True)
    share = torch.where(drawn(0, 1) < 0.08, torch.zeros(n, 1, 1, 1), drawn(0.6, 1.4))
    images = grey + (images - grey) * share
    middle = images.mean(dim=(1, 2, 3), keepdim=True)
    images = middle + (images - middle) * drawn(0.65, 1.35) + drawn(-0.12, 0.12)
    return images.clamp(1e-4, 1) ** drawn(0.75, 1.35)


def damaged(images: Tensor, rng: np.random.Generator, share: float = 0.5) -> Tensor:
    """A part of the images gets an artefact: blur, noise, coarse pixels, JPEG, or a few blots of another image ("floaters")."""
    changed = images.clone()
    for number in np.flatnonzero(rng.uniform(size=len(images)) < share):
        one, other = images[number : number + 1], images[(number + 1) % len(images)]
        changed[number] = _ARTEFACTS[int(rng.integers(len(_ARTEFACTS)))](one, other, rng)[0]
    return changed.clamp(0, 1)


def _blurred(one: Tensor, other: Tensor, rng: np.random.Generator) -> Tensor:
    sigma = rng.uniform(0.5, 0.02 * one.shape[-1] + 0.5)
    reach = max(1, int(2.5 * sigma))
    kernel = torch.exp(-(torch.arange(-reach, reach + 1).float() ** 2) / (2 * sigma**2))
    kernel = (kernel / kernel.sum()).expand(3, 1, -1)
    wide = functional.conv2d(functional.pad(one, (reach, reach, 0, 0), mode="replicate"), kernel[:, :, None, :], groups=3)
    return functional.conv2d(functional.pad(wide, (0, 0, reach, reach), mode="replicate"), kernel[:, :, :, None], groups=3)


def _noisy(one: Tensor, other: Tensor, rng: np.random.Generator) -> Tensor:
    return one + torch.from_numpy(rng.normal(0, rng.uniform(0.01, 0.12), one.shape)).float()


def _coarse(one: Tensor, other: Tensor, rng: np.random.Generator) -> Tensor:
    small = functional.interpolate(one, scale_factor=float(rng.uniform(0.25, 0.7)), mode="area")
    return functional.interpolate(small, size=one.shape[-2:], mode="bilinear", align_corners=False)


def _compressed(one: Tensor, other: Tensor, rng: np.random.Generator) -> Tensor:
    pixels = (one[0].permute(1, 2, 0).clamp(0, 1) * 255).round().to(torch.uint8).numpy()
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=int(rng.integers(8, 60)))
    return torch.from_numpy(np.array(Image.open(out))).permute(2, 0, 1)[None].float() / 255


def _blotted(one: Tensor, other: Tensor, rng: np.random.Generator) -> Tensor:
    height, width = one.shape[-2:]
    y, x = torch.meshgrid(torch.arange(height) / height, torch.arange(width) / width, indexing="ij")
    cover = torch.zeros(height, width)
    for _ in range(int(rng.integers(1, 6))):
        cx, cy, wide, high = (*rng.uniform(0, 1, 2), *rng.uniform(0.02, 0.12, 2))
        spot = torch.exp(-(((x - cx) / wide) ** 2) - ((y - cy) / high) ** 2) * rng.uniform(0.4, 1.0)
        cover = torch.maximum(cover, spot)
    return one * (1 - cover) + other.flip(-1) * cover


_ARTEFACTS = (_blurred, _noisy, _coarse, _compressed, _blotted)
