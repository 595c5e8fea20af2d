"""The network of LoCaSE: an encoder of patches, and a head that compares two encodings.

Tensors are float32. The attention can be computed as defined or folded. Folded, it never forms keys and values
for each neighbour: q·(W f) = (Wᵀ q)·f and Σ a W f = W Σ a f. Both give the same numbers up to rounding;
folded takes a third of the multiplications.
"""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from evaluation.metrics.mesh.locase.sampling import CHANNELS

RANK, ALPHA = 8, 16.0
WIDTH, HEADS, EMBEDDING = 96, 4, 256
SIZES = (2 * EMBEDDING, 256, 64, 1)  # of the head
GAINS = (50.0, 4.0, 4.0)  # of its layers: with them an untrained network already spreads its scores


class Linear(nn.Linear):
    """A linear layer that can carry a low-rank adapter: W + (alpha / rank) B A, with B = 0 at first."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        self.register_parameter("down", None)
        self.register_parameter("up", None)

    def adapt(self, generator: torch.Generator) -> None:
        """Add an adapter and freeze what is below it."""
        self.requires_grad_(False)
        start = torch.randn(RANK, self.in_features, generator=generator) / math.sqrt(self.in_features)
        self.down: nn.Parameter | None = nn.Parameter(start)
        self.up: nn.Parameter | None = nn.Parameter(torch.zeros(self.out_features, RANK))

    def merge(self) -> None:
        """Make the adapter part of the weight."""
        if self.up is not None:
            with torch.no_grad():
                self.weight.copy_(self.effective)
            self.down = self.up = None

    @property
    def effective(self) -> Tensor:
        """The weight with its adapter."""
        return self.weight if self.up is None or self.down is None else self.weight + (ALPHA / RANK) * self.up @ self.down

    def forward(self, values: Tensor) -> Tensor:
        return functional.linear(values, self.effective, self.bias)


class Attention(nn.Module):
    """Attention from the centre of a patch to its neighbours: features [N, 64, 96] to [N, 96]."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, features: Tensor, folded: bool = True) -> Tensor:
        n, depth = len(features), WIDTH // HEADS
        query = self.query(features[:, 0]).view(n, HEADS, depth) / math.sqrt(depth)
        if folded:
            # The key's bias adds the same to all neighbours and leaves the softmax as it is.
            shape = (HEADS, depth, WIDTH)
            asked = torch.matmul(query.transpose(0, 1), self.key.effective.view(shape)).transpose(0, 1)
            share = torch.softmax(torch.bmm(asked, features.transpose(1, 2)), dim=-1)
            mixed = torch.bmm(share, features).transpose(0, 1)
            mixed = torch.matmul(mixed, self.value.effective.view(shape).transpose(1, 2)).transpose(0, 1)
            mixed = mixed + self.value.bias.view(HEADS, -1)
        else:
            split = (*features.shape[:2], HEADS, depth)
            key, value = self.key(features).view(split).transpose(1, 2), self.value(features).view(split).transpose(1, 2)
            share = torch.softmax(query[:, :, None] @ key.transpose(2, 3), dim=-1)
            mixed = (share @ value)[:, :, 0]
        return self.out(mixed.reshape(n, WIDTH)) + features[:, 0]


class Encoder(nn.Module):
    """Patches [N, 64, 7] -> one description of each vertex [N, 256]."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.first_norm = Linear(CHANNELS, 64), nn.LayerNorm(64)
        self.second, self.second_norm = Linear(64, WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.wide, self.narrow = Linear(WIDTH, 330), Linear(330, EMBEDDING)

    def forward(self, patches: Tensor, folded: bool = True) -> Tensor:
        features = functional.relu(self.first_norm(self.first(patches)))
        features = functional.relu(self.second_norm(self.second(features)))
        return self.narrow(functional.relu(self.wide(self.attention(features, folded))))


class Head(nn.Module):
    """Encodings of the damaged mesh and of the reference [M, 512] -> scores [M] above 1 and at most 5.

    A distance grows with every absolute difference of the two encodings, as no weight on its way is negative; how much each counts
    the reference's encoding may say. The reference itself is at distance 0 and has 5: nothing scores better.
    """

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(2 * EMBEDDING, 256)
        self.weights = nn.ParameterList(nn.Parameter(0.5 * torch.randn(outputs, inputs)) for inputs, outputs in pairwise(SIZES))
        self.thresholds = nn.ParameterList(nn.Parameter(torch.zeros(size)) for size in SIZES[1:-1])
        with torch.no_grad():
            self.gate.weight *= 0.1

    def forward(self, damaged: Tensor, reference: Tensor) -> Tensor:
        gate = 2 * torch.sigmoid(self.gate(reference))
        distance = (damaged - reference).abs()
        for number, (weight, gain) in enumerate(zip(self.weights, GAINS, strict=True)):
            distance = functional.linear(distance, weight.abs() * (gain / weight.shape[1]))
            if number == 0:
                distance = distance * gate
            if number < len(self.thresholds):
                threshold = self.thresholds[number]
                distance = functional.softplus(distance - threshold) - functional.softplus(-threshold)
        return 1 + 8 * torch.sigmoid(-distance[..., 0])


class LoCaSE(nn.Module):
    """Encoder and head; the encoder's weights are shared by the two meshes."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.head = Encoder(), Head()

    def adapt(self, seed: int) -> None:
        """Freeze the encoder and give each of its linear layers an adapter; the head stays free."""
        generator = torch.Generator().manual_seed(seed)
        self.encoder.requires_grad_(False)
        for layer in self._linear():
            layer.adapt(generator)

    def merge(self) -> LoCaSE:
        """Make the adapters part of the weights."""
        for layer in self._linear():
            layer.merge()
        return self

    def _linear(self) -> list[Linear]:
        return [module for module in self.encoder.modules() if isinstance(module, Linear)]


def pooled(described: Tensor, weights: Tensor) -> Tensor:
    """Weighted mean and maximum over the vertices: [..., N, 256], [..., N] -> [..., 512]."""
    return torch.cat([(described * weights[..., None]).sum(dim=-2), described.amax(dim=-2)], dim=-1)
