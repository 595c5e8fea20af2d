"""A chart of how entries change places from one way to rank to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leaderboard.charts.boards import TOKENS, Figure, Palette, base_layout, nothing, plain, short

MAX_LINES = 12  # more cannot be followed by eye
_SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "triangle-down",
    "cross",
    "x",
    "pentagon",
    "star",
    "hexagon",
    "bowtie",
    "hourglass",
)
_DASHES = ("solid", "dash", "dot", "dashdot")


def bumps(
    variants: Sequence[str], entries: Sequence[str], ranks: Sequence[Sequence[int | None]], n: int, colours: Palette = TOKENS
) -> Figure:
    """A line for each entry over the ways to rank, best at the top: ``ranks[entry][way]``, the first way being the board's.

    Entries in the order of the board, at most the first 12 of ``n``. An entry that is first anywhere is drawn in the accent; lines differ
    by their marks and dashes too, and each has its name at its left end.
    """
    columns = ("Entry", *variants)
    drawn = [(label, row) for label, row in zip(entries, ranks, strict=True) if row[0] is not None][:MAX_LINES]
    if len(drawn) < 2 or len(variants) < 2:
        return nothing("There are not enough ranked entries and metrics for a second order.", columns, colours)
    data: list[dict[str, Any]] = []
    by_rank: dict[int | None, list[str]] = {}  # entries that share a rank share the label at the lines' left ends
    for place, (label, row) in enumerate(drawn):
        colour = colours.accent if 1 in row else colours.soft
        line = {"color": colour, "width": 2 if 1 in row else 1.2, "dash": _DASHES[place % len(_DASHES)]}
        edge = {"color": colours.panel, "width": 1}
        by_rank.setdefault(row[0], []).append(label)
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": plain(label),
                "x": list(range(len(variants))),
                "y": list(row),
                "line": line,
                "marker": {"symbol": _SYMBOLS[place % len(_SYMBOLS)], "size": 9, "color": colour, "line": edge},
                "text": [plain(variant) for variant in variants],
                "hovertemplate": f"{plain(label)}<br>%{{text}}: rank %{{y}}<extra></extra>",
            }
        )
    deepest = max(rank for _, row in drawn for rank in row if rank is not None)
    layout = base_layout(colours, height=150 + 26 * max(deepest, len(drawn)))
    layout["margin"] = {"l": 8, "r": 16, "t": 16, "b": 8}
    layout["xaxis"] |= {
        "tickvals": list(range(len(variants))),
        "ticktext": [short(variant) for variant in variants],
        "range": [-0.3, len(variants) - 0.7],
        "showgrid": True,
        "zeroline": False,
        "tickangle": -45,
    }
    layout["yaxis"] |= {
        "tickvals": [row[0] for _, row in drawn],
        "ticktext": [short(" = ".join(by_rank[row[0]])) for _, row in drawn],
        "range": [deepest + 0.6, 0.4],
        "showgrid": False,
        "zeroline": False,
    }
    ever = sum(1 in row for _, row in drawn)
    entries_drawn = f"all {n} ranked entries" if len(drawn) == n else f"the first {len(drawn)} of {n} ranked entries"
    summary = f"Ranks of {entries_drawn} under {len(variants)} ways to rank; {ever} {'is' if ever == 1 else 'are'} first in at least one."
    rows = tuple((label, *("–" if rank is None else str(rank) for rank in row)) for label, row in drawn)
    return Figure(tuple(data), layout, summary, columns, rows)
