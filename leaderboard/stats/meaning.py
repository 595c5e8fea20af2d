"""The meaning of a metric's differences: how many people prefer the side that it puts higher.

    share(d) = 1 / (1 + exp(-beta d / m)),   m the median difference of the pairs of entries that people compared

is the mean over pairs with a difference of d. Single pairs vary around it with a spread tau. Two further figures allow for that: how many
of 100 people prefer the higher side of one pair, and in how many of 10 pairs more people prefer it than not. Sources: Kocmi et al., ACL
2024; ITU-T J.149. The spread between pairs, the entries as a third crossing and the two statements are ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import scipy

from leaderboard.stats import two_way_intervals
from leaderboard.stats.agreement import bounds
from leaderboard.stats.answers import Answers
from leaderboard.stats.minimums import (
    ANSWERS_FOR_OWN_SHARE,
    ENTRIES_FOR_DIFFERENCE,
    ITEMS_FOR_DIFFERENCE,
    PAIRS_FOR_DIFFERENCE,
    RATERS_FOR_DIFFERENCE,
)
from leaderboard.stats.states import Counted, Key, Reason
from leaderboard.stats.two_way_intervals import Estimate, Variance
from leaderboard.stats.votes import Floats, Ints

SHRUNK = 50  # such products of answers at which a pair's spread counts half
LOGIT_OF_NORMAL = (16 * math.sqrt(3) / (15 * math.pi)) ** 2  # c^2: sigma(x) is about Phi(c x)
NODES = 40
STEEPEST = 8.0  # the largest spread that is looked for


@dataclass(frozen=True)
class At:
    """Meaning of a difference, over pairs with such a difference. `mean` is the mean share of people who prefer the higher side, with its
    interval. `one` is the range of that share for a single pair, in 95 of 100 pairs. `most` is the share of pairs in which more people
    prefer the higher side than the other."""

    mean: tuple[float, float, float]
    one: tuple[float, float]
    most: float


@dataclass(frozen=True)
class Difference:
    """The curve, computed from `pairs` of `entries`, of which `pairs_used` were answered by two raters on two samples. `beta` is per `unit`
    m of the metric, with its `variance` and `df`. `largest` is the greatest difference that anybody was asked about. `spread` is the
    variance of answers between pairs, and `tau` the same on the logit scale. `reason` says why there is no curve; then all else is None."""

    beta: float | None
    unit: float | None
    largest: float | None
    entries: int
    pairs: int
    pairs_used: int
    raters: int
    samples: int
    spread: float | None = None
    tau: float | None = None
    variance: float | None = None
    df: float | None = None
    reason: Reason | None = None
    why: str = field(default="", compare=False)

    @property
    def parts(self) -> tuple[float, float, float, float, float, float] | None:
        """(beta, unit, largest, tau, variance, df) of one that there is."""
        found = (self.beta, self.unit, self.largest, self.tau, self.variance, self.df)
        if self.reason is not None or any(part is None for part in found):
            return None
        return tuple(float(part) for part in found if part is not None)  # type: ignore[return-value]

    @property
    def tells(self) -> bool:
        """True if larger differences are surely preferred more often."""
        return (found := self.parts) is not None and found[0] - float(two_way_intervals.quantile(found[5])) * math.sqrt(found[4]) > 0

    def at(self, difference: float) -> At | None:
        """Meaning of a difference in the metric's unit; beyond the largest that was asked about, what that one means."""
        if (found := self.parts) is None:
            return None
        beta, unit, largest, tau, variance, df = found
        z = min(abs(difference), largest) / unit
        kappa = math.sqrt(1 + LOGIT_OF_NORMAL * tau**2)
        half = float(two_way_intervals.quantile(df)) * math.sqrt(variance)
        own = math.sqrt(tau**2 + kappa**2 * z**2 * variance)
        of_pair = float(two_way_intervals.quantile(self.entries - 2)) * own
        mean = tuple(float(scipy.special.expit(b * z)) for b in (beta, beta - half, beta + half))
        one = tuple(float(scipy.special.expit(kappa * beta * z + end)) for end in (-of_pair, of_pair))
        most = float(scipy.special.stdtr(self.entries - 2, kappa * beta * z / own)) if own > 0 else float(beta * z > 0)
        return At((mean[0], mean[1], mean[2]), (one[0], one[1]), most)


def asked(answers: Answers, first: int, second: int) -> Estimate | None:
    """Share of people who prefer the first of two entries, by the answers on these two alone, ties half; None where these are too few,
    or by too few raters or on too few samples."""
    a, b = min(first, second), max(first, second)
    own = answers.take((answers.a == a) & (answers.b == b))
    if len(own) < ANSWERS_FOR_OWN_SHARE or own.clusters.few:
        return None
    credit = (1 - own.verdict) / 2 if first == a else (1 + own.verdict) / 2
    ones = np.ones(len(own))
    value, u = two_way_intervals.ratio(credit, ones)
    return two_way_intervals.figure(value, u, own.clusters, ones)


def difference(answers: Answers, x: Floats) -> Difference:
    """The curve of a metric with the value x [entries] of each entry, NaN where it has none, turned so that higher is better."""
    first, second = x[answers.a], x[answers.b]
    apart = np.abs(second - first) > bounds(first, second)  # False where a value is missing
    answers, d = answers.take(apart), (second - first)[apart]
    m = len(answers.entries)
    pair = answers.a * m + answers.b
    pairs, first_of, place, counts = np.unique(pair, return_index=True, return_inverse=True, return_counts=True)
    entries = np.unique(np.concatenate([answers.a, answers.b]))
    clusters = answers.clusters
    products, numbers = _products(answers, place, np.zeros(len(answers)), len(pairs))
    used = int((numbers > 0).sum())
    found = Difference(None, None, None, len(entries), len(pairs), used, clusters.n_raters, clusters.n_samples)

    def without(reason: Reason) -> Difference:
        return Difference(None, None, None, len(entries), len(pairs), used, clusters.n_raters, clusters.n_samples, reason=reason)

    for n, least, counted in (
        (clusters.n_raters, RATERS_FOR_DIFFERENCE, Counted.RATERS),
        (clusters.n_samples, ITEMS_FOR_DIFFERENCE, Counted.ITEMS),
        (len(entries), ENTRIES_FOR_DIFFERENCE, Counted.ENTRIES),
        (used, PAIRS_FOR_DIFFERENCE, Counted.PAIRS),
    ):
        if n < least:
            return without(Reason(Key.FEW_FOR_DIFFERENCE, counted, least, n))

    size = np.abs(d[first_of])
    unit = float(np.median(size))
    z = np.abs(d) / unit
    y = (1 + np.sign(d) * answers.verdict) / 2
    w = 1.0 / counts[place]
    beta = _slope(z, y, w)
    p = scipy.special.expit(beta * z)
    information = float((w * z**2 * p * (1 - p)).sum())
    if information <= 0:  # everybody prefers the higher side of all: no slope is steep enough
        return without(Reason(Key.ALWAYS_HIGHER))

    # How pairs differ beyond the curve: products of what is left of answers of different raters on different samples.
    products, numbers = _products(answers, place, y - p, len(pairs))
    of = numbers > 0
    k = numbers[of] / (numbers[of] + SHRUNK)
    spread = float((k * products[of] / numbers[of]).sum() / k.sum())
    tau = _tau(spread, beta, size[of] / unit, k)

    # Raters and samples as everywhere, and entries as a third crossing, by leaving out one at a time.
    u = w * z * (y - p) / information
    parts = clusters.variance(u)
    left_out = []
    for entry in entries:
        rest = (answers.a != entry) & (answers.b != entry)
        left_out.append(_slope(z[rest], y[rest], w[rest]))
    n = len(entries)
    by_entries = (n - 1) / n * float(((np.array(left_out) - beta) ** 2).sum())
    variance, df = _crossed_thrice(parts, by_entries, n)
    return Difference(beta, unit, float(size.max()), n, len(pairs), used, found.raters, found.samples, spread, tau, variance, df)


def _crossed_thrice(parts: Variance, by_entries: float, entries: int) -> tuple[float, float]:
    """Variance and degrees of freedom with entries as a third crossing."""
    cell = float(parts.cell)
    total = float(parts.total) + max(0.0, by_entries - cell)
    spent = float(parts.total) ** 2 / float(parts.df)  # what raters, samples and cells spend
    spent += (by_entries > cell) * by_entries**2 / max(1, entries - 1)
    return total, max(1.0, total**2 / spent) if spent > 0 else 1.0


def _products(answers: Answers, place: Ints, e: Floats, n: int) -> tuple[Floats, Floats]:
    """Sum, for each pair of entries, of products of e over ordered answers of different raters on different samples, and their number."""
    unit = np.unique(answers.unit, return_inverse=True)[1]
    rater = np.unique(answers.rater, return_inverse=True)[1]
    r, s = int(rater.max(initial=0)) + 1, int(unit.max(initial=0)) + 1

    def squares(key: Ints, weight: Floats) -> Floats:
        keys, at = np.unique(key, return_inverse=True)
        return np.asarray(np.bincount(keys // (r * s), np.bincount(at, weight) ** 2, n))

    def of(weight: Floats) -> Floats:
        whole = np.bincount(place, weight, n) ** 2
        base = place * (r * s)
        return np.asarray(whole - squares(base + rater, weight) - squares(base + unit, weight) + squares(base + rater * s + unit, weight))

    return of(e), np.round(of(np.ones(len(e))))


def _tau(spread: float, beta: float, z: Floats, k: Floats) -> float:
    """The spread of pairs on the scale of the logit by which shares differ as much as they do; 0 where they differ no more than chance."""
    if spread <= 0:
        return 0.0
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()

    def above(tau: float) -> float:
        kappa = math.sqrt(1 + LOGIT_OF_NORMAL * tau**2)
        shares = scipy.special.expit(kappa * beta * z[:, None] + tau * nodes)
        mean = shares @ weights
        return float((k * (shares**2 @ weights - mean**2)).sum() / k.sum()) - spread

    if above(STEEPEST) < 0:
        return STEEPEST
    return float(scipy.optimize.brentq(above, 0.0, STEEPEST, xtol=1e-13))


def _slope(z: Floats, y: Floats, w: Floats) -> float:
    """beta of the greatest likelihood, by Newton's method from 0."""
    beta = 0.0
    least = 1 / float(z.max(initial=1.0))  # the scale of beta where one difference is far larger than all others
    for _ in range(500):
        p = scipy.special.expit(beta * z)
        bend = float((w * z**2 * p * (1 - p)).sum())
        if bend <= 0:
            break
        step = float((w * z * (y - p)).sum()) / bend
        beta += max(-5.0, min(5.0, step))
        if abs(step) < 1e-12 * max(least, abs(beta)):
            break
    return beta
