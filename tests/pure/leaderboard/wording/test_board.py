"""Words of a board's table, by tables of records."""

from __future__ import annotations

import pytest

from leaderboard.boards.rows import BoardRows, Choice
from leaderboard.records.board import ColumnAcceptanceTest, NoOverallRank, Pairs, Rule, RuleValue
from leaderboard.records.cell import Cell, FoldedRank
from leaderboard.stats.meaning import At
from leaderboard.stats.ranking import RULES, NoOrder
from leaderboard.stats.states import Key, Reason
from leaderboard.wording import certainty
from leaderboard.wording.board import difference, digits, ends, folded, no_order, rule, rule_value, text, value_words, widths
from leaderboard.wording.reasons import sentence
from tests.support.leaderboard.boards import board_of, column_of
from tests.support.leaderboard.reasons import few_raters


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


RANKS = {"value": 6.5, "ranks": (1, 3, 1.5), "weights": (3, 1, 0.5), "incomplete": 0, "counted": True}


@pytest.mark.parametrize(
    ("key", "changes", "words"),
    [
        ("primary", {"ranks": (1,)}, "rank in HSS, the primary metric"),
        ("mean_rank", {}, "mean rank of 3 metrics: 1, 3, 1.5"),
        ("mean_rank", {"ranks": (2,)}, "mean rank of 1 metric: 2"),
        ("median_rank", {"incomplete": 1}, "median rank of 3 metrics: 1, 3, 1.5 (1 incomplete entry left out)"),
        ("borda", {"incomplete": 2}, "6.5 Borda points from ranks in 3 metrics: 1, 3, 1.5 (2 incomplete entries left out)"),
        ("weighted", {"counted": False}, "weighted mean rank of 3 metrics: 1 × 3, 3 × 1, 1.5 × 0.5 (this entry does not count)"),
    ],
)
def test_an_overall_value_names_the_ranks_that_it_is_made_of(key, changes, words):
    assert rule_value(RuleValue(Rule(key, 3, "HSS"), **RANKS | changes)) == words


def test_an_entry_without_an_overall_value_is_told_nothing_of_it():
    assert rule_value(None) == no_order(None) == ""


def test_every_reason_for_no_overall_rank_is_worded():
    said = {reason: no_order(NoOverallRank(reason=reason, title="HSS", note="weights were lost")) for reason in NoOrder}
    assert all(said.values()) and len(set(said.values())) == len(NoOrder)
    assert said[NoOrder.MAY_NOT_RANK].startswith("HSS, which decides") and said[NoOrder.EARLIER] == "weights were lost"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"value": [None]}, "no value"),
        ({"rank": [None]}, "0.5"),
        ({"unit": "m"}, "0.5 m; rank 1"),
        ({"rank_low": [1], "rank_high": [3]}, "0.5; rank 1 (1–3)"),
        ({"ci_low": [0.4], "ci_high": [0.6], "n": [12]}, "0.5; 95 % interval 0.4 to 0.6 over 12 houses; rank 1"),
        ({"ci_low": [0.4], "ci_high": [0.6]}, "0.5; 95 % interval 0.4 to 0.6; rank 1"),
        (
            {"percent": True, "ci_low": [0.4], "ci_high": [0.6]},
            "people would pick this entry in 50.0 % of comparisons; 95 % interval 40.0 to 60.0 %; rank 1",
        ),
        ({"acceptance_test": ColumnAcceptanceTest(state="waiting"), "rank": [None]}, "0.5; shown, not ranked"),
        ({"pairs": Pairs(tested=[0], p=[]), "n": [12]}, f"0.5; {certainty.alike(12, 'house')}; rank 1"),
    ],
)
def test_a_value_is_told_with_its_interval_and_its_rank(changes, words):
    nothing = {"n": [0], "rank_low": [None], "rank_high": [None]}
    assert value_words(Cell(column_of("a", [0.5]).model_copy(update=nothing | changes), 0, "house")) == words


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "no value"),
        ({"waits": True}, "waiting for re-evaluation"),
        ({"reason": few_raters(3)}, sentence(few_raters(3))),
        ({"reason": Reason(Key.MET_NONE_WITH_PLACE)}, "Nobody compared this entry with the entries that have a place with people."),
    ],
)
def test_a_value_that_is_not_there_is_told_with_its_reason(changes, words):
    assert value_words(Cell(column_of("a", [None]), 0, **changes)) == words


@pytest.mark.parametrize(
    ("value", "low", "high", "shown", "half", "sides", "between"),
    [
        (0.612, 0.584, 0.640, "0.612", "±.028", ("", ""), "0.584 to 0.640"),
        (0.8425, 0.539186, 0.942007, "0.84", "", ("+.10", "−.30"), "0.54 to 0.94"),
        (0.5, None, None, "0.5000", "", ("", ""), ""),
        (None, None, None, "–", "", ("", ""), ""),
    ],
)
def test_a_value_is_shown_with_its_interval_as_one_or_as_two_sides(value, low, high, shown, half, sides, between):
    cell = Cell(column_of("a", [value], ci_low=[low], ci_high=[high], bounds=[0.0, 1.0]), 0)
    found = digits(cell)
    assert (found.text, found.half, (found.up, found.down), ends(cell)) == (shown, half, sides, between)


def test_a_share_is_whole_hundredths_and_what_waits_has_no_digits():
    share = column_of("a", [0.615]).model_copy(update={"percent": True})
    assert text(Cell(share, 0)) == "62 %" and text(Cell(column_of("a", [None]), 0, waits=True)) == "waiting"


def test_the_widest_value_of_a_column_has_the_most_digits_before_the_point():
    assert widths(BoardRows(board_of([0.5, 12.25, -3.0, None], [None] * 4), Choice()).lines) == {"a": 2}


@pytest.mark.parametrize(
    ("most", "one", "words"),
    [
        (0.74, (0.6, 0.9), "A difference of this size does not tell which of two entries people prefer."),
        (0.75, (0.4, 0.9), "In about 8 of 10 pairs with a difference like this, more people prefer the higher one."),
        (
            0.81,
            (0.58, 0.9),
            "In about 8 of 10 pairs with a difference like this, more people prefer the higher one. In this pair, 58 to 90 of "
            "100 people would.",
        ),
        (0.96, (0.4, 0.9), "In more than 9 of 10 pairs with a difference like this, more people prefer the higher one."),
    ],
)
def test_the_statement_is_in_tenths_and_of_one_pair_only_where_that_lies_above_one_half(most, one, words):
    assert difference(At((0.7, 0.6, 0.8), one, most)) == words


def test_metrics_out_of_sight_are_named_by_their_rank():
    assert folded(FoldedRank(0.0, 2, ("A", "B"))) == "2nd by A, B"
