"""Ranks and places as text. PURE."""

from __future__ import annotations


def ordinal(n: int) -> str:
    """`1st`, `2nd`, `11th`."""
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def span(low: int | None, high: int | None, open_end: bool = False) -> str:
    """A range of ranks: `2–4`, `1` where both ends are one, `12–` where the end is open, nothing where there is none."""
    return "" if low is None else f"{low}–" if open_end else f"{low}" if low == high else f"{low}–{high}"


def rank_range(ends: tuple[int, int] | None) -> str:
    """The range of a rank; nothing where it is not known."""
    return "" if ends is None else span(*ends)


def place(ends: tuple[int, int] | None) -> str:
    """A place with people: `3rd`, or its range where it is not settled; nothing without one."""
    return "" if ends is None else ordinal(ends[0]) if ends[0] == ends[1] else span(*ends)
