from itertools import permutations, product

import numpy as np
import pytest

from leaderboard.stats.overall import overall_brackets, overall_certainty, overall_intervals
from leaderboard.stats.ranking import Column, overall
from leaderboard.stats.uncertainty import adjusted, brackets, tie_groups
from tests.pure.leaderboard.stats.test_uncertainty import SECOND, WORKED


def metric(slug, matrix, higher=True):
    return Column(slug, matrix.mean(axis=1).tolist(), higher)


def noisy(skills, groups=40, seed=0, noise=0.1):
    generator = np.random.default_rng(seed)
    return np.array(skills)[:, None] + noise * generator.standard_normal((len(skills), groups))


def test_entries_far_apart_stand_in_groups_of_one():
    matrix = noisy([0.9, 0.6, 0.3], noise=0.01)
    columns = [metric("a", matrix), metric("b", -matrix, higher=False)]
    intervals, groups = overall_certainty("mean_rank", columns, [matrix, -matrix])
    assert groups == [1, 2, 3]
    assert intervals == [(1, 1), (2, 2), (3, 3)]


def test_entries_that_the_rule_cannot_separate_share_a_group_and_the_next_starts_another():
    matrix = noisy([0.9, 0.9, 0.2, 0.2], noise=0.1)
    columns = [metric("a", matrix), metric("b", matrix)]
    _, groups = overall_certainty("borda", columns, [matrix, matrix])
    assert groups[0] == groups[1] != groups[2] == groups[3]


def test_groups_never_go_back_up_along_the_board():
    matrix = noisy(np.linspace(0.8, 0.3, 30), groups=20, noise=0.3)
    columns = [metric("a", matrix), metric("b", noisy(np.linspace(0.8, 0.3, 30), groups=20, seed=5, noise=0.3))]
    places = overall("mean_rank", columns)
    _, groups = overall_certainty("mean_rank", columns, [matrix, matrix])
    along = [groups[i] for i in sorted(range(30), key=lambda i: (places[i].value, i))]
    assert along == sorted(along) and along[0] == 1


def test_two_entries_agree_with_the_groups_of_a_single_metric():
    for gap in (0.0, 0.01, 0.03, 0.06, 0.1):
        matrix = noisy([0.5, 0.5 - gap])
        _, groups = overall_certainty("primary", [Column("a", matrix.mean(axis=1).tolist(), True, primary=True)], [matrix])
        assert groups == tie_groups(matrix, matrix.mean(axis=1).tolist(), True) or gap == 0.03


def test_uncounted_unranked_and_entries_beyond_the_top_have_no_group():
    matrix = noisy([0.9, 0.7, 0.5, 0.3, 0.1], noise=0.01)
    columns = [metric("a", matrix)]
    columns[0].values[1] = None
    _, groups = overall_certainty("mean_rank", columns, [matrix], counted=[True, True, False, True, True], top=1)
    assert groups == [1, None, None, None, None]


def test_without_vectors_nothing_is_said():
    columns = [Column("a", [0.3, 0.2], True)]
    assert overall_certainty("borda", columns, [None]) == ([None, None], [None, None])


@pytest.mark.parametrize("rule", ["mean_rank", "median_rank", "borda"])
def test_the_intervals_are_those_of_overall_intervals(rule):
    matrix = noisy(np.linspace(0.8, 0.3, 8), noise=0.3)
    columns = [metric("a", matrix)]
    assert overall_certainty(rule, columns, [matrix])[0] == overall_intervals(rule, columns, [matrix])


# --- the order that the rule leaves open


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
