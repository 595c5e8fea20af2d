import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluation.metrics.aggregation import bootstrap_indices, bootstrap_interval, group_means
from leaderboard.stats import uncertainty
from leaderboard.stats.overall import overall_intervals
from leaderboard.stats.ranking import RULES, Column, overall, rank
from leaderboard.stats.uncertainty import (
    paired,
    rank_intervals,
    resample_counts,
    sign_flip_p,
    tie_groups,
    unit_matrix,
)
from tests.support.examples import examples

NAN = math.nan


def board(entries=8, groups=20, seed=0, spread=0.15):
    """A made-up metric: entries differ a little, groups a lot, and noise does the rest."""
    generator = np.random.default_rng(seed)
    skill = spread * np.linspace(0, 1, entries)[:, None]
    return 0.4 + skill + 0.2 * generator.random(groups) + 0.15 * generator.standard_normal((entries, groups))


def resampled_means(matrix, resamples, seed=0):
    drawn = bootstrap_indices(matrix.shape[1], resamples, seed)
    return [matrix[:, row].mean(axis=1) for row in drawn]


def outward(ranks, observed):
    """The 95 % interval of rows of ranks, the plain way."""
    low = np.percentile(ranks, 2.5, axis=0, method="lower")
    high = np.percentile(ranks, 97.5, axis=0, method="higher")
    return [(int(min(a, o)), int(max(b, o))) for a, b, o in zip(low, high, observed, strict=True)]


class TestResampling:
    def test_counts_are_those_of_the_one_bootstrap(self):
        counts, drawn = resample_counts(7, 50, seed=3), bootstrap_indices(7, 50, seed=3)
        assert counts.shape == (50, 7)
        assert counts.tolist() == [np.bincount(row, minlength=7).tolist() for row in drawn]

    def test_units_are_group_means_as_a_submission_has_them(self):
        groups = ["a", "b", "a", "c", "c", "b"]
        items = [[1.0, 2.0, 4.0, NAN, 3.0, 8.0], [0.5, NAN, NAN, NAN, NAN, NAN]]
        expected = [
            [NAN if m is None else m for m in group_means([None if math.isnan(v) else v for v in row], groups).values()] for row in items
        ]
        np.testing.assert_array_equal(unit_matrix(items, groups), expected)

    def test_items_are_the_units_where_all_share_one_group_or_each_is_its_own(self):
        items = np.array([[1.0, 2.0, 3.0]])
        np.testing.assert_array_equal(unit_matrix(items, ["a", "a", "a"]), items)
        np.testing.assert_array_equal(unit_matrix(items, ["a", "b", "c"]), items)

    def test_a_group_is_needed_for_every_item(self):
        with pytest.raises(ValueError, match="3 items, 2 groups"):
            unit_matrix([[1.0, 2.0, 3.0]], ["a", "b"])


class TestRankIntervals:
    def test_entries_that_differ_in_every_group_have_certain_ranks(self):
        matrix = np.arange(5)[:, None] + np.linspace(0, 0.9, 12)
        assert rank_intervals(matrix, True) == [(5, 5), (4, 4), (3, 3), (2, 2), (1, 1)]
        assert rank_intervals(matrix, False) == [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]

    def test_equal_entries_share_rank_one_for_certain(self):
        assert rank_intervals([[0.1, 0.9, 0.4]] * 4, True) == [(1, 1)] * 4

    def test_two_groups_that_disagree_by_hand(self):
        # Of the resamples {00, 01, 10, 11} each entry wins one outright and the mixed ones tie.
        assert rank_intervals([[1.0, 0.0], [0.0, 1.0]], True) == [(1, 2), (1, 2)]

    @pytest.mark.parametrize("higher", [True, False])
    def test_same_as_a_loop_over_scipy_rankdata(self, higher):
        matrix = board()
        sign = -1 if higher else 1
        ranks = [stats.rankdata(sign * means, method="min") for means in resampled_means(matrix, 1000)]
        assert rank_intervals(matrix, higher) == outward(ranks, stats.rankdata(sign * matrix.mean(axis=1)))

    def test_block_size_changes_nothing(self, monkeypatch):
        whole = rank_intervals(board(), True)
        monkeypatch.setattr(uncertainty, "BLOCK_CELLS", 50)
        assert rank_intervals(board(), True) == whole

    def test_relabelling_entries_relabels_intervals(self):
        matrix, shuffled = board(), np.random.default_rng(1).permutation(8)
        whole = rank_intervals(matrix, True)
        assert rank_intervals(matrix[shuffled], True) == [whole[i] for i in shuffled]

    def test_other_direction_negated_or_scaled_changes_nothing(self):
        whole = rank_intervals(board(), True)
        assert rank_intervals(-board(), False) == whole
        assert rank_intervals(100 * board() + 7, True) == whole

    def test_an_entry_without_a_score_changes_nothing_and_has_no_interval(self):
        matrix = np.vstack([board(), np.full(20, NAN)])
        assert rank_intervals(matrix, True) == [*rank_intervals(board(), True), None]

    def test_an_imported_entry_has_no_interval_but_keeps_its_place(self):
        # The imported score beats everything, so every other rank moves down by exactly one.
        matrix = np.vstack([board(), np.full(20, NAN)])
        values = [*board().mean(axis=1), 99.0]
        moved = [(low + 1, high + 1) for low, high in rank_intervals(board(), True)]
        assert rank_intervals(matrix, True, values=values) == [*moved, None]

    def test_groups_nobody_has_a_value_for_are_not_resampled(self):
        gaps = np.insert(board(), [3, 9], NAN, axis=1)
        assert rank_intervals(gaps, True) == rank_intervals(board(), True)

    def test_an_entry_with_gaps_is_averaged_over_what_it_has(self):
        matrix = np.array([[3.0, 3.1, NAN, NAN], [2.0, 2.1, 2.2, 2.0], [1.0, 1.1, 1.2, 9.9]])
        low = [interval[0] for interval in rank_intervals(matrix, True)]
        means = np.array(
            [[np.nanmean(matrix[i, row]) if i or (row < 2).any() else 3.05 for i in range(3)] for row in bootstrap_indices(4, 1000, 0)]
        )
        ranks = [stats.rankdata(-row, method="min") for row in means]
        assert low == [interval[0] for interval in outward(ranks, rank(np.nanmean(matrix, axis=1).tolist(), True))]

    @pytest.mark.parametrize("matrix", [np.zeros((0, 0)), [[0.3], [0.4]], [[NAN, NAN]], [[NAN, 0.2], [NAN, 0.3]]])
    def test_fewer_than_two_groups_say_nothing(self, matrix):
        assert rank_intervals(matrix, True) == [None] * len(matrix)

    def test_always_holds_the_rank_itself(self):
        # A hundred equal means: everyone's rank is 1, though resamples spread them out.
        matrix = np.random.default_rng(0).standard_normal((100, 10))
        matrix -= matrix.mean(axis=1, keepdims=True)
        assert {low for low, _ in rank_intervals(matrix, True, values=[0.0] * 100)} == {1}

    def test_memory_stays_bounded_on_a_large_board(self):
        matrix = board(entries=3000, groups=43)
        tracemalloc.start()
        rank_intervals(matrix, True)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 200e6  # all resamples at once would need about 400 MB

    def test_rows_and_values_must_match(self):
        with pytest.raises(ValueError, match="2 rows, 1 values"):
            rank_intervals([[1.0, 2.0], [1.0, 2.0]], True, values=[1.0])
        with pytest.raises(ValueError, match="not 1 dimensions"):
            rank_intervals([1.0, 2.0], True)


def three_metrics(entries=7, **changes):
    matrices = [board(entries, seed=1), -board(entries, seed=2), board(entries, seed=3)]
    weights = [1.0, 2.0, 0.5]
    columns = [Column(f"m{i}", m.mean(axis=1).tolist(), i != 1, weights[i], i == 0) for i, m in enumerate(matrices)]
    return columns, matrices


class TestOverallIntervals:
    @pytest.mark.parametrize("rule", RULES)
    def test_same_as_applying_the_rule_in_every_resample(self, rule):
        columns, matrices = three_metrics()
        ranks = []
        for means in zip(*(resampled_means(m, 200) for m in matrices), strict=True):
            drawn = [Column(c.slug, m.tolist(), c.higher_is_better, c.weight, c.primary) for c, m in zip(columns, means, strict=True)]
            ranks.append([r.rank for r in overall(rule, drawn)])
        observed = [r.rank for r in overall(rule, columns)]
        assert overall_intervals(rule, columns, matrices, resamples=200) == outward(ranks, observed)

    @pytest.mark.parametrize("rule", RULES)
    def test_one_metric_is_that_metrics_interval(self, rule):
        column = Column("m", board().mean(axis=1).tolist(), True, primary=True)
        assert overall_intervals(rule, [column], [board()]) == rank_intervals(board(), True)

    @pytest.mark.parametrize("rule", RULES)
    def test_entries_beyond_the_bound_stay_put_and_have_none(self, rule):
        # The first three are far below the rest in every metric: holding them still is exact.
        columns, matrices = three_metrics()
        lower = [m - 9 if c.higher_is_better else m + 9 for c, m in zip(columns, matrices, strict=True)]
        matrices = [np.vstack([low[:3], m]) for low, m in zip(lower, matrices, strict=True)]
        columns = [
            Column(c.slug, m.mean(axis=1).tolist(), c.higher_is_better, c.weight, c.primary) for c, m in zip(columns, matrices, strict=True)
        ]
        whole = overall_intervals(rule, columns, matrices)
        assert overall_intervals(rule, columns, matrices, top=7) == [None] * 3 + whole[3:]

    @pytest.mark.parametrize("rule", ["mean_rank", "borda"])
    def test_entries_held_still_count_in_every_metric_and_in_the_end(self, rule):
        columns, matrices = three_metrics(10)
        observed = overall(rule, columns)
        sign = -1 if rule == "borda" else 1
        best_first = sorted(range(10), key=lambda i: sign * observed[i].value)
        pool, held = best_first[:6], [sign * observed[i].value for i in best_first[6:]]
        ranks = []
        for means in zip(*(resampled_means(m, 200) for m in matrices), strict=True):
            drawn = [
                Column(c.slug, [m[i] if i in pool else c.values[i] for i in range(10)], c.higher_is_better)
                for c, m in zip(columns, means, strict=True)
            ]
            points = [sign * overall(rule, drawn)[i].value for i in range(10)]
            rivals = [points[i] for i in pool] + held
            ranks.append([1 + sum(rival < points[i] - 1e-9 for rival in rivals) for i in pool])
        found = overall_intervals(rule, columns, matrices, resamples=200, top=6)
        assert [found[i] for i in pool] == outward(ranks, [observed[i].rank for i in pool])

    def test_baselines_and_incomplete_entries_change_nothing_and_have_none(self):
        columns, matrices = three_metrics()
        alone = overall_intervals("mean_rank", columns, matrices)
        matrices = [np.vstack([m, m[:2]]) for m in matrices]
        matrices[2][8] = NAN
        columns = [
            Column(c.slug, [*c.values, c.values[0], None if i == 2 else c.values[1]], c.higher_is_better) for i, c in enumerate(columns)
        ]
        counted = [True] * 7 + [False, True]
        assert overall_intervals("mean_rank", columns, matrices, counted) == [*alone, None, None]

    def test_a_metric_without_groups_stays_at_its_values(self):
        columns, matrices = three_metrics()
        ranks = []
        for first, second in zip(*(resampled_means(m, 100) for m in matrices[:2]), strict=True):
            values = [first.tolist(), second.tolist(), columns[2].values]
            ranks.append(
                [
                    r.rank
                    for r in overall(
                        "mean_rank",
                        [Column(c.slug, v, c.higher_is_better) for c, v in zip(columns, values, strict=True)],
                    )
                ]
            )
        observed = [r.rank for r in overall("mean_rank", columns)]
        found = overall_intervals("mean_rank", columns, [*matrices[:2], None], resamples=100)
        assert found == outward(ranks, observed)

    def test_nothing_to_resample_gives_none(self):
        columns, _ = three_metrics()
        assert overall_intervals("borda", columns, [None] * 3) == [None] * 7
        assert overall_intervals("borda", [Column("m", [], True)], [np.zeros((0, 5))]) == []

    def test_matrices_of_different_groups_are_refused(self):
        columns, matrices = three_metrics()
        with pytest.raises(ValueError, match="the same groups"):
            overall_intervals("borda", columns, [matrices[0], matrices[1][:, 1:], None])
        with pytest.raises(ValueError, match="3 metrics, 1 matrices"):
            overall_intervals("borda", columns, matrices[:1])


def plain_tie_groups(matrix, higher, alpha=0.05):
    """The rule read off word by word, one test after another."""
    best_first = np.argsort(-matrix.mean(axis=1) if higher else matrix.mean(axis=1), kind="stable")
    drawn = bootstrap_indices(matrix.shape[1], 1000, 0)
    groups, group, first = {}, 0, None
    for index in best_first:
        if first is not None:
            means = (matrix[first] - matrix[index])[drawn].mean(axis=1)
            low, high = np.percentile(means, [100 * alpha / 2, 100 - 100 * alpha / 2])
        if first is None or low > 0 or high < 0:
            group, first = group + 1, index
        groups[index] = group
    return [groups[i] for i in range(len(matrix))]


class TestTieGroups:
    def test_runs_on_from_the_groups_first_by_hand(self):
        # Differences to the first: none, mixed in sign, always positive; then a fresh group.
        base = np.array([5.0, 6.0, 7.0, 8.0, 9.0, 10.0])
        wobble = np.array([0.1, -0.1, 0.1, -0.1, 0.1, -0.1])
        matrix = np.array([base, base - 0.01 + wobble, base - 1, base - 1.005 + wobble, base - 3])
        values = matrix.mean(axis=1).tolist()
        assert tie_groups(matrix, values, True) == [1, 1, 2, 2, 3]
        assert tie_groups(-matrix, [-v for v in values], False) == [1, 1, 2, 2, 3]

    @pytest.mark.parametrize("spread", [0.0, 0.2, 1.0, 5.0])
    @pytest.mark.parametrize("higher", [True, False])
    def test_same_as_testing_one_after_another(self, spread, higher):
        matrix = board(entries=40, spread=spread, seed=5)
        assert tie_groups(matrix, matrix.mean(axis=1).tolist(), higher) == plain_tie_groups(matrix, higher)

    def test_a_stricter_alpha_separates_less(self):
        matrix = board(entries=40, spread=1.0)
        values = matrix.mean(axis=1).tolist()
        assert max(tie_groups(matrix, values, True, alpha=0.001)) < max(tie_groups(matrix, values, True, alpha=0.2))

    def test_equal_entries_are_never_separated_even_by_rounding(self):
        third = np.full(9, 0.1 + 0.2)
        assert tie_groups([third, np.full(9, 0.3)], [third.mean(), 0.3], True) == [1, 1]

    def test_imported_unscored_and_baseline_entries_are_passed_over(self):
        matrix = board(entries=12, spread=1.0)
        values = matrix.mean(axis=1).tolist()
        alone = tie_groups(matrix, values, True)
        more = np.vstack([matrix, np.full(20, NAN), matrix[:1]])
        assert tie_groups(more, [*values, float(np.median(values)), None], True) == [*alone, None, None]

    def test_relabelling_entries_relabels_groups(self):
        matrix, shuffled = board(entries=30, spread=1.0), np.random.default_rng(2).permutation(30)
        groups = tie_groups(matrix, matrix.mean(axis=1).tolist(), True)
        again = tie_groups(matrix[shuffled], matrix[shuffled].mean(axis=1).tolist(), True)
        assert again == [groups[i] for i in shuffled]

    def test_keys_say_who_is_first_among_equals(self):
        # The steady and the wavering entry tie; the third is separable from the steady one only.
        matrix = np.array([[1.0, -1.0] * 5, [0.0] * 10, [-0.2] * 10])
        values = [0.0, 0.0, -0.2]
        assert tie_groups(matrix, values, True, keys=[0, 1, 2]) == [1, 1, 1]
        assert tie_groups(matrix, values, True, keys=[1, 0, 2]) == [1, 1, 2]

    def test_number_of_tests_is_proportional_to_entries(self, monkeypatch):
        tested = []
        separable = uncertainty._separable
        monkeypatch.setattr(uncertainty, "_separable", lambda *given: tested.append(len(given[1])) or separable(*given))
        for spread in (0.0, 1.0, 50.0, 1e4):
            tested.clear()
            matrix = board(entries=300, spread=spread)
            tie_groups(matrix, matrix.mean(axis=1).tolist(), True, resamples=100)
            assert sum(tested) <= 3 * 300

    @pytest.mark.parametrize("matrix", [np.zeros((0, 0)), [[0.3], [0.9]], [[NAN, NAN]]])
    def test_fewer_than_two_groups_say_nothing(self, matrix):
        values = [None if math.isnan(v) else v for v in np.asarray(matrix)[:, :1].ravel()]
        assert tie_groups(matrix, values, True) == [None] * len(matrix)


class TestPaired:
    def test_hand_worked(self):
        # Differences 1, 1, -1, 0: the sums of the 16 sign patterns reach |1| in 12 of them.
        result = paired([3.0, 2.0, 1.0, 5.0, None], [2.0, 1.0, 2.0, 5.0, 4.0])
        assert (result.n, result.dropped) == (4, 1)
        assert (result.better, result.worse, result.equal) == (2, 1, 1)
        assert result.mean_difference == 0.25
        assert result.p_value == 1.0
        assert result.ci_low <= 0.25 <= result.ci_high

    def test_all_in_one_direction_has_the_smallest_p_there_is(self):
        assert paired([2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 1.0, 1.0, 1.0, 1.0]).p_value == 2 / 32

    def test_lower_is_better_swaps_better_and_worse_and_nothing_else(self):
        a, b = [0.1, 0.2, 0.9, 0.4], [0.2, 0.3, 0.5, 0.4]
        up, down = paired(a, b, higher_is_better=True), paired(a, b, higher_is_better=False)
        assert (up.better, up.worse, up.equal) == (1, 2, 1) == (down.worse, down.better, down.equal)
        assert (up.mean_difference, up.ci_low, up.p_value) == (down.mean_difference, down.ci_low, down.p_value)

    @examples(30)
    @given(st.lists(st.tuples(*[st.integers(-500, 500).map(lambda k: k / 64)] * 2), min_size=2, max_size=10))
    def test_exact_p_same_as_scipy_permutation_test(self, pairs):
        a, b = np.array(pairs).T  # 64ths, so that sums are exact and equal ones are equal on both sides
        peer = stats.permutation_test(
            (a, b),
            lambda x, y, axis: (x - y).mean(axis=axis),
            permutation_type="samples",
            n_resamples=2**10,
            vectorized=True,
        )
        assert paired(a, b).p_value == pytest.approx(min(peer.pvalue, 1.0), abs=1e-12)

    def test_sampled_p_close_to_the_exact_one(self, monkeypatch):
        difference = np.random.default_rng(3).standard_normal(16) + 0.4
        exact = sign_flip_p(difference)
        assert 0.1 < exact < 0.9
        monkeypatch.setattr(uncertainty, "EXACT_UP_TO", 0)
        assert sign_flip_p(difference) == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 10_000))

    def test_sampled_p_same_as_scipy_within_chance(self):
        a, b = np.random.default_rng(5).standard_normal((2, 43))
        peer = stats.permutation_test(
            (a, b),
            lambda x, y, axis: (x - y).mean(axis=axis),
            permutation_type="samples",
            n_resamples=20_000,
            vectorized=True,
            rng=np.random.default_rng(0),
        ).pvalue
        assert 0.1 < peer < 0.9
        assert paired(a, b).p_value == pytest.approx(peer, abs=5 * math.sqrt(peer * (1 - peer) / 10_000))

    def test_so_few_that_none_could_be_significant_are_known_before(self):
        for n in range(1, 9):
            assert uncertainty.can_tell(n) == (sign_flip_p(np.linspace(1, 2, n)) <= 0.05), n

    def test_sampled_p_is_never_zero(self):
        assert sign_flip_p(np.full(60, 0.5)) == 1 / 10_001

    @pytest.mark.parametrize("n", [12, 30])
    def test_patterns_that_tie_with_the_observed_one_count_whatever_the_rounding(self, n):
        # Tenths do not add up exactly, whole numbers do: the p values must still be the same.
        for seed in range(20):
            whole = np.random.default_rng(seed).integers(-4, 5, n).astype(float)
            assert sign_flip_p(whole / 10) == sign_flip_p(whole)

    def test_interval_is_the_submissions_bootstrap_of_the_differences(self):
        a, b = board(2, 43)
        result = paired(a, b)
        assert (result.ci_low, result.ci_high) == pytest.approx(bootstrap_interval(a - b), rel=1e-12)

    def test_interval_same_as_scipy_bootstrap_within_chance(self):
        a, b = board(2, 43)
        peer = stats.bootstrap((a - b,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(0)).confidence_interval
        result, width = paired(a, b, resamples=20_000), peer.high - peer.low
        assert (result.ci_low, result.ci_high) == pytest.approx((peer.low, peer.high), abs=0.03 * width)

    def test_swapping_sides_mirrors_everything(self):
        a, b = board(2, 43)
        one, other = paired(a, b), paired(b, a)
        assert (one.better, one.worse, one.p_value) == (other.worse, other.better, other.p_value)
        assert (one.ci_low, one.ci_high) == pytest.approx((-other.ci_high, -other.ci_low), rel=1e-9)

    def test_scaling_both_sides_keeps_p_and_scales_the_interval(self):
        a, b = board(2, 30)
        one, scaled = paired(a, b), paired(1000 * a, 1000 * b)
        assert scaled.p_value == one.p_value
        assert (scaled.ci_low, scaled.ci_high) == pytest.approx((1000 * one.ci_low, 1000 * one.ci_high))

    def test_an_entry_against_itself_is_no_evidence_at_all(self):
        result = paired(board(1, 30)[0], board(1, 30)[0])
        assert (result.mean_difference, result.ci_low, result.ci_high, result.p_value) == (0, 0, 0, 1)
        assert (result.better, result.worse, result.equal) == (0, 0, 30)

    def test_null_pairs_are_dropped_and_counted_never_zero(self):
        a, b = [0.5, None, 0.7, NAN, 0.2], [0.4, 0.9, None, 0.1, 0.1]
        result = paired(a, b)
        assert (result.n, result.dropped) == (2, 3)
        assert result == paired([0.5, 0.2, None, None, None], [0.4, 0.1, None, None, None])

    @pytest.mark.parametrize(("a", "b", "n"), [([], [], 0), ([None], [1.0], 0), ([2.0], [1.0], 1)])
    def test_too_few_pairs_have_no_interval(self, a, b, n):
        result = paired(a, b)
        assert result.n == n
        assert (result.ci_low, result.ci_high) == (None, None)
        assert result.p_value == (None if n == 0 else 1.0)

    def test_different_lengths_are_refused(self):
        with pytest.raises(ValueError, match="same groups on both sides, not 2 and 1"):
            paired([1.0, 2.0], [1.0])
