"""LPIPS (Zhang et al., 2018): how far apart two images are in the features of a network; and the same with our own network.

`lpips_alex`, `lpips_vgg` and `lpips_squeeze` use published backbones and the published weights of their channels.
`lpips_plumbline_small` uses the backbone that ships with the project and lets all channels count alike, so its figures
are not comparable with theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics.render import objects
from evaluation.metrics.render.image import resized
from evaluation.metrics.render.masks import inside
from evaluation.metrics.result import MetricResult, Status

if TYPE_CHECKING:
    from torch import Tensor, nn

    from evaluation.metrics.render.pair import RenderPair

SMALLEST = 64  # px on every side
WORST = 1.0
TINY = 1e-10
TILE = 960  # px; an image is cut into parts of at most that many a side, so that VGG-16 takes 1.2 GB for 1920 × 1080 and not 3
TOO_SMALL = MetricResult(None, Status.NOT_APPLICABLE, ("too_small",))


def distance(one: np.ndarray, other: np.ndarray, network: str, weights: str, spatial: bool = False) -> np.ndarray:
    """The distance between two images uint8[H, W, 3] of one size: float32[], or a map float32[H, W] where `spatial`.

    At each tap of the network the features are brought to length 1 along the channels, and their squared difference is
    weighted by channel. A number is the mean over the tap's places, the map a bilinear interpolation of them
    (align_corners=False); the taps are added up. `network` and `weights` name the network for `evaluation.networks.load`.
    """
    import torch

    from evaluation.networks.inference import in_batches
    from evaluation.networks.load import load
    from evaluation.networks.normalise import imagenet, to_tensor

    def compute(device: torch.device, pairs: Tensor) -> Tensor:
        return _compared(load(network, weights, device), imagenet(pairs[:, 0]), imagenet(pairs[:, 1]), spatial)

    (found,) = in_batches(compute, [torch.stack([to_tensor(one), to_tensor(other)])], batch=1)
    return found.numpy()


def _compared(network: nn.Module, one: Tensor, other: Tensor, spatial: bool) -> Tensor:
    """float32[B] or [B, H, W] for normalised images float32[B, 3, H, W]."""
    from torch.nn import functional

    total = 0.0
    for found in _maps(network, one, other):
        if spatial:
            total = total + functional.interpolate(found, size=one.shape[2:], mode="bilinear", align_corners=False)[:, 0]
        else:
            total = total + found.mean((1, 2, 3))
    return total


def _maps(network: nn.Module, one: Tensor, other: Tensor) -> list[Tensor]:
    """float32[B, 1, h, w] for each tap: how far apart the two are at each of its places.

    They go through the network tile by tile, and in each side by side, tap by tap: what a layer needs beside its result
    is then needed for a tile of one of them at a time, and images that are alike take the very same steps.
    """
    import torch
    from torch.nn import functional

    from evaluation.networks.tiles import tiles

    stack, size = network.features, one.shape[2:]
    maps: list[Tensor] = []
    for tile in tiles(stack, *size, longest=TILE):
        pairs = zip(stack.walk(one, tile=tile), stack.walk(other, tile=tile), strict=True)
        for tap, (x, y) in enumerate(pairs):
            squares = _unit(x).sub_(_unit(y)).square_()
            layer = stack.taps[tap] - 1
            if len(maps) <= tap:
                maps.append(torch.empty(len(one), 1, *tile.whole(layer), device=one.device))
            rows, columns = tile.place(layer)
            maps[tap][..., rows, columns] = functional.conv2d(squares, _channel_weights(network, tap, squares.shape[1]).view(1, -1, 1, 1))
    return maps


def _unit(features: Tensor) -> Tensor:
    """The features at each place brought to length 1; x / (‖x‖ + 1e-10)."""
    import torch

    return features / torch.linalg.vector_norm(features, dim=1, keepdim=True).add_(TINY)


def _channel_weights(network: nn.Module, tap: int, channels: int) -> Tensor:
    """float32[channels]: what each channel of a tap counts: as trained, or all alike and so that the distance is at most 1.

    Features behind a ReLU are not negative, so two of length 1 are at most √2 apart: half the squared distance is one
    less their cosine, and the mean over the taps stays in [0, 1].
    """
    import torch

    if hasattr(network, "heads"):
        return network.heads[tap]
    taps = len(network.features.taps)
    return torch.full((channels,), 0.5 / taps, device=next(network.parameters()).device)


def _whole(pair: RenderPair, network: str, weights: str) -> MetricResult:
    if pair.ref is not None and min(pair.ref.shape[:2]) < SMALLEST:
        return TOO_SMALL
    return pair.not_alike or MetricResult(float(distance(pair.pred, pair.ref, network, weights)))


def _masked(pair: RenderPair, network: str, weights: str) -> MetricResult:
    if pair.ref is not None and min(pair.ref.shape[:2]) < SMALLEST:
        return TOO_SMALL
    where = inside(pair)
    if isinstance(where, MetricResult):
        return where
    if pair.not_alike:
        return pair.not_alike
    return MetricResult(float(distance(pair.pred, pair.ref, network, weights, spatial=True)[where].mean(dtype=np.float64)))


def _boxed(pair: RenderPair, network: str, params: dict[str, Any]) -> MetricResult:
    def compare(pred: np.ndarray, ref: np.ndarray) -> float:
        return float(distance(_grown(pred), _grown(ref), network, params["weights"]))

    return objects.each(pair, params, WORST, compare)


def _grown(crop: np.ndarray) -> np.ndarray:
    """A crop whose sides under 64 px are brought to 64 px, bicubically; the network sees nothing smaller."""
    height, width = crop.shape[:2]
    return resized(crop, max(width, SMALLEST), max(height, SMALLEST), "bicubic")


def lpips_alex(pair: RenderPair, weights: str = "v0.1") -> MetricResult:
    """LPIPS v0.1 on AlexNet; `not_applicable` where a side of the image is under 64 px."""
    return _whole(pair, "lpips_alex", weights)


def lpips_vgg(pair: RenderPair, weights: str = "v0.1") -> MetricResult:
    """The same on VGG-16."""
    return _whole(pair, "lpips_vgg", weights)


def lpips_squeeze(pair: RenderPair, weights: str = "v0.1") -> MetricResult:
    """The same on SqueezeNet 1.1."""
    return _whole(pair, "lpips_squeeze", weights)


def lpips_plumbline_small(pair: RenderPair, weights: str = "plumbline-small") -> MetricResult:
    """The distance in the features of our own backbone, all channels alike: in [0, 1], not LPIPS as published."""
    return _whole(pair, "backbone", weights)


def lpips_alex_mask(pair: RenderPair, weights: str = "v0.1") -> MetricResult:
    """The mean of the spatial map over the view's mask."""
    return _masked(pair, "lpips_alex", weights)


def lpips_vgg_mask(pair: RenderPair, weights: str = "v0.1") -> MetricResult:
    """The same on VGG-16."""
    return _masked(pair, "lpips_vgg", weights)


def lpips_squeeze_mask(pair: RenderPair, weights: str = "v0.1") -> MetricResult:
    """The same on SqueezeNet 1.1."""
    return _masked(pair, "lpips_squeeze", weights)


def lpips_plumbline_small_mask(pair: RenderPair, weights: str = "plumbline-small") -> MetricResult:
    """The same on our own backbone."""
    return _masked(pair, "backbone", weights)


def lpips_alex_bbox(pair: RenderPair, **params: Any) -> MetricResult:
    """What is found of each object's box; `objects.mean_of_crops` makes the scene's value of it."""
    return _boxed(pair, "lpips_alex", params)


def lpips_vgg_bbox(pair: RenderPair, **params: Any) -> MetricResult:
    """The same on VGG-16."""
    return _boxed(pair, "lpips_vgg", params)


def lpips_squeeze_bbox(pair: RenderPair, **params: Any) -> MetricResult:
    """The same on SqueezeNet 1.1."""
    return _boxed(pair, "lpips_squeeze", params)


def lpips_plumbline_small_bbox(pair: RenderPair, **params: Any) -> MetricResult:
    """The same on our own backbone."""
    return _boxed(pair, "backbone", params)
