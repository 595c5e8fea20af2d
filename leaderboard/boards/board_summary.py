"""Summary of a board for the front page: kept beside a snapshot, so that a list of challenges opens no ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leaderboard.boards.people import People, of_board
from leaderboard.boards.slope import slope, slope_of_two, split_of
from leaderboard.records.board import Board
from leaderboard.records.claim import FirstPlace
from leaderboard.records.front import FirstByMeans, Front, Leader, Parted, SlopeLine, Turned

TOP = 3  # entries


def front(board: Board) -> Front | None:
    """None where nobody is ranked."""
    if not board.overall.leaders:
        return None
    first = board.overall.leaders[0]
    metric, entry = board.primary or board.metrics[0], board.entries[first]
    people, by_metrics = of_board(board), FirstPlace.by_metrics(board.overall)
    parted, by_means = _firsts(people) if people is not None else (None, None)
    return Front(
        id=entry.id,
        name=entry.name,
        team=entry.team,
        metric=metric.title,
        value=(metric.value[first], *metric.interval(first)),
        bounds=metric.bounds,
        decimals=metric.decimals,
        top=tuple(_leaders(board, people)),
        people=people.basis if people is not None and people.column is not None else None,
        parted=parted,
        level=board.overall.rank.count(1),
        open=len(by_metrics.open) if by_metrics is not None else 0,
        turned=_turned(people) if people is not None else None,
        people_simulated=people is not None and people.study.simulated,
        by_means=by_means,
    )


def _leaders(board: Board, people: People | None) -> Iterator[Leader]:
    """The first entries with their places, and whether a metric contradicts people on them."""
    overall, marks = board.overall, people.found.marks if people is not None else {}
    against = {int(pk) for by_entry in marks.values() for pk, found in by_entry.items() if found}
    for n in [n for n in overall.order if overall.rank[n] is not None][:TOP]:
        entry, rank, ranks = board.entries[n], overall.rank[n] or 0, overall.rank_range(n)
        place = people.place(n) if people is not None else None
        yield Leader(rank=rank, id=entry.id, name=entry.name, team=entry.team, ranks=ranks, place=place, against=entry.id in against)


def _firsts(people: People) -> tuple[Parted | None, FirstByMeans | None]:
    """The entries that the metrics and people put first, where these are two: by a test of people's answers, or by published means."""
    claim = people.claim
    if claim is None or not claim.of_two:
        return None, None
    drawn = slope(people, split_of(people))
    lines = drawn.lines if drawn else ()
    ours, theirs = claim.metrics[0], claim.people[0]
    if claim.parted is not None:
        return claim.parted.model_copy(update={"lines": lines, "ids": _ids(lines, *claim.parted.pair)}), None
    if not claim.means or len(claim.metrics) > 1 or len(claim.people) > 1 or ours == theirs:
        return None, None
    rank = people.board.rank_of(theirs[1])
    return None, FirstByMeans(metrics=ours, people=theirs, rank=rank, lines=lines, ids=_ids(lines, ours, theirs))


def _turned(people: People) -> Turned | None:
    """The surest contradiction of a metric and people, by the lower end of how often people pick theirs."""
    board = people.board
    found = [
        (low, against, index, mark.id, mark)
        for slug, by_entry in people.found.marks.items()
        for pk, marks in by_entry.items()
        for mark in marks
        if (against := board.column(slug)) is not None
        and (index := board.index_of(int(pk))) is not None
        and mark.id is not None
        and (low := mark.value[1] or 0.0) > 0
    ]
    if not found:
        return None
    _, against, index, other_id, mark = max(found, key=lambda one: one[0])
    other = board.index_of(other_id)
    drawn = slope_of_two(people, against, index, other) if other is not None else None
    lines = drawn.lines if drawn else ()
    ahead, preferred = (board.entries[index].name, board.entries[index].id), (mark.preferred, other_id)
    return Turned(
        metric=against.title,
        first=ahead,
        preferred=preferred,
        ends=mark.value,
        basis=people.basis,
        simulated=people.study.simulated,
        sample=next(iter(mark.samples), ""),
        lines=lines,
        ids=_ids(lines, ahead, preferred),
    )


def _ids(lines: Sequence[SlopeLine], *named: tuple[str, int]) -> tuple[int, ...]:
    return tuple(sorted({line.id for line in lines} | {pk for _, pk in named}))
