"""First places by the metrics and with people. PURE."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.records.front import Parted
from leaderboard.stats.states import Reason

Named = tuple[str, int]  # an entry's name and id


@dataclass(frozen=True)
class FirstPlace:
    """Counted entries that share first place with people, those that may be first as well, and the others, as indices; `tested` says
    that the second are known by the ranges of all places, not by the first's own comparisons alone. First place is settled where the range
    of the first ends at 1; where it ends lower and no other may be first, `low_end` is that end."""

    level: list[int]
    open: list[int]
    behind: list[int]
    tested: bool
    low_end: int | None = None


@dataclass(frozen=True)
class Claim:
    """The entries that share first place by the board's rule, and with people.

    `reason` says why the two are not compared; `parted` is there where people put theirs significantly before the metrics' first. Else
    `met` says whether anybody was asked about the two, `corrected` that the ranges of all places separate them and the test of all pairs
    does not, and `alike` that all answers are alike, so that nothing says how sure first place is. `unmet` entries met none of those that
    have a place, and people put those `before` their first, which hold no rank.
    """

    metrics: tuple[Named, ...]
    people: tuple[Named, ...]
    first: FirstPlace
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
