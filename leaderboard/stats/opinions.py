"""Mean opinion scores: the plain mean with its interval over raters and samples, and the maximum-likelihood score of ITU-T P.910.

The plain mean is what entries are ranked by. The likelihood takes each rater's bias and inconsistency out; with few scores it can
give one rater all the weight, so it is only shown beside, and only where it cannot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from leaderboard.stats import two_way_intervals
from leaderboard.stats.levels import Levels
from leaderboard.stats.minimums import RATERS_FOR_LIKELIHOOD, SCORES_FOR_LIKELIHOOD, STIMULI_FOR_FIT
from leaderboard.stats.mos_table import Ratings
from leaderboard.stats.states import Counted, Key, Reason
from leaderboard.stats.two_way_intervals import Clusters, Estimate
from leaderboard.stats.votes import Floats, Ints

ROUNDS = 1000
CLOSE = 1e-10
MIN_VARIANCE = 1e-16
ROUNDING = 1e-9  # a share of a bound that is rounding
NOT_SCORED = Reason(Key.NOT_SCORED)


def units(ratings: Ratings) -> Ints:
    """Unit that an interval takes for the sample of each score: the sample, or the entry's own where none is named."""
    return ratings.sample if any(ratings.samples) else ratings.method


def mean_opinion(ratings: Ratings, entry: int) -> Estimate:
    """The mean of an entry's scores, with its interval, which is not cut to the scale."""
    own = ratings.take(ratings.method == entry)
    if not len(own):
        return Estimate.lacking(NOT_SCORED)
    mean = float(own.score.mean())
    u = (own.score - mean) / len(own)
    alike = Reason(Key.SAME_SCORES, have=len(own), value=float(own.score[0])) if np.ptp(own.score) == 0 else two_way_intervals.ALIKE
    return two_way_intervals.figure(mean, u, Clusters(own.rater, units(own)), np.ones(len(own)), share=False, alike=alike)


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanScores(Levels):
    """Mean scores of M entries on so many `samples`."""

    samples: int

    def end(self, m: int) -> float:
        return m * self.clusters.n_raters * self.samples / len(self.u)


def levels(ratings: Ratings, entries: Ints) -> MeanScores:
    """The mean scores of these entries, each of which somebody scored. `entries` are in order."""
    own = ratings.take(np.isin(ratings.method, entries))
    place, n_scores = np.searchsorted(entries, own.method), len(own)
    n = np.bincount(place, minlength=len(entries))
    mean = np.bincount(place, own.score, len(entries)) / n
    u = np.zeros((n_scores, len(entries)))
    u[np.arange(n_scores), place] = (own.score - mean[place]) / n[place]
    return MeanScores(
        entries=entries,
        theta=mean - mean.mean(),
        influences=lambda: u - u.mean(axis=1, keepdims=True),
        clusters=Clusters(own.rater, units(own)),
        samples=len(np.unique(own.sample)),
    )


@dataclass(frozen=True, eq=False)
class Likelihood:
    """score = psi[stimulus] + bias[rater] + inconsistency[rater] N(0, 1), biases summing to 0 (Li et al., 2004.02067).

    `stimulus` int64[N] numbers the stimulus (an entry on a sample) of each score; `entry` and `sample` int64[J] say what it is.
    `psi` float64[J]. `bias` and `inconsistency` float64[K], NaN for raters without a score.
    """

    psi: Floats
    bias: Floats
    inconsistency: Floats
    stimulus: Ints
    entry: Ints
    sample: Ints


def likelihood(ratings: Ratings) -> Likelihood:
    """By alternating updates from the means of the stimuli, to a step of psi below 1e-10."""
    m = len(ratings.methods)
    kinds, stimulus = np.unique(ratings.sample * m + ratings.method, return_inverse=True)
    raters, rater = np.unique(ratings.rater, return_inverse=True)
    x, j, k = ratings.score, len(kinds), len(raters)
    n_r, n_j = np.bincount(rater, minlength=k), np.bincount(stimulus, minlength=j)
    psi = np.bincount(stimulus, x, j) / n_j
    bias, variance = np.zeros(k), np.ones(k)
    for _ in range(ROUNDS if len(x) else 0):
        bias = np.bincount(rater, x - psi[stimulus], k) / n_r
        bias -= bias.mean()
        rest = x - psi[stimulus] - bias[rater]
        mean = np.bincount(rater, rest, k) / n_r
        variance = np.maximum(np.bincount(rater, rest**2, k) / n_r - mean**2, MIN_VARIANCE)
        weight = 1 / variance[rater]
        before, psi = psi, np.bincount(stimulus, weight * (x - bias[rater]), j) / np.bincount(stimulus, weight, j)
        if np.linalg.norm(psi - before) < CLOSE:
            break
    every = np.full((2, len(ratings.raters)), math.nan)
    every[0, raters], every[1, raters] = bias, np.sqrt(variance)
    return Likelihood(psi, every[0], every[1], stimulus, kinds % m, kinds // m)


def unshown(ratings: Ratings, fit: Likelihood) -> Reason | None:
    """The reason why the likelihood's scores are not shown; None where they are."""
    counts = np.bincount(ratings.rater, minlength=len(ratings.raters))
    if np.count_nonzero(counts >= SCORES_FOR_LIKELIHOOD) < RATERS_FOR_LIKELIHOOD:
        return Reason(Key.FEW_FOR_LIKELIHOOD, Counted.RATERS, RATERS_FOR_LIKELIHOOD, value=float(SCORES_FOR_LIKELIHOOD))
    weight = fit.inconsistency[~np.isnan(fit.inconsistency)] ** -2.0
    return Reason(Key.ONE_RATER_HOLDS_MOST) if weight.max() > weight.sum() / 2 else None


def likelihood_of(ratings: Ratings, fit: Likelihood, entry: int) -> Estimate:
    """The mean of psi over an entry's samples, with its interval."""
    own = fit.entry == entry
    if not own.any():
        return Estimate.lacking(NOT_SCORED)
    chosen = ratings.method == entry
    scores, stimulus = ratings.take(chosen), fit.stimulus[chosen]
    value, samples = float(fit.psi[own].mean()), int(own.sum())
    precision = fit.inconsistency[scores.rater] ** -2.0
    rest = scores.score - fit.psi[stimulus] - fit.bias[scores.rater]
    raters, place, counts = np.unique(scores.rater, return_inverse=True, return_counts=True)
    n_j = np.bincount(stimulus, minlength=len(fit.psi))
    u = precision * rest / (np.bincount(stimulus, precision, len(fit.psi))[stimulus] * samples)
    u += fit.bias[scores.rater] / (counts[place] * len(raters))
    u += (fit.psi[stimulus] - value) / (n_j[stimulus] * samples)
    return two_way_intervals.figure(value, u, Clusters(scores.rater, units(scores)), np.ones(len(scores)), share=False)


# --- screening, one rule at a time


def screened_by_spread(table: Floats) -> list[int]:
    """ITU-R BT.500: raters of scores [K, N] (NaN where none) whose scores lie too often beyond 2 sd, on both sides about alike. The
    bound is root 20 sd for a stimulus whose scores are not bell-shaped."""
    seen = ~np.isnan(table)
    n = seen.sum(axis=0)
    mean = np.nansum(table, axis=0) / np.maximum(1, n)
    apart = np.where(seen, table - mean, 0.0)
    second, fourth = (apart**2).sum(axis=0) / np.maximum(1, n), (apart**4).sum(axis=0) / np.maximum(1, n)
    kurtosis = np.divide(fourth, second**2, out=np.zeros_like(second), where=second > 0)
    # One of five scores that differs lies at 2 sd, and one of 21 at root 20 sd: rounding must not decide whether it is beyond.
    bell = (kurtosis >= 2 - ROUNDING) & (kurtosis <= 4 + ROUNDING)
    bound = np.where(bell, 2.0, math.sqrt(20)) * np.sqrt(second) * (1 - ROUNDING)
    above = (seen & (apart >= bound) & (second > 0)).sum(axis=1)
    below = (seen & (apart <= -bound) & (second > 0)).sum(axis=1)
    out = above + below
    return [k for k in range(len(table)) if seen[k].any() and out[k] / seen[k].sum() > 0.05 and abs(above[k] - below[k]) / out[k] < 0.3]


def screened_by_inconsistency(fit: Likelihood, times: float = 2.0) -> list[int]:
    """Raters whose inconsistency is more than so many times the median."""
    known = ~np.isnan(fit.inconsistency)
    return np.flatnonzero(known & (fit.inconsistency > times * np.median(fit.inconsistency[known]))).tolist() if known.any() else []


# --- a metric against opinion scores


@dataclass(frozen=True)
class Fitted:
    """Pearson's r and the root mean squared error of a metric after a monotone logistic, over n stimuli; `raw` is r before it."""

    r: float
    rmse: float
    raw: float
    n: int


def fitted(x: Floats, y: Floats) -> Fitted | None:
    """y = b1 + (b2 - b1) / (1 + exp(-b3 (x - b4))), b3 >= 0, least squares over the stimuli; None below 24 of them, or where one
    side does not vary."""
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    order = np.lexsort((y, x))  # or the search would end a little elsewhere where entries have other names
    x, y = x[order], y[order]
    if len(x) < STIMULI_FOR_FIT or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None

    def curve(b: NDArray[np.float64]) -> Floats:
        return b[0] + (b[1] - b[0]) * scipy.special.expit(b[2] * (x - b[3]))

    raw, spread = float(np.corrcoef(x, y)[0, 1]), float(y.std())
    # Without their units and origins, on which the figures do not depend and the search would.
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    start = [y.min(), y.max(), 4 / np.ptp(x), float(np.median(x))]
    bounds = ([-np.inf, -np.inf, 0.0, -np.inf], np.inf)
    solved = scipy.optimize.least_squares(lambda b: curve(b) - y, start, bounds=bounds, ftol=1e-15, xtol=1e-15, gtol=1e-15, max_nfev=2000)
    made = curve(solved.x)
    r = float(np.corrcoef(made, y)[0, 1]) if np.ptp(made) > 0 else 0.0
    return Fitted(r, spread * float(np.sqrt(((made - y) ** 2).mean())), raw, len(x))
