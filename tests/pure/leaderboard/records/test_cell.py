"""Values of entries in columns: what is known of them, and where they are drawn."""

from __future__ import annotations

from leaderboard.records.board import ColumnAcceptanceTest, Pairs
from leaderboard.records.cell import Cell, bar, position
from leaderboard.stats.states import State
from tests.support.leaderboard.boards import column_of


def test_a_value_is_drawn_on_the_scale_of_its_column():
    it = Cell(column_of("a", [0.612], ci_low=[0.584], ci_high=[0.640], scale=[0.4, 0.8]), 0)
    assert (it.value, it.ends, it.dot, it.bar, it.state) == (0.612, (0.584, 0.640), 53.0, (46.0, 14.0), State.KNOWN)


def test_the_best_of_a_column_is_marked_where_another_is_worse():
    assert [Cell(column_of("a", [0.9, 0.9, 0.4, None]), n).best for n in range(4)] == [True, True, False, False]
    assert [n for n in range(3) if Cell(column_of("a", [0.9] * 3), n).best] == [] and not Cell(column_of("a", [0.9]), 0).best


def test_one_item_alone_claims_no_certainty():
    it = Cell(column_of("a", [0.5], ci_low=[0.5], ci_high=[0.5], n=[1]), 0)
    assert (it.ends, it.bar, it.state) == ((None, None), (0.0, 0.0), State.NO_INTERVAL)


def test_equal_values_are_told_from_too_few_and_from_a_column_that_may_not_rank():
    tested = column_of("a", [0.5], n=[12]).model_copy(update={"pairs": Pairs(tested=[0], p=[])})
    waiting = tested.model_copy(update={"acceptance_test": ColumnAcceptanceTest(state="waiting")})
    few = tested.model_copy(update={"n": [5]})
    assert [Cell(column, 0).state for column in (tested, waiting, few)] == [State.ALIKE, State.NO_INTERVAL, State.NO_INTERVAL]
    assert Cell(column_of("a", [None]), 0).state is State.NOT_APPLICABLE


def test_what_lies_outside_the_scale_stands_at_its_end():
    assert (position([0.0, 1.0], -5), position([0.0, 1.0], 7), position([1.0, 1.0], 1)) == (0.0, 100.0, 50.0)
    assert bar([0.0, 1.0], -1, 2) == (0.0, 100.0) and bar([0.0, 1.0], None, 2) == (0.0, 0.0)
