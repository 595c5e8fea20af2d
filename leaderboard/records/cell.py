"""Values of entries in the columns of a board, and the places where these are drawn. PURE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from leaderboard.records.board import BoardEntry, Mark, MetricColumn, RuleValue
from leaderboard.records.entry_summary import FromFirst, Unranked
from leaderboard.records.front import Place
from leaderboard.records.unit import NOUN
from leaderboard.stats.meaning import At
from leaderboard.stats.minimums import GROUPS_FOR_BOARD_INTERVAL
from leaderboard.stats.states import Reason, State


def position(scale: Sequence[float], value: float) -> float:
    """Position of a value on a column's scale, in percent; at the end where it lies outside."""
    low, high = scale
    share = (value - low) / (high - low) if high > low else 0.5
    return round(100 * min(1.0, max(0.0, share)), 1)


def bar(scale: Sequence[float], low: float | None, high: float | None) -> tuple[float, float]:
    """(left, width) of an interval on a column's scale, in percent."""
    if low is None or high is None:
        return 0.0, 0.0
    left = position(scale, low)
    return left, round(position(scale, high) - left, 1)


def is_best(rank: int | None, ranks: Sequence[int | None]) -> bool:
    """True if a value is first of these; where all entries share first place none is the best."""
    return rank == 1 and any(other is not None and other > 1 for other in ranks)


@dataclass(frozen=True)
class Cell:
    """The value of the entry at `index` of a column; its interval is over what is called `noun`. `reason` says why people have no figure of
    an entry that they judged, `waits` that the metric has a newer version, which has not scored it. `against` are entries that people
    prefer to it and the metric does not, `difference` the meaning to people of its difference from the row below."""

    column: MetricColumn
    index: int
    noun: str = NOUN
    reason: Reason | None = None
    waits: bool = False
    against: tuple[Mark, ...] = ()
    difference: At | None = None

    @property
    def value(self) -> float | None:
        return self.column.value[self.index]

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The 95 % interval."""
        return self.column.interval(self.index)

    @property
    def rank(self) -> int | None:
        """The rank in the column; None where the entry holds none."""
        return self.column.rank[self.index]

    @property
    def n(self) -> int:
        """Number of units that the value is the mean over; 0 where that is not known."""
        return self.column.n[self.index]

    @property
    def state(self) -> State:
        if self.value is None:
            return self.reason.state if self.reason is not None else State.NOT_APPLICABLE
        if None not in self.ends:
            return State.KNOWN
        # One that is tested has values in all units, so that nothing but their being equal leaves it without an interval.
        is_tested = self.column.pairs is not None and self.index in self.column.pairs.tested
        return State.ALIKE if is_tested and self.n >= GROUPS_FOR_BOARD_INTERVAL and self.column.may_rank else State.NO_INTERVAL

    @property
    def best(self) -> bool:
        return is_best(self.rank, self.column.rank)

    @property
    def dot(self) -> float:
        return position(self.column.scale, self.value or 0.0)

    @cached_property
    def bar(self) -> tuple[float, float]:
        return bar(self.column.scale, *self.ends)

    @property
    def flags(self) -> Mapping[str, int]:
        return self.column.flags(self.index)


@dataclass(frozen=True)
class Untested:
    """An entry without a rank interval where others have one: it `lacks` items that most others have, or comes after the first `most`."""

    lacks: bool
    most: int
    noun: str


@dataclass(frozen=True)
class FoldedRank:
    """A rank by metrics whose columns are not in sight, `at` so many percent of their line."""

    at: float
    rank: int
    titles: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """One row of a board's table: the entry's rank in the first column, with its 95 % range; where entries below the first ones are not
    tested, that range may be open (`is_open`). `bracket` are the classes of its piece of a bracket, `value` is that of the overall rule,
    and `by_rule` how it came about."""

    entry: BoardEntry
    rank: int | None
    low: int | None
    high: int | None
    is_open: bool
    bracket: str
    untested: Untested | None
    by_rule: RuleValue | None
    unranked: Unranked | None
    value: float | None
    people: Cell | None
    place: Place | None
    cells: tuple[Cell, ...]
    folded: tuple[FoldedRank, ...]
    mine: bool
    waits: bool  # for a re-evaluation


@dataclass(frozen=True)
class Strip:
    """A value of an entry among all `n`: better is to the right, places are percentages. `ticks` is the path of an SVG of 100
    by 14 with a line for each entry; `n_worse` and `n_better` entries are outside its scale. `left` and `width` are the interval's. `place`
    is its rank, with people its range of places, `ranks` the 95 % range of the rank where that is wider than one."""

    cell: Cell
    ticks: str
    n: int
    dot: float
    left: float
    width: float
    place: Place | None
    ranks: tuple[int, int] | None
    from_first: FromFirst | None
    is_people: bool = False
    n_worse: int = 0
    n_better: int = 0

    @property
    def column(self) -> MetricColumn:
        return self.cell.column
