"""The table of an acceptance test, from its verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from evaluation.metrics.registry import MetricSpec
from evaluation.properties.gate.design import ACCEPTANCE, Condition, SceneVerdict, kind_of
from leaderboard.records.board import Failure
from leaderboard.records.suite_table import Cell, Column, Line, Missing, SuiteTable


def of_verdicts(spec: MetricSpec, params: Mapping[str, Any], verdicts: Sequence[SceneVerdict]) -> SuiteTable:
    """The table of an acceptance test: a column for each scene that is done."""
    columns, kind = [], kind_of(spec, params)
    for one in verdicts:
        asked = [condition for condition in one.conditions if condition.least]
        columns.append(Column(one.scene, sum(condition.held for condition in asked), len(asked)))
    lines = []
    for test in ACCEPTANCE.tests(spec, params):
        found = [next((condition for condition in one.conditions if condition.key == test.id), None) for one in verdicts]
        if any(found) or not verdicts:
            cells = tuple(_cell(condition, kind, test.each is not None) for condition in found)
            lines.append(Line(test.id, test.title, test.group, test.doc, cells, test.least, test.each))
    return SuiteTable(tuple(columns), tuple(lines))


def _cell(condition: Condition | None, kind: str, is_area: bool) -> Cell:
    if condition is None:
        return Cell(missing=Missing.NOT_TESTED)
    is_decided = bool(condition.least)
    return Cell(
        share=condition.right / condition.of if condition.of else 0.0,
        passes=condition.held if is_decided or is_area else None,
        least=condition.least,
        kind=kind,
        counts=None if is_area else (condition.right, condition.of),
        failure=Failure(**asdict(condition.failure)) if is_decided and not condition.held else None,
        inverted=() if is_decided else condition.fails,
    )
