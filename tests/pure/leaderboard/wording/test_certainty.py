"""Statements on the certainty of first place."""

from __future__ import annotations

import pytest

from leaderboard.records.board import Board, ImportedFrom
from leaderboard.records.unit import Unit
from leaderboard.stats.minimums import GROUPS_FOR_BOARD_INTERVAL
from leaderboard.stats.uncertainty import RULE
from leaderboard.wording import certainty
from leaderboard.wording.statement import Tone
from tests.support.leaderboard.boards import board_of, column_of

RANGES = "(95 % ranges of the ranks, for all entries at once)."


@pytest.mark.parametrize(
    ("values", "low", "high", "more", "said"),
    [
        ([0.9, 0.8, 0.1], [1, 1, 3], [2, 2, 3], {}, f"method 0 is first. 1 other entry may be first too {RANGES}"),
        ([0.9, 0.8, 0.1], [1, 2, 3], [1, 2, 3], {}, f"Only method 0 may be first {RANGES}"),
        ([0.9, 0.8, 0.1], [1, 2, 2], [2, 2, 3], {}, f"method 0 is first, but its rank may be as low as 2 {RANGES}"),
        (
            [0.9, 0.9, 0.1],
            [1, 1, 1],
            [3, 3, 3],
            {"rank": [1, 1, 3]},
            f"2 entries share first place. 1 other entry may be first too {RANGES}",
        ),
        ([0.9, 0.9, 0.1], [1, 1, 3], [2, 2, 3], {"rank": [1, 1, 3]}, f"2 entries share first place. No other entry may be first {RANGES}"),
        ([0.9, 0.9], [1, 1], [2, 2], {"rank": [1, 1]}, "2 entries share first place."),
        (
            [0.9, 0.9, 0.1],
            [1, None, 3],
            [2, None, 3],
            {"rank": [1, 1, 3], "untested": ["", "lacks", ""]},
            f"2 entries share first place. No other entry with a range may be first {RANGES} 1 entry is not tested.",
        ),
        (
            [0.9, 0.8, 0.1],
            [1, 2, None],
            [1, 2, None],
            {"untested": ["", "", "lacks"]},
            f"Of the 2 entries with a range, only method 0 may be first {RANGES} 1 entry is not tested.",
        ),
        (
            [0.9, 0.8, 0.1],
            [1, 1, None],
            [2, 2, None],
            {"untested": ["", "", "lacks"]},
            f"method 0 is first. 1 other entry may be first too {RANGES} 1 entry is not tested.",
        ),
        # Withheld since, after it was tested.
        ([0.9, 0.8, 0.1], [1, None, 3], [1, None, 3], {}, f"Of the 2 entries with a range, only method 0 may be first {RANGES}"),
        ([0.9, 0.8, 0.1], [None, 1, 3], [None, 2, 3], {}, ""),
        ([0.9, 0.8, 0.1], [None] * 3, [None] * 3, {}, ""),  # too few items for any
    ],
)
def test_the_orders_first_place_is_as_firm_as_its_rank_intervals(values, low, high, more, said):
    assert certainty.first_place(board_of(values, overall={"rank_low": low, "rank_high": high} | more)).text == said


def published(n: list[int], low: list[int | None], group: list[int | None]) -> Board:
    """A board of imported values on so many of 24 items each, with an interval of each value."""
    ends = {"ci_low": [0.1] * len(n), "ci_high": [0.9] * len(n), "n": n, "rank_low": low, "rank_high": low, "group": group}
    values = [0.9 - 0.1 * place for place in range(len(n))]
    board = board_of(values, overall={"rank_low": low, "rank_high": low, "group": group})
    of_24 = {"uncertainty": RULE, "n_items": 24, "n_resampled": 24, "imported": ImportedFrom(source="P", url="")}
    return board.model_copy(update=of_24 | {"metrics": [column_of("a", values, **ends)]})


@pytest.mark.parametrize(
    ("n", "low", "ranks"),
    [
        ([24, 24, 24], [1, 2, 3], None),
        ([20, 20, 20], [1, 2, 3], None),  # all are tested, so they have the same items
        ([4, 4, 4], [None] * 3, None),  # too few for any test
        ([20, 20, 20], [None] * 3, "These ranks are not tested. They compare means over different items: the entries have values on 20 of"),
        ([24, 20, 24], [1, None, 3], "These ranks compare means over different items: the entries have values on 20 to 24 of"),
    ],
)
def test_published_values_on_different_items_are_told_with_whether_their_ranks_are_tested(n, low, ranks):
    board = published(n, low, [1, 1, 1])
    rest = " 24 items. A mean over easier items is better for that reason alone."
    assert certainty.partial(board, board.overall) == (f"{ranks}{rest}" if ranks else "")


def test_the_foot_says_nothing_of_other_brackets_where_there_is_one_and_of_how_many_items_an_interval_is():
    claim, own, all_items = (certainty.SENTENCES[key].format(n=24, items="items") for key in ("claim", "pm_own", "pm"))
    of_one = published([24, 24], [1, 1], [1, 1])
    of_two = published([24, 20, 24], [1, None, 3], [1, None, 2])
    said, more = (certainty.foot(board, board.overall) for board in (of_one, of_two))
    assert all_items in said and own not in said and claim not in said
    assert own in more and all_items not in more and claim in more


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
    column = column.model_copy(update={"leads": [(1, 0.998), (2, 0.002)], "untested": ["lacks", "", ""]})
    said = certainty.leads(board.model_copy(update={"metrics": [column]}), column).text
    assert said.startswith(
        "By Edge F1 and among the tested entries, method 1 leads on 99 % of random halves of the items, method 2 on 1 %."
    )


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


def test_a_p_above_the_level_is_not_written_as_the_level():
    assert [certainty.p_words(p) for p in (0.0001, 0.05, 0.0501, 0.0496, 0.0996, 0.1)] == [
        *("<0.001", "0.050", ">0.050", "0.050", "0.100", "0.10"),
    ]


def test_values_that_are_equal_on_very_many_items_leave_a_share_that_is_not_nothing():
    assert "up to 1 % of further items may have another" in certainty.alike(1000, "item")
