"""Summary of a board for the front page: kept beside a snapshot, so that a list of challenges opens no ranking."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence

from leaderboard.boards import human_agreement
from leaderboard.boards.payload import Board
from leaderboard.boards.rows import cell, place_with_people
from leaderboard.boards.slope import Slope, SlopeLine, slope, slope_of_two, split_of
from leaderboard.stats.crossed import Ends
from leaderboard.studies.summary import Record

TOP = 3  # entries


class Leader(Record):
    """One of the first entries: its rank, and its place with people, empty where they did not judge it; `against` where a metric
    contradicts people on it."""

    rank: int
    id: int
    name: str
    team: str
    place: str = ""
    against: bool = False


class Contradiction(Record):
    """Two entries that metrics put in one order and people, beyond chance, in the other: how often people would pick theirs with its
    interval (of opinion scores: by how many points), and of what. `lines` draw the two orders of the entries that have both; `ids` are of
    all that it names."""

    ends: Ends
    opinions: bool
    basis: str
    made_up: bool
    lines: tuple[SlopeLine, ...] = ()
    ids: tuple[int, ...] = ()

    @property
    @abstractmethod
    def pair(self) -> tuple[tuple[str, int], tuple[str, int]]:
        """(name, id) of the entry that the metrics put first of the two, and of the one that people prefer."""

    @property
    def slope(self) -> Slope | None:
        return Slope(lines=self.lines) if self.lines else None

    def names(self, ids: Collection[int]) -> bool:
        """True if it names any of these entries."""
        named = {*self.ids, *(line.id for line in self.lines), *(pk for _, pk in self.pair)}
        return not named.isdisjoint(ids)


class Parted(Contradiction):
    """A first entry that people do not prefer: (name, id) of the metrics' first and of people's."""

    metrics: tuple[str, int]
    people: tuple[str, int]
    imported: bool

    @property
    def pair(self) -> tuple[tuple[str, int], tuple[str, int]]:
        return self.metrics, self.people


class Turned(Contradiction):
    """A single metric that puts the first of two entries before the other, which people prefer: (name, id) of both, and a sample where it
    shows."""

    metric: str
    first: tuple[str, int]
    preferred: tuple[str, int]
    sample: str

    @property
    def pair(self) -> tuple[tuple[str, int], tuple[str, int]]:
        return self.first, self.preferred


class Front(Record):
    """The first entry, whose fields come first, with its value in the primary metric and that value's interval; the `top` entries, and what
    people say."""

    id: int
    name: str
    team: str
    metric: str
    value: str
    top: tuple[Leader, ...] = ()
    judgements: int = 0
    parted: Parted | None = None
    level: int = 1  # entries in first place
    turned: Turned | None = None  # the surest of the contradictions
    people_made_up: bool = False
    opinions: bool = False  # where people gave scores instead of judging duels

    @property
    def lead(self) -> str:
        """Sentence on who is first; of several that are level, one by name."""
        if self.level > 1:
            return f"{self.name} and {self.level - 1} other{'' if self.level == 2 else 's'} are level in first place."
        return f"{self.name} is first."

    @property
    def judgements_words(self) -> str:
        """The number of judgements, or of scores, in words."""
        return human_agreement.counted_words(self.judgements, self.opinions)

    @property
    def has_places(self) -> bool:
        return any(one.place for one in self.top)

    def without(self, ids: Collection[int], people: bool = False) -> Front | None:
        """Nothing of these entries, and nothing of people where `people`; None where the first is one of them."""
        if self.id in ids:
            return None
        shown = (one for one in self.top if one.id not in ids)
        top = tuple(one.model_copy(update={"place": "", "against": False}) if people else one for one in shown)
        parted, turned = (None if one is None or people or one.names(ids) else one for one in (self.parted, self.turned))
        update = {"top": top, "judgements": 0 if people else self.judgements, "parted": parted, "turned": turned}
        return self.model_copy(update=update | {"people_made_up": self.people_made_up and not people})


def front(board: Board) -> Front | None:
    """None where nobody is ranked."""
    overall, entries = board.overall, board.entries
    ranked = [(rank, n) for n in overall.order if (rank := overall.rank[n]) is not None]
    first = next((n for rank, n in ranked if rank == 1), None)
    if first is None:
        return None
    metric, entry = board.primary or board.metrics[0], entries[first]
    people = human_agreement.of_board(board)
    column = people.column(board) if people else None
    marks = board.people.marks if board.people is not None else {}
    marked = {int(pk) for by_entry in marks.values() for pk, found in by_entry.items() if found}
    top = []
    for rank, n in ranked[:TOP]:
        words = place_with_people(board, column, n)
        one = Leader(rank=rank, id=entries[n].id, name=entries[n].name, team=entries[n].team, place=words, against=entries[n].id in marked)
        top.append(one)
    parted = None
    claim = people.claim(board) if people else None
    if people is not None and claim is not None and claim.ends is not None and claim.metrics is not None and claim.people is not None:
        drawn = slope(board, column, split_of(board, column))
        lines = drawn.lines if drawn else ()
        parted = Parted(
            metrics=claim.metrics,
            people=claim.people,
            ends=claim.ends,
            opinions=people.opinions,
            basis=people.basis,
            made_up=people.study.made_up,
            imported=board.imported is not None,
            lines=lines,
            ids=_ids(lines, claim.metrics, claim.people),
        )
    # The surest contradiction of a metric and people, by the lower end of how often people pick theirs.
    duels = [
        (low, against, index, mark.id, mark)
        for slug, by_entry in marks.items()
        for pk, found in by_entry.items()
        for mark in found
        if (against := board.column(slug)) is not None
        and (index := board.index_of(int(pk))) is not None
        and mark.id is not None
        and (low := mark.value[1] or 0.0) > 0
    ]
    turned = None
    if people is not None and duels:
        _, against, index, other_id, mark = max(duels, key=lambda one: one[0])
        other = board.index_of(other_id)
        drawn = slope_of_two(board, against, column, index, other) if column is not None and other is not None else None
        lines = drawn.lines if drawn else ()
        ahead, preferred = (entries[index].name, entries[index].id), (mark.preferred, other_id)
        turned = Turned(
            metric=against.title,
            first=ahead,
            preferred=preferred,
            ends=mark.value,
            opinions=people.opinions,
            basis=people.basis,
            made_up=people.study.made_up,
            sample=next(iter(mark.samples), ""),
            lines=lines,
            ids=_ids(lines, ahead, preferred),
        )
    own = cell(metric, first)
    return Front(
        id=entry.id,
        name=entry.name,
        team=entry.team,
        metric=metric.title,
        value=f"{own.text} {own.half or f'{own.up} {own.down}'}".strip(),
        top=tuple(top),
        judgements=board.people.judgements if board.people is not None and column is not None else 0,
        parted=parted,
        level=sum(rank == 1 for rank, _ in ranked),
        turned=turned,
        people_made_up=people is not None and people.study.made_up,
        opinions=people is not None and people.opinions,
    )


def _ids(lines: Sequence[SlopeLine], *named: tuple[str, int]) -> tuple[int, ...]:
    return tuple(sorted({line.id for line in lines} | {pk for _, pk in named}))
