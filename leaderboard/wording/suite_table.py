"""Words of the table of a suite of tests, from `leaderboard.records.suite_table`. PURE."""

from __future__ import annotations

from leaderboard.records.suite_table import Cell, Line, Missing
from leaderboard.wording.acceptance_test import failure, not_ordered
from leaderboard.wording.digits import NONE

MISSING = {Missing.NOT_TESTED: f"{NONE} not tested", Missing.NOT_APPLICABLE: f"{NONE} does not apply", Missing.NOT_PUBLISHED: NONE}


def asked(it: Line) -> str:
    """Limits of a test in words; empty where they are said once for all tests."""
    if it.least is None:
        return ""
    if it.each is not None:
        return f"needed: at least {it.least:.2f}, none below {it.each:.2f}"
    return f"needed: at least {100 * it.least:.0f} % of the pairs" if it.least else "counted, not needed"


def result(it: Cell) -> str:
    """The share of a cell, or why there is none."""
    if it.share is None:
        return MISSING[it.missing or Missing.NOT_PUBLISHED]
    return f"{it.share:.2f}" if it.counts is None else f"{100 * it.share:.1f} %"


def notes(it: Cell) -> list[str]:
    """Lines below a result: the counts, and what failed."""
    said = [f"{it.counts[0]:,} of {it.counts[1]:,}"] if it.counts is not None else []
    failed = failure(it.failure, it.kind) if it.failure is not None else not_ordered(it.inverted)
    return [*said, *filter(None, [failed[:1].upper() + failed[1:], it.note])]
