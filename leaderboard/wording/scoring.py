"""Sentences on the scoring of a phase. PURE."""

from __future__ import annotations

from leaderboard.wording.nouns import counted


def estimated_from(timed: int, columns: int) -> str:
    """The sources of the estimated cost of a re-evaluation, with `timed` of the phase's `columns` metrics timed in its scores."""
    if not timed:
        return "what the metrics declare, because the phase has no timed scores yet"
    if timed < columns:
        return f"the newest scores for {timed} of {counted(columns, 'metric')}, and what the others declare"
    return "the newest scores"
