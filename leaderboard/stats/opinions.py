"""Opinion scores from 1 to 5: their means and intervals, and how metrics correlate with them or with the human order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from leaderboard.stats.votes import Floats

LOWEST, HIGHEST = 1, 5
SCREENED = 0.3  # a rater whose correlation with the mean of the others is less may be left out


@dataclass(frozen=True)
class Opinion:
    """The mean of `n` ratings, their standard deviation (ddof=1) and the 95 % t interval; None for one rating."""

    mean: float
    sd: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Correlation:
    """Pearson's, Spearman's (mid-ranks) and Kendall's tau-b over `n` values; None where one side does not vary."""

    plcc: float | None
    srocc: float | None
    krocc: float | None
    n: int


def mean_opinion(ratings: Sequence[float]) -> Opinion:
    """mean +/- t(.975, n - 1) sd / sqrt(n). ValueError without ratings or for one outside 1 to 5."""
    values = np.asarray(ratings, dtype=np.float64)
    if not len(values) or not ((values >= LOWEST) & (values <= HIGHEST)).all():
        raise ValueError("opinion scores are one or more numbers from 1 to 5")
    mean = float(values.mean())
    if len(values) == 1:
        return Opinion(mean, None, None, None, 1)
    sd = float(values.std(ddof=1))
    half = float(stats.t.ppf(0.975, len(values) - 1)) * sd / math.sqrt(len(values))
    return Opinion(mean, sd, mean - half, mean + half, len(values))


def screened(ratings: Floats, least: float = SCREENED) -> list[int]:
    """The raters of ratings [K, N] (NaN where none) whose Pearson correlation with the mean of the others is below `least`."""
    out = []
    for k, own in enumerate(ratings):
        others = np.delete(ratings, k, axis=0)
        seen = ~np.isnan(own) & ~np.isnan(others).all(axis=0)
        found = correlation(own[seen], np.nanmean(others[:, seen], axis=0)).plcc if seen.any() else None
        if found is not None and found < least:
            out.append(k)
    return out


def correlation(x: Sequence[float] | Floats, y: Sequence[float] | Floats, higher_is_better: bool = True) -> Correlation:
    """Of a metric's values `x` with what people found, `y`; a metric that should be low is negated. NaN pairs are left out."""
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    known = ~np.isnan(first) & ~np.isnan(second)
    first, second = first[known] * (1 if higher_is_better else -1), second[known]
    n = len(first)
    if n < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return Correlation(None, None, None, n)
    return Correlation(
        float(stats.pearsonr(first, second).statistic),
        float(stats.spearmanr(first, second).statistic),
        float(stats.kendalltau(first, second).statistic),
        n,
    )


def tau_a(x: Sequence[float], y: Sequence[float]) -> float | None:
    """2 S / (n (n - 1)), S = sum over pairs of sgn(x_i - x_j) sgn(y_i - y_j)."""
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n = len(first)
    if n < 2:
        return None
    i, j = np.triu_indices(n, 1)
    return float(2 * (np.sign(first[i] - first[j]) * np.sign(second[i] - second[j])).sum() / (n * (n - 1)))


def by_scene(
    values: Mapping[str, tuple[Sequence[float], Sequence[float]]], higher_is_better: bool = True
) -> tuple[dict[str, Correlation], Correlation]:
    """The correlation within each scene, of (metric, people) values, and the unweighted mean over the scenes that have one."""
    each = {scene: correlation(x, y, higher_is_better) for scene, (x, y) in values.items()}
    known = [found for found in each.values() if found.plcc is not None]
    if not known:
        return each, Correlation(None, None, None, 0)
    mean = [float(np.mean([getattr(found, name) for found in known])) for name in ("plcc", "srocc", "krocc")]
    return each, Correlation(*mean, len(known))


def agreement_probability(p: Sequence[float], q: Sequence[float]) -> float:
    """mean(p q + (1 - p)(1 - q)): how often a metric and people would pick the same, p and q being the probabilities of the first."""
    one, other = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    return float((one * other + (1 - one) * (1 - other)).mean())


def l1_distance(p: Sequence[float], q: Sequence[float]) -> float:
    """2 mean |p - q|."""
    return float(2 * np.abs(np.asarray(p, dtype=np.float64) - np.asarray(q, dtype=np.float64)).mean())
