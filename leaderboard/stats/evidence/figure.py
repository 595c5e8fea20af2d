"""One figure of a published set: a value, its 95 % interval, and its state as data. No sentence is made here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from leaderboard.stats.another_rater import Standing
from leaderboard.stats.minimums import (
    GROUPS_FOR_FIGURE,
    GROUPS_FOR_FIRM_INTERVAL,
    RATERS_FOR_FIGURE,
    RATERS_FOR_FIRM_INTERVAL,
    STIMULI_FOR_ACROSS,
)
from leaderboard.stats.states import SHOWN, Counted, Key, Reason, State
from leaderboard.stats.two_way_intervals import Estimate

EFFICIENCY_FOR_INTERVAL = 0.85  # of the entries that met least often through common items, for an interval over entries


@dataclass(frozen=True, kw_only=True)
class SetFigure:
    """A value of `n` comparisons, stimuli or entries, with its 95 % interval.

    `se` and `df` belong to the interval: of a share on its own scale, of a correlation on Fisher's z. `raters` is None where people are
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
        return self.value is not None and self.state in SHOWN

    def because(self, reason: Reason) -> Self:
        """The same without an interval, for this reason."""
        return replace(self, low=None, high=None, state=reason.state, reason=reason)


@dataclass(frozen=True, kw_only=True)
class Decided(SetFigure):
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
        (stimuli, STIMULI_FOR_ACROSS, Counted.RESULTS),
    )
    return next((Reason(Key.FEW, what, need, have) for have, need, what in needs if have is not None and have < need), None)


def certainty(raters: int | None, groups: int) -> State:
    """KNOWN, or ROUGH where an interval is of few raters or groups."""
    rough = groups < GROUPS_FOR_FIRM_INTERVAL or (raters is not None and raters < RATERS_FOR_FIRM_INTERVAL)
    return State.ROUGH if rough else State.KNOWN


def share(found: Estimate, persons: bool) -> SetFigure:
    """A share with the interval that was found for it; without `persons` its groups are its only clusters."""
    raters, groups = found.raters if persons else None, found.samples
    figure = SetFigure(
        value=found.value,
        low=found.low,
        high=found.high,
        n=found.n,
        state=certainty(raters, groups),
        se=found.se,
        df=found.df,
        groups=groups,
        raters=raters,
        n_eff=found.n_eff or None,
    )
    if found.value is None:
        return figure.because(Reason(Key.NO_WINNER))
    if (reason := few(raters, groups)) is not None:
        return figure.because(reason)
    return figure.because(Reason(Key.ALIKE)) if found.low is None else figure
