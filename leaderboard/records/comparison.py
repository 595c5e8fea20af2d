"""Entries beside each other by one metric. PURE."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.records.unit import Unit


@dataclass(frozen=True)
class Compared:
    """The order of `n` entries by the metric `title`. Each entry is given by its place among the chosen ones: the `firsts`, and the
    entries that the first is `tied` with, significantly different from (`apart`), and `untested` against. `lacking` is the number of
    units that all have values on, if pairs are not tested, 0 if single units have no values, and None where pairs are tested."""

    title: str
    n: int
    firsts: tuple[int, ...]
    tied: tuple[int, ...]
    apart: tuple[int, ...]
    untested: tuple[int, ...]
    unit: Unit
    lacking: int | None = None
