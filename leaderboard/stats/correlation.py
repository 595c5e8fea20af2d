"""Correlations of metrics with people's order of entries: intervals that speak of other entries, and by resampling as papers have them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from leaderboard.stats.minimums import ENTRIES_FOR_CORRELATION, ENTRIES_FOR_CORRELATION_INTERVAL
from leaderboard.stats.preference import LEVEL, interval
from leaderboard.stats.states import Counted, Key, Reason
from leaderboard.stats.two_way_intervals import Figure
from leaderboard.stats.votes import Floats

SCREENED = 0.3  # a rater whose correlation with the mean of the others is less may be left out
ROUNDING = 1e-12  # differences of a metric's values up to this are rounding
FITTED = 1e-9  # the same of what people prefer, which a search ends near
IN_LINE = 1e-12  # so near to 1 or -1, all entries are in one line
MIN_VALUES = 4  # values below which resampling says nothing of a correlation


@dataclass(frozen=True)
class Opinion:
    """The mean of `n` ratings, their standard deviation (ddof=1) and the 95 % t interval; None for one rating."""

    mean: float
    sd: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Order:
    """Likeness of two orders: Spearman's (mid-ranks), Kendall's tau-b and Pearson's over `n` values; None where one side does not vary.

    `srocc_ci`, `krocc_ci`, `plcc_ci` are 95 % bootstrap intervals, None where none was asked for or too few values are there.
    """

    srocc: float | None
    krocc: float | None
    plcc: float | None
    n: int
    srocc_ci: tuple[float, float] | None = None
    krocc_ci: tuple[float, float] | None = None
    plcc_ci: tuple[float, float] | None = None


def mean_opinion(ratings: Sequence[float]) -> Opinion:
    """mean +/- t(.975, n - 1) sd / sqrt(n). ValueError without ratings."""
    values = np.asarray(ratings, dtype=np.float64)
    if not len(values):
        raise ValueError("there is no opinion score to take a mean of")
    mean = float(values.mean())
    if len(values) == 1:
        return Opinion(mean, None, None, None, 1)
    sd = float(values.std(ddof=1))
    half = float(scipy.stats.t.ppf(0.975, len(values) - 1)) * sd / math.sqrt(len(values))
    return Opinion(mean, sd, mean - half, mean + half, len(values))


def screened(ratings: Floats, least: float = SCREENED) -> list[int]:
    """The raters of ratings [K, N] (NaN where none) whose Pearson correlation with the mean of the others is below `least`."""
    out = []
    for k, own in enumerate(ratings):
        others = np.delete(ratings, k, axis=0)
        seen = ~np.isnan(own) & ~np.isnan(others).all(axis=0)
        likeness = correlation(own[seen], np.nanmean(others[:, seen], axis=0)).plcc if seen.any() else None
        if likeness is not None and likeness < least:
            out.append(k)
    return out


def correlation(
    x: Sequence[float] | Floats, y: Sequence[float] | Floats, higher_is_better: bool = True, resamples: int = 0, seed: int = 0
) -> Order:
    """Correlation of a metric's values `x` with what people found, `y`; a metric that should be low is negated. NaN pairs are left out.

    With `resamples` the pairs of values (entries, mostly) are drawn again for an interval, which does not hang on their order; draws in
    which one side does not vary are left out of it.
    """
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    known = ~np.isnan(first) & ~np.isnan(second)
    first, second = first[known] * (1 if higher_is_better else -1), second[known]
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    n = len(first)
    if n < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return Order(None, None, None, n)
    coefficients = (scipy.stats.pearsonr(first, second), scipy.stats.spearmanr(first, second), scipy.stats.kendalltau(first, second))
    ends: Sequence[tuple[float, float] | None] = [None] * 3
    if resamples and n >= MIN_VALUES:
        ends = [_ends(column) for column in _drawn(first, second, resamples, seed).T]
    r, rho, tau = (float(one.statistic) for one in coefficients)
    return Order(rho, tau, r, n, ends[1], ends[2], ends[0])


def _ends(drawn: Floats) -> tuple[float, float] | None:
    """The interval of the draws that have a value; None where hardly any has."""
    if np.isnan(drawn).mean() > 0.5:
        return None
    low, high = interval(drawn, LEVEL)
    return float(low), float(high)


def _drawn(x: Floats, y: Floats, resamples: int, seed: int) -> Floats:
    """The three correlations [R, 3] of pairs of values drawn with replacement; NaN where one side does not vary.

    A draw is given by the count of each pair of values in it, w [R, N]. With S the signs of the differences of x and of y, sums over the
    drawn pairs are w S w, so no draw is written out.
    """
    n = len(x)
    w = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples).astype(np.float64)
    one, other = (np.sign(values[:, None] - values[None, :]) for values in (x, y))
    same, first, second = (((w @ signs) * w).sum(axis=1) for signs in (one * other, np.abs(one), np.abs(other)))
    untied = np.sqrt(first * second)
    tau = np.divide(same, untied, out=np.full(resamples, math.nan), where=untied > 0)
    # The rank of a value in a draw: how many drawn ones are less, and half of those that are equal.
    rank, other_rank = (w @ ((signs < 0) + 0.5 * (signs == 0)) for signs in (one, other))
    return np.stack([_weighted(w, x[None], y[None], untied > 0), _weighted(w, rank, other_rank, untied > 0), tau], axis=1)


def _weighted(w: Floats, a: Floats, b: Floats, varies: NDArray[np.bool_]) -> Floats:
    """Pearson's correlation [R] of a and b [R or 1, N], each value counted w [R, N] times."""
    n = w.sum(axis=1, keepdims=True)
    a, b = a - (w * a).sum(axis=1, keepdims=True) / n, b - (w * b).sum(axis=1, keepdims=True) / n
    size = np.sqrt((w * a**2).sum(axis=1) * (w * b**2).sum(axis=1))
    return np.divide((w * a * b).sum(axis=1), size, out=np.full(len(w), math.nan), where=varies & (size > 0))


def by_scene(
    values: Mapping[str, tuple[Sequence[float] | Floats, Sequence[float] | Floats]],
    higher_is_better: bool = True,
    resamples: int = 0,
    seed: int = 0,
) -> tuple[dict[str, Order], Order]:
    """The correlation within each scene, of (metric, people) values, and the unweighted mean over the scenes that have one.

    With `resamples` entries are drawn again within each scene; for the mean, whole scenes are.
    """
    each = {scene: correlation(x, y, higher_is_better, resamples, seed) for scene, (x, y) in values.items()}
    return each, averaged(each.values(), resamples, seed)


def averaged(each: Iterable[Order], resamples: int = 0, seed: int = 0) -> Order:
    """The unweighted mean of the correlations that there are, over `n` of them; `resamples` draws of them give an interval."""
    known = [row for row in each if row.plcc is not None]
    if not known:
        return Order(None, None, None, 0)
    n = len(known)
    table = np.array([[row.plcc, row.srocc, row.krocc] for row in known], dtype=np.float64)
    ends: Sequence[tuple[float, float] | None] = [None] * 3
    if resamples and n > 1:
        ordered = table[np.lexsort(table.T)]
        drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples) @ ordered / n
        ends = [_ends(column) for column in drawn.T]
    r, rho, tau = table.mean(axis=0).tolist()
    return Order(rho, tau, r, n, ends[1], ends[2], ends[0])


def level(values: Floats, bound: float) -> Floats:
    """The values, with those made one that differ by no more than `bound`, of 1 or of the larger: rounding must put none before another."""
    made = values.copy()
    first = -math.inf
    for n in np.argsort(values, kind="stable"):
        if not values[n] - first <= bound * max(1.0, abs(values[n])):
            first = values[n]
        made[n] = first
    return made


def correlations(x: Floats, y: Floats) -> dict[str, Figure]:
    """Spearman's rho, Kendall's tau-b and Pearson's r of a metric's values x and people's y, with intervals on Fisher's z (Bonett and
    Wright 2000; Fieller et al. 1957)."""
    known = ~(np.isnan(x) | np.isnan(y))
    own, theirs = x[known], y[known]
    x, y = level(own, ROUNDING), level(theirs, FITTED)  # for what goes by the order
    n = len(x)
    if n < ENTRIES_FOR_CORRELATION or np.ptp(x) == 0 or np.ptp(y) == 0:
        few = Reason(Key.FEW_FOR_CORRELATION, Counted.ENTRIES, ENTRIES_FOR_CORRELATION, n)
        return {name: Figure(None, None, None, n).because(few) for name in ("rho", "tau", "r")}
    rho = float(scipy.stats.pearsonr(scipy.stats.rankdata(x), scipy.stats.rankdata(y)).statistic)
    values = {"rho": rho, "tau": float(scipy.stats.kendalltau(x, y).statistic), "r": float(scipy.stats.pearsonr(own, theirs).statistic)}
    return {name: with_interval(name, value, n) for name, value in values.items()}


def few_entries(n: int) -> Reason:
    """The reason why a correlation over so many entries has no interval."""
    return Reason(Key.FEW_FOR_CORRELATION_INTERVAL, Counted.ENTRIES, ENTRIES_FOR_CORRELATION_INTERVAL, n)


def with_interval(statistic: str, value: float, n: int) -> Figure:
    """A correlation over n entries, as "rho", "tau" or "r", with its interval: symmetric on the scale of atanh."""
    if n < ENTRIES_FOR_CORRELATION_INTERVAL:
        return Figure(value, None, None, n).because(few_entries(n))
    if abs(value) >= 1 - IN_LINE:
        return Figure(value, None, None, n).because(Reason(Key.IN_LINE))
    variance = {"rho": (1 + value**2 / 2) / (n - 3), "tau": 0.437 / (n - 4), "r": 1 / (n - 3)}[statistic]
    z, half = math.atanh(value), 1.959964 * math.sqrt(variance)
    return Figure(value, math.tanh(z - half), math.tanh(z + half), n)
