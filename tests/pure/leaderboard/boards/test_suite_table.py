"""The table of a suite: what each cell of an acceptance test says, and what counts as passed."""

from __future__ import annotations

from evaluation.metrics import registry
from evaluation.properties.gate.design import CROSS, Condition, SceneVerdict, unfit
from evaluation.properties.gate.gate_sentences import failure, not_ordered
from leaderboard.boards.suite_table import Cell, Column, of_verdicts

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
    lines = {line.test.id: line for line in found.lines}
    assert list(lines) == ["A", "B", "E", "D"], "in the order of the suite, and none that no scene was asked"
    assert {key: line.asked for key, line in lines.items()} == {
        "A": "at least 97 %",
        "B": "at least 98 %",
        "E": "counted only",
        "D": "at least 0.75, none below 0.60",
    }
    assert lines["A"].cells == (
        Cell("98.0 %", 200 / 204, True, 0.97, notes=("200 of 204",)),
        Cell("100.0 %", 1.0, True, 0.97, notes=("204 of 204",)),
        Cell("– not tested"),
    )
    failed, counted, area = (lines[key].cells[0] for key in "BED")
    assert (failed.text, failed.passes, failed.notes[0]) == ("46.9 %", False, "90 of 192")
    assert failed.notes[1][1:] == failure(ATTIC.conditions[1], CROSS)[1:]
    assert (counted.passes, counted.least, counted.notes) == (
        None,
        0.0,
        ("100 of 126", not_ordered(ATTIC.conditions[2:3])),
    )
    assert (area.text, area.share, area.passes, area.notes) == ("0.93", 0.93, True, ())


def test_a_test_that_has_not_begun_lists_what_will_be_asked():
    found = of_verdicts(SPEC, PARAMS, [])
    assert found.columns == () and [line.test.id for line in found.lines] == ["A", "B", "B2", "C", "E", "D"]
