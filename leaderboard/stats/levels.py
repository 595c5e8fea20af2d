"""People's values of entries on one scale, and what their covariances say: tests of each two entries, and the places of all.

The scale is abilities if people compared pairs (`davidson`), and mean scores if they gave ratings (`opinions`).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy

from leaderboard.stats import two_way_intervals
from leaderboard.stats.states import Reason
from leaderboard.stats.two_way_intervals import Clusters, Variance
from leaderboard.stats.votes import Floats, Ints

DRAWS = 20_000


@dataclass(frozen=True, eq=False)
class Column:
    """A value per entry float64[M] with its interval; NaN ends and `reason` where there is none."""

    value: Floats
    low: Floats
    high: Floats
    reason: Reason | None = None


@dataclass(frozen=True, eq=False)
class Tests:
    """Tests of each two entries [M, M]: by how much the row's is preferred to the column's, with its interval, and the two-sided p of the
    difference of their values. NaN where there is none."""

    value: Floats
    low: Floats
    high: Floats
    p: Floats


@dataclass(frozen=True, eq=False)
class Places:
    """Places of each entry [M]: between which ranks it lies, rivals compared at once. `critical` is
    how many standard errors apart from a rival it must be for that, and `df` are the degrees of freedom of all."""

    low: Ints
    high: Ints
    critical: Floats
    df: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Levels:
    """M entries that were compared, directly or through others. `entries` int64[M] are their numbers among the study's, and `theta`
    float64[M] their values, of mean 0. `influences` makes the influences of the N answers on these, float64[N, >= M], in `clusters`."""

    entries: Ints
    theta: Floats
    influences: Callable[[], Floats] = field(repr=False)
    clusters: Clusters = field(repr=False)

    def __len__(self) -> int:
        return len(self.theta)

    @cached_property
    def u(self) -> Floats:
        """The influences, made when they are first asked for: a fit that only tells who is first needs none."""
        return self.influences()

    @abstractmethod
    def end(self, m: int) -> float:
        """Multiple of the answers of now that there are once each rater has answered everything about m entries on each sample."""

    @cached_property
    def covariance(self) -> Variance:
        """Covariance of theta [M, M], in parts."""
        return self.clusters.covariance(self.u[:, : len(self)])

    @cached_property
    def variance(self) -> Variance:
        """Variance of each theta [M]."""
        return self.covariance.own()

    @cached_property
    def between(self) -> Variance:
        """Variance of each difference theta_i - theta_j [M, M]."""
        return self.covariance.between()

    @cached_property
    def tests(self) -> Tests:
        """Tests of all pairs, which cost little more than one."""
        gap, between, m = self.theta[:, None] - self.theta[None, :], self.between, len(self)
        if self.clusters.few:
            nothing = np.full((m, m), math.nan)
            return Tests(gap, nothing, nothing, nothing)
        none = (between.total <= two_way_intervals.NO_VARIANCE) | np.eye(m, dtype=bool)
        with np.errstate(divide="ignore", invalid="ignore"):
            certain = np.where(np.abs(gap) <= two_way_intervals.NOTHING, 0.0, np.inf)
            t = np.where(between.total > two_way_intervals.NO_VARIANCE, np.abs(gap) / np.sqrt(between.total), certain)
            low, high = two_way_intervals.interval(gap, np.sqrt(between.total), between.df)
        p = np.where(np.eye(m, dtype=bool), math.nan, 2 * scipy.special.stdtr(between.df, -t))
        return Tests(gap, np.where(none, math.nan, low), np.where(none, math.nan, high), p)

    def places(self, among: Ints | None = None) -> Places | None:
        """Mogstad, Romano, Shaikh and Wilhelm (REStud 2024); None where there are too few raters or samples, or all answers are alike.
        `among` are the places here of the entries that have a rank, in the order of the arrays; without it all have one."""
        among = np.arange(len(self)) if among is None else among
        m, own_part = len(among), np.ix_(among, among)
        parts, theta = self.covariance, self.theta[among]
        wanted = self.variance.total[among]
        if self.clusters.few or (wanted <= two_way_intervals.NO_VARIANCE).all():
            return None
        # If answers of one rater, or on one sample, are less alike than at random, the first may vanish. The cells alone, of which each
        # part has a variance, then take its place.
        for scale in (parts.rater + parts.sample - parts.cell, parts.cell):
            values, vectors = np.linalg.eigh(((scale + scale.T) / 2)[own_part])
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            own = (root**2).sum(axis=1)
            if (own[wanted > two_way_intervals.NO_VARIANCE] > two_way_intervals.NO_VARIANCE).all():
                break
        root = root * np.sqrt(np.divide(wanted, own, out=np.zeros(m), where=own > 0))[:, None]
        rng = np.random.Generator(np.random.PCG64(0))
        df = float(np.median(self.variance.df))
        z = rng.standard_normal((DRAWS, m)) @ root.T / np.sqrt(rng.chisquare(df, DRAWS) / df)[:, None]
        apart = np.sqrt(np.maximum(0.0, ((root[:, None, :] - root[None, :, :]) ** 2).sum(axis=-1)))
        between = self.between.total[own_part]
        low, high, critical = np.ones(m, dtype=np.int64), np.full(m, m, dtype=np.int64), np.full(m, math.nan)
        for i in range(m):
            others, bar = (np.arange(m) != i) & (apart[i] > 0), np.full(m, math.inf)
            if others.any():
                critical[i] = np.quantile((np.abs(z[:, others] - z[:, [i]]) / apart[i, others]).max(axis=1), 0.95)
                bar[others] = critical[i]
            gap = theta - theta[i]
            certain = np.where(np.abs(gap) <= two_way_intervals.NOTHING, 0.0, np.copysign(np.inf, gap))  # as `tests` has it
            with np.errstate(divide="ignore", invalid="ignore"):
                t = np.where(between[i] > two_way_intervals.NO_VARIANCE, gap / np.sqrt(between[i]), certain)
            # Where nothing varies between two entries that differ, the difference is certain.
            low[i] = 1 + np.count_nonzero((t > bar) | (t == math.inf))
            high[i] = m - np.count_nonzero((t < -bar) | (t == -math.inf))
        return Places(low, high, critical, df)
