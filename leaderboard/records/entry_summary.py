"""Summary of an entry on a board: its rank, its place with people, and each of its values among all entries'. PURE."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from leaderboard.records.board import ColumnAcceptanceTest, NoOverallRank, Rule
from leaderboard.records.front import Place
from leaderboard.records.people import Basis


class NoRank(StrEnum):
    """Reason why an entry of a ranking has no rank."""

    WAITING = "waiting"  # for a re-evaluation
    OFF = "off"  # `state` says what it is; the public does not see it
    LATE = "late"
    BASELINE = "baseline"
    NO_ORDER = "no_order"  # the board has none, by its `problem`
    NOT_PASSED = "not_passed"  # the `acceptance_test` of the metric that the table is sorted by
    LACKS = "lacks"  # values of the metrics `titles`


@dataclass(frozen=True)
class Unranked:
    reason: NoRank
    state: str = ""
    problem: NoOverallRank | None = None
    acceptance_test: ColumnAcceptanceTest | None = None
    titles: tuple[str, ...] = ()


@dataclass(frozen=True)
class OwnRank:
    """Rank among `ranked` entries, `level` of which share it. Where the order is tested it is significantly ahead of `behind` entries and
    behind `ahead` ones, and tied with `tied`: by name where the test of one metric says which these are. `untested` others are neither."""

    rank: int
    ranked: int
    level: int
    rule: Rule
    ahead: int = 0
    behind: int = 0
    tied: int = 0
    names: tuple[str, ...] = ()
    untested: int = 0


@dataclass(frozen=True)
class OwnPlace:
    """Place with people, of `placed` entries; none where their first is withheld since, so that nobody else is known to be first.

    `firsts` are the entries that are first with them, without this one, and `open` those that may be first too, of `others`. `tied` says
    of another entry whether it may be first as well; None where nothing is known of it. `among_ranked` says that people put an entry
    without a rank before the first.
    """

    value: float
    low: float
    high: float
    place: Place | None
    is_first: bool
    placed: int
    firsts: tuple[str, ...]
    open: tuple[str, ...]
    others: int
    tested: bool
    tied: bool | None
    among_ranked: bool
    n: int  # of its answers; 0 where that is not known
    basis: Basis
    counts: tuple[int, int, str] | None  # raters and items of all figures, and the name of an item; none where that is not known


@dataclass(frozen=True)
class Extremes:
    """Titles of the metrics by which the entry ranks best and worst, where the intervals of these ranks are apart."""

    best: int
    strongest: tuple[str, ...]
    worst: int
    weakest: tuple[str, ...]


@dataclass(frozen=True)
class EntrySummary:
    """One of `rank` and `unranked` is there; `people` only where they gave it a figure."""

    rank: OwnRank | None
    unranked: Unranked | None
    people: OwnPlace | None
    extremes: Extremes | None


@dataclass(frozen=True)
class FromFirst:
    """An entry in a column that ranks, against its first. The first itself has no `difference`, and is tied with the entries `tied`.
    For another entry, `is_tied` says whether it is tied with the first."""

    difference: float | None = None
    is_tied: bool = False
    tied: tuple[str, ...] = ()
