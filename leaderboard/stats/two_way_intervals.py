"""Intervals of figures made of answers, where raters and samples are crossed clusters.

Answers of one rater resemble each other, and so do answers about one sample; an interval that takes them for independent
promises too much. Every figure T comes with the influence u float64[N] of each answer, so that an estimate differs from the
truth by about their sum. Of the sums per rater, per sample and per cell (rater and sample) come three variances, V_R, V_S and
V_C (Cameron, Gelbach, Miller, JBES 2011; Owen, Ann. Appl. Stat. 2007), and

    V = V_C + max(0, V_R - V_C) + max(0, V_S - V_C)

with Satterthwaite's degrees of freedom over the parts that count. Only positive parts count, because what is left of a
negative one is an interval that is too short.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from leaderboard.stats.minimums import ITEMS_FOR_FIGURE, ITEMS_FOR_FIRM_INTERVAL, RATERS_FOR_FIGURE, RATERS_FOR_FIRM_INTERVAL
from leaderboard.stats.states import SHOWN, Counted, Key, Reason, State
from leaderboard.stats.votes import Floats, Ints

LEVEL = 0.95
NOTHING = 1e-12  # a cluster's sum that is no more than this is rounding
NO_VARIANCE = NOTHING**2  # what such sums leave of a variance
ROUNDING = 1e-12  # what is left of a difference of equal variances, as a share of them
SAME = 1e-9  # by which share two variances may differ and be called equal
ALIKE = Reason(Key.ALIKE)
Number = TypeVar("Number", float, Floats)


@dataclass(frozen=True, eq=False)
class Variance:
    """The three parts, of one figure or of an array of them, and how many raters, samples and cells there are."""

    rater: Floats
    sample: Floats
    cell: Floats
    clusters: tuple[int, int, int]

    @cached_property
    def total(self) -> Floats:
        return self.cell + np.maximum(0.0, self.rater - self.cell) + np.maximum(0.0, self.sample - self.cell)

    @cached_property
    def clustered(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """True where answers of one rater, and on one sample, go together beyond their cells. Never where each has but one cell: the two
        variances are one then, and what rounding makes of them says nothing."""
        raters, samples, cells = self.clusters
        least = self.cell * (1 + SAME)
        return (self.rater > least) & (raters < cells), (self.sample > least) & (samples < cells)

    @cached_property
    def df(self) -> Floats:
        """Degrees of freedom, at least 1."""
        r, s, c = (max(1, n - 1) for n in self.clusters)
        by_raters, by_samples = self.clustered
        spent = by_raters * self.rater**2 / r + by_samples * self.sample**2 / s + self.cell**2 / c
        return np.maximum(1.0, np.divide(self.total**2, spent, out=np.ones_like(self.total), where=spent > 0))

    def each(self, change: Callable[[Floats], Floats]) -> Variance:
        """The same variance with `change` applied to its three parts."""
        return Variance(change(self.rater), change(self.sample), change(self.cell), self.clusters)

    def between(self) -> Variance:
        """Variance of the difference of each two of K figures [K, K]."""
        return self.each(_between)

    def own(self) -> Variance:
        """Variance of each of K figures [K]."""
        return self.each(lambda part: np.diag(part).copy())


def _between(part: Floats) -> Floats:
    own = np.diag(part)
    return left_of(own[:, None] + own[None, :], part + part.T)


def left_of(variances: Floats, taken: Floats) -> Floats:
    """Rest of a sum of variances, and nothing where no more is left than rounding leaves: an interval of that would be a point."""
    left = variances - taken
    return np.where(left > ROUNDING * variances, left, 0.0)


class Clusters:
    """Rater and sample of each of N answers; only those that occur among them count."""

    def __init__(self, rater: Ints, sample: Ints) -> None:
        self.rater = np.unique(rater, return_inverse=True)[1]
        self.sample = np.unique(sample, return_inverse=True)[1]
        self.n = len(self.rater)
        self.n_raters = int(self.rater.max()) + 1 if self.n else 0
        self.n_samples = int(self.sample.max()) + 1 if self.n else 0

    @cached_property
    def _sums(self) -> tuple[scipy.sparse.csr_matrix, ...]:
        """Sums over raters, samples and cells [G, N]."""
        cells = np.unique(self.rater * max(1, self.n_samples) + self.sample, return_inverse=True)[1]
        ones, columns = np.ones(self.n), np.arange(self.n)
        each = ((place, int(place.max()) + 1 if self.n else 0) for place in (self.rater, self.sample, cells))
        return tuple(scipy.sparse.csr_matrix((ones, (place, columns)), shape=(count, self.n)) for place, count in each)

    @property
    def few(self) -> Reason | None:
        """The reason why there is no interval and no test; None where there are enough."""
        return few(self.n_raters, self.n_samples)

    def variance(self, u: Floats) -> Variance:
        """Variance of the figure with influences u [N], or of each of K with u [N, K]."""

        def part(by: Floats) -> Floats:
            g = len(by)
            return np.asarray(scale(g) * ((by - by.mean(axis=0)) ** 2).sum(axis=0)) if g else np.zeros(u.shape[1:])

        return self._parts(u, part)

    def covariance(self, u: Floats) -> Variance:
        """The covariances [K, K] of K figures with influences u [N, K]."""

        def part(by: Floats) -> Floats:
            centred = by - by.mean(axis=0) if len(by) else by
            return scale(len(by)) * (centred.T @ centred)

        return self._parts(u, part)

    def _parts(self, u: Floats, part: Callable[[Floats], Floats]) -> Variance:
        by_rater, by_sample, by_cell = (sums @ u for sums in self._sums)
        return Variance(part(by_rater), part(by_sample), part(by_cell), (len(by_rater), len(by_sample), len(by_cell)))

    def alike(self, u: Floats) -> bool:
        """True if no cluster differs from what all are on average."""
        return all(np.abs(sums @ u).max(initial=0.0) <= NOTHING for sums in self._sums)


def few(raters: int, samples: int) -> Reason | None:
    """The reason why answers of so many raters on so many samples have no interval; None where they are enough."""
    for n, least, counted in ((raters, RATERS_FOR_FIGURE, Counted.RATERS), (samples, ITEMS_FOR_FIGURE, Counted.ITEMS)):
        if n < least:
            return Reason(Key.FEW, counted, least, n)
    return None


def known(raters: int, samples: int) -> State:
    """State of a figure that has an interval, of so many raters and samples."""
    return State.ROUGH if raters < RATERS_FOR_FIRM_INTERVAL or samples < ITEMS_FOR_FIRM_INTERVAL else State.KNOWN


def scale(g: int) -> float:
    """Factor of a sum of squares over g clusters: g / (g - 1), 0 for one."""
    return g / (g - 1) if g > 1 else 0.0


Ends = tuple[float | None, float | None, float | None]  # a value and the ends of its 95 % interval


@dataclass(frozen=True)
class Figure:
    """A value of `n` answers (of a correlation: entries) with its 95 % interval; `state` says whether there are any, and `reason` what
    keeps it from having them. The value is None without answers. `why` is the reason in words, for outputs alone, see
    `leaderboard.wording.reasons`."""

    value: float | None
    low: float | None
    high: float | None
    n: int = 0
    state: State = State.KNOWN
    reason: Reason | None = None
    why: str = field(default="", compare=False)

    @classmethod
    def lacking(cls, reason: Reason) -> Self:
        """One without a value, for this reason."""
        return cls(None, None, None, state=reason.state, reason=reason)

    def because(self, reason: Reason) -> Self:
        """The same without an interval, for this reason."""
        return replace(self, low=None, high=None, state=reason.state, reason=reason)

    @property
    def shown(self) -> bool:
        """True if a reader sees the number."""
        return self.value is not None and self.state in SHOWN

    @property
    def ends(self) -> Ends:
        return self.value, self.low, self.high

    @property
    def brief(self) -> Figure:
        """Without what its interval is made of."""
        return Figure(self.value, self.low, self.high, self.n, self.state, self.reason, self.why)


@dataclass(frozen=True)
class Estimate(Figure):
    """A figure with its interval over other raters and samples. Its answers are by `raters` on `samples`, and worth `n_eff` answers of
    equal weight. `se` and `df` belong to the interval; for a share they are on the scale of the logit."""

    n_eff: float = 0.0
    raters: int = 0
    samples: int = 0
    se: float | None = None
    df: float | None = None


def effective(weight: Floats) -> float:
    """The number of answers of equal weight that say as much: (sum w)^2 / sum w^2; 0 without any."""
    squares = float((weight**2).sum())
    return float(weight.sum()) ** 2 / squares if squares > 0 else 0.0


def ratio(num: Floats, den: Floats) -> tuple[float, Floats]:
    """sum(num) / sum(den) and the influence of each answer on it."""
    total = float(den.sum())
    value = float(num.sum()) / total
    return value, (num - value * den) / total


def figure(value: float, u: Floats, clusters: Clusters, weight: Floats, share: bool = True, alike: Reason = ALIKE) -> Estimate:
    """The value with its interval. A `share` lies in [0, 1] and gets one that does too; `alike` is the reason where all answers are."""
    found = Estimate(
        value,
        None,
        None,
        clusters.n,
        known(clusters.n_raters, clusters.n_samples),
        n_eff=effective(weight),
        raters=clusters.n_raters,
        samples=clusters.n_samples,
    )
    if clusters.few:
        return found.because(clusters.few)
    variance = clusters.variance(u)
    se, df = math.sqrt(float(variance.total)), float(variance.df)
    if share and not NOTHING < value < 1 - NOTHING:
        low, high = at_the_end(value, min(clusters.n_raters, clusters.n_samples))
        return replace(found, low=low, high=high, se=se, df=df)
    if clusters.alike(u):
        return found.because(alike)
    low, high = (share_interval if share else interval)(value, se, df)
    return replace(found, low=float(low), high=float(high), se=se, df=df)


def at_the_end(value: float, m: int) -> tuple[float, float]:
    """The interval of a share of exactly 0 or 1, with m clusters: another would be seen with 97.5 %."""
    far = 0.025 ** (1 / m)
    return (0.0, 1 - far) if value <= 0 else (far, 1.0)


def quantile(df: Number) -> Number:
    """t(.975, df)."""
    return scipy.special.stdtrit(df, 1 - (1 - LEVEL) / 2)


def interval(value: Number, se: Number, df: Number) -> tuple[Number, Number]:
    half = quantile(df) * se
    return value - half, value + half


def share_interval(value: Number, se: Number, df: Number) -> tuple[Number, Number]:
    """On the scale of the logit, so that it stays between 0 and 1."""
    half = quantile(df) * se / (value * (1 - value))
    return scipy.special.expit(scipy.special.logit(value) - half), scipy.special.expit(scipy.special.logit(value) + half)


def two_sided(value: float, variance: float, df: float) -> float:
    """The p of a difference from 0; where nothing varies, 1 if there is none and 0 if there is one."""
    if variance <= 0:
        return 1.0 if value == 0 else 0.0
    return float(2 * scipy.special.stdtr(df, -abs(value) / math.sqrt(variance)))


def holm(p: Floats) -> Floats:
    """Holm's adjusted p [N], in the order given."""
    order = np.argsort(p, kind="stable")
    steps = np.minimum(1.0, p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted
