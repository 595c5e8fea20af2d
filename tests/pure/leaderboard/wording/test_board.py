"""Words of a board's table, by tables of records."""

from __future__ import annotations

import pytest

from leaderboard.records.board import ColumnAcceptanceTest, Pairs, Rule
from leaderboard.stats.meaning import At
from leaderboard.stats.ranking import RULES
from leaderboard.wording import certainty
from leaderboard.wording.board import difference, folded, rule, value
from tests.support.leaderboard.boards import column_of


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (Rule("primary", 1, "HSS"), "HSS"),
        (Rule("primary", 0), "the primary metric"),
        (Rule("mean_rank", 3), "mean rank over 3 metrics"),
        (Rule("median_rank", 3), "median rank over 3 metrics"),
        (Rule("borda", 3), "Borda count over 3 metrics"),
        (Rule("weighted", 3), "weighted mean rank over 3 metrics"),
    ],
)
def test_a_rule_is_named_with_its_metrics(record, words):
    assert rule(record) == words


def test_every_rule_has_a_name():
    assert len({rule(Rule(key, 2, "A")) for key in RULES}) == len(RULES)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"value": [None]}, "no value"),
        ({"rank": [None]}, "0.5"),
        ({"unit": "m"}, "0.5 m; rank 1"),
        ({"rank_low": [1], "rank_high": [3]}, "0.5; rank 1 (1–3)"),
        ({"ci_low": [0.4], "ci_high": [0.6], "n": [12]}, "0.5; 95 % interval 0.4 to 0.6 over 12; rank 1"),
        ({"ci_low": [0.4], "ci_high": [0.6]}, "0.5; 95 % interval 0.4 to 0.6; rank 1"),
        (
            {"percent": True, "ci_low": [0.4], "ci_high": [0.6]},
            "people would pick it in 50.0 % of comparisons; 95 % interval 40.0 to 60.0 %; rank 1",
        ),
        ({"acceptance_test": ColumnAcceptanceTest(state="waiting", sentence=""), "rank": [None]}, "0.5; shown, not ranked"),
        ({"pairs": Pairs(tested=[0], p=[]), "n": [12]}, f"0.5; {certainty.alike(12, 'house')}; rank 1"),
    ],
)
def test_a_value_is_told_with_its_interval_and_its_rank(changes, words):
    nothing = {"n": [0], "rank_low": [None], "rank_high": [None]}
    assert value(column_of("a", [0.5]).model_copy(update=nothing | changes), 0, "house") == words


@pytest.mark.parametrize(
    ("most", "one", "words"),
    [
        (0.74, (0.6, 0.9), "A difference of this size does not tell which of the two people prefer."),
        (0.75, (0.4, 0.9), "In about 8 of 10 pairs with a difference like this, more people prefer the higher one."),
        (
            0.81,
            (0.58, 0.9),
            "In about 8 of 10 pairs with a difference like this, more people prefer the higher one. 58 to 90 of 100 people would.",
        ),
        (0.96, (0.4, 0.9), "In more than 9 of 10 pairs with a difference like this, more people prefer the higher one."),
    ],
)
def test_the_statement_is_in_tenths_and_of_one_pair_only_where_that_lies_above_one_half(most, one, words):
    assert difference(At((0.7, 0.6, 0.8), one, most)) == words


def test_metrics_out_of_sight_are_named_by_their_rank():
    assert folded(2, ["A", "B"]) == "2nd by A, B"
