"""The first entries of an order with the 95 % ranges of their ranks, for a drawing. PURE."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RankRange:
    """One entry's rank, and the ends of its range, at least 1; both are None where the entry is not tested."""

    name: str
    rank: int
    low: int | None
    high: int | None


@dataclass(frozen=True)
class RankRanges:
    """Entries in the order of their ranks, on an axis from 1 to `last`. `more` others may be first too and are not drawn."""

    lines: tuple[RankRange, ...]
    last: int
    more: int
