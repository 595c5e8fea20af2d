"""Entries beside each other by one metric. PURE."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.records.unit import Unit


@dataclass(frozen=True)
class Compared:
    """The order of `n` entries by the metric `title`, each entry by its place among those that were chosen: those that are `firsts`, and
    those that the first is tied with, significantly different from, and not tested against. `lacking` is the number of units that are too
    few for a test, 0 where there are no values of single units; None where pairs are tested."""

    title: str
    n: int
    firsts: tuple[int, ...]
    tied: tuple[int, ...]
    apart: tuple[int, ...]
    untested: tuple[int, ...]
    unit: Unit
    lacking: int | None = None
