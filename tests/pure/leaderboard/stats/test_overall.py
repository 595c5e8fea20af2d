from itertools import permutations, product

import numpy as np
import pytest

from leaderboard.stats.overall import overall_brackets
from leaderboard.stats.uncertainty import adjusted, brackets
from tests.pure.leaderboard.stats.test_uncertainty import SECOND, WORKED

BOTH = np.array([list(WORKED.values()), list(SECOND.values())])


def test_hand_worked_by_mean_rank_and_by_weights():
    found = overall_brackets("mean_rank", BOTH, [True, False])
    assert found.ahead.tolist() == [[False] * 3 + [True]] * 3 + [[False] * 4]
    assert found.bracket == (1, 1, 1, 2) and found.rank_interval == ((1, 3), (1, 3), (1, 3), (4, 4))
    weighted = overall_brackets("weighted", BOTH, [True, False], [3, 1])
    assert weighted.ahead[0].tolist() == [False, True, False, True] and not weighted.ahead[1, 2]
    assert overall_brackets("borda", BOTH, [True, False]).ahead.tolist() == found.ahead.tolist()


def test_one_metric_alone_is_that_metrics_board():
    matrix = BOTH[0]
    found, own = overall_brackets("primary", BOTH, [True, False]), brackets(matrix)
    assert (found.bracket, found.loose, found.rank_interval) == (own.bracket, own.loose, own.rank_interval)
    assert overall_brackets("mean_rank", BOTH[:1], [True]).bracket == own.bracket
    many = np.random.default_rng(1).normal(size=(130, 8)) * 0.2 + np.linspace(1, 0, 130)[:, None]  # more than are tested of several metrics
    found, own = overall_brackets("primary", many[None], [True]), brackets(many)
    assert len(own.tested) == 130 and (found.bracket, found.rank_interval) == (own.bracket, own.rank_interval)


@pytest.mark.parametrize("rule", ["mean_rank", "median_rank", "borda", "weighted"])
def test_ahead_holds_in_every_order_of_the_open_pairs(rule):
    """All orders that agree with the sure pairs are tried; with a mean rank the bound is sharp."""
    rng = np.random.default_rng(5)
    samples = rng.normal(size=(2, 4, 12)) * 0.2 + np.array([0.9, 0.55, 0.4, 0.0])[None, :, None]
    weights = [2.0, 1.0]
    found = overall_brackets(rule, samples, [True, True], weights)
    sure = (adjusted(samples) <= 0.05) & (samples.mean(2)[:, :, None] > samples.mean(2)[:, None, :])
    possible = [
        [order for order in permutations(range(4)) if all(order.index(i) < order.index(j) for i, j in zip(*np.nonzero(one), strict=True))]
        for one in sure
    ]
    always = np.ones((4, 4), dtype=bool)
    for orders in product(*possible):
        ranks = np.array([[order.index(i) + 1 for i in range(4)] for order in orders], dtype=float)
        share = weights if rule == "weighted" else None
        points = np.median(ranks, axis=0) if rule == "median_rank" else np.average(ranks, axis=0, weights=share)
        always &= points[:, None] < points[None, :]
    assert (found.ahead <= always).all()
    if rule != "median_rank":
        assert (found.ahead == always).all()


def test_a_metric_without_values_per_group_is_taken_as_it_stands():
    whole = np.repeat(np.array([[3.0, 1.0, 2.0, 0.0]]).T, 8, axis=1)
    found = overall_brackets("mean_rank", np.stack([whole, whole]), [True, True], fixed=(0, 1))
    assert found.bracket == (1, 3, 2, 4) and found.rank_interval == ((1, 1), (3, 3), (2, 2), (4, 4))


def test_rounding_puts_no_entry_ahead():
    rng = np.random.default_rng(0)
    samples = rng.normal(0, 1, (3, 2, 8))
    samples[0] = rng.normal([[1.0], [0.0]], 0.01, (2, 8))  # sure in the first metric, open in the others
    for weights in ([8, 1, 7], [0.8, 0.1, 0.7], [8e-15, 1e-15, 7e-15]):  # as much for the first entry as can be against it
        assert not overall_brackets("weighted", samples, [True] * 3, weights).ahead.any()
    assert overall_brackets("weighted", samples, [True] * 3, [9e-15, 1e-15, 7e-15]).bracket == (1, 2)
    equal = np.full((1, 2, 1), 0.3)
    equal[0, 1] = 0.1 + 0.2
    assert overall_brackets("mean_rank", equal, [False], fixed=[0]).bracket == (1, 1)


def test_entries_that_lack_a_metric_take_no_part_and_few_groups_say_nothing():
    lacking = BOTH.copy()
    lacking[1, 3] = np.nan
    found = overall_brackets("mean_rank", lacking, [True, False])
    assert found.bracket[3] is None and found.rank_interval[3] is None and found.bracket[0] == 1
    assert not any(overall_brackets("mean_rank", BOTH[:, :, :5], [True, False]).bracket)
    with pytest.raises(ValueError, match="ranking rule"):
        overall_brackets("best", BOTH, [True, False])


def test_equal_entries_are_never_put_in_order_by_many_metrics():
    rng = np.random.default_rng(1)
    wrong = sum(overall_brackets("mean_rank", rng.normal(size=(4, 6, 12)), [True] * 4).ahead.any() for _ in range(30))
    assert wrong <= 3


def test_groups_are_those_that_all_have_in_every_metric():
    rng = np.random.default_rng(6)
    samples = rng.normal(size=(2, 4, 10)) * 0.2 + np.array([3.0, 2.0, 1.0, 0.0])[None, :, None]
    samples[0, 0, 8], samples[1, 2, 9] = np.nan, np.nan
    whole = overall_brackets("mean_rank", samples[:, :, :8], [True, True])
    assert overall_brackets("mean_rank", samples, [True, True]).bracket == whole.bracket == (1, 2, 3, 4)
    samples[0, 1, 2:] = np.nan  # too few are left for all
    assert overall_brackets("mean_rank", samples, [True, True]).bracket == (None,) * 4
