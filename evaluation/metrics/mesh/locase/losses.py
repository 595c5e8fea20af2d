"""The loss: the error, one minus Pearson's correlation, one minus Spearman's with soft ranks."""

from __future__ import annotations

from typing import Any

import torch
from scipy.stats import rankdata
from torch import Tensor
from torch.nn import functional

STRENGTH = 0.1  # of the regularisation of soft ranks, on z-scored predictions
_FLAT = 1e-8


class _SoftRank(torch.autograd.Function):
    """Ranks 1 to n (the largest value has rank n) as the projection of x / strength onto the permutahedron.

    L2-regularised (Blondel et al., 2020). Sorted, the projection is s minus the isotonic fit to s - (n, ..., 1); the
    fit averages over blocks, and so does its derivative.
    """

    @staticmethod
    def forward(ctx: Any, values: Tensor, strength: float) -> Tensor:
        scaled = values.detach().double() / strength
        order = torch.argsort(scaled, descending=True, stable=True)
        descending = scaled[order]
        steps = torch.arange(len(values), 0, -1, dtype=torch.float64, device=values.device)
        blocks = _isotonic_blocks((descending - steps).tolist())
        sizes = torch.tensor([size for _, size in blocks], device=values.device)
        fit = torch.tensor([mean for mean, _ in blocks], dtype=torch.float64, device=values.device).repeat_interleave(sizes)
        ranks = torch.empty_like(scaled)
        ranks[order] = descending - fit
        ctx.order, ctx.sizes, ctx.strength = order, sizes, strength
        return ranks.to(values.dtype)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        sorted_ = gradient.double()[ctx.order]
        block = torch.arange(len(ctx.sizes), device=gradient.device).repeat_interleave(ctx.sizes)
        mean = torch.zeros(len(ctx.sizes), dtype=torch.float64, device=gradient.device).index_add_(0, block, sorted_) / ctx.sizes
        back = torch.empty_like(sorted_)
        back[ctx.order] = (sorted_ - mean[block]) / ctx.strength
        return back.to(gradient.dtype), None


def soft_rank(values: Tensor, strength: float = STRENGTH) -> Tensor:
    """Differentiable ranks [n] of values [n]; hard ranks as the strength goes to 0."""
    return _SoftRank.apply(values, strength)


def plcc(a: Tensor, b: Tensor) -> Tensor | None:
    """Pearson's correlation of [n] and [n]; None where one of them hardly varies."""
    if len(a) < 2 or a.detach().std() < _FLAT or b.detach().std() < _FLAT:
        return None
    a, b = a - a.mean(), b - b.mean()
    return (a * b).sum() / (a.norm() * b.norm())


def rank_correlation(predicted: Tensor, target: Tensor, strength: float = STRENGTH) -> Tensor | None:
    """Spearman's correlation of soft ranks of the z-scored predictions and mid-ranks of the targets, or None as in `plcc`."""
    if len(predicted) < 2 or predicted.detach().std() < _FLAT or target.std() < _FLAT:
        return None
    scored = (predicted - predicted.mean()) / predicted.std()
    ranks = torch.as_tensor(rankdata(target.cpu().numpy()), dtype=predicted.dtype, device=predicted.device)
    return plcc(soft_rank(scored, strength), ranks)


def loss(predicted: Tensor, target: Tensor, shares: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> Tensor:
    """Weighted sum of the three terms; a correlation that does not exist counts nothing."""
    total = shares[0] * functional.smooth_l1_loss(predicted, target, beta=1.0)
    for share, correlation in zip(shares[1:], (plcc(predicted, target), rank_correlation(predicted, target)), strict=True):
        if correlation is not None:
            total = total + share * (1 - correlation)
    return total


def _isotonic_blocks(values: list[float]) -> list[tuple[float, int]]:
    """The non-increasing fit of least squares as (mean, size) of its blocks, by pooling adjacent violators."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        mean, size = value, 1
        while blocks and blocks[-1][0] < mean:
            before, count = blocks.pop()
            mean, size = (before * count + mean * size) / (count + size), count + size
        blocks.append((mean, size))
    return blocks
