"""One figure of a published set: a value, its 95 % interval, and its state as data. No sentence is made here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from leaderboard.stats.another_rater import Standing
from leaderboard.stats.crossed import Estimate
from leaderboard.stats.minimums import (
    GROUPS_FOR_FIGURE,
    GROUPS_FOR_FIRM_INTERVAL,
    RATERS_FOR_FIGURE,
    RATERS_FOR_FIRM_INTERVAL,
    STIMULI_FOR_ACROSS,
)
from leaderboard.stats.states import State

EFFICIENCY_FOR_INTERVAL = 0.85  # of the entries that met least often through common items, for an interval over entries


class Cause(StrEnum):
    """Cause of a state that is not KNOWN."""

    FEW = "few"  # `have` of `what`, where `need` are needed
    NO_WINNER = "no_winner"  # no answer names a winner between entries that the metric has values for
    NO_VALUES = "no_values"  # the metric has no value of what was judged
    ALIKE = "alike"
    IN_LINE = "in_line"  # a correlation of exactly 1 or -1
    UNCONNECTED = "unconnected"
    LITTLE_IN_COMMON = "little_in_common"  # too few entries stood on both kinds of items: `have` is the efficiency
    UNSTABLE = "unstable"  # without one of the groups or raters there is no value


class Counted(StrEnum):
    """Noun of what there is too little of."""

    RATERS = "raters"
    GROUPS = "groups"
    STIMULI = "stimuli"
    ENTRIES = "entries"
    ITEMS = "items"


@dataclass(frozen=True)
class Reason:
    """Cause of a state, with the numbers that a sentence needs."""

    cause: Cause
    what: Counted | None = None
    need: int | float | None = None
    have: int | float | None = None


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A value of `n` comparisons, stimuli or entries, with its 95 % interval.

    `se` and `df` are those of the interval: of a share on its own scale, of a correlation on Fisher's z. `raters` is None where people are
    not known. `coverage` is the share of the answers that the metric has values for. `places` are those among the metrics that were
    compared, and it `may_be_best` where they begin at 1. `above_size` says whether it was shown to see more than size alone, by the
    two-sided `size_p`. All four are None where there was no test.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    state: State = State.KNOWN
    reason: Reason | None = None
    se: float | None = None
    df: float | None = None
    groups: int = 0
    raters: int | None = None
    n_eff: float | None = None
    coverage: float | None = None
    places: tuple[int, int] | None = None
    may_be_best: bool | None = None
    above_size: bool | None = None
    size_p: float | None = None

    @property
    def shown(self) -> bool:
        """True where pages show the value; exports have it always."""
        if self.value is None or self.state is State.TOO_FEW:
            return False
        return self.reason is None or self.reason.cause is not Cause.LITTLE_IN_COMMON


@dataclass(frozen=True, kw_only=True)
class Decided(Figure):
    """Agreement with single answers, and the metric's state between chance and another rater, which exports alone have."""

    standing: Standing | None = None


@dataclass(frozen=True)
class Split:
    """Agreement on the `n` answers to comparisons that people did not decide almost alike, and the most that is possible there. It has no
    interval and makes no order."""

    value: float
    bound: float
    n: int


def few(raters: int | None, groups: int, stimuli: int | None = None) -> Reason | None:
    """The reason why so many raters (None where people are not known), groups and stimuli are too few; None where they are enough."""
    needs = (
        (raters, RATERS_FOR_FIGURE, Counted.RATERS),
        (groups, GROUPS_FOR_FIGURE, Counted.GROUPS),
        (stimuli, STIMULI_FOR_ACROSS, Counted.STIMULI),
    )
    return next((Reason(Cause.FEW, what, need, have) for have, need, what in needs if have is not None and have < need), None)


def certainty(raters: int | None, groups: int) -> State:
    """KNOWN, or ROUGH where an interval is of few raters or groups."""
    rough = groups < GROUPS_FOR_FIRM_INTERVAL or (raters is not None and raters < RATERS_FOR_FIRM_INTERVAL)
    return State.ROUGH if rough else State.KNOWN


def share(found: Estimate, persons: bool) -> Figure:
    """A share with the interval that was found for it; without `persons` its groups are its only clusters."""
    raters, groups = found.raters if persons else None, found.samples
    if found.value is None:
        return Figure(n=found.n, state=State.UNDECIDED, reason=Reason(Cause.NO_WINNER), raters=raters, groups=groups)
    state, reason = certainty(raters, groups), few(raters, groups)
    if reason is not None:
        state = State.TOO_FEW
    elif found.low is None:
        state, reason = State.ALIKE, Reason(Cause.ALIKE)
    return Figure(
        value=found.value,
        low=found.low,
        high=found.high,
        n=found.n,
        state=state,
        reason=reason,
        se=found.se,
        df=found.df,
        groups=groups,
        raters=raters,
        n_eff=found.n_eff or None,
    )
