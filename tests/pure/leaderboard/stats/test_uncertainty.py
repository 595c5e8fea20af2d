import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats import uncertainty
from leaderboard.stats.uncertainty import (
    adjusted,
    alone,
    brackets,
    leads,
    mean_interval,
    paired,
)
from tests.benchmarks import board_coverage
from tests.support.examples import examples

NAN = math.nan
WORKED = {  # eight groups, higher is better
    "A": [0.92, 0.88, 0.95, 0.40, 0.90, 0.93, 0.85, 0.91],
    "B": [0.86, 0.84, 0.90, 0.38, 0.83, 0.90, 0.80, 0.84],
    "C": [0.87, 0.70, 0.93, 0.20, 0.91, 0.75, 0.88, 0.60],
    "D": [0.50, 0.42, 0.61, 0.10, 0.55, 0.48, 0.52, 0.44],
}
SECOND = {  # the same entries, lower is better
    "A": [0.10, 0.14, 0.08, 0.30, 0.11, 0.09, 0.15, 0.10],
    "B": [0.08, 0.09, 0.07, 0.25, 0.09, 0.08, 0.10, 0.08],
    "C": [0.12, 0.20, 0.09, 0.60, 0.10, 0.22, 0.11, 0.30],
    "D": [0.40, 0.51, 0.33, 0.90, 0.41, 0.47, 0.42, 0.50],
}


def board(entries=8, groups=20, seed=0, spread=0.15):
    """A simulated metric: entries differ a little, groups a lot, and noise does the rest."""
    generator = np.random.default_rng(seed)
    skill = spread * np.linspace(0, 1, entries)[:, None]
    return 0.4 + skill + 0.2 * generator.random(groups) + 0.15 * generator.standard_normal((entries, groups))


class TestPaired:
    def test_hand_worked(self):
        expected = {
            "AB": (0.04875, 0.0078125, 0.033333, 0.065),
            "AC": (0.1125, 0.046875, 0.003333, 0.23),
            "BC": (0.06375, 0.203125, -0.055, 0.186667),
        }
        for pair, values in expected.items():
            found = paired(WORKED[pair[0]], WORKED[pair[1]])
            assert (found.mean_difference, found.p_value, found.ci_low, found.ci_high) == pytest.approx(values, abs=1e-6)
        found = paired(WORKED["A"], WORKED["C"])
        assert (found.n, found.better, found.worse, found.equal, found.dropped) == (8, 6, 2, 0, 0)

    @given(st.lists(st.integers(-20, 20), min_size=6, max_size=12))
    @examples(60)
    def test_the_interval_leaves_nothing_out_exactly_where_p_is_at_most_five_percent(self, values):
        found = paired([float(v) for v in values], [0.0] * len(values))
        assert (found.p_value <= 0.05) == (found.ci_low > 0 or found.ci_high < 0)
        if any(values):
            assert found.ci_low <= found.mean_difference <= found.ci_high

    def test_all_in_one_direction_has_the_smallest_p_there_is(self):
        assert paired([1.0] * 6, [0.0] * 6).p_value == 2 / 2**6 and paired([1.0] * 5, [0.0] * 5).p_value is None

    def test_lower_is_better_swaps_better_and_worse_and_nothing_else(self):
        matrix = board(2)
        a, b = paired(*matrix), paired(*matrix, higher_is_better=False)
        assert (a.better, a.worse) == (b.worse, b.better)
        assert (a.mean_difference, a.p_value, a.ci_low) == (b.mean_difference, b.p_value, b.ci_low)

    @pytest.mark.parametrize("n", [6, 9, 16])
    def test_exact_p_same_as_scipy_permutation_test(self, n):
        a, b = board(2, n, seed=n, spread=0.1)
        theirs = stats.permutation_test((a, b), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf)
        assert paired(a, b).p_value == pytest.approx(theirs.pvalue)

    def test_sampled_p_same_as_scipy_within_chance(self):
        a, b = board(2, 40, spread=0.05)
        theirs = stats.permutation_test((a, b), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=9999, rng=0)
        assert paired(a, b).p_value == pytest.approx(theirs.pvalue, abs=0.02)

    def test_patterns_that_tie_with_the_observed_one_count_whatever_the_rounding(self):
        assert paired([0.1, 0.2, 0.3, 0.1, 0.2, 0.3], [0.0] * 6).p_value == 2 / 64
        assert paired([0.1, -0.1] * 4, [0.0] * 8).p_value == 1.0

    def test_swapping_sides_mirrors_everything(self):
        a, b = paired(*board(2)), paired(*board(2)[::-1])
        assert (a.mean_difference, a.ci_low, a.ci_high, a.p_value) == pytest.approx((-b.mean_difference, -b.ci_high, -b.ci_low, b.p_value))

    def test_scaling_both_sides_keeps_p_and_scales_the_interval(self):
        matrix = board(2)
        a, b = paired(*matrix), paired(*(8 * matrix))
        assert b.p_value == a.p_value and (b.ci_low, b.ci_high) == pytest.approx((8 * a.ci_low, 8 * a.ci_high))

    def test_an_entry_against_itself_is_no_evidence_at_all(self):
        row = board(1)[0]
        found = paired(row, row)
        assert (found.mean_difference, found.p_value, found.ci_low, found.ci_high, found.equal) == (0, 1, 0, 0, 20)

    def test_null_pairs_are_dropped_and_counted_never_zero(self):
        found = paired([1.0, None, 3.0], [0.5, 1.0, math.nan])
        assert (found.n, found.dropped, found.mean_difference, found.p_value) == (1, 2, 0.5, None)
        assert paired([None], [1.0]).mean_difference is None

    def test_different_lengths_are_refused(self):
        with pytest.raises(ValueError, match="same groups"):
            paired([1.0], [1.0, 2.0])


def test_a_random_pattern_that_flips_none_or_all_bounds_nothing_by_rounding():
    signs = np.random.Generator(np.random.PCG64(0)).integers(0, 2, (9999, 17)) * 2 - 1
    assert (np.abs(signs.sum(axis=1)) == 17).any()
    for seed in range(20):
        d = np.random.default_rng(seed).normal(0.3, 0.5, 17)
        means = [np.ma.masked_array(np.tile(d, (9999, 1)), mask).mean(axis=1) for mask in (signs > 0, signs < 0)]
        lows, highs = np.sort(np.ma.stack(means).min(axis=0)), np.sort(np.ma.stack(means).max(axis=0))
        compared = paired(d, np.zeros(17))
        assert (compared.ci_low, compared.ci_high) == pytest.approx((lows[499], highs[-500]), abs=1e-12)


class TestMeanInterval:
    def test_hand_worked(self):
        found = mean_interval(np.array(list(WORKED.values())), (0, 1))
        assert found.value == pytest.approx([0.8425, 0.79375, 0.73, 0.4525])
        assert found.low == pytest.approx([0.539186, 0.508460, 0.323568, 0.193970], abs=1e-6)
        assert found.high == pytest.approx([0.942007, 0.888057, 0.879404, 0.544497], abs=1e-6)

    def test_values_that_lie_even_have_students_interval(self):
        row = np.array([1.0, 2, 3, 4, 5, 6, 7])
        found = mean_interval(row[None])
        assert (found.low[0], found.high[0]) == pytest.approx(stats.t.interval(0.95, 6, row.mean(), stats.sem(row)))

    def test_below_six_groups_and_where_all_are_alike_there_is_none(self):
        found = mean_interval(np.array([[1.0, 2, 3, 4, 5, NAN], [0.5] * 6, [NAN] * 6]))
        assert np.isnan(found.low).all() and found.n.tolist() == [5, 6, 0] and found.value[1] == 0.5 and np.isnan(found.value[2])

    @given(st.lists(st.floats(0, 1, allow_subnormal=False), min_size=6, max_size=30))
    @examples(100)
    def test_it_holds_the_mean_stays_in_the_bounds_and_is_at_most_twice_as_wide_as_students(self, values):
        found = mean_interval(np.array([values]), (0.0, 1.0))
        if not np.isnan(found.low[0]):
            half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
            assert 0 <= found.low[0] <= found.value[0] <= found.high[0] <= 1
            assert found.value[0] - found.low[0] <= 2 * half + 1e-9 and found.high[0] - found.value[0] <= 2 * half + 1e-9

    def test_one_failure_among_good_ones_pulls_it_down_and_not_up(self):
        found = mean_interval(np.array([[0.9, 0.92, 0.88, 0.91, 0.93, 0.9, 0.1, 0.9]]), (0, 1))
        assert found.value[0] - found.low[0] > 2 * (found.high[0] - found.value[0])


class TestBrackets:
    def test_hand_worked(self):
        found = brackets(np.array(list(WORKED.values())))
        assert found.p[0, 1:] == pytest.approx([0.0078125, 0.0625, 0.0078125]) and found.p[1, 2] == pytest.approx(0.203125)
        assert (found.bracket, found.loose) == ((1, 2, 2, 3), (False, False, True, False))
        assert found.rank_interval == ((1, 2), (2, 3), (1, 3), (4, 4)) and found.rank == (1, 2, 3, 4)
        assert found.tied == ((2,), (2,), (0, 1), ())
        assert alone(np.array(list(WORKED.values())), 0) == (1, 1)
        assert leads(np.array(list(WORKED.values()))).tolist() == [1, 0, 0, 0]

    def test_two_entries_have_the_p_of_the_pair_to_the_last_digit(self):
        for seed in range(5):
            matrix = board(2, 9, seed=seed, spread=0.1)
            assert adjusted(matrix)[0, 1] == paired(*matrix).p_value

    @pytest.mark.parametrize(("n", "flips"), [(9, None), (13, None), (20, 9_999), (30, 99_999)])
    def test_all_pairs_are_the_same_by_the_definition_written_out(self, n, flips):
        """Step-down over all patterns up to 16 groups, and over 9,999 random ones above, or 99,999 where a p lies near 5 %."""
        x = board(4, n, seed=n, spread={9: 0.1, 13: 0.1, 20: 0.02, 30: 0.2}[n])
        signs = np.array(list(itertools.product((1, -1), repeat=n - 1))[1:]) if flips is None else None
        if signs is None:
            signs = np.random.Generator(np.random.PCG64(0)).integers(0, 2, (flips, n)) * 2 - 1
        else:
            signs = np.hstack([signs, np.ones((len(signs), 1))])
        pairs = list(itertools.combinations(range(4), 2))
        d = np.array([x[a] - x[b] for a, b in pairs])
        d /= np.sqrt((d**2).sum(axis=1, keepdims=True))
        observed, flipped = np.abs(d.sum(axis=1)), np.abs(signs @ d.T)
        expected = np.ones(len(pairs))
        for pair in range(len(pairs)):
            below = observed <= observed[pair]
            expected[pair] = (1 + (flipped[:, below].max(axis=1) >= observed[pair] - 1e-9).sum()) / (1 + len(signs))
        expected = [max(p for p, other in zip(expected, observed, strict=True) if other >= one) for one in observed]
        assert [adjusted(x)[pair] for pair in pairs] == pytest.approx(expected, abs=1e-12)
        assert flips is None or (any(0.02 < p < 0.1 for p in expected) == (flips == 99_999))

    def test_two_metrics_as_one_family(self):
        found = adjusted(np.array([list(WORKED.values()), list(SECOND.values())]))
        assert found[1][0, 1:3] == pytest.approx([0.0078125, 0.1015625]) and found[1][1, 2] == pytest.approx(0.0625)

    def test_relabelling_scaling_and_turning_changes_nothing(self):
        matrix = board(8, 14, seed=3)
        found, turn = brackets(matrix), np.random.default_rng(0).permutation(8)
        moved = brackets(matrix[turn])
        assert [moved.rank_interval[k] for k in range(8)] == [found.rank_interval[n] for n in turn]
        assert moved.p == pytest.approx(found.p[np.ix_(turn, turn)])
        turned = brackets(-3 * matrix, higher_is_better=False)
        assert (turned.bracket, turned.loose, turned.rank_interval) == (found.bracket, found.loose, found.rank_interval)

    @pytest.mark.parametrize("matrix", [board(3, 5), board(1, 9), np.full((3, 9), NAN), np.zeros((0, 9))])
    def test_too_little_says_nothing(self, matrix):
        found = brackets(matrix)
        assert not any(found.bracket) and not any(found.rank_interval) and np.isnan(found.p).all()

    def test_equal_entries_share_a_bracket_and_every_rank(self):
        found = brackets(np.tile(board(1, 9), (4, 1)))
        assert found.bracket == (1,) * 4 and found.rank == (1,) * 4 and found.rank_interval == ((1, 4),) * 4

    def test_an_entry_that_lacks_a_group_is_not_tested_and_stands_where_it_is(self):
        matrix = board(5, 12, spread=1.0)
        matrix[2, 4] = NAN
        found = brackets(matrix)
        assert found.bracket[2] is None and found.rank_interval[2] is None and 2 not in found.tested
        assert [
            (rank, ends, low, high)
            for rank, ends in zip(found.rank, found.rank_interval, strict=True)
            if ends
            for low, high in [ends]
            if not low <= rank <= high
        ] == []
        imported = brackets(np.vstack([matrix, np.full(12, NAN)]), scores=[*np.nanmean(matrix, axis=1), 0.7])
        assert imported.rank[5] is not None and imported.bracket[5] is None

    def test_only_the_first_are_tested_and_the_last_of_them_are_open_below(self, monkeypatch):
        monkeypatch.setattr(uncertainty, "FIRST", 5)
        monkeypatch.setattr(uncertainty.tested_of, "__defaults__", (5,))
        found = brackets(board(9, 12, seed=1))
        assert len(found.tested) == 5 and found.rank_interval[found.tested[-1]][1] == 9
        assert [found.bracket[n] for n in found.order[5:]] == [None] * 4

    @given(st.integers(0, 500))
    @examples(30)
    def test_what_a_bracket_claims(self, seed):
        """The firsts of two brackets are told apart; a solid entry is told apart from the first of every bracket above its own."""
        found = brackets(board(7, 10, seed=seed, spread=0.4))
        lined_up = [n for n in found.order if found.bracket[n]]
        firsts = {found.bracket[n]: n for n in reversed(lined_up)}
        assert [found.bracket[n] for n in lined_up] == sorted(found.bracket[n] for n in lined_up)
        for a in firsts.values():
            assert {key: b for key, b in firsts.items() if a != b and not found.p[a, b] <= 0.05} == {}
        for n in lined_up:
            above = [firsts[k] for k in range(1, found.bracket[n])]
            assert found.loose[n] == any(found.p[first, n] > 0.05 for first in above)
            low, high = found.rank_interval[n]
            assert low <= found.rank[n] <= high


class TestLeads:
    def test_shares_add_up_and_equal_firsts_split(self):
        assert leads(board(6, 12)).sum() == pytest.approx(1)
        twice = np.tile(board(1, 12), (2, 1))
        assert leads(twice).tolist() == [0.5, 0.5]
        assert np.isnan(leads(board(3, 5))).all()


class TestWhatIsClaimed:
    """A short version of the tables that tests/benchmarks/bench_coverage.py prints; three simulation errors are allowed."""

    @pytest.mark.parametrize("kind", board_coverage.VALUES)
    def test_intervals_cover_what_they_say(self, kind):
        least = board_coverage.VALUES[kind][-1]
        for n in (6, 12, 24):
            assert board_coverage.coverage(kind, n, 3000)[0] >= least - 3 * math.sqrt(least * (1 - least) / 3000), n

    @pytest.mark.parametrize("kind", board_coverage.DIFFERENCES)
    def test_two_equal_entries_are_seldom_told_apart(self, kind):
        most = board_coverage.DIFFERENCES[kind][-1]
        for n in (6, 8, 24):
            assert board_coverage.told_apart(kind, n, 150) <= most + 3 * math.sqrt(most * (1 - most) / 150), n

    @pytest.mark.parametrize("kind", board_coverage.BOARDS)
    def test_boards_of_equal_entries_are_seldom_split(self, kind):
        most = board_coverage.SPLIT
        for n in (6, 12):
            assert board_coverage.split(kind, 10, n, 100) <= most + 3 * math.sqrt(most * (1 - most) / 100), n


class TestMissingValues:
    def test_what_is_tested_is_tested_over_the_groups_that_most_have_alone(self):
        rng = np.random.default_rng(2)
        matrix = rng.normal(size=(4, 8)) + np.array([0.9, 0.6, 0.3, 0.0])[:, None]
        matrix[:2, 7] = [3.0, -3.0]
        matrix[2:, 7] = np.nan  # two of four are not more than half
        found = brackets(matrix)
        assert found.tested == tuple(sorted(range(4), key=lambda i: -np.nanmean(matrix[i])))
        assert found.p_tested == pytest.approx(adjusted(matrix[list(found.tested)][:, :7]))
        # The two that have it, once the others are gone, are tested over it too.
        assert brackets(matrix[:2]).p_tested == pytest.approx(adjusted(matrix[list(brackets(matrix[:2]).tested)]))

    def test_nobody_is_surely_before_whom_the_tested_groups_put_the_other_way_round(self):
        matrix = np.tile(np.linspace(0, 0.01, 9), (3, 1)) + np.array([0.0, 1.0, 2.0])[:, None]
        matrix[1:, 8] = np.nan
        matrix[0, 8] = 1000.0  # by the board's score the first, by every tested group the last
        found = brackets(matrix)
        assert found.order[0] == 0 and (found.p_tested <= 0.05).any()
        assert found.bracket[0] == 1 and found.bracket[2] == 1 and found.rank_interval[0] == (1, 3)
        assert found.rank_interval[1:] == ((2, 3), (1, 2)), "of the two others all groups say the same"
