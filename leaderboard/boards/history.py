"""Changes of a board from one ranking to the next, and their reasons, in sentences; and ranks over time as lines. PURE of requests.

Rankings come as their readers may see them: what was taken off a board since is named nowhere here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from leaderboard.records.board import Board, BoardEntry
from leaderboard.records.study import HIDDEN_NAME
from leaderboard.wording.nouns import answer, answers, listed, plural

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


def steps(moments: Sequence[Moment], left: Mapping[int, tuple[datetime, str]] | None = None) -> list[Step]:
    """The steps between rankings, given from the oldest to the newest, the newest step first. `left` says since when and why an entry
    is on the board no more, by its id, where that may be said."""
    found = []
    for before, after in zip([None, *moments], moments, strict=False):
        board = after.board
        n = board.n_entries  # those of teams, as the board counts them
        if before is None:
            changes = [Change("opened", f"The oldest ranking that is kept: {n:,} {'entry' if n == 1 else 'entries'}.")]
        else:
            stands_again = after.at < before.at
            reasons = {pk: why for pk, (since, why) in (left or {}).items() if since <= after.at or stands_again}
            changes = _changes(before.board, board, reasons)
            if stands_again:
                changes = [Change("again", "A ranking of before, of the moment given here, stands again."), *changes]
        leaders = [board.entries[at].name for at in board.overall.order if board.overall.rank[at] == 1]
        first = "" if not leaders else leaders[0] if len(leaders) == 1 else f"{leaders[0]} and {len(leaders) - 1} more, level"
        found.append(Step(after.digest, after.at, first, n, tuple(changes)))
    return found[::-1]


def _changes(before: Board, after: Board, left: Mapping[int, str]) -> list[Change]:
    """Differences between two rankings, and their reasons, as far as they may be said."""
    found = []
    if before.batch != after.batch:
        columns, now_columns = ({metric.slug: metric for metric in board.metrics} for board in (before, after))
        why = ["under a new version of the reference"] if before.reference != after.reference else []
        added = [metric.title for slug, metric in now_columns.items() if slug not in columns]
        removed = [metric.title for slug, metric in columns.items() if slug not in now_columns]
        other = [m.title for slug, m in now_columns.items() if slug in columns and columns[slug].fingerprint != m.fingerprint]
        for words, titles in (("with {} added", added), ("without {}", removed), ("with another definition of {}", other)):
            if titles:
                why.append(words.format(listed(titles)))
        found.append(Change("scored", f"All entries were scored again{', ' + '; '.join(why) if why else ''}."))

    old, new = ({entry.id: n for n, entry in enumerate(board.entries)} for board in (before, after))
    entered = [n for pk, n in new.items() if pk not in old and after.entries[n].name != HIDDEN_NAME]
    if len(entered) > NAMED:
        names = [after.entries[n].name for n in entered[:NAMED]]
        found.append(Change("entered", f"{len(entered)} new entries: {', '.join(names)} and {len(entered) - NAMED} more."))
    elif entered:
        said = []
        for n in entered:
            entry, rank = after.entries[n], after.overall.rank[n]
            team = f" by {entry.team}" if entry.team and after.imported is None else ""
            said.append(f"{entry.name}{team}, {f'at rank {rank}' if rank is not None else 'without a rank'}")
        found.append(Change("entered", f"New: {'; '.join(said)}."))

    # Who is gone, and why: their team's better or later entry, or what `left` says. Hidden ones are counted, not named.
    gone, n_hidden = [], 0
    teams = {entry.team_id: entry.name for entry in after.entries if entry.counted}
    rules = {"best": "a better entry", "latest": "a later entry", "chosen": "another choice"}
    for pk, n in old.items():
        if pk in new:
            continue
        entry = before.entries[n]
        if entry.name == HIDDEN_NAME:
            n_hidden += 1
        elif pk in left:
            gone.append(f"{entry.name}: {left[pk]}")
        elif entry.team_id in teams and after.phase.entries in rules:
            gone.append(f"{entry.name}: its team has {rules[after.phase.entries]}, {teams[entry.team_id]}")
        else:
            gone.append(entry.name)
    if len(gone) > NAMED:
        gone = [*gone[:NAMED], f"and {len(gone) - NAMED} more"]
    if n_hidden:
        gone.append(f"{n_hidden} that {'is' if n_hidden == 1 else 'are'} not shown any more")
    if gone:
        found.append(Change("left", f"Gone: {'; '.join(gone)}."))

    moves, changed = [], []
    for pk in old.keys() & new.keys():
        was, now, entry = before.overall.rank[old[pk]], after.overall.rank[new[pk]], after.entries[new[pk]]
        if entry.name == HIDDEN_NAME:
            continue
        if was is not None and now is not None and was != now:
            moves.append((1 in (was, now), abs(was - now), -now, entry.name, was, now))
        if _about(before.entries[old[pk]]) != _about(entry):
            changed.append(entry.name)
    if moves:
        moves.sort(reverse=True)
        said = [f"{name} {'rises' if now < was else 'falls'} from {was} to {now}" for *_, name, was, now in moves[:MOVES]]
        more = f", and {len(moves) - MOVES} more" if len(moves) > MOVES else ""
        found.append(Change("moved", f"{', '.join(said)}{more}."))

    judged, now_judged = (board.people.answers if board.people is not None else 0 for board in (before, after))
    was_scores, opinions = (board.people is not None and board.people.kind == "opinions" for board in (before, after))
    in_all = answers(now_judged, opinions)
    if not judged and now_judged:
        found.append(Change("people", f"People's part came: {in_all}."))
    elif judged and not now_judged:
        found.append(Change("people", "People's part is not shown any more."))
    elif was_scores != opinions:
        found.append(Change("people", f"People's part is of another study: {in_all}."))
    elif judged != now_judged:
        more = f"{abs(now_judged - judged):,} {'more' if now_judged > judged else 'fewer'}"
        found.append(Change("people", f"People: {more} {plural(answer(opinions))}, {now_judged:,} in all."))

    if changed:
        who = listed(sorted(changed)) if len(changed) <= NAMED else f"{len(changed)} entries"
        found.append(Change("texts", f"What is said of {who} changed."))
    return found or [Change("nothing", "Nothing that is shown here.")]


def _about(entry: BoardEntry) -> tuple[object, ...]:
    """Facts that a row of the board states of an entry beside its scores."""
    stated = (entry.name, entry.team, entry.paper, entry.code, entry.weights, entry.parameters, entry.run_seconds)
    return (*stated, entry.verified, entry.baseline)


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
