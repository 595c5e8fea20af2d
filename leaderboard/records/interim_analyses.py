"""Planned looks of a study at first place, as far as they were taken. PURE."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.records.study import PlannedLook


@dataclass(frozen=True)
class InterimAnalyses:
    """`planned` looks, and the `last` one that was taken; the next is due at `due` answers, of which `so_far` count, None where that is not
    known. `closed` says that none will follow; `noun` is the name of an item."""

    planned: int
    last: PlannedLook | None
    due: int
    so_far: int | None
    closed: bool
    noun: str
