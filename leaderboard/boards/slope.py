"""The order by the metrics, or by one of them, beside the order by people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leaderboard.boards.people import People
from leaderboard.records.board import MetricColumn
from leaderboard.records.front import STEP, TOP, Slope, SlopeLine, Split

MIN_LINES, MAX_LINES = 3, 8  # entries drawn: as many as names of 11 px at their ends leave apart in the height of a board's claim


def split_of(people: People) -> Split | None:
    """The widest split of a rank and a place among the entries that a metric contradicts people on; None where there is none."""
    found: list[tuple[int, Split]] = []  # with how many ranks are between
    board, theirs = people.board, people.column
    for slug, by_entry in people.found.marks.items():
        column = board.column(slug)
        for index in (board.index_of(int(pk)) for pk, marks in by_entry.items() if marks):
            if column is None or theirs is None or index is None:
                continue
            rank, at, place = column.rank[index], theirs.rank[index], people.place(index)
            if rank is not None and at is not None and place is not None and at > rank:
                found.append((at - rank, Split(board.entries[index].name, column.title, rank, place)))
    return max(found, key=lambda one: (one[0], -one[1].rank, one[1].name), default=(0, None))[1]


def _in_both(people: People, ranks: Sequence[int | None]) -> list[tuple[int, int]]:
    """(rank, index) of the entries that have a rank and a place, in the order of ranks."""
    places = people.column.rank if people.column is not None else [None] * len(ranks)
    return sorted((rank, n) for n, rank in enumerate(ranks) if rank is not None and places[n] is not None)


def slope(people: People, split: Split | None) -> Slope | None:
    """Slope chart of the entries that both have ranked: the first by the metrics, people's first and the widest split; None of fewer than
    three."""
    board, both = people.board, _in_both(people, people.board.overall.rank)
    # The split is of one metric: its line is marked where the order that is drawn puts the entry at that rank too.
    named = {n: "split" for rank, n in both if split is not None and board.entries[n].name == split.name and rank == split.rank}
    if both and people.column is not None:
        places = people.column.rank
        named |= {min(both, key=lambda one: (places[one[1]] or 0, one[0]))[1]: "people", both[0][1]: "metrics"}
    return _drawn(people, [n for _, n in both], named)


def slope_of_two(people: People, metric: MetricColumn, first: int, preferred: int) -> Slope | None:
    """Slope chart of one metric's order. The metric puts `first` before the entry that people prefer; both are indices. None for fewer
    than three entries, or if one of the two has no rank or place."""
    in_order = [n for _, n in _in_both(people, metric.rank)]
    named = {first: "metrics", preferred: "people"}
    return _drawn(people, in_order, named) if named.keys() <= set(in_order) else None


def _drawn(people: People, in_order: list[int], named: Mapping[int, str]) -> Slope | None:
    """Lines of these entries: those `named`, filled up with the first."""
    if len(in_order) < MIN_LINES or people.column is None:
        return None
    if len(in_order) > MAX_LINES:
        rest = [n for n in in_order if n not in named][: MAX_LINES - len(named)]
        in_order = [n for n in in_order if n in named or n in rest]
    entries, places, at = people.board.entries, people.column.rank, {n: k for k, n in enumerate(in_order)}
    right = {n: TOP + STEP * k for k, n in enumerate(sorted(in_order, key=lambda n: (places[n] or 0, at[n])))}
    lines = [
        SlopeLine(id=entries[n].id, name=entries[n].name, left=TOP + STEP * k, right=right[n], kind=named.get(n, ""), place=people.place(n))
        for k, n in enumerate(in_order)
    ]
    return Slope(tuple(sorted(lines, key=lambda line: ("", "split", "metrics", "people").index(line.kind))))
