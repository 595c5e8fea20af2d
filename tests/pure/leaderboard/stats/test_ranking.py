import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from leaderboard.stats.ranking import (
    RULES,
    Column,
    order,
    overall,
    overall_higher_is_better,
    rank,
    rank_counts,
    rank_counts_among,
)
from tests.support.examples import examples

# Whole numbers: far enough apart that only true equals tie, whatever is done to them below.
levels = st.lists(st.one_of(st.none(), st.integers(-20, 20).map(float)), max_size=25)
directions = st.booleans()
quick = examples(50)


def columns_of(table, **changes):
    """Columns a, b, c, ... from rows of values, higher better, the first primary."""
    return [
        Column("abcdef"[index], list(values), True, changes.get("weights", [1.0] * 6)[index], index == 0)
        for index, values in enumerate(zip(*table, strict=True))
    ]


def plain_ranks(values, higher_is_better):
    """The definition, read off word by word: walk down the order, compare with the first of the run."""
    valid = sorted((v for v in values if v is not None), reverse=higher_is_better)
    by_value, first = {}, None
    for position, value in enumerate(valid, start=1):
        if first is None or abs(value - first[1]) > 1e-12 * max(1.0, abs(first[1])):
            first = position, value
        by_value[value] = first[0]
    return [None if v is None else by_value[v] for v in values]


class TestRank:
    def test_hand_worked_with_ties_and_a_missing_value(self):
        assert rank([0.5, None, 0.9, 0.5, 0.1], True) == [2, None, 1, 2, 4]
        assert rank([0.5, None, 0.9, 0.5, 0.1], False) == [2, None, 4, 2, 1]

    def test_nothing_to_rank(self):
        assert rank([], True) == []
        assert rank([None, math.nan], False) == [None, None]

    @pytest.mark.parametrize("bad", [None, math.nan, math.inf, -math.inf])
    @pytest.mark.parametrize("higher", [True, False])
    def test_missing_or_not_finite_is_never_first(self, bad, higher):
        assert rank([bad, 0.3], higher) == [None, 1]
        assert order([bad, 0.3], higher) == [1, 0]

    def test_values_within_the_tolerance_share_a_rank_and_beyond_it_do_not(self):
        assert rank([1.0, 1.0 + 5e-13, 1.0 + 3e-12], True) == [2, 2, 1]
        assert rank([1e6, 1e6 + 5e-7, 1e6 + 2e-6], False) == [1, 1, 3]

    def test_a_chain_of_near_ties_is_judged_by_the_first_of_the_run(self):
        assert rank([0.0, 0.8e-12, 1.6e-12, 2.4e-12], False) == [1, 1, 3, 3]

    @quick
    @given(st.lists(st.one_of(st.none(), st.integers(-30, 30).map(lambda k: k * 0.4e-12)), max_size=30), directions)
    def test_same_as_the_plain_definition_among_near_ties(self, values, higher):
        assert rank(values, higher) == plain_ranks(values, higher)

    @quick
    @given(levels, directions)
    def test_same_as_scipy_rankdata(self, values, higher):
        valid = [v for v in values if v is not None]
        expected = iter(rankdata([-v if higher else v for v in valid], method="min"))
        assert rank(values, higher) == [None if v is None else int(next(expected)) for v in values]

    @quick
    @given(levels, directions, st.randoms(use_true_random=False))
    def test_relabelling_entries_relabels_ranks(self, values, higher, random):
        shuffled = list(range(len(values)))
        random.shuffle(shuffled)
        ranks = rank(values, higher)
        assert rank([values[i] for i in shuffled], higher) == [ranks[i] for i in shuffled]

    @quick
    @given(levels, directions)
    def test_other_direction_with_negated_values_changes_nothing(self, values, higher):
        assert rank(values, higher) == rank([None if v is None else -v for v in values], not higher)

    @quick
    @given(levels, directions, st.sampled_from([1e-3, 0.5, 7.0, 1e6]))
    def test_scale_and_monotone_transforms_change_nothing(self, values, higher, factor):
        for transform in (lambda v: factor * v, math.atan, lambda v: v**3 + v):
            assert rank([None if v is None else transform(v) for v in values], higher) == rank(values, higher)

    @quick
    @given(levels, directions, st.sampled_from([None, math.nan, math.inf]), st.integers(0, 25))
    def test_an_invalid_row_changes_no_rank_and_no_order(self, values, higher, bad, at):
        at = min(at, len(values))
        more = [*values[:at], bad, *values[at:]]
        ranks = rank(more, higher)
        assert ranks.pop(at) is None
        assert ranks == rank(values, higher)
        kept = [i - (i > at) for i in order(more, higher) if i != at]
        assert kept == order(values, higher)


class TestOrder:
    def test_ties_go_by_key_then_position(self):
        values = [0.5, 0.5, 0.7, None, None, 0.5]
        assert order(values, True) == [2, 0, 1, 5, 3, 4]
        assert order(values, True, keys=["c", "a", "z", "b", "a", "a"]) == [2, 1, 5, 0, 4, 3]

    def test_values_equal_within_the_tolerance_go_by_key_and_not_by_rounding(self):
        assert order([1.0, 1.0 + 1e-13], True, keys=[1, 2]) == [0, 1]

    def test_needs_a_key_for_every_value(self):
        with pytest.raises(ValueError, match="one key per value: 2 values, 1 keys"):
            order([1.0, 2.0], True, keys=[1])

    @quick
    @given(levels, directions, st.integers(1, 7))
    def test_pages_of_any_size_join_to_the_same_list(self, values, higher, size):
        whole = order(values, higher)
        pages = [order(values, higher)[start : start + size] for start in range(0, len(values), size)]
        assert [i for page in pages for i in page] == whole
        ranks = [r for r in (rank(values, higher)[i] for i in whole) if r is not None]
        assert ranks == sorted(ranks)


class TestPlacings:
    @quick
    @given(st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=20))
    def test_entries_of_the_field_and_entries_against_it_are_counted_alike(self, cost):
        better, equal = rank_counts(np.array([cost]))
        outside_better, outside_equal = rank_counts_among(np.array(cost), np.sort(cost))
        assert better[0].tolist() == outside_better.tolist()
        assert equal[0].tolist() == outside_equal.tolist()
        assert better[0].tolist() == [sum(other < own for other in cost) for own in cost]
        assert equal[0].tolist() == [cost.count(own) for own in cost]

    def test_an_entry_outside_the_field_ties_within_the_tolerance(self):
        better, equal = rank_counts_among(np.array([1.0 - 5e-13, 1.0 + 5e-13, 1.0 + 3e-12]), np.array([0.5, 1.0]))
        assert (better.tolist(), equal.tolist()) == ([1, 1, 2], [1, 1, 0])


# Four entries, three metrics: ranks are (1,3,1) (2,1,1) (3,2,3) (4,4,4).
TABLE = [(0.9, 0.2, 0.5), (0.8, 0.9, 0.5), (0.7, 0.3, 0.4), (0.6, 0.1, 0.3)]


class TestOverall:
    @pytest.mark.parametrize(
        ("rule", "ranks", "values"),
        [
            ("primary", [1, 2, 3, 4], [0.9, 0.8, 0.7, 0.6]),
            # The first two share the first place of the third metric: rank 1.5 each.
            ("mean_rank", [2, 1, 3, 4], [5.5 / 3, 4.5 / 3, 8 / 3, 4.0]),
            ("median_rank", [1, 1, 3, 4], [1.5, 1.5, 3.0, 4.0]),
            # Points per metric: entries worse, and half of those equal.
            ("borda", [2, 1, 3, 4], [3 + 1 + 2.5, 2 + 3 + 2.5, 1 + 2 + 1, 0.0]),
            # Weights 3, 1, 0: (3*1 + 3) / 4, (3*2 + 1) / 4, (3*3 + 2) / 4, 4.
            ("weighted", [1, 2, 3, 4], [1.5, 1.75, 2.75, 4.0]),
        ],
    )
    def test_hand_worked(self, rule, ranks, values):
        results = overall(rule, columns_of(TABLE, weights=[3, 1, 0]))
        assert [r.rank for r in results] == ranks
        assert [r.value for r in results] == pytest.approx(values, abs=1e-15)

    def test_equal_entries_share_the_mean_of_their_places(self):
        results = overall("mean_rank", [Column("m", [0.9, 0.9, 0.7, 0.7, 0.7, 0.1], True)])
        assert [result.value for result in results] == [1.5, 1.5, 4.0, 4.0, 4.0, 6.0]

    @pytest.mark.parametrize("rule", RULES)
    def test_names_the_ranks_that_it_is_made_of(self, rule):
        assert overall(rule, columns_of(TABLE, weights=[3, 1, 0.5]))[0].ranks == (1, 3, 1.5)

    @pytest.mark.parametrize("rule", RULES)
    def test_any_missing_metric_is_unranked_and_named(self, rule):
        *others, result = overall(rule, columns_of([*TABLE, (1.0, None, None)]))
        assert (result.rank, result.value, result.ranks, result.missing) == (None, None, (), ("b", "c"))
        assert [r.rank for r in others] == [r.rank for r in overall(rule, columns_of(TABLE))]

    @pytest.mark.parametrize("rule", RULES)
    def test_a_baseline_has_a_value_to_be_placed_by_but_no_rank(self, rule):
        # The baseline equals the second entry everywhere, so it is placed exactly beside it.
        columns = columns_of([*TABLE, TABLE[1]])
        results = overall(rule, columns, counted=[True] * 4 + [False])
        assert [r.rank for r in results[:4]] == [r.rank for r in overall(rule, columns_of(TABLE))]
        assert results[4].rank is None
        assert results[4].value == pytest.approx(results[1].value)
        assert results[4].ranks == results[1].ranks

    @pytest.mark.parametrize("rule", RULES)
    @quick
    @given(
        table=st.lists(st.tuples(*[st.integers(0, 6).map(float)] * 3), max_size=10),
        bad=st.tuples(*[st.one_of(st.none(), st.integers(0, 6).map(float))] * 2),
        counted=directions,
    )
    def test_incomplete_rows_and_baselines_never_change_the_others(self, rule, table, bad, counted):
        extra = (*bad, None) if counted else (*(v or 0.0 for v in bad), 3.0)
        with_extra = overall(rule, columns_of([extra, *table]), counted=[counted] + [True] * len(table))
        alone = overall(rule, columns_of(table)) if table else []
        assert with_extra[0].rank is None
        assert [(r.rank, r.value, r.ranks) for r in with_extra[1:]] == [(r.rank, r.value, r.ranks) for r in alone]

    @pytest.mark.parametrize("rule", ["mean_rank", "median_rank", "borda", "weighted"])
    @quick
    @given(table=st.lists(st.tuples(*[st.integers(0, 6).map(float)] * 3), min_size=1, max_size=12))
    def test_same_as_scipy_ranks_put_together(self, rule, table):
        weights = [2.0, 0.5, 1.0]
        mid = np.array([rankdata([-v for v in column]) for column in zip(*table, strict=True)])
        score = {
            "mean_rank": mid.mean(axis=0),
            "median_rank": np.median(mid, axis=0),
            "borda": mid.sum(axis=0),
            "weighted": np.average(mid, axis=0, weights=weights),
        }[rule]
        expected = rankdata(np.round(score, 9), method="min").astype(int).tolist()
        assert [r.rank for r in overall(rule, columns_of(table, weights=weights))] == expected

    def test_knows_the_direction_of_its_value(self):
        lower = [Column("x", [1.0, 2.0], False, primary=True), Column("y", [1.0, 2.0], True)]
        assert [overall_higher_is_better(rule, lower) for rule in RULES] == [False, False, False, True, False]
        assert [r.rank for r in overall("primary", lower)] == [1, 2]

    def test_nobody_to_rank(self):
        assert overall("borda", [Column("x", [], True)]) == []
        assert overall("borda", [Column("x", [None], True)])[0].rank is None
        assert overall("borda", [Column("x", [0.5], True)], counted=[False])[0].rank is None

    @pytest.mark.parametrize(
        ("rule", "columns", "sentence"),
        [
            ("best", [Column("x", [1.0], True)], "'best' is not a ranking rule; choose one of primary, mean_rank"),
            ("borda", [], "no_metric"),
            ("borda", [Column("x", [1.0], True), Column("y", [], True)], "one value"),
            ("primary", [Column("x", [1.0], True)], "exactly one primary metric, 0 are marked"),
            ("weighted", [Column("x", [1.0], True, weight=0.0)], "weights"),
            ("weighted", [Column("x", [1.0], True, weight=-1.0)], "weights"),
            ("weighted", [Column("x", [1.0], True, weight=math.nan)], "weights"),
        ],
    )
    def test_an_unusable_rule_is_refused_in_a_sentence(self, rule, columns, sentence):
        with pytest.raises(ValueError, match=sentence):
            overall(rule, columns)
