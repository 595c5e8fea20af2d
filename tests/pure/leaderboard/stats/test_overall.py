import numpy as np
import pytest

from leaderboard.stats.overall import overall_certainty, overall_intervals
from leaderboard.stats.ranking import Column, overall
from leaderboard.stats.uncertainty import paired


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


def test_two_entries_agree_with_the_paired_bootstrap_of_a_single_metric():
    for gap, apart in ((0.0, False), (0.5, True)):
        matrix = noisy([0.5 + gap, 0.5], noise=0.2)
        result = paired(matrix[0].tolist(), matrix[1].tolist())
        assert (result.ci_low > 0 or result.ci_high < 0) is apart
        _, groups = overall_certainty("mean_rank", [metric("a", matrix)], [matrix])
        assert (groups[0] != groups[1]) is apart


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
