"""The table of a suite of tests, the same for sanity tests and acceptance tests: a line for each test, a column for each material."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.metrics.registry import MetricSpec
from evaluation.properties.gate.design import ACCEPTANCE, Condition, SceneVerdict, kind_of
from evaluation.properties.gate.gate_sentences import failure, not_ordered
from evaluation.properties.suite import Property


@dataclass(frozen=True)
class Cell:
    """The result of a test on one material: the share from 0 to 1 that held, None where it was not measured, as `text` and in `notes`.

    `least` is the share that passes; a test that is only counted has no verdict."""

    text: str
    share: float | None = None
    passes: bool | None = None
    least: float = 0.0
    flag: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A test, with what is asked of it where that is not said once for all, and its cells."""

    test: Property
    asked: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Column:
    """A material, and how many tests of how many are passed on it."""

    title: str
    passed: int
    of: int


@dataclass(frozen=True)
class SuiteTable:
    """The lines, whose cells are in the order of the columns."""

    columns: tuple[Column, ...]
    lines: tuple[Line, ...]


def of_verdicts(spec: MetricSpec, params: Mapping[str, Any], verdicts: Sequence[SceneVerdict]) -> SuiteTable:
    """The table of an acceptance test: a column for each scene that is done."""
    columns = []
    for one in verdicts:
        asked = [condition for condition in one.conditions if condition.least]
        columns.append(Column(one.scene or "All references", sum(condition.held for condition in asked), len(asked)))
    lines = []
    for test in ACCEPTANCE.tests(spec, params):
        found = [next((condition for condition in one.conditions if condition.key == test.id), None) for one in verdicts]
        if any(found) or not verdicts:
            lines.append(Line(test, _asked(test), tuple(_cell(condition, test, kind_of(spec, params)) for condition in found)))
    return SuiteTable(tuple(columns), tuple(lines))


def _asked(test: Property) -> str:
    if test.each is not None:
        return f"at least {test.least:.2f}, none below {test.each:.2f}"
    return f"at least {100 * test.least:.0f} %" if test.least else "counted only"


def _cell(condition: Condition | None, test: Property, kind: str) -> Cell:
    if condition is None:
        return Cell("– not tested")
    share = condition.right / condition.of if condition.of else 0.0
    failed = not_ordered([condition]) if not condition.least else "" if condition.held else failure(condition, kind)
    failed = failed[:1].upper() + failed[1:]
    if test.each is not None:  # an area
        return Cell(f"{share:.2f}", share, condition.held, condition.least, notes=(failed,) if failed else ())
    notes = (f"{condition.right:,} of {condition.of:,}", *([failed] if failed else ()))
    return Cell(f"{100 * share:.1f} %", share, condition.held if condition.least else None, condition.least, notes=notes)
