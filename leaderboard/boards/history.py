"""What changed on a board from one ranking to the next, and why, in sentences; and ranks over time as lines. PURE of requests.

Rankings come as their readers may see them: what was taken off a board since is named nowhere here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from leaderboard.boards.payload import Board, BoardEntry
from leaderboard.studies.summary import HIDDEN_NAME

NAMED = 3  # entries that a sentence names; of more it gives the number
MOVES = 4  # changes of rank that are said of one step, the largest first
DRAWN = 8  # entries whose ranks are drawn: those that stand first now
WIDTH, ROW, TOP, LEFT, RIGHT = 720, 26, 14, 26, 190  # of the drawing


@dataclass(frozen=True)
class Moment:
    """One kept ranking: its digest, when it was made, and the ranking."""

    digest: str
    at: datetime
    board: Board


@dataclass(frozen=True)
class Change:
    """One sentence of a step; `kind` says why: `opened`, `scored`, `entered`, `left`, `moved`, `people`, `texts`,
    `again` or `nothing`."""

    kind: str
    words: str


@dataclass(frozen=True)
class Step:
    """A ranking and how it differs from the one before."""

    digest: str
    at: datetime
    first: str
    n_entries: int
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class RankLine:
    """One entry's ranks as a path, its name at the end, with the class it is drawn in."""

    id: int
    name: str
    path: str
    dots: tuple[tuple[float, float, str], ...]
    y: float
    rank: int
    is_first: bool


@dataclass(frozen=True)
class RankChart:
    lines: tuple[RankLine, ...]
    ticks: tuple[tuple[float, int], ...]  # (height, rank)
    dates: tuple[tuple[float, str], ...]
    width: int
    height: int
    right: float


def steps(moments: Sequence[Moment], left: Mapping[int, str] | None = None) -> list[Step]:
    """The steps between rankings, given from the oldest to the newest, the newest step first. `left` says why an entry is on the board
    no more, by its id, where that may be said."""
    found = []
    for before, after in zip([None, *moments], moments, strict=False):
        changes = _opened(after.board) if before is None else _changes(before.board, after.board, left or {})
        if before is not None and after.at < before.at:
            changes = [Change("again", "A ranking of before, of the moment given here, stands again."), *changes]
        found.append(Step(after.digest, after.at, _first(after.board), len(after.board.entries), tuple(changes)))
    return found[::-1]


def _first(board: Board) -> str:
    """Who is first, in words; empty where nobody is ranked."""
    names = [board.entries[n].name for n in board.overall.order if board.overall.rank[n] == 1]
    if not names:
        return ""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more, level"


def _opened(board: Board) -> list[Change]:
    n = len(board.entries)
    return [Change("opened", f"The oldest ranking that is kept: {n:,} {'entry' if n == 1 else 'entries'}.")]


def _changes(before: Board, after: Board, left: Mapping[int, str]) -> list[Change]:
    found = [*_scored(before, after)]
    old, new = ({entry.id: n for n, entry in enumerate(board.entries)} for board in (before, after))
    entered = [n for pk, n in new.items() if pk not in old and after.entries[n].name != HIDDEN_NAME]
    gone = [n for pk, n in old.items() if pk not in new]
    if entered:
        found.append(Change("entered", _entered(after, entered)))
    found += _left(before, after, gone, left)
    found += _moved(before, after, old, new)
    found += _people(before, after)
    changed = [
        after.entries[new[pk]].name
        for pk in old.keys() & new.keys()
        if _about(before.entries[old[pk]]) != _about(after.entries[new[pk]]) and after.entries[new[pk]].name != HIDDEN_NAME
    ]
    if changed:
        who = _names(sorted(changed)) if len(changed) <= NAMED else f"{len(changed)} entries"
        found.append(Change("texts", f"What is said of {who} changed."))
    return found or [Change("nothing", "Nothing that is shown here.")]


def _scored(before: Board, after: Board) -> list[Change]:
    """That all entries were scored anew, and what for."""
    if before.batch == after.batch:
        return []
    old, new = ({metric.slug: metric for metric in board.metrics} for board in (before, after))
    why = []
    if before.reference != after.reference:
        why.append("under a new version of the reference")
    added = [metric.title for slug, metric in new.items() if slug not in old]
    removed = [metric.title for slug, metric in old.items() if slug not in new]
    other = [metric.title for slug, metric in new.items() if slug in old and old[slug].fingerprint != metric.fingerprint]
    for words, titles in (("with {} added", added), ("without {}", removed), ("with another definition of {}", other)):
        if titles:
            why.append(words.format(_names(titles)))
    return [Change("scored", f"All entries were scored anew{', ' + '; '.join(why) if why else ''}.")]


def _about(entry: BoardEntry) -> tuple[object, ...]:
    """What a row of the board says of an entry beside its scores."""
    stated = (entry.name, entry.team, entry.paper, entry.code, entry.weights, entry.parameters, entry.run_seconds)
    return (*stated, entry.verified, entry.baseline)


def _entered(board: Board, indices: Sequence[int]) -> str:
    if len(indices) > NAMED:
        names = [board.entries[n].name for n in indices[:NAMED]]
        return f"{len(indices)} new entries: {', '.join(names)} and {len(indices) - NAMED} more."
    said = []
    for n in indices:
        entry, rank = board.entries[n], board.overall.rank[n]
        team = f" by {entry.team}" if entry.team and board.imported is None else ""
        where = f", at rank {rank}" if rank is not None else ", without a rank"
        said.append(f"{entry.name}{team}{where}")
    return f"New: {'; '.join(said)}."


def _left(before: Board, after: Board, gone: Sequence[int], left: Mapping[int, str]) -> list[Change]:
    """Entries that are there no more, with why: their team's better or later one, or what `left` says; hidden ones are counted."""
    found, unnamed = [], 0
    teams = {entry.team_id: entry.name for entry in after.entries if entry.counted}
    rules = {"best": "a better entry", "latest": "a later entry", "chosen": "another choice"}
    for n in gone:
        entry = before.entries[n]
        if entry.name == HIDDEN_NAME:
            unnamed += 1
        elif entry.id in left:
            found.append(f"{entry.name}: {left[entry.id]}")
        elif entry.team_id in teams and after.phase.entries in rules:
            found.append(f"{entry.name}: its team has {rules[after.phase.entries]}, {teams[entry.team_id]}")
        else:
            found.append(entry.name)
    if len(found) > NAMED:
        found = [*found[:NAMED], f"and {len(found) - NAMED} more"]
    if unnamed:
        found.append(f"{unnamed} that {'is' if unnamed == 1 else 'are'} not shown any more")
    return [Change("left", f"Gone: {'; '.join(found)}.")] if found else []


def _moved(before: Board, after: Board, old: Mapping[int, int], new: Mapping[int, int]) -> list[Change]:
    """The largest changes of rank among entries that both rankings have."""
    moves = []
    for pk in old.keys() & new.keys():
        was, now, entry = before.overall.rank[old[pk]], after.overall.rank[new[pk]], after.entries[new[pk]]
        if was is not None and now is not None and was != now and entry.name != HIDDEN_NAME:
            moves.append((1 in (was, now), abs(was - now), -now, entry.name, was, now))
    if not moves:
        return []
    moves.sort(reverse=True)
    said = [f"{name} {'rises' if now < was else 'falls'} from {was} to {now}" for *_, name, was, now in moves[:MOVES]]
    more = f", and {len(moves) - MOVES} more" if len(moves) > MOVES else ""
    return [Change("moved", f"{', '.join(said)}{more}.")]


def _people(before: Board, after: Board) -> list[Change]:
    """That people's part has more judgements, or came, or went."""
    was = before.people.judgements if before.people is not None else 0
    now = after.people.judgements if after.people is not None else 0
    if was == now:
        return []
    if not was:
        return [Change("people", f"People's part came: {now:,} judgements.")]
    if not now:
        return [Change("people", "People's part is not shown any more.")]
    return [Change("people", f"People: {abs(now - was):,} {'more' if now > was else 'fewer'} judgements, {now:,} in all.")]


def _names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def chart(moments: Sequence[Moment]) -> RankChart | None:
    """Ranks over the rankings, given from the oldest to the newest, of those that stand first in the newest: each ranking is one step to
    the right, whatever time lies between. None for fewer than two rankings, or where nobody is ranked."""
    if len(moments) < 2:
        return None
    newest = moments[-1].board
    ranked = [
        (rank, n) for n in newest.overall.order if (rank := newest.overall.rank[n]) is not None and newest.entries[n].name != HIDDEN_NAME
    ]
    shown = [newest.entries[n].id for _, n in ranked[:DRAWN]]
    if not shown:
        return None
    places = [{entry.id: n for n, entry in enumerate(moment.board.entries)} for moment in moments]
    ranks = {
        pk: [moment.board.overall.rank[place[pk]] if pk in place else None for moment, place in zip(moments, places, strict=True)]
        for pk in shown
    }
    last = max(rank for own in ranks.values() for rank in own if rank is not None)
    step = (WIDTH - LEFT - RIGHT) / (len(moments) - 1)
    # Ranks far down are drawn on the last line but one, so that one entry's early days do not press all others together.
    lowest = min(last, DRAWN + 4)

    def height(rank: int) -> float:
        return TOP + ROW * (min(rank, lowest) - 1)

    lines: list[RankLine] = []
    taken: list[float] = []
    for pk in shown:
        own, path, pen = ranks[pk], "", False
        dots = []
        for n, rank in enumerate(own):
            if rank is None:
                pen = False
                continue
            x, y = round(LEFT + n * step, 1), height(rank)
            path += f"{'L' if pen else 'M'}{x} {y}"
            pen = True
            dots.append((x, y, f"{moments[n].at:%-d %B %Y}: rank {rank}"))
        now = own[-1]
        assert now is not None
        y = height(now)
        while any(abs(y - other) < 13 for other in taken):  # level entries' names stand below each other
            y += 13
        taken.append(y)
        lines.append(RankLine(pk, newest.entries[places[-1][pk]].name, path, tuple(dots), y, now, now == 1))
    ticks = tuple((height(rank), rank) for rank in range(1, lowest + 1))
    ends = (0, len(moments) - 1)
    dates = tuple((round(LEFT + n * step, 1), f"{moments[n].at:%-d %b %Y}") for n in ends)
    bottom = max([height(lowest), *taken])
    return RankChart(tuple(lines), ticks, dates, WIDTH, round(bottom + 34), WIDTH - RIGHT)
