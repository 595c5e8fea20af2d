"""The trained part of `wf_learned`: from the features of a view to one number, and what it is trained to do. PURE."""

from __future__ import annotations

import torch
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor, nn
from torch.nn import functional

from evaluation.networks.weights import WeightsError

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
        head.load_state_dict(load(data))
    except (SafetensorError, RuntimeError) as error:
        raise WeightsError(f"The weights of wf_learned do not fit features of {width} numbers; restore the file or train anew.") from error
    if not all(torch.isfinite(value).all() for value in head.state_dict().values()):
        raise WeightsError("The weights of wf_learned hold numbers that are not finite; restore the file or train anew.")
    return head.eval().requires_grad_(False)
