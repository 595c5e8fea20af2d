"""The table of a suite: what each cell of an acceptance test holds, and what counts as passed."""

from __future__ import annotations

from evaluation.metrics import registry
from evaluation.properties.gate.design import CROSS, Condition, SceneVerdict, unfit
from leaderboard.boards.suite_table import of_verdicts
from leaderboard.records.board import Failure
from leaderboard.records.suite_table import Cell, Column, Missing

SPEC = registry.get("puzzlesim_pieces")
PARAMS = registry.resolve_params(SPEC.key, {})
ATTIC = SceneVerdict(
    "attic",
    False,
    6,
    (
        Condition("A", True, 200, 204, 0.97, (("blur1", 4, 6),)),
        Condition("B", False, 90, 192, 0.98, (("grey", 40, 48),)),
        Condition("E", True, 100, 126, 0.0, (("halfblack:noise8", 6, 6),)),
        Condition("D", True, 93, 100, 0.75),
    ),
)


def test_each_condition_is_a_line_and_each_scene_a_column():
    hall = SceneVerdict("hall", True, 6, (Condition("A", True, 204, 204, 0.97),))
    found = of_verdicts(SPEC, PARAMS, [ATTIC, hall, unfit(SPEC, PARAMS, "yard")])
    assert found.columns == (Column("attic", 2, 3), Column("hall", 1, 1), Column("yard", 0, 0))
    lines = {line.id: line for line in found.lines}
    assert list(lines) == ["A", "B", "E", "D"], "in the order of the suite, and none that no scene was asked"
    limits = {"A": (0.97, None), "B": (0.98, None), "E": (0.0, None), "D": (0.75, 0.60)}
    assert {key: (line.least, line.each) for key, line in lines.items()} == limits
    assert lines["A"].cells == (
        Cell(200 / 204, True, 0.97, kind=CROSS, counts=(200, 204)),
        Cell(1.0, True, 0.97, kind=CROSS, counts=(204, 204)),
        Cell(missing=Missing.NOT_TESTED),
    )
    failed, counted, area = (lines[key].cells[0] for key in "BED")
    grey = Failure(condition="B", damage="grey", wrong=40, of=48, held=90 / 192)
    assert (failed.passes, failed.counts, failed.failure, failed.inverted) == (False, (90, 192), grey, ())
    assert (counted.passes, counted.least, counted.failure, counted.inverted) == (None, 0.0, None, (("halfblack:noise8", 6, 6),))
    assert area == Cell(0.93, True, 0.75, kind=CROSS)


def test_a_test_that_has_not_begun_lists_what_will_be_asked():
    found = of_verdicts(SPEC, PARAMS, [])
    assert found.columns == () and [line.id for line in found.lines] == ["A", "B", "B2", "C", "E", "D"]
