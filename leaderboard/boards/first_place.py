"""The entries that are first or may be first: by a board's rule, and with people."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.boards.rows import place_of
from leaderboard.records.board import Board, MetricColumn
from leaderboard.records.first_place import RankRange, RankRanges

MIN_LINES, MAX_LINES = 3, 5  # entries drawn: those that may be first, filled up to three


def by_rule(board: Board) -> RankRanges | None:
    """The ranges of the board's overall ranks; None where none is known."""
    overall = board.overall
    ends = list(zip(overall.rank_low, overall.rank_high, strict=True))
    return _first_of(board, overall.rank, ends)


def by_people(board: Board, people: MetricColumn | None) -> RankRanges | None:
    """The ranges of the places with people; None where none is known."""
    if people is None or board.people is None or not board.people.places:
        return None
    ends = [place_of(board, people, n) or (None, None) for n in range(len(board.entries))]
    return _first_of(board, people.rank, ends)


def _first_of(board: Board, ranks: Sequence[int | None], ends: Sequence[tuple[int | None, int | None]]) -> RankRanges | None:
    in_order = sorted((rank, n) for n, rank in enumerate(ranks) if rank is not None)
    may = sum(ends[n][0] == 1 for _, n in in_order)
    if not may or len(in_order) < 2:
        return None
    drawn = in_order[: min(max(may, MIN_LINES), MAX_LINES)]
    more = may - sum(ends[n][0] == 1 for _, n in drawn)
    lines = tuple(RankRange(board.entries[n].name, rank, *ends[n]) for rank, n in drawn)
    return RankRanges(lines, max(rank for rank, _ in in_order), more)
