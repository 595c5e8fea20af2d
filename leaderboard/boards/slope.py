"""The order by the metrics, or by one of them, beside the order by people."""

from __future__ import annotations

from collections.abc import Mapping

from leaderboard.boards.rows import place_of
from leaderboard.records.board import Board, MetricColumn
from leaderboard.records.front import STEP, TOP, Slope, SlopeLine, Split

MIN_LINES, MAX_LINES = 3, 8  # entries drawn: as many as names of 11 px at their ends leave apart in the height of a board's claim


def split_of(board: Board, people: MetricColumn | None) -> Split | None:
    """The widest split of a rank and a place among the entries that a metric contradicts people on; None where there is none."""
    found: list[tuple[int, Split]] = []  # with how many ranks are between
    if people is None or board.people is None:
        return None
    for slug, by_entry in board.people.marks.items():
        column = board.column(slug)
        for index in (board.index_of(int(pk)) for pk, marks in by_entry.items() if marks):
            if column is None or index is None:
                continue
            rank, at, place = column.rank[index], people.rank[index], place_of(board, people, index)
            if rank is not None and at is not None and place is not None and at > rank:
                found.append((at - rank, Split(board.entries[index].name, column.title, rank, place)))
    return max(found, key=lambda one: (one[0], -one[1].rank, one[1].name), default=(0, None))[1]


def slope(board: Board, people: MetricColumn | None, split: Split | None) -> Slope | None:
    """Slope chart of the entries that both have ranked: the first by the metrics, people's first and the widest split; None of fewer than
    three."""
    if people is None:
        return None
    ranks, places = board.overall.rank, people.rank
    both = sorted((rank, n) for n, rank in enumerate(ranks) if rank is not None and places[n] is not None)
    # The split is of one metric: its line is marked where the order that is drawn puts the entry at that rank too.
    named = {n: "split" for rank, n in both if split is not None and board.entries[n].name == split.name and rank == split.rank}
    if both:
        named |= {min(both, key=lambda one: (places[one[1]] or 0, one[0]))[1]: "people", both[0][1]: "metrics"}
    return _drawn(board, [n for _, n in both], people, named)


def slope_of_two(board: Board, metric: MetricColumn, people: MetricColumn, first: int, preferred: int) -> Slope | None:
    """Slope chart of one metric's order. The metric puts `first` before the entry that people prefer; both are indices. None for fewer
    than three entries, or if one of the two has no rank or place."""
    ranks, places = metric.rank, people.rank
    both = sorted((rank, n) for n, rank in enumerate(ranks) if rank is not None and places[n] is not None)
    named = {first: "metrics", preferred: "people"}
    return _drawn(board, [n for _, n in both], people, named) if named.keys() <= {n for _, n in both} else None


def _drawn(board: Board, in_order: list[int], people: MetricColumn, named: Mapping[int, str]) -> Slope | None:
    """Lines of the entries that have a rank and a place, their indices in the order of ranks: those `named`, filled up with the first."""
    if len(in_order) < MIN_LINES:
        return None
    if len(in_order) > MAX_LINES:
        rest = [n for n in in_order if n not in named][: MAX_LINES - len(named)]
        in_order = [n for n in in_order if n in named or n in rest]
    places, at = people.rank, {n: k for k, n in enumerate(in_order)}
    right = {n: TOP + STEP * k for k, n in enumerate(sorted(in_order, key=lambda n: (places[n] or 0, at[n])))}
    lines = [
        SlopeLine(
            id=board.entries[n].id,
            name=board.entries[n].name,
            left=TOP + STEP * k,
            right=right[n],
            kind=named.get(n, ""),
            place=place_of(board, people, n),
        )
        for k, n in enumerate(in_order)
    ]
    return Slope(tuple(sorted(lines, key=lambda line: ("", "split", "metrics", "people").index(line.kind))))
