"""Summary of an entry of a ranking for its page and its card: its rank, its place with people, and its values among all.

All of it is of the ranking as it stands: significant means by the leaderboard's test of all pairs, and people's figures are its figures.
"""

from __future__ import annotations

from dataclasses import replace

from leaderboard.boards.people import People, of_board
from leaderboard.boards.unranked import unranked
from leaderboard.records.board import Board, MetricColumn
from leaderboard.records.cell import Cell, Strip, position
from leaderboard.records.claim import FirstPlace
from leaderboard.records.entry_summary import EntrySummary, Extremes, FromFirst, OwnPlace, OwnRank
from leaderboard.stats.uncertainty import ALPHA

NOBODY_FIRST = FirstPlace(level=[], open=[], behind=[], tested=False)
STEPS = 200  # of a strip: entries nearer to each other than one share a tick


def entry_summary(board: Board, index: int) -> EntrySummary:
    """Summary of the entry at `index` in the ranking's lists."""
    people = of_board(board)
    return EntrySummary(
        _rank(board, index),
        unranked(board, board.overall, index),
        _place_with_people(people, index) if people is not None else None,
        _extremes(board, index),
    )


def _rank(board: Board, index: int) -> OwnRank | None:
    overall = board.overall
    rank, ends, n = overall.rank[index], overall.rank_range(index), overall.n_ranked
    if rank is None:
        return None
    found = OwnRank(rank, n, overall.rank.count(rank), board.rule)
    if ends is None or n < 2:
        return found
    untested = [overall.rank[other] or 0 for other, why in enumerate(overall.untested) if why]
    ahead = ends[0] - 1 - sum(other < rank for other in untested)
    behind = n - ends[1] - sum(other > rank for other in untested)
    tied = n - len(untested) - 1 - ahead - behind
    # They are known where one metric decides the order and is tied on nobody else.
    deciding = board.column(overall.metrics[0]) if overall.rule == "primary" and overall.metrics else None
    names = [] if deciding is None else [board.entries[n].name for n in tied_with(deciding, index)]
    if behind < 0:  # an open range: it ends with the entries that are not tested, and does not say which tested ones are worse
        tied, behind = (len(names), tied + behind - len(names)) if deciding is not None else (0, 0)
    names = names if len(names) == tied else []
    return replace(found, ahead=ahead, behind=behind, tied=tied, names=tuple(names), untested=len(untested))


def tied_with(column: MetricColumn, index: int) -> list[int]:
    """Entries that are tied with one by the board's test of all pairs, best first; those that are not tested are none of them."""
    tied = set(column.tied(index) or ())
    return [other for other in column.order if other in tied]


def _extremes(board: Board, index: int) -> Extremes | None:
    """The metrics by which an entry ranks best and worst, where the intervals of these ranks do not touch."""
    ranks = ((metric.rank[index], metric.rank_range(index), metric.title) for metric in board.metrics)
    places = [(rank, *ends, title) for rank, ends, title in ranks if rank is not None and ends is not None]
    if len(places) < 2:
        return None
    best, worst = min(place for place, *_ in places), max(place for place, *_ in places)
    top, bottom = [one for one in places if one[0] == best], [one for one in places if one[0] == worst]
    if max(high for _, _, high, _ in top) >= min(low for _, low, _, _ in bottom):
        return None
    return Extremes(best, tuple(title for *_, title in top), worst, tuple(title for *_, title in bottom))


def _place_with_people(people: People, index: int) -> OwnPlace | None:
    """None where they did not judge the entry, or too few did for a figure, and of means alone, which stand among its values."""
    found, column, entries = people.found, people.column, people.board.entries
    if found.people < 2 or column is None:
        return None
    value, (low, high), rank = column.value[index], column.interval(index), column.rank[index]
    if value is None or low is None or high is None:
        return None
    first = people.first_place
    theirs = first or NOBODY_FIRST
    against, tied = found.over[index] if found.over else None, None
    if first is not None and rank is not None and rank > 1 and (first.tested or (against is not None and against.p_holm is not None)):
        tied = index in first.open
    return OwnPlace(
        value=value,
        low=low,
        high=high,
        place=None if first is None and rank == 1 else people.place(index),
        is_first=rank == 1 and first is not None,
        placed=column.n_ranked,
        firsts=tuple(entries[n].name for n in theirs.level if n != index),
        open=tuple(entries[n].name for n in theirs.open),
        others=len(theirs.open) + len(theirs.behind),
        tested=theirs.tested,
        tied=tied,
        among_ranked=bool(people.unplaced_before),
        n=found.n[index],
        basis=people.basis,
        counts=found.counts(people.noun),
    )


# --- its values among those of all


def strips(board: Board, index: int) -> list[Strip]:
    """People's line first, then each metric's in the board's order; none for what the entry has no value in."""
    people = of_board(board)
    found = [_strip(board, column, index, own) for column in board.metrics if (own := column.value[index]) is not None]
    if people is None or people.column is None or (own := people.column.value[index]) is None:
        return found
    return [replace(_strip(board, people.column, index, own), place=people.place(index), is_people=True), *found]


def _strip(board: Board, column: MetricColumn, index: int, own: float) -> Strip:
    """One column's line, with the entry's `own` value on it."""
    higher, (low, high) = column.higher_is_better, column.interval(index)
    values = [value for value in column.value if value is not None]
    scale = _scale(column, own, low, high)
    on_scale = [(n, value) for n, value in enumerate(column.value) if value is not None and scale[0] <= value <= scale[1]]
    others = {_place(scale, value, higher, STEPS) for n, value in on_scale if n != index}
    outside = sum(value < scale[0] for value in values), sum(value > scale[1] for value in values)
    n_worse, n_better = outside if higher else outside[::-1]
    left = width = 0.0
    if low is not None and high is not None:
        start, stop = sorted(_place(scale, end, higher) for end in (low, high))
        left, width = start, round(stop - start, 1)
    rank, ranks = column.rank[index], column.rank_range(index)
    return Strip(
        Cell(column, index, board.resampled),
        ticks="".join(f"M{place:g} 0V14" for place in sorted(others)),
        n=len(values),
        dot=_place(scale, own, higher),
        left=left,
        width=width,
        place=(rank, rank) if rank is not None else None,
        ranks=ranks if ranks is not None and ranks[0] != ranks[1] else None,
        from_first=from_first(board, column, index),
        n_worse=n_worse,
        n_better=n_better,
    )


def _scale(column: MetricColumn, *own: float | None) -> tuple[float, float]:
    """Ends of the line: of the values on the column's own line, and of the entry's `own` value and interval."""
    inner = [value for value in column.value if value is not None and column.scale[0] <= value <= column.scale[1]]
    ends = [*inner, *(end for end in own if end is not None)]
    return min(ends), max(ends)


def _place(scale: tuple[float, float], value: float, higher_is_better: bool, steps: int = 1000) -> float:
    """Position of a value, in percent from the worst to the best, in whole steps."""
    share = position(scale, value)
    return round(round((share if higher_is_better else 100 - share) * steps / 100) * 100 / steps, 1)


def from_first(board: Board, column: MetricColumn, index: int) -> FromFirst | None:
    """An entry against the first of a metric's column; None of one without a rank."""
    rank, mine = column.rank[index], column.value[index]
    first = next((n for n in column.order if column.rank[n] == 1), None)
    if rank is None or mine is None or first is None or not column.may_rank:
        return None
    if rank == 1:
        return FromFirst(tied=tuple(board.entries[n].name for n in tied_with(column, index)))
    theirs = column.value[first]
    p = column.pair_p(index, first)
    return None if theirs is None else FromFirst(mine - theirs, p is not None and p > ALPHA)


def above(board: Board, index: int) -> int | None:
    """The entry that stands right above one in the overall order; None for the first, and for one without a rank."""
    overall = board.overall
    rank = overall.rank[index]
    if rank is None or rank == 1:
        return None
    higher = [n for n in overall.order if (place := overall.rank[n]) is not None and place < rank]
    return higher[-1] if higher else None
