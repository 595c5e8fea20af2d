"""Features of a canonical view, by networks that were not trained for it: one vector of numbers. PURE."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from evaluation.networks import weights as stored
from evaluation.networks.inference import in_batches
from evaluation.networks.load import load
from evaluation.networks.normalise import to_tensor
from evaluation.networks.squeezenet import SqueezeNet

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet
VERSION = 1  # raised whenever a feature can change


@dataclass(frozen=True)
class Features:
    """A frozen network: the set of weights, how many numbers it gives, and how they are taken of normalised images [B, 3, S, S]."""

    network: str
    name: str
    width: int
    take: Callable[[Any, Tensor], Tensor]  # of the network, in its own architecture

    @property
    def sha256(self) -> str | None:
        """The digest of its weights, where they are known."""
        return stored.digest(self.network, self.name)

    def of(self, images: Sequence[np.ndarray]) -> np.ndarray:
        """float32[N, width] of images uint8[S, S, 3]. WeightsError where the weights are not here."""

        def compute(device: torch.device, x: Tensor) -> Tensor:
            mean, std = (torch.tensor(values, device=device).view(1, 3, 1, 1) for values in (MEAN, STD))
            return self.take(load(self.network, self.name, device), (x - mean) / std)

        found = in_batches(compute, [to_tensor(image) for image in images], batch=4)
        return torch.stack(found).numpy() if found else np.empty((0, self.width), dtype=np.float32)


def _tokens(network: torch.nn.Module, x: Tensor) -> Tensor:
    """The class token beside the mean of the patches' tokens."""
    tokens = network(x)
    return torch.cat([tokens[:, 0], tokens[:, 1:].mean(dim=1)], dim=1)


def _maps(network: SqueezeNet, x: Tensor) -> Tensor:
    """Mean and maximum over the picture of every channel of every feature map."""
    maps = network.features(x)
    return torch.cat([part for each in maps for part in (each.mean(dim=(2, 3)), each.amax(dim=(2, 3)))], dim=1)


KNOWN: Mapping[str, Features] = {
    "dinov2-vitb14": Features("dinov2", "dinov2-vitb14", 1536, _tokens),
    "plumbline-small": Features("backbone", "plumbline-small", 4480, _maps),
}
