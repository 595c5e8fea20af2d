"""Columns of scores that are people, and columns that only look so."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.stats.evidence.people_check import PeopleCheck, people_check


def check(table: np.ndarray, group: np.ndarray) -> PeopleCheck:
    """The check of scores float64[stimuli, columns], NaN where there is none."""
    stimulus, column = np.nonzero(~np.isnan(table))
    return people_check(column, stimulus, group[stimulus], table[stimulus, column])


def scored(rng: np.random.Generator, bias: np.ndarray, groups: int, per_group: int) -> tuple[np.ndarray, np.ndarray]:
    """`bias` is by column, or by group and column."""
    group = np.repeat(np.arange(groups), per_group)
    own = np.broadcast_to(bias, (groups, bias.shape[-1]))[group]
    return rng.normal(0, 1, (len(group), 1)) + own + rng.normal(0, 0.8, own.shape), group


@pytest.mark.parametrize("seed", range(3))
def test_columns_with_a_bias_everywhere_are_people(seed):
    rng = np.random.default_rng(seed)
    table, group = scored(rng, rng.normal(0, 0.5, 16), 6, 16)
    found = check(table, group)
    assert found.people and (found.columns, found.groups) == (16, 6) and 0.25 < found.stable_bias_sd < 0.8


@pytest.mark.parametrize("seed", range(3))
def test_slots_are_not_people(seed):
    rng = np.random.default_rng(seed)
    table, group = scored(rng, np.zeros(16), 6, 16)
    assert not check(table, group).people


@pytest.mark.parametrize("seed", range(3))
def test_people_inside_a_group_who_sit_elsewhere_in_the_next_are_not_the_same_from_group_to_group(seed):
    rng = np.random.default_rng(seed)
    table, group = scored(rng, rng.normal(0, 0.5, (6, 16)), 6, 16)
    found = check(table, group)
    assert found.p_inside <= 0.01 < found.p_across and not found.people


def test_unequal_filling_of_the_last_columns_does_not_pass_for_people():
    """Good stimuli got more scores, so the last columns have none of the bad ones; inside a stimulus no column is like another."""
    rng = np.random.default_rng(0)
    table, group = scored(rng, np.zeros(40), 12, 10)
    table[rng.random(table.shape) < np.linspace(0, 0.7, 40)] = np.nan
    assert not check(table, group).people


def test_the_bias_by_hand():
    """Two columns, two groups of one stimulus: b is ±½, ±1, so S = 2 · (½ + ½) over four terms."""
    table = np.array([[2.0, 1.0], [5.0, 3.0]])
    found = check(table, np.array([0, 1]))
    assert found.stable_bias_sd == pytest.approx(np.sqrt(4 * 0.5 / 4))
    assert found.p_across == pytest.approx(0.5, abs=0.06), "of the four ways to deal two columns, two are at least as much alike"
    assert found.p_inside == 1, "in groups of one stimulus nothing changes by dealing"


def test_a_column_without_scores_in_a_group_is_left_out_of_its_terms():
    table = np.array([[2.0, 1.0, np.nan], [5.0, 3.0, np.nan], [np.nan, 3.0, 1.0]])
    found = check(table, np.array([0, 1, 2]))
    # b: ½ 1 · / −½ −1 1 / · · −1: products over pairs of groups, both ways, and 2 + 6 + 0 terms.
    assert found.stable_bias_sd == pytest.approx(np.sqrt(max(0.0, (2 * 0.5 + 2 * (0.5 - 0.5 - 1)) / 8)))
    assert found.columns == 3


def test_one_group_shows_nothing_of_people():
    rng = np.random.default_rng(0)
    table, group = scored(rng, rng.normal(0, 1, 8), 1, 20)
    found = check(table, group)
    assert found.p_across == 1 and found.stable_bias_sd == 0 and not found.people


def test_the_order_of_scores_changes_no_draw():
    rng = np.random.default_rng(3)
    table, group = scored(rng, rng.normal(0, 0.2, 10), 5, 6)
    stimulus, column = np.nonzero(~np.isnan(table))
    order = rng.permutation(len(stimulus))
    mixed = people_check(column[order], stimulus[order], group[stimulus[order]], table[stimulus[order], column[order]])
    assert mixed == check(table, group)
