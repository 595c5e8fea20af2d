"""Words of the table of a suite of tests, by tables of records."""

from __future__ import annotations

import pytest

from evaluation.properties.gate.design import CROSS
from leaderboard.records.board import Failure
from leaderboard.records.suite_table import Cell, Line, Missing
from leaderboard.wording.acceptance_test import failure
from leaderboard.wording.suite_table import asked, notes, result

GREY = Failure(condition="B", damage="grey", wrong=40, of=48, held=90 / 192)
INVERTED = "The metric scored “right half black” at or above “noise of 8 levels” (in 6 of 6 pairs)."


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ((0.97, None), "needed: at least 97 % of the pairs"),
        ((0.75, 0.6), "needed: at least 0.75, none below 0.60"),
        ((0.0, None), "counted, not needed"),
        ((None, None), ""),
    ],
)
def test_what_must_hold(limits, words):
    assert asked(Line("A", "A clean picture first", "", "", (), *limits)) == words


@pytest.mark.parametrize(
    ("cell", "shown", "below"),
    [
        (Cell(200 / 204, True, 0.97, kind=CROSS, counts=(200, 204)), "98.0 %", ["200 of 204"]),
        (Cell(0.93, True, 0.75, kind=CROSS), "0.93", []),
        (Cell(100 / 126, kind=CROSS, counts=(1100, 1126), inverted=(("halfblack:noise8", 6, 6),)), "79.4 %", ["1,100 of 1,126", INVERTED]),
        (Cell(0.5, False, 0.9, differs=True, note="Other houses."), "0.50", ["Other houses."]),
        (Cell(missing=Missing.NOT_TESTED), "– not tested", []),
        (Cell(missing=Missing.NOT_APPLICABLE), "– does not apply", []),
        (Cell(missing=Missing.NOT_PUBLISHED), "–", []),
    ],
)
def test_a_cell_has_its_share_and_what_is_below_it(cell, shown, below):
    assert (result(cell), notes(cell)) == (shown, below)


def test_a_failure_is_a_sentence_below_the_counts():
    counts, said = notes(Cell(90 / 192, False, 0.98, kind=CROSS, counts=(90, 192), failure=GREY))
    assert counts == "90 of 192" and said == "T" + failure(GREY, CROSS)[1:]
