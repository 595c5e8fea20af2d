from __future__ import annotations

import numpy as np
import pytest

from leaderboard.studies.live import history
from leaderboard.studies.live.history import EQUAL, FIRST, NOTHING, SECOND, Past
from leaderboard.studies.live.plan import Grid

GRID = Grid.pairs(3, 2)  # units 01, 02, 12 on two samples: cells 0 to 5


def told(*rows: tuple[int, int]) -> Past:
    asked, said = zip(*rows, strict=True)
    return Past(np.array(asked, dtype=np.int32), np.array(said, dtype=np.uint8))


def test_a_past_is_five_bytes_a_question_and_comes_back_as_it_was():
    one = told((5, FIRST), (-1, SECOND), (1_000_000, NOTHING))
    asked, said = one.written()
    assert (len(asked), len(said)) == (12, 3)
    again = Past.read(asked, said)
    assert again.asked.tolist() == [5, -1, 1_000_000] and again.said.tolist() == [FIRST, SECOND, NOTHING]


def test_what_was_asked_again_keeps_its_cell():
    one = told((0, FIRST), (-1, FIRST), (4, EQUAL))
    assert one.cells.tolist() == [0, 0, 4]
    assert one.again.tolist() == [False, True, False]


def test_more_questions_come_at_the_end_and_are_unanswered():
    one = told((0, FIRST)).with_asked([3, -1])
    assert one.asked.tolist() == [0, 3, -1] and one.said.tolist() == [FIRST, NOTHING, NOTHING]
    assert len(Past().with_asked([])) == 0


def test_cells_are_counted_over_raters_and_repeats_are_not():
    both = history.together([told((0, FIRST), (5, NOTHING), (-1, FIRST)), told((0, SECOND), (2, EQUAL))])
    assert history.times_asked(GRID, both).tolist() == [[2, 0], [1, 0], [0, 1]]
    assert history.times_asked(GRID, history.together([])).sum() == 0


def test_wins_are_of_what_was_said_and_a_tie_is_half_of_one_to_both():
    one = told((0, FIRST), (1, SECOND), (2, EQUAL), (5, FIRST), (-1, FIRST), (4, NOTHING))
    # 01: twice 0 (one of them asked again), once 1; 02: equal; 12: once 1
    assert history.wins(GRID, one) == pytest.approx(np.array([[0, 2, 0.5], [1, 0, 1], [0.5, 0, 0]]))
