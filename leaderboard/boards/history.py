"""Changes of a board from one ranking to the next, and their reasons; and ranks over time as lines.

Rankings come as their readers may see them: what was taken off a board since is named nowhere here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain, pairwise

from leaderboard.records.board import Board, BoardEntry
from leaderboard.records.history import (
    Again,
    Baselines,
    Change,
    Entered,
    Gone,
    Leaving,
    Left,
    Move,
    Moved,
    NewEntry,
    Opened,
    PeopleChanged,
    Ranked,
    Scored,
    Step,
    Texts,
)
from leaderboard.records.study import HIDDEN_NAME
from submissions.entry_fields import PUBLIC_FIELDS

DRAWN = 8  # entries whose ranks are drawn: those that stand first now
WIDTH, ROW, TOP, LEFT, RIGHT = 720, 26, 14, 26, 190  # of the drawing


@dataclass(frozen=True)
class Moment:
    """One kept ranking that became the current one at a time: its digest, and the ranking. `made` is of one that is shown again: when it
    was made. `same` are the digests of those that followed without a visible change. `until` is of one whose time is not known: it became
    the current one between `at` and then."""

    digest: str
    at: datetime
    board: Board
    made: datetime | None = None
    same: tuple[str, ...] = ()
    until: datetime | None = None


RankDot = tuple[float, float, Moment, int]  # across and down, the ranking, and the rank


@dataclass(frozen=True)
class RankLine:
    """One entry's ranks as a path, its name at the end, with the class it is drawn in."""

    id: int
    name: str
    path: str
    dots: tuple[RankDot, ...]
    y: float
    rank: int
    is_first: bool


@dataclass(frozen=True)
class RankChart:
    lines: tuple[RankLine, ...]
    ticks: tuple[tuple[float, int], ...]  # (height, rank)
    dates: tuple[tuple[float, Moment], ...]
    width: int
    height: int
    right: float


def dated(moments: Sequence[Moment], now: datetime) -> list[Moment]:
    """The rankings, given from the oldest to the newest, with `until` for returns whose time is not known. Migration 0049 dates such a
    return just after the ranking before it, so two of them may have the same time."""
    found = list(moments)
    for n, (before, after) in enumerate(pairwise(moments), start=1):
        if after.made is not None and after.at - before.at <= timedelta(microseconds=1):
            found[n] = replace(after, until=next((one.at for one in moments[n:] if one.at > after.at), now))
    return found


def folded(moments: Sequence[Moment]) -> list[Moment]:
    """The rankings, given from the oldest to the newest, without those that show the same as the ranking before."""
    found: list[Moment] = []
    for after in moments:
        last = found[-1] if found else None
        if last is None or any(change is not None for change in _changes(last.board, after.board, {})):
            found.append(after)
        elif after.digest not in (last.digest, *last.same):
            found[-1] = replace(last, same=(*last.same, after.digest))
    return found


def steps(moments: Sequence[Moment], left: Mapping[int, tuple[datetime, Leaving]] | None = None, is_cut: bool = False) -> list[Step]:
    """The steps between `folded` rankings, given from the oldest to the newest, the newest step first. `left` says since when and why an
    entry is on the board no more, by its id, where that may be said. `is_cut` says that older rankings are kept."""
    found = []
    for before, after in zip([None, *moments], moments, strict=False):
        board = after.board
        changes: list[Change] = []
        if before is None:
            changes = [] if is_cut else [Opened(board.n_entries)]  # those of teams, as the board counts them
        else:
            reasons = {pk: why for pk, (since, why) in (left or {}).items() if since <= (after.until or after.at)}
            changes = [Again(after.made)] if after.made is not None else []
            changes += [one for one in _changes(before.board, board, reasons) if one is not None]
        leaders = tuple(board.entries[at].name for at in board.overall.leaders)
        found.append(Step(after.digest, after.at, leaders, board.n_entries, tuple(changes), after.same, after.until is not None))
    return found[::-1]


def _changes(before: Board, after: Board, left: Mapping[int, Leaving]) -> Iterator[Change | None]:
    """Differences between two rankings, and their reasons, as far as they may be said."""
    old, new = ({entry.id: n for n, entry in enumerate(board.entries)} for board in (before, after))
    named = {pk: n for pk, n in new.items() if after.entries[n].name != HIDDEN_NAME}
    both = [(old[pk], n) for pk, n in named.items() if pk in old]
    yield _scored(before, after) if before.batch != after.batch else None
    yield _entered(after, [n for pk, n in named.items() if pk not in old])
    yield _gone(before, after, left)
    for made in (True, False):
        marked = [after.entries[n] for was, n in both if after.entries[n].baseline is made and before.entries[was].baseline is not made]
        yield Baselines(tuple(sorted(entry.name for entry in marked)), made) if marked else None
    yield _ranked(before, after, both, lost=True)
    yield _ranked(before, after, both, lost=False)
    yield _moved(before, after, both)
    yield _people_changed(before, after)
    texts = sorted(after.entries[n].name for was, n in both if _about(before.entries[was]) != _about(after.entries[n]))
    yield Texts(tuple(texts)) if texts else None


def _entered(after: Board, entered: Sequence[int]) -> Entered | None:
    """The entries that are new; rows of an imported table have no team."""
    entries = [(after.entries[n], after.overall.rank[n]) for n in entered]
    newcomers = (NewEntry(entry.name, after.team_of(entry), rank) for entry, rank in entries)
    return Entered(tuple(newcomers)) if entered else None


def _moved(before: Board, after: Board, both: Sequence[tuple[int, int]]) -> Moved | None:
    """The entries that have another rank, those that took or lost first place first, then by how far they moved."""
    ranks = [(after.entries[n].name, before.overall.rank[was], after.overall.rank[n]) for was, n in both]
    moves = [Move(name, was, now) for name, was, now in ranks if was is not None and now is not None and was != now]
    moves.sort(key=lambda one: (1 in (one.was, one.now), abs(one.was - one.now), -one.now, one.name), reverse=True)
    return Moved(tuple(moves)) if moves else None


def _ranked(before: Board, after: Board, both: Sequence[tuple[int, int]], lost: bool) -> Ranked | None:
    """The entries that lost their rank, or got one. Baselines, which have none, are told by themselves."""
    alike = [(was, n) for was, n in both if before.entries[was].baseline is after.entries[n].baseline]
    turned = [n for was, n in alike if (before.overall.rank[was] is None) is not lost and (after.overall.rank[n] is None) is lost]
    return Ranked(tuple(sorted(after.entries[n].name for n in turned)), lost) if turned else None


def _people_changed(before: Board, after: Board) -> PeopleChanged | None:
    """Another number of answers, or answers of another kind."""
    was, now = (board.people.answers if board.people is not None else 0 for board in (before, after))
    had_opinions, opinions = (board.people is not None and board.people.kind == "opinions" for board in (before, after))
    return PeopleChanged(was, now, opinions, had_opinions != opinions) if was != now or had_opinions != opinions else None


def _scored(before: Board, after: Board) -> Scored:
    """Reasons for another batch of scores."""
    columns, now = ({metric.slug: metric for metric in board.metrics} for board in (before, after))
    return Scored(
        before.reference != after.reference,
        tuple(metric.title for slug, metric in now.items() if slug not in columns),
        tuple(metric.title for slug, metric in columns.items() if slug not in now),
        tuple(m.title for slug, m in now.items() if slug in columns and columns[slug].fingerprint != m.fingerprint),
    )


def _gone(before: Board, after: Board, left: Mapping[int, Leaving]) -> Left | None:
    """The entries that are gone, and why: their team's better or later entry, or what `left` says. Hidden ones are counted, not named."""
    staying = {entry.id for entry in after.entries}
    teams = {entry.team_id: entry.name for entry in after.entries if entry.counted}
    gone, hidden = [], 0
    for entry in before.entries:
        if entry.id in staying:
            continue
        if entry.name == HIDDEN_NAME:
            hidden += 1
            continue
        reason = left.get(entry.id)
        instead = teams.get(entry.team_id, "") if reason is None and after.phase.entries != "all" else ""
        gone.append(Gone(entry.name, reason, instead))
    return Left(tuple(gone), hidden, after.phase.entries) if gone or hidden else None


def _about(entry: BoardEntry) -> tuple[object, ...]:
    """Facts that a row of the board states of an entry beside its scores."""
    return (*(getattr(entry, name) for name in PUBLIC_FIELDS), entry.team, entry.verified)


def chart(moments: Sequence[Moment]) -> RankChart | None:
    """Ranks over the rankings, given from the oldest to the newest, of those that stand first in the newest: each ranking is one step to
    the right, whatever time lies between. None for fewer than two rankings, or where nobody is ranked."""
    if len(moments) < 2:
        return None
    newest = moments[-1].board
    named = [n for n in newest.overall.order if newest.overall.rank[n] is not None and newest.entries[n].name != HIDDEN_NAME]
    shown = [newest.entries[n].id for n in named[:DRAWN]]
    if not shown:
        return None
    places = [{entry.id: n for n, entry in enumerate(moment.board.entries)} for moment in moments]
    ranks = {
        pk: [moment.board.overall.rank[place[pk]] if pk in place else None for moment, place in zip(moments, places, strict=True)]
        for pk in shown
    }
    last = max(filter(None, chain.from_iterable(ranks.values())))
    step = (WIDTH - LEFT - RIGHT) / (len(moments) - 1)
    # Ranks far down are drawn on the last line but one, so that one entry's early days do not press all others together.
    lowest = min(last, DRAWN + 4)

    def height(rank: int) -> float:
        return TOP + ROW * (min(rank, lowest) - 1)

    lines: list[RankLine] = []
    taken: list[float] = []
    for pk in shown:
        own = ranks[pk]
        dots = tuple((round(LEFT + n * step, 1), height(rank), moments[n], rank) for n, rank in enumerate(own) if rank is not None)
        now = own[-1]
        assert now is not None
        y = height(now)
        while any(abs(y - other) < 13 for other in taken):  # level entries' names stand below each other
            y += 13
        taken.append(y)
        lines.append(RankLine(pk, newest.entries[places[-1][pk]].name, _path(own, dots), dots, y, now, now == 1))
    ticks = tuple((height(rank), rank) for rank in range(1, lowest + 1))
    ends = (0, len(moments) - 1)
    dates = tuple((round(LEFT + n * step, 1), moments[n]) for n in ends)
    bottom = max([height(lowest), *taken])
    return RankChart(tuple(lines), ticks, dates, WIDTH, round(bottom + 34), WIDTH - RIGHT)


def _path(ranks: Sequence[int | None], dots: Sequence[RankDot]) -> str:
    """A line through the dots of an entry, with a gap where a ranking between them does not rank it."""
    pens = ("M" if before is None else "L" for before, rank in zip([None, *ranks], ranks, strict=False) if rank is not None)
    return "".join(f"{pen}{x} {y}" for pen, (x, y, *_) in zip(pens, dots, strict=True))
