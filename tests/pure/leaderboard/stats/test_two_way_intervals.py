"""Intervals over crossed clusters: the worked example, the ends, and what has to hold whatever the answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats import two_way_intervals
from leaderboard.stats.states import Key, Reason, State
from leaderboard.stats.two_way_intervals import Clusters
from tests.support.examples import examples
from tests.support.leaderboard.reasons import few_items, few_raters

RATER, SAMPLE = (axis.ravel() for axis in np.indices((4, 4)))
CREDIT = np.array([[1, 1, 1, 1], [1, 0.5, 1, 1], [0, 0, 1, 0], [0, 0.5, 0, 0]], dtype=float).ravel()


def test_the_worked_example():
    value, u = two_way_intervals.ratio(CREDIT, np.ones(16))
    variance = Clusters(RATER, SAMPLE).variance(u)
    assert value == 0.5625 and variance.total == variance.rater
    assert [float(variance.rater), float(variance.sample), float(variance.cell)] == pytest.approx(
        [0.0481771, 0.0039063, 0.0143229], abs=1e-6
    )
    assert float(variance.df) == pytest.approx(2.947890, abs=1e-6)
    found = two_way_intervals.share_interval(value, np.sqrt(variance.total), variance.df)
    assert found == pytest.approx((0.0681329, 0.9576437), abs=1e-6)


def test_too_few_of_either_have_a_reason_and_no_interval():
    value, u = two_way_intervals.ratio(CREDIT, np.ones(16))
    found = two_way_intervals.figure(value, u, Clusters(RATER, SAMPLE), np.ones(16))
    assert (found.value, found.low, found.high) == (0.5625, None, None)
    assert (found.state, found.reason, found.shown) == (State.TOO_FEW, few_raters(4), False)
    assert Clusters(np.arange(6), np.zeros(6, dtype=int)).few == few_items(1)
    assert Clusters(np.zeros(0, dtype=int), np.zeros(0, dtype=int)).few == few_raters(0)


@pytest.mark.parametrize(
    ("value", "m", "ends"), [(0.0, 10, (0.0, 1 - 0.025**0.1)), (1.0, 10, (0.025**0.1, 1.0)), (1.0, 50, (0.025**0.02, 1.0))]
)
def test_a_share_at_its_end_has_an_interval_that_is_not_of_width_zero(value, m, ends):
    assert two_way_intervals.at_the_end(value, m) == pytest.approx(ends)
    rater, sample = (axis.ravel() for axis in np.indices((m, m)))
    found = two_way_intervals.figure(value, np.zeros(m * m), Clusters(rater, sample), np.ones(m * m))
    assert (found.low, found.high) == pytest.approx(ends)


def test_answers_that_are_all_alike_have_no_interval_but_that_state():
    rater, sample = (axis.ravel() for axis in np.indices((6, 6)))
    found = two_way_intervals.figure(0.5, np.zeros(36), Clusters(rater, sample), np.ones(36))
    assert (found.low, found.state, found.reason, found.shown) == (None, State.ALIKE, Reason(Key.ALIKE), True)
    rough = two_way_intervals.figure(0.4, np.tile([0.1, -0.1], 18), Clusters(rater, sample), np.ones(36))
    assert (rough.state, rough.shown) == (State.ROUGH, True)


def test_holm_and_the_p_of_what_does_not_vary():
    assert two_way_intervals.holm(np.array([0.01, 0.04, 0.03])) == pytest.approx([0.03, 0.06, 0.06])
    assert two_way_intervals.holm(np.zeros(0)).shape == (0,)
    assert two_way_intervals.two_sided(0.0, 0.0, 3.0) == 1.0 and two_way_intervals.two_sided(0.1, 0.0, 3.0) == 0.0


def test_the_weight_of_answers_says_how_many_equal_ones_they_are_worth():
    assert two_way_intervals.effective(np.ones(7)) == pytest.approx(7) and two_way_intervals.effective(np.zeros(0)) == 0
    assert two_way_intervals.effective(np.array([0.25, 0.25, 0.25, 0.5, 0.5, 0.5])) == pytest.approx(5.4)


@given(st.integers(0, 1000))
@examples(100)
def test_a_variance_is_not_less_than_any_of_what_it_is_made_of_and_knows_no_names(seed):
    rng = np.random.default_rng(seed)
    rater, sample, u = rng.integers(0, 7, 60), rng.integers(0, 9, 60), rng.standard_normal(60)
    found = Clusters(rater, sample).variance(u)
    assert found.total >= max(found.rater, found.sample, found.cell) - 1e-12 and found.df >= 1
    renamed = Clusters(6 - rater, (sample + 3) % 9).variance(u)
    assert float(renamed.total) == pytest.approx(float(found.total)) and float(renamed.df) == pytest.approx(float(found.df))
    turned = Clusters(sample, rater).variance(u)
    for ours, theirs in ((turned.rater, found.sample), (turned.sample, found.rater), (turned.cell, found.cell)):
        assert float(ours) == pytest.approx(float(theirs))


@pytest.mark.parametrize("seed", range(20))
def test_samples_that_one_rater_judged_each_add_no_degrees_of_freedom_of_their_own_whatever_their_names(seed):
    rng = np.random.default_rng(seed)
    sample = np.arange(60) // 2
    rater, u = sample % 10, rng.standard_normal(60)
    u = (u - u.mean()) / 60
    found = Clusters(rng.permutation(10)[rater], rng.permutation(30)[sample]).variance(u)
    by_rater = 10 / 9 * sum(u[rater == r].sum() ** 2 for r in range(10))
    by_cell = 30 / 29 * sum(u[sample == s].sum() ** 2 for s in range(30))
    total = max(by_rater, by_cell)
    spent = (by_rater**2 / 9 if by_rater > by_cell else 0.0) + by_cell**2 / 29
    assert float(found.total) == pytest.approx(total) and float(found.df) == pytest.approx(max(1.0, total**2 / spent))


def test_the_variance_of_a_difference_comes_from_the_matrices_or_from_the_influences():
    rng = np.random.default_rng(3)
    clusters, u = Clusters(rng.integers(0, 7, 80), rng.integers(0, 9, 80)), rng.standard_normal((80, 3))
    u -= u.mean(axis=0)
    between = clusters.covariance(u).between()
    for i, j in ((0, 1), (0, 2), (1, 2)):
        direct = clusters.variance(u[:, i] - u[:, j])
        assert between.total[i, j] == pytest.approx(float(direct.total)) and between.df[i, j] == pytest.approx(float(direct.df))
    own = clusters.covariance(u).own()
    assert own.total == pytest.approx(clusters.variance(u).total)
