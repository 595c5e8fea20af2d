"""The order by the metrics beside the order by people, as lines between two columns of dots."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.boards.payload import Board, MetricColumn
from leaderboard.boards.rows import ordinal
from leaderboard.studies.summary import Record

LEAST, MOST = 3, 8  # entries drawn: as many as names of 11 px at their ends leave apart in the height of a board's claim
STEP, TOP = 10.0, 9.0


@dataclass(frozen=True)
class Split:
    """An entry that a metric contradicts people on, with the widest difference of its ranks: by that metric, and with people."""

    name: str
    metric: str
    rank: int
    place: int

    @property
    def words(self) -> str:
        return f"Widest split: {self.name}, {ordinal(self.rank)} by {self.metric}, {ordinal(self.place)} with people."


class SlopeLine(Record):
    """One entry: `left` and `right` are heights in the drawing, `kind` is "metrics" or "people" for who is first with them, "split" for
    the widest split, else empty; `place` is its place with people."""

    id: int
    name: str
    left: float
    right: float
    kind: str
    place: str


@dataclass(frozen=True)
class Slope:
    """The lines, those with a name over the others."""

    lines: tuple[SlopeLine, ...]

    @property
    def height(self) -> float:
        return 2 * TOP + STEP * (len(self.lines) - 1) + 16


def split_of(board: Board, people: MetricColumn | None) -> Split | None:
    """The widest split of a rank and a place among the entries that a metric contradicts people on; None where there is none."""
    found: list[Split] = []
    if people is None or board.people is None:
        return None
    for slug, by_entry in board.people.marks.items():
        column = board.column(slug)
        for index in (board.index_of(int(pk)) for pk, marks in by_entry.items() if marks):
            if column is None or index is None:
                continue
            rank, place = column.rank[index], people.rank[index]
            if rank is not None and place is not None and place > rank:
                found.append(Split(board.entries[index].name, column.title, rank, place))
    return max(found, key=lambda one: (one.place - one.rank, -one.rank, one.name), default=None)


def slope(board: Board, people: MetricColumn | None, split: Split | None) -> Slope | None:
    """Slope chart of the entries that both have ranked: the first by the metrics, people's first and the widest split; None of fewer than
    three."""
    if people is None:
        return None
    ranks, places = board.overall.rank, people.rank
    both = sorted((rank, n) for n, rank in enumerate(ranks) if rank is not None and places[n] is not None)
    if len(both) < LEAST:
        return None
    in_order = [n for _, n in both]
    first_with_people = min(in_order, key=lambda n: (places[n] or 0, ranks[n] or 0))
    named = {n: "split" for n in in_order if split is not None and board.entries[n].name == split.name}
    named |= {first_with_people: "people", in_order[0]: "metrics"}
    if len(in_order) > MOST:
        rest = [n for n in in_order if n not in named][: MOST - len(named)]
        in_order = [n for n in in_order if n in named or n in rest]
    right = {n: TOP + STEP * k for k, n in enumerate(sorted(in_order, key=lambda n: (places[n] or 0, ranks[n] or 0)))}
    lines = [
        SlopeLine(
            id=board.entries[n].id,
            name=board.entries[n].name,
            left=TOP + STEP * k,
            right=right[n],
            kind=named.get(n, ""),
            place=ordinal(places[n] or 0),
        )
        for k, n in enumerate(in_order)
    ]
    return Slope(tuple(sorted(lines, key=lambda line: ("", "split", "metrics", "people").index(line.kind))))
