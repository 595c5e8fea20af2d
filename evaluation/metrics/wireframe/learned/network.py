"""The network of `wf_learned`: features of the picture by a network that was not trained for it, and the trained head on them. PURE."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors import torch as stored_tensors
from torch import Tensor, nn
from torch.nn import functional

from evaluation.networks import weights as stored
from evaluation.networks.backbones import to_tensor
from evaluation.networks.inference import in_batches
from evaluation.networks.load import load
from evaluation.networks.weights import WeightsError

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet
FEATURES_VERSION = 1  # raised whenever a feature can change


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


KNOWN: Mapping[str, Features] = {"dinov2-vitb14": Features("dinov2", "dinov2-vitb14", 1536, _tokens)}


HIDDEN, DROPOUT = 256, 0.2


class Head(nn.Module):
    """g: features float32[..., width] to one number [...], higher where people would rather have it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, HIDDEN), nn.GELU(), nn.Dropout(DROPOUT), nn.Linear(HIDDEN, 1))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x).squeeze(-1)


def pair_loss(winner: Tensor, loser: Tensor) -> Tensor:
    """Mean of −ln σ(g_w − g_l), Bradley and Terry's: P(i before j) = σ(g_i − g_j).

    A pair and the same pair turned around have the same loss, so it makes no difference in which order pairs are given.
    """
    return functional.softplus(loser - winner).mean()


def accuracy(margins: Tensor) -> float:
    """The share of margins g(winner) − g(loser) above 0; those that are 0 count a half. ValueError without any."""
    if not len(margins):
        raise ValueError("there is no pair to judge by")
    return float(((margins > 0).double() + 0.5 * (margins == 0).double()).mean())


def ready(data: bytes, width: int) -> Head:
    """The head whose weights these are (safetensors), for inference; WeightsError where they are of something else."""
    head = Head(width)
    try:
        head.load_state_dict(stored_tensors.load(data))
    except (SafetensorError, RuntimeError) as error:
        raise WeightsError(f"The weights of wf_learned do not fit features of {width} numbers; restore the file or train again.") from error
    if not all(torch.isfinite(value).all() for value in head.state_dict().values()):
        raise WeightsError("The weights of wf_learned hold numbers that are not finite; restore the file or train again.")
    return head.eval().requires_grad_(False)
