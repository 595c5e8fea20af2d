"""First places by the metrics and with people. PURE."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from leaderboard.records.board import Overall
from leaderboard.records.front import Parted
from leaderboard.stats.states import Reason

Named = tuple[str, int]  # an entry's name and id


@dataclass(frozen=True)
class FirstPlace:
    """First place in one order, by the metrics or with people, as indices of counted entries. `level` entries share first place, `open`
    ones may be first too, the rest are `behind`, and so many are `untested`, which are in no list but `level`. `tested` says that `open`
    comes from the ranges of all places, not only from comparisons with the first. First place is settled where the range of the first ends
    at 1; where it ends lower and no other may be first, `low_end` is that end."""

    level: list[int]
    open: list[int]
    behind: list[int]
    tested: bool
    low_end: int | None = None
    untested: int = 0

    @classmethod
    def of(cls, level: list[int], others: list[int], may: Collection[int], high: int | None, tested: bool, untested: int = 0) -> FirstPlace:
        """First place of `level` before `others`, of which `may` be first too, unless the range of the first ends, at `high`, with 1."""
        open_ = [n for n in others if n in may] if high != 1 else []
        low_end = high if high != 1 and not open_ and len(level) == 1 else None
        return cls(level, open_, [n for n in others if n not in open_], tested, low_end, untested)

    @classmethod
    def by_metrics(cls, overall: Overall) -> FirstPlace | None:
        """First place in a board's order; None where nobody is ranked, or no range of ranks is known."""
        level = overall.leaders
        own = overall.rank_range(level[0]) if level else None
        if own is None:
            return None
        others = [n for n in overall.order if (overall.rank[n] or 0) > 1 and overall.rank_low[n] is not None]
        untested = sum(map(bool, overall.untested))
        return cls.of(level, others, [n for n in others if overall.rank_low[n] == 1], own[1], True, untested)


@dataclass(frozen=True)
class Claim:
    """The entries that share first place by the board's rule (`metrics`), and with people. `first` is first place with people;
    `first_by_metrics` is first place by the rule, if ranges of ranks are known.

    `reason` says why the two are not compared. `parted` is set if people put their first significantly before the metrics' first. Otherwise
    `met` says whether anybody was asked about the two. `corrected` says that the ranges of places separate them but the test of all pairs
    does not. `alike` says that all answers are alike, so first place has no interval. `unmet` counts entries that were compared with no
    entry that has a place. `before` names entries without a rank that people put before their first.
    """

    metrics: tuple[Named, ...]
    people: tuple[Named, ...]
    first: FirstPlace
    first_by_metrics: FirstPlace | None = None
    means: bool = False
    reason: Reason | None = None
    parted: Parted | None = None
    met: bool = True
    corrected: bool = False
    alike: bool = False
    unmet: int = 0
    before: tuple[str, ...] = ()

    @property
    def of_two(self) -> bool:
        """True if one entry is first by the metrics, and one with people."""
        return self.reason is None and (self.means or len(self.metrics) == len(self.people) == 1)
