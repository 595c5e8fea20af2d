"""The table of a suite of tests, the same for sanity tests and acceptance tests: a line for each test, a column for each material. PURE."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from leaderboard.records.board import Failure


class Missing(StrEnum):
    """Reason why a test has no result on a material."""

    NOT_TESTED = "not_tested"
    NOT_APPLICABLE = "not_applicable"
    NOT_PUBLISHED = "not_published"


@dataclass(frozen=True)
class Cell:
    """The result of a test on one material: the share from 0 to 1 that held, or why it is `missing`. `least` is the share that passes; a
    test that is only counted has no verdict.

    For an acceptance test on a material of the `kind`, `counts` has how many of how many held (none for an area), and `failure` the
    condition that did not. `inverted` has (severe damage:mild damage, how often it was not below, of how many). `differs` says that a
    published verdict is another than ours, with a `note` on why.
    """

    share: float | None = None
    passes: bool | None = None
    least: float = 0.0
    missing: Missing | None = None
    kind: str = ""
    counts: tuple[int, int] | None = None
    failure: Failure | None = None
    inverted: tuple[tuple[str, int, int], ...] = ()
    differs: bool = False
    note: str = ""


@dataclass(frozen=True)
class Line:
    """A test and its cells. `least` is the share that must hold, 0 if it is only counted, and `each` the share of every damage. None if it
    is said once for all tests."""

    id: str
    title: str
    group: str
    doc: str
    cells: tuple[Cell, ...]
    least: float | None = None
    each: float | None = None


@dataclass(frozen=True)
class Column:
    """A material, with the number of tests that are passed on it. The title is empty of all references, and of a `published` table."""

    title: str
    passed: int
    of: int
    published: bool = False


@dataclass(frozen=True)
class SuiteTable:
    """The lines, whose cells are in the order of the columns."""

    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
