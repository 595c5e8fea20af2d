"""Two orders side by side: who is drawn, where, and which split is the widest."""

from __future__ import annotations

import pytest

from leaderboard.boards.people import People, of_board
from leaderboard.boards.slope import MAX_LINES, MIN_LINES, slope, slope_of_two, split_of
from leaderboard.records.board import Board, Mark
from leaderboard.records.front import STEP, TOP, Split
from tests.support.leaderboard.boards import board_of, judged


def people(board: Board, values: list[float | None], **changes) -> People:
    return of_board(judged(board, values, **changes))


def test_each_entry_goes_from_its_rank_to_its_place():
    board = board_of([0.9, 0.5, 0.1, 0.3])
    found = slope(people(board, [0.4, 0.9, 0.2, None]), None)
    # By the metric 0, 1, (3), 2; by people 1, 0, 2; entry 3 was judged by nobody and is not drawn.
    assert [line.id for line in found.lines] == [3, 1, 2]
    ends = {line.name: (line.left, line.right, line.kind, line.place) for line in found.lines}
    assert ends == {
        "method 0": (TOP, TOP + STEP, "metrics", (2, 2)),
        "method 1": (TOP + STEP, TOP, "people", (1, 1)),
        "method 2": (TOP + 2 * STEP, TOP + 2 * STEP, "", (3, 3)),
    }
    assert [line.kind for line in found.lines] == ["", "metrics", "people"]  # named ones over the others


def test_where_both_agree_the_first_is_drawn_once():
    found = slope(people(board_of([0.9, 0.5, 0.1]), [0.9, 0.5, 0.1]), None)
    assert [line.kind for line in found.lines].count("metrics") == 1 and [line for line in found.lines if line.left != line.right] == []


@pytest.mark.parametrize("values", [[None, None, None], [0.9, 0.5, None]])
def test_fewer_than_three_are_not_drawn(values):
    assert slope(people(board_of([0.9, 0.5, 0.1]), values), None) is None and MIN_LINES == 3


def test_of_many_the_first_and_those_with_a_name_are_drawn():
    n = 40
    board = board_of([1 - k / n for k in range(n)])
    found = slope(people(board, [k / n for k in range(n)]), None)
    assert len(found.lines) == MAX_LINES and found.height == 104
    assert {line.name for line in found.lines if line.kind} == {"method 0", "method 39"}


def test_the_widest_split_is_among_marked_entries():
    board, values = board_of([0.9, 0.8, 0.1, 0.05]), [0.1, 0.2, 0.8, 0.9]
    mark = Mark(preferred="x", id=None, value=(0.7, 0.6, 0.8), samples=[], n=0)
    first, second = (str(entry.id) for entry in board.entries[:2])
    marked = people(board, values, marks={"a": {second: [mark]}}, places=[None, (3, 4), None, None])
    assert split_of(marked) == Split("method 1", "A", 2, (3, 4))
    both = {"a": {second: [mark], first: [mark]}}
    assert split_of(people(board, values, marks=both)).name == "method 0"
    assert split_of(people(board, values)) is None and split_of(people(board, [None] * 4, marks=both)) is None


def test_two_entries_of_one_metric_are_drawn_however_far_down_they_stand():
    n = 40
    board = board_of([1 - k / n for k in range(n)])
    found = slope_of_two(people(board, [k / n for k in range(n)]), board.metrics[0], 30, 35)
    assert len(found.lines) == MAX_LINES and found.lines[-1].name == "method 35"
    assert {line.name: line.kind for line in found.lines if line.kind} == {"method 30": "metrics", "method 35": "people"}
    assert [line.left for line in sorted(found.lines, key=lambda line: line.left)] == [TOP + STEP * k for k in range(MAX_LINES)]
    unjudged = people(board, [None if k == 35 else k / n for k in range(n)])
    assert slope_of_two(unjudged, board.metrics[0], 30, 35) is None
