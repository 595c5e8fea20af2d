"""Statements on the certainty of first place."""

from __future__ import annotations

from leaderboard.records.unit import Unit
from leaderboard.stats.minimums import GROUPS_FOR_BOARD_INTERVAL
from leaderboard.wording import certainty
from leaderboard.wording.statement import Tone
from tests.support.leaderboard.boards import board_of, column_of


def test_the_orders_first_place_is_as_firm_as_its_rank_intervals():
    said = certainty.first_place(board_of([0.9, 0.8, 0.1], overall={"rank_low": [1, 1, 3], "rank_high": [2, 2, 3]}))
    assert said.text == "method 0 is first. 1 other entry may be first too (95 % ranges of the ranks, for all entries at once)."
    said = certainty.first_place(board_of([0.9, 0.8, 0.1], overall={"rank_low": [1, 2, 3], "rank_high": [1, 2, 3]}))
    assert said.text == "Only method 0 may be first (95 % ranges of the ranks, for all entries at once)."
    level = {"rank": [1, 1, 3], "rank_low": [1, 1, 1], "rank_high": [3, 3, 3]}
    said = certainty.first_place(board_of([0.9, 0.9, 0.1], overall=level))
    assert said.text == "2 entries share first place. 3 entries may be first (95 % ranges of the ranks, for all entries at once)."
    untested = {"rank_low": [1, 2, None], "rank_high": [1, 2, None]}
    said = certainty.first_place(board_of([0.9, 0.8, 0.1], overall=untested))
    assert said.text.startswith("Of the 2 tested entries, only method 0 may be first (") and said.text.endswith("). 1 entry is not tested.")
    untested = {"rank_low": [1, 1, None], "rank_high": [2, 2, None]}
    said = certainty.first_place(board_of([0.9, 0.8, 0.1], overall=untested))
    assert said.text.startswith("method 0 is first. 1 other entry may be first too (") and said.text.endswith("). 1 entry is not tested.")
    nothing = {"rank_low": [None] * 3, "rank_high": [None] * 3}
    assert not certainty.first_place(board_of([0.9, 0.8, 0.1], overall=nothing))  # too few items for any


def test_how_often_each_leads_is_said_of_the_metric_that_the_board_is_sorted_by():
    board = board_of([0.9, 0.8, 0.1])
    column = column_of("a", [0.9, 0.8, 0.1], leads=[(0, 0.625), (1, 0.375)], title="Edge F1")
    board = board.model_copy(update={"metrics": [column]})
    said = certainty.leads(board, column)
    assert said.text == (
        "By Edge F1, method 0 leads on 62 % of random halves of the items, method 1 on 38 %. Such a share is not the "
        "probability of being best."
    )
    assert [part.text for part in said.parts if part.tone is Tone.NAME] == ["method 0", "method 1"]
    assert not certainty.leads(board_of([0.9, 0.8, 0.1]), column.model_copy(update={"leads": None}))


def test_peoples_first_place_has_its_range_or_is_settled_or_neither():
    assert (
        certainty.peoples_first("A", 4, False).text
        == "By people's answers, A leads, but first place is not settled (95 % range of its place: 1 to 4)."
    )
    assert certainty.peoples_first("A", 1, True).text == "People put A first, and no other entry may be first (95 % confidence)."
    assert certainty.peoples_first("A", 1, False).text == "People put A first."


def test_too_few_units_are_named_and_of_groups_that_more_of_their_items_do_not_help():
    few = f"too few for intervals, brackets and ranges of ranks. At least {GROUPS_FOR_BOARD_INTERVAL} are needed."
    assert certainty.few(4, Unit(4, "item")) == f"4 items: {few}"
    alike = "The houses of one street are alike, so more houses do not replace another street."
    assert certainty.few(3, Unit(3, "street", "house")) == f"3 streets: {few} {alike}"
