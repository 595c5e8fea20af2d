"""A chart of how entries change places from one way to rank to the next."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.records.chart import DASHES, SYMBOLS, Axis, Chart, Dot, Dots, Line, labels
from leaderboard.wording.nouns import counted, verb

MAX_LINES = 12  # more cannot be followed by eye


def bumps(variants: Sequence[str], entries: Sequence[str], ranks: Sequence[Sequence[int | None]], n: int) -> Chart:
    """A line for each entry over the ways to rank, best at the top: ``ranks[entry][way]``, the first way being the board's.

    Entries in the order of the board, at most the first 12 of ``n``. An entry that is first anywhere is drawn in the accent; lines differ
    by their marks and dashes too, and each has its name at its left end.
    """
    columns = ("Entry", *variants)
    drawn = [(label, row) for label, row in zip(entries, ranks, strict=True) if row[0] is not None][:MAX_LINES]
    if len(drawn) < 2 or len(variants) < 2:
        return Chart("There are not enough ranked entries and metrics for a second order.", columns)
    marks = []
    by_rank: dict[int, list[str]] = {}  # entries that share a rank share the label at the lines' left ends
    for place, (label, row) in enumerate(drawn):
        if row[0] is not None:
            by_rank.setdefault(row[0], []).append(label)
        is_first = 1 in row
        line = Line(2 if is_first else 1.2, DASHES[place % 4])
        dots = tuple(
            Dot(way, rank, f"{label}\n{variant}: rank {rank}") for way, (variant, rank) in enumerate(zip(variants, row, strict=True))
        )
        marks.append(Dots(dots, label, "accent" if is_first else "soft", line, SYMBOLS[place], size=9))
    levels = labels([" = ".join(level) for level in by_rank.values()])
    deepest = max(rank for _, row in drawn for rank in row if rank is not None)
    ever = sum(1 in row for _, row in drawn)
    entries_drawn = f"all {n} ranked entries" if len(drawn) == n else f"the first {len(drawn)} of {n} ranked entries"
    return Chart(
        f"Ranks of {entries_drawn} under {len(variants)} ways to rank; {counted(ever, 'entry')} {verb('is', ever)} first in at least one.",
        columns,
        tuple((label, *("–" if rank is None else str(rank) for rank in row)) for label, row in drawn),
        Axis(ticks=tuple(enumerate(labels(variants))), ends=(-0.3, len(variants) - 0.7), turned=45),
        Axis(ticks=tuple(zip(by_rank, levels, strict=True)), ends=(deepest + 0.6, 0.4), has_grid=False),
        tuple(marks),
        height=150 + 26 * max(deepest, len(drawn)),
    )
