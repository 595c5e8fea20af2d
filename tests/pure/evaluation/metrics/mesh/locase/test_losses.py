"""Soft ranks against documented values, a brute-force projection and finite differences; the three terms of the loss."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.stats import pearsonr, rankdata, spearmanr

from evaluation.metrics.mesh.locase.losses import loss, plcc, rank_correlation, soft_rank


def real(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize(
    ("values", "strength", "ranks"),
    [
        ((8, 0, 5, 3, 2, 1, 6, 7, 9), 1, (8, 1, 5, 4, 3, 2, 6, 7, 9)),
        ((0.1, 0.2, 0.9), 1, (1.7, 1.8, 2.5)),
        ((0.1, 0.2, 0.9), 0.1, (1, 2, 3)),
        ((1, 1, 3), 1, (1.5, 1.5, 3)),
    ],
)
def test_documented_soft_ranks(values, strength, ranks):
    assert soft_rank(real(*values), strength).tolist() == pytest.approx(ranks)


def test_documented_loss_of_ranks():
    value = 1 - rank_correlation(real(0.1, 0.4, 0.35, 0.8), real(1, 2, 3, 4), 0.01)
    assert float(value) == pytest.approx(0.2)


@pytest.mark.parametrize("seed", range(4))
def test_soft_ranks_are_the_nearest_point_of_the_permutahedron(seed):
    """Its corners are the permutations of 1..4; the nearest point is found by minimising over their mixtures."""
    from itertools import permutations

    values = np.random.default_rng(seed).normal(size=4) * 2
    corners = np.array(list(permutations(range(1, 5))), dtype=float)

    def away(free: np.ndarray) -> float:
        return float(((free @ corners - values) ** 2).sum())

    start = np.full(len(corners), 1 / len(corners))
    found = minimize(
        away, start, jac=lambda free: 2 * corners @ (free @ corners - values), method="SLSQP", bounds=[(0, 1)] * len(corners),
        constraints={"type": "eq", "fun": lambda free: free.sum() - 1}, options={"maxiter": 500, "ftol": 1e-14},
    )  # fmt: skip
    assert soft_rank(real(*values), 1.0).numpy() == pytest.approx(found.x @ corners, abs=1e-4)


def test_gradients_are_those_of_finite_differences():
    values = torch.randn(9, dtype=torch.float64, generator=torch.Generator().manual_seed(3), requires_grad=True)
    assert torch.autograd.gradcheck(lambda v: soft_rank(v, 0.7), values)
    target = real(*range(9))
    assert torch.autograd.gradcheck(lambda v: loss(v, target), values)


def test_weak_strength_gives_hard_ranks_and_spearman():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=40), rng.integers(0, 9, 40).astype(float)
    assert soft_rank(real(*a), 1e-6).numpy() == pytest.approx(rankdata(a))
    assert float(rank_correlation(real(*a), real(*b), 1e-6)) == pytest.approx(spearmanr(a, b).statistic)
    assert float(plcc(real(*a), real(*b))) == pytest.approx(pearsonr(a, b).statistic)


def test_the_loss_by_hand():
    same = real(1, 2, 3, 4)
    assert float(loss(same, same)) == pytest.approx(0, abs=1e-9)
    assert float(loss(same + 1, same)) == pytest.approx(0.5)  # smooth L1 at a distance of 1
    assert float(loss(same + 3, same)) == pytest.approx(2.5)
    assert float(loss(same.flip(0), same, (0, 1, 1))) == pytest.approx(4)


def test_correlations_that_do_not_exist_count_nothing():
    flat = real(2, 2, 2)
    assert float(loss(flat, real(1, 2, 3))) == pytest.approx((0.5 + 0 + 0.5) / 3)
    assert float(loss(real(1, 2, 3), flat)) == pytest.approx((0.5 + 0 + 0.5) / 3)
    assert float(loss(real(3.0), real(3.0))) == 0
