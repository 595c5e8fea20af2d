"""The entries that are first or may be first: by a board's rule, and with people."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from leaderboard.boards.people import People
from leaderboard.records.board import Board
from leaderboard.records.first_place import RankRange, RankRanges

MIN_LINES, MAX_LINES = 3, 5  # entries drawn: those that may be first, filled up to three


def by_rule(board: Board) -> RankRanges | None:
    """The ranges of the board's overall ranks; None where none is known."""
    return _first_of(board, board.overall.rank, board.overall.rank_range)


def by_people(people: People | None) -> RankRanges | None:
    """The ranges of the places with people; None where none is known."""
    if people is None or people.column is None or not people.found.places:
        return None
    return _first_of(people.board, people.column.rank, people.place)


def _first_of(board: Board, ranks: Sequence[int | None], range_of: Callable[[int], tuple[int, int] | None]) -> RankRanges | None:
    ranges = [(rank, board.entries[n].name, *(range_of(n) or (None, None))) for n, rank in enumerate(ranks) if rank is not None]
    lines = [RankRange(name, rank, low, high) for rank, name, low, high in sorted(ranges, key=lambda one: one[0])]
    may = sum(line.low == 1 for line in lines)
    if not may or len(lines) < 2:
        return None
    drawn = lines[: min(max(may, MIN_LINES), MAX_LINES)]
    return RankRanges(tuple(drawn), lines[-1].rank, may - sum(line.low == 1 for line in drawn))
