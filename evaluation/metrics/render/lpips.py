"""LPIPS (Zhang et al., 2018): how far apart two images are in the features of a network, with published backbones and the published
weights of their channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.render import variants
from evaluation.metrics.render.image import resized
from evaluation.metrics.render.variants import inside, masked
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.shared import for_all
from evaluation.metrics.spec import PRECISION, MetricSpec, Source, published
from evaluation.metrics.tolerance import OF_NETWORKS

if TYPE_CHECKING:
    from torch import Tensor

    from evaluation.metrics.render.pair import RenderPair

SMALLEST = 64  # px on every side
WORST = 1.0
TINY = 1e-10
TILE = 960  # px; an image is cut into parts of at most that many a side, so that VGG-16 takes 1.2 GB for 1920 × 1080 and not 3
TOO_SMALL = MetricResult(None, Status.NOT_APPLICABLE, ("too_small",))


def distance(one: np.ndarray, other: np.ndarray, network: str, weights: str, spatial: bool = False) -> np.ndarray:
    """The distance between two images uint8[H, W, 3] of one size: float32[], or a map float32[H, W] where `spatial`."""
    return distances([(one, other)], network, weights, spatial)[0]


def distances(pairs: Sequence[tuple[np.ndarray, np.ndarray]], network: str, weights: str, spatial: bool = False) -> list[np.ndarray]:
    """`distance` of each of several pairs of images; pairs of one size that follow one another go through the network together.

    At each tap of the network the features are brought to length 1 along the channels, and their squared difference is
    weighted by channel. A number is the mean over the tap's places, the map a bilinear interpolation of them
    (align_corners=False); the taps are added up. `network` and `weights` name the network for `evaluation.networks.load`.
    """
    import torch

    from evaluation.networks.backbones import imagenet, to_tensor
    from evaluation.networks.inference import in_batches
    from evaluation.networks.load import load

    def compute(device: torch.device, pairs: Tensor) -> Tensor:
        return _compared(load(network, weights, device), imagenet(pairs[:, 0]), imagenet(pairs[:, 1]), spatial)

    found = in_batches(compute, [torch.stack([to_tensor(one), to_tensor(other)]) for one, other in pairs], batch=len(pairs))
    return [one.numpy() for one in found]


def _compared(network: Any, one: Tensor, other: Tensor, spatial: bool) -> Tensor:
    """float32[B] or [B, H, W] for normalised images float32[B, 3, H, W]."""
    import torch
    from torch.nn import functional

    from evaluation.networks.tiles import tiles

    stack: Any = network.features
    height, width = one.shape[2:]
    maps: list[Tensor] = []
    for tile in tiles(stack, stack.taps, height, width, longest=TILE):
        pairs = zip(stack.walk(one, tile=tile), stack.walk(other, tile=tile), strict=True)
        for tap, (x, y) in enumerate(pairs):
            # In float32 whatever the network computes in: the smallest float16 is above TINY.
            squares = _unit(x.float()).sub_(_unit(y.float())).square_()
            layer = stack.taps[tap] - 1
            if len(maps) <= tap:
                maps.append(torch.empty(len(one), 1, *tile.whole(layer), device=one.device))
            rows, columns = tile.place(layer)
            maps[tap][..., rows, columns] = functional.conv2d(squares, network.heads[tap].view(1, -1, 1, 1))
    total: Tensor | float = 0.0
    for found in maps:
        if spatial:
            total = total + functional.interpolate(found, size=one.shape[2:], mode="bilinear", align_corners=False)[:, 0]
        else:
            total = total + found.mean((1, 2, 3))
    assert not isinstance(total, float)  # every network has taps
    return total


def _unit(features: Tensor) -> Tensor:
    """The features at each place brought to length 1; x / (‖x‖ + 1e-10)."""
    import torch

    return features / torch.linalg.vector_norm(features, dim=1, keepdim=True).add_(TINY)


def lpips(pair: RenderPair, network: str, weights: str) -> MetricResult:
    """The distance of the whole image; `not_applicable` where a side of it is under 64 px."""
    if pair.reference.image is not None and min(pair.ref.shape[:2]) < SMALLEST:
        return TOO_SMALL
    if pair.not_alike:
        return pair.not_alike
    return MetricResult(float(pair.once(("lpips", network, weights), lambda: distance(pair.pred, pair.ref, network, weights))))


def ahead(pairs: Sequence[RenderPair], network: str, weights: str) -> None:
    """Distances of several pairs together, of those that have one."""
    usable = [pair for pair in pairs if pair.not_alike is None and min(pair.ref.shape[:2]) >= SMALLEST]
    for_all(usable, ("lpips", network, weights), lambda some: distances([(one.pred, one.ref) for one in some], network, weights))


def lpips_mask(pair: RenderPair, network: str, weights: str) -> MetricResult:
    """The mean of the spatial map over the view's mask."""
    if pair.reference.image is not None and min(pair.ref.shape[:2]) < SMALLEST:
        return TOO_SMALL
    where = inside(pair)
    if isinstance(where, MetricResult):
        return where
    if pair.not_alike:
        return pair.not_alike
    return MetricResult(float(distance(pair.pred, pair.ref, network, weights, spatial=True)[where].mean(dtype=np.float64)))


def lpips_bbox(pair: RenderPair, network: str, weights: str, **looking: Any) -> MetricResult:
    """The values in each object's box; `objects.mean_of_crops` makes the scene's value of it."""

    def compare(pred: np.ndarray, ref: np.ndarray) -> float:
        return float(distance(_grown(pred), _grown(ref), network, weights))

    return variants.each(pair, looking, WORST, compare)


def _grown(crop: np.ndarray) -> np.ndarray:
    """A crop whose sides under 64 px are brought to 64 px, bicubically; the network sees nothing smaller."""
    height, width = crop.shape[:2]
    return resized(crop, max(width, SMALLEST), max(height, SMALLEST), "bicubic")


_LPIPS = MetricSpec(
    key="lpips",
    title="LPIPS",
    family="render",
    higher_is_better=False,
    bounds=(0.0, None),
    unit="",
    params=(),
    worst="1",
    doc="Distance of the two images in the features of a network.",
    origin=Origin((papers.LPIPS,)),
    function=lpips,
    formula="Σ over taps, mean over places: Σ over channels w (x̂ − ŷ)², x̂ and ŷ of length 1 along the channels",
)


def _published(key: str, backbone: str) -> tuple[MetricSpec, ...]:
    """The metric with that network: of the whole image, in the mask and in boxes."""
    spec = replace(
        _LPIPS,
        key=key,
        title=f"LPIPS ({backbone})",
        params=(published(key, "The published weights of the network and of its channels.", Source.CODE), PRECISION),
        doc=f"Distance of the two images in the features of {backbone}, with weights trained on human judgements (v0.1). Images with a "
        "side under 64 px have no value.",
        weights=key,
        tolerance=OF_NETWORKS,
        function=partial(lpips, network=key),
        ahead=partial(ahead, network=key),
    )
    in_mask = masked(spec, partial(lpips_mask, network=key), "as a map over the image, averaged within the mask")
    return spec, in_mask, variants.boxed(spec, partial(lpips_bbox, network=key), " Sides under 64 px are brought to 64 px.")


PLACE = 30  # in lists of metrics of its kind
SPECS = (
    *_published("lpips_alex", "AlexNet"),
    *_published("lpips_vgg", "VGG-16"),
    *_published("lpips_squeeze", "SqueezeNet 1.1"),
)
