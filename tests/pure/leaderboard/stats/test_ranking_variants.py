import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import spearmanr

from leaderboard.stats.ranking import Column, overall
from leaderboard.stats.ranking_variants import centre, clusters, complete, flips, kendall, matrix, pearson, variants
from tests.support.examples import examples

quick = examples(60)
levels = st.lists(st.lists(st.integers(-3, 3).map(float), min_size=7, max_size=7), min_size=2, max_size=5)


def columns_of(**values):
    return [Column(slug, list(row), True, 1.0, index == 0) for index, (slug, row) in enumerate(values.items())]


def all_of(columns):
    return np.ones(len(columns[0].values), bool)


# --- worked by hand


def test_tau_and_rho_of_four_entries_with_one_pair_turned_round():
    found = matrix(columns_of(a=[4, 3, 2, 1], b=[4, 3, 1, 2]), np.ones(4, bool))
    assert found.tau[0, 1] == pytest.approx((5 - 1) / 6)
    assert found.rho[0, 1] == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert found.tau[0, 0] == found.rho[1, 1] == 1


def test_tau_b_of_ties_divides_by_the_untied_pairs_of_each_side():
    # a ties the first two, b ties none: five pairs are untied in a, six in b, and all five agree.
    found = matrix(columns_of(a=[2, 2, 1, 0], b=[4, 3, 2, 1]), np.ones(4, bool))
    assert found.tau[0, 1] == pytest.approx(5 / math.sqrt(5 * 6))


def test_direction_is_a_matter_of_better_not_of_larger():
    lower = Column("error", [0.1, 0.2, 0.3], False)
    assert matrix([Column("score", [3, 2, 1], True), lower], np.ones(3, bool)).tau[0, 1] == 1


def test_values_that_differ_by_rounding_are_ties_as_on_the_board():
    found = matrix(columns_of(a=[1.0, 1.0 + 1e-15, 0], b=[2, 1, 0]), np.ones(3, bool))
    assert found.tau[0, 1] == pytest.approx(2 / math.sqrt(2 * 3))


def test_a_metric_that_ties_all_entries_agrees_with_nothing():
    found = matrix(columns_of(a=[1, 1, 1], b=[3, 2, 1], c=[3, 2, 1]), np.ones(3, bool))
    assert np.isnan(found.tau[0]).all() and found.tau[1, 2] == 1
    assert found.groups == ((0,), (1, 2))


@pytest.mark.parametrize(("k", "n"), [(0, 0), (0, 3), (2, 0)])
def test_without_columns_or_without_entries_there_is_nothing_to_agree_on(k, n):
    found = matrix([Column(f"metric{number}", [1.0] * n, True) for number in range(k)], np.ones(n, bool))
    assert found.tau.shape == found.rho.shape == (k, k) and np.isnan(found.tau).all()
    assert sorted(index for group in found.groups for index in group) == list(range(k))


def test_entries_that_lack_a_value_or_do_not_count_are_not_compared():
    columns = columns_of(a=[1, None, 3, 4], b=[1, 2, math.nan, 4])
    assert complete(columns, [True, True, True, True]).tolist() == [True, False, False, True]
    assert complete(columns, [True, True, True, False]).tolist() == [True, False, False, False]


def test_groups_stand_side_by_side_with_those_they_agree_with_most():
    tau = np.array(
        [
            [1.0, 0.1, 0.9, 0.5],
            [0.1, 1.0, 0.2, 0.3],
            [0.9, 0.2, 1.0, 0.5],
            [0.5, 0.3, 0.5, 1.0],
        ]
    )
    assert clusters(tau) == ((0, 2), (3,), (1,))
    assert clusters(tau, together=0.5) == ((0, 2, 3), (1,))
    assert clusters(tau, together=-1) == ((0, 2, 3, 1),)
    assert clusters(np.ones((1, 1))) == ((0,),) and clusters(np.ones((0, 0))) == ()


def test_a_group_is_called_by_the_metric_nearest_to_the_others():
    tau = np.array([[1.0, 0.8, 0.7], [0.8, 1.0, 0.9], [0.7, 0.9, 1.0]])
    assert centre(tau, (0, 1, 2)) == 1 and centre(tau, (0, 2)) == 0


# --- ways to rank

THREE = {"a": [3, 2, 1], "b": [3, 1, 2], "c": [1, 2, 3]}
# ranks: a 1 2 3, b 1 3 2, c 3 2 1; means 5/3, 7/3, 2 -> 1, 3, 2


def test_other_rules_single_metrics_and_leaving_one_out():
    columns = columns_of(**THREE)
    found = {
        (variant.kind, variant.title): variant
        for variant in variants("mean_rank", columns, ["a", "b", "c"], all_of(columns), ["A", "B", "C"])
    }
    assert list(found) == [
        ("board", "The board"),
        ("rule", "Median rank"),
        ("rule", "Borda count"),
        ("metric", "A"),
        ("metric", "B"),
        ("metric", "C"),
        ("without", "A"),
        ("without", "B"),
        ("without", "C"),
    ]
    ranks = {key: variant.ranks for key, variant in found.items()}
    assert ranks["board", "The board"] == (1, 3, 2) == ranks["rule", "Borda count"]
    assert ranks["rule", "Median rank"] == (1, 2, 2)
    assert ranks["metric", "C"] == (3, 2, 1)
    assert ranks["without", "C"] == (1, 2, 2) and ranks["without", "A"] == (2, 3, 1) and ranks["without", "B"] == (1, 1, 1)
    only_c = found["metric", "C"]
    assert (only_c.moved, only_c.flipped, only_c.tau) == (3, 2, pytest.approx(-1 / 3))
    # All in one place: nothing is turned round, and there is no order to agree with.
    level = found["without", "B"]
    assert (level.moved, level.flipped) == (2, 0) and math.isnan(level.tau)


def test_where_one_metric_ranks_the_others_are_held_against_it():
    columns = columns_of(**THREE)
    found = variants("primary", columns, ["a"], all_of(columns), ["A", "B", "C"])
    assert [(variant.kind, variant.title) for variant in found][:4] == [
        ("board", "The board"),
        ("rule", "Mean rank"),
        ("rule", "Median rank"),
        ("rule", "Borda count"),
    ]
    assert ("metric", "A") not in [(variant.kind, variant.title) for variant in found]
    assert found[0].ranks == (1, 2, 3) and found[1].ranks == (1, 3, 2)


def test_weights_are_a_way_of_their_own_only_where_they_differ():
    even = columns_of(**THREE)
    uneven = [Column(c.slug, c.values, True, weight, c.primary) for c, weight in zip(even, (5, 1, 0), strict=True)]
    titles = [variant.title for variant in variants("mean_rank", uneven, ["a", "b", "c"], all_of(even), ["A", "B", "C"])]
    assert "Weighted mean rank" in titles
    assert "Weighted mean rank" not in [
        variant.title for variant in variants("mean_rank", even, ["a", "b", "c"], all_of(even), ["A", "B", "C"])
    ]


def test_a_board_of_one_metric_has_no_other_way_and_one_of_two_leaves_none_out():
    one = columns_of(a=[1, 2, 3])
    assert [variant.kind for variant in variants("mean_rank", one, ["a"], all_of(one), ["A"])] == ["board", "metric"]
    two = columns_of(a=[1, 2, 3], b=[3, 2, 1])
    assert "without" not in [variant.kind for variant in variants("mean_rank", two, ["a", "b"], all_of(two), ["A", "B"])]


def test_pairs_that_turn_round_name_their_ways_highest_first():
    columns = columns_of(**THREE)
    found = variants("mean_rank", columns, ["a", "b", "c"], all_of(columns), ["A", "B", "C"])
    pairs, n = flips(found, 10)
    # The board: 0, 2, 1. Entry 2 stands above 0 by C alone and without A; entry 1 above 2 by A alone; above 0 by C alone.
    assert [(pair.above, pair.below, [found[variant].title for variant in pair.variants]) for pair in pairs] == [
        (0, 2, ["C", "A"]),
        (0, 1, ["C"]),
        (2, 1, ["A"]),
    ]
    assert n == 3 and flips(found, 1)[0] == pairs[:1] and flips(found, 1)[1] == 3


def test_entries_that_are_not_compared_have_no_rank_and_turn_nothing():
    columns = columns_of(a=[9, 3, 2, None], b=[9, 2, 3, 1])
    used = np.array([False, True, True, False])
    found = variants("mean_rank", columns, ["a", "b"], used, ["A", "B"])
    assert [variant for variant in found if not (variant.ranks[0] is None and variant.ranks[3] is None)] == []
    assert [variant.ranks[1:3] for variant in found if variant.kind == "metric"] == [(1, 2), (2, 1)]
    assert flips(found, 10) == ([], 0)  # the board ties the two


# --- against scipy, and what always holds


def tau_b(a, b) -> float:
    """By its definition, pair by pair."""
    pairs = [(np.sign(a[i] - a[j]), np.sign(b[i] - b[j])) for i in range(len(a)) for j in range(i)]
    return float(sum(x * y for x, y in pairs) / math.sqrt(sum(x != 0 for x, _ in pairs) * sum(y != 0 for _, y in pairs)))


@given(levels)
@quick
def test_coefficients_are_those_of_their_definitions(rows):
    columns = [Column(str(index), row, True) for index, row in enumerate(rows)]
    found = matrix(columns, np.ones(7, bool))
    for i, a in enumerate(rows):
        for j, b in enumerate(rows):
            if len(set(a)) > 1 and len(set(b)) > 1:
                assert found.tau[i, j] == pytest.approx(tau_b(a, b), abs=1e-12)
                assert found.rho[i, j] == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)
            else:
                assert math.isnan(found.tau[i, j]) and math.isnan(found.rho[i, j])


def test_no_columns_and_no_entries_have_no_coefficients():
    assert kendall(np.empty((0, 5))).shape == pearson(np.empty((0, 5))).shape == (0, 0)
    for few in (np.empty((2, 0)), np.ones((2, 1))):
        assert np.isnan(kendall(few)).all() and np.isnan(pearson(few)).all()


@given(st.integers(0, 10_000), st.integers(2, 9), st.sampled_from([0.2, 0.5, 0.7]))
@quick
def test_groups_are_scipys_average_linkage(seed, k, together):
    rng = np.random.default_rng(seed)
    tau = kendall(rng.normal(size=(k, 12)) + 2 * np.random.default_rng(seed + 1).normal(size=12))
    # Taus over twelve entries are multiples of 1/66, and of equal ones either may be joined first: here none are equal.
    shake = np.triu(rng.uniform(-1e-6, 0, (k, k)), 1)
    tau = tau + shake + shake.T
    tree = linkage(squareform(1 - tau, checks=False), "average")
    labels = fcluster(tree, 1 - together, "distance")
    expected = {frozenset(np.flatnonzero(labels == label).tolist()) for label in set(labels)}
    found = clusters(tau, together)
    assert {frozenset(group) for group in found} == expected
    assert sorted(index for group in found for index in group) == list(range(k))


@given(levels)
@quick
def test_the_boards_own_order_is_that_of_the_board_and_turns_nothing(rows):
    columns = [Column(str(index), row, index % 2 == 0) for index, row in enumerate(rows)]
    slugs = [column.slug for column in columns]
    found = variants("mean_rank", columns, slugs, all_of(columns), slugs)
    assert list(found[0].ranks) == [place.rank for place in overall("mean_rank", columns)]
    assert (found[0].moved, found[0].flipped) == (0, 0)
    pairs, n = flips(found, 10**6)
    assert n == len(pairs) <= 21
    assert sum(len(pair.variants) for pair in pairs) == sum(variant.flipped for variant in found)
