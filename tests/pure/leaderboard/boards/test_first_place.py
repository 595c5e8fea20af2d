"""The first entries with the ranges of their ranks."""

from __future__ import annotations

from leaderboard.boards.first_place import by_people, by_rule
from leaderboard.records.first_place import RankRange
from tests.support.leaderboard.boards import board_of


def test_those_that_may_be_first_are_drawn_and_filled_up_to_three():
    ranks = {"rank_low": [1, 1, 3, 4], "rank_high": [2, 2, 3, 4]}
    found = by_rule(board_of([0.9, 0.8, 0.4, 0.1], overall=ranks))
    assert found.lines == (RankRange("method 0", 1, 1, 2), RankRange("method 1", 2, 1, 2), RankRange("method 2", 3, 3, 3))
    assert (found.last, found.more) == (4, 0)


def test_of_many_that_may_be_first_five_are_drawn_and_the_others_counted():
    n = 9
    found = by_rule(board_of([1 - 0.1 * i for i in range(n)], overall={"rank_low": [1] * 7 + [2, 2], "rank_high": [9] * n}))
    assert (len(found.lines), found.more, found.last) == (5, 2, 9)


def test_an_entry_that_is_not_tested_has_no_bar():
    found = by_rule(board_of([0.9, 0.8, 0.4], overall={"rank_low": [1, None, 2], "rank_high": [2, None, 3]}))
    assert found.lines[1] == RankRange("method 1", 2, None, None)


def test_nothing_is_drawn_where_no_range_is_known_or_one_entry_alone_is_ranked():
    assert by_rule(board_of([0.9, 0.8], overall={"rank_low": [None] * 2, "rank_high": [None] * 2})) is None
    assert by_rule(board_of([0.9, None], overall={"rank_low": [1, None], "rank_high": [1, None]})) is None
    assert by_people(None) is None  # nobody was asked
