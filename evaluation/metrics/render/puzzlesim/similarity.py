"""Images to the similarity map: features of a backbone, the best match of each, the layers' sum."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from evaluation.metrics.render.puzzlesim.bank import FLOAT, Collector, InMemory, Layer
from evaluation.metrics.render.puzzlesim.matching import Limits, best_match, normalized, screening, walk
from evaluation.networks.backbones import imagenet, to_tensor
from evaluation.networks.inference import exact
from evaluation.networks.precision import FLOAT32, current

LAYERS = (2, 3, 4)
WEIGHTS = (0.67, 0.20, 0.13)
SMALLEST = 32  # px; below, the backbones have no feature left in the last layer
_ON_CARD = 8  # images at a time


@dataclass(frozen=True)
class Budget:
    """The memory that a computation may hold: `features` bytes of the reference (more lie in a temporary file), `limits` of the
    products. Neither changes a number by more than the rounding of sums."""

    features: int = 512 << 20
    limits: Limits = field(default_factory=Limits)

    def on(self, device: str) -> int:
        """Bytes of features that may be held there: a graphics card takes them into a third of its free memory."""
        return max(self.features, torch.cuda.mem_get_info()[0] // 3) if device == "cuda" else self.features


@dataclass(eq=False)
class Scene:
    """The clean views of a scene as a backbone sees them at one size: what a map is computed against.

    `layers` are the features of LAYERS, `size` is (width, height), `kind` the type to screen in or None for every product.
    """

    network: nn.Module
    layers: tuple[Layer, ...]
    size: tuple[int, int]
    device: str = "cpu"
    kind: torch.dtype | None = None
    limits: Limits = field(default_factory=Limits)

    def map(self, pixels: np.ndarray) -> np.ndarray:
        """float32[H, W] in [0, 1], up to 1e-6: the similarity of each place of uint8[H, W, 3] (or floats in [0, 1]).

        Each layer's maxima, times its weight, are upsampled bilinearly with corners aligned, and added up. In half precision the
        network alone computes: what it gives is matched in float32.
        """
        with exact(self.device):
            seen = features(self.network, [pixels], self.size, self.device)
        with exact(self.device, "tf32" if current() == "tf32" else FLOAT32):
            total = torch.zeros(pixels.shape[:2], device=self.device)
            for layer, found, weight in zip(self.layers, seen, WEIGHTS, strict=True):
                height, width, channels = found.shape[1:]
                best = best_match(layer, found.view(-1, channels), self.kind, self.limits).view(1, 1, height, width)
                total += functional.interpolate(best * weight, pixels.shape[:2], mode="bilinear", align_corners=True)[0, 0]
            return total.cpu().numpy()


def scene(
    network: nn.Module,
    images: Iterable[np.ndarray],
    size: tuple[int, int],
    device: str = "cpu",
    screen: bool = True,
    budget: Budget = Budget(),
) -> Scene:
    """The scene of clean views uint8[H, W, 3], of which there must be one (ValueError).

    Without `screen` every product is computed in float32, for comparison.
    """
    return of_collectors(network, collect(network, images, size, device), size, device, screen, budget)


def weight(collectors: Sequence[Collector]) -> int:
    """The bytes of the collected features."""
    return sum(one.rows * one.channels * FLOAT for one in collectors)


def of_collectors(
    network: nn.Module,
    collectors: Sequence[Collector],
    size: tuple[int, int],
    device: str = "cpu",
    screen: bool = True,
    budget: Budget = Budget(),
) -> Scene:
    """The scene of collected features: in memory where the budget allows it, else they stay in their files."""
    if weight(collectors) > budget.on(device):
        layers: tuple[Layer, ...] = tuple(one.layer(device) for one in collectors)
        return Scene(network, layers, size, device, screening(device) if screen else None, budget.limits)
    return from_arrays(network, [one.array() for one in collectors], size, device, screen, budget)


def from_arrays(
    network: nn.Module,
    arrays: Sequence[np.ndarray],
    size: tuple[int, int],
    device: str = "cpu",
    screen: bool = True,
    budget: Budget = Budget(),
) -> Scene:
    """The scene of features that were collected before: an array float32[R, C] for each of LAYERS."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the arrays may be read-only; nothing writes to them
        tensors = [torch.from_numpy(array).to(device) for array in arrays]
    keep = sum(array.nbytes for array in arrays) <= budget.on(device)
    layers = tuple(InMemory(tensor, keep) for tensor in tensors)
    return Scene(network, layers, size, device, screening(device) if screen else None, budget.limits)


def collect(network: nn.Module, images: Iterable[np.ndarray], size: tuple[int, int], device: str = "cpu") -> list[Collector]:
    """The features of all views, each different vector once, in unnamed temporary files."""
    collectors: list[Collector] = []
    batch: list[np.ndarray] = []

    def take() -> None:
        with exact(device):
            for place, found in enumerate(features(network, batch, size, device)):
                if len(collectors) <= place:
                    collectors.append(Collector(found.shape[-1]))
                collectors[place].add(found.reshape(-1, found.shape[-1]))
        batch.clear()

    for image in images:
        batch.append(image)
        if len(batch) == (1 if device == "cpu" else _ON_CARD):
            take()
    if batch:
        take()
    if not collectors:
        raise ValueError("a scene needs at least one clean view")
    return collectors


def features(network: Any, images: Sequence[np.ndarray], size: tuple[int, int], device: str = "cpu") -> list[Tensor]:
    """float32[B, h, w, C] for each of LAYERS: unit vectors of the images at that size (bilinear with antialias)."""
    found: list[list[Tensor]] = [[] for _ in LAYERS]

    def step(start: int, stop: int) -> None:
        width, height = size
        tensors = [to_tensor(image).to(device) for image in images[start:stop]]
        for n, image in enumerate(tensors):
            if image.shape[1:] != (height, width):
                sized = functional.interpolate(image[None], (height, width), mode="bilinear", align_corners=False, antialias=True)
                tensors[n] = sized[0]
        inputs = torch.stack(tensors)
        taken = []
        for place, tap in enumerate(network.features.walk(imagenet(inputs), last=LAYERS[-1])):
            if place in LAYERS:
                taken.append(normalized(tap.permute(0, 2, 3, 1).float().contiguous()))
        for kept, tap in zip(found, taken, strict=True):
            kept.append(tap)

    walk(len(images), len(images), step, smallest=1)
    return [torch.cat(kept) for kept in found]
