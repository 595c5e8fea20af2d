import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from leaderboard.stats import subsample_stability
from leaderboard.stats.subsample_stability import curve, curves, tau_b
from leaderboard.stats.votes import canonical
from tests.support.examples import examples
from tests.support.leaderboard.stats.ballots import simulated_votes


@examples(40)
@given(st.integers(0, 10_000))
def test_tau_is_scipys_over_the_methods_that_both_have(seed):
    rng = np.random.default_rng(seed)
    rates = rng.integers(0, 5, (6, 8)) / 5
    rates[rng.random(rates.shape) < 0.2] = np.nan
    full = rng.integers(0, 6, 8) / 6
    for row, found in zip(rates, tau_b(rates, full), strict=True):
        known = ~np.isnan(row)
        expected = kendalltau(row[known], full[known]).statistic if known.sum() > 1 else np.nan
        assert found == pytest.approx(expected, nan_ok=True)


def test_the_whole_agrees_with_itself_and_more_is_never_wider_at_the_end():
    for found in curves(canonical(simulated_votes(9, 6, 6, noise=1.0)), resamples=60):
        assert found.sizes[-1] == {"raters": 9, "samples": 6, "comparisons": 9 * 6 * 15}[found.resource]
        assert (found.mean[-1], found.low[-1], found.high[-1]) == pytest.approx((1, 1, 1))
        assert found.low[0] < found.low[-1]
        assert [
            (low, mean, high) for low, mean, high in zip(found.low, found.mean, found.high, strict=True) if not low <= mean <= high
        ] == []


def test_enough_is_the_first_size_from_which_every_larger_one_holds():
    assert subsample_stability._enough((1, 2, 3, 4), (0.96, 0.9, 0.95, 1.0)) == 3
    assert subsample_stability._enough((1, 2), (0.96, 0.9)) is None
    assert subsample_stability._enough((1, 2), (1.0, None)) is None


def test_clear_differences_need_few_votes_and_noise_needs_many():
    clear = curve(canonical(simulated_votes(8, 4, 4, noise=0.05)), "raters", 80)
    noisy = curve(canonical(simulated_votes(8, 4, 4, noise=4.0)), "raters", 80)
    assert clear.mean[0] > noisy.mean[0]
    assert noisy.enough is None or clear.enough is None or clear.enough <= noisy.enough


def test_parts_are_drawn_without_replacement():
    votes = canonical(simulated_votes(5, 3, 4))
    wins = np.zeros((4, 4))
    for a, b, verdict in zip(votes.a, votes.b, votes.verdict, strict=True):
        wins[a, b] += (1 - verdict) / 2
        wins[b, a] += (1 + verdict) / 2
    for resource in subsample_stability.RESOURCES:
        n, draw = subsample_stability._drawer(votes, resource)
        points, met = draw(n, 4, np.random.default_rng(0))
        assert np.array_equal(points, np.repeat(wins.sum(axis=1)[None], 4, axis=0)), resource
        assert np.array_equal(met, np.repeat((wins + wins.T).sum(axis=1)[None], 4, axis=0)), resource
    assert (draw(2, 4, np.random.default_rng(0))[0].sum(axis=1) == 2 * len(votes) / n).all()  # samples are asked about equally often
    n, draw = subsample_stability._drawer(votes, "comparisons")
    points, met = draw(7, 4, np.random.default_rng(0))
    assert (points.sum(axis=1) == 7).all() and (met.sum(axis=1) == 14).all()


def test_the_same_seed_gives_the_same_curve():
    votes = canonical(simulated_votes(5, 3, 4))
    assert curve(votes, "comparisons", 30, 1) == curve(votes, "comparisons", 30, 1) != curve(votes, "comparisons", 30, 2)
