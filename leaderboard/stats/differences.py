"""The meaning of a metric's differences: how many people prefer the side that it puts higher.

    share(D) = 1 / (1 + exp(-beta (D / m)^g)),   m the median difference of the answers

It is one half at no difference and rises, by its form. Sources: Kocmi et al., ACL 2024; ITU-T J.149.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from leaderboard.stats import crossed
from leaderboard.stats.agreement import Differences, folds_of
from leaderboard.stats.crossed import ratio
from leaderboard.stats.votes import Floats

BENDS = (0.25, 0.5, 2.0)  # tried beside a straight line
UNTOLD = "These answers do not tell how large a difference must be to be seen."


@dataclass(frozen=True)
class Seen:
    """`gamma` is the bend g, `unit` the median difference m, `slope` beta with the ends `low` and `high` of its interval; `delta75` is the
    smallest difference that 75 % see, with its interval, None where it lies beyond the `largest` that anybody was asked about."""

    gamma: float
    unit: float
    slope: float
    low: float
    high: float
    delta75: tuple[float, float, float] | None
    largest: float

    @property
    def beyond(self) -> bool:
        """True if the interval of the gap that 75 % see ends beyond the largest gap that anybody was asked about."""
        return self.delta75 is not None and self.delta75[2] > self.largest

    def share(self, difference: float) -> tuple[float, float, float]:
        """The share of people who prefer the higher side of a difference, with its interval; beyond the largest seen, the share there."""
        z = (min(abs(difference), self.largest) / self.unit) ** self.gamma
        value, low, high = (float(scipy.special.expit(b * z)) for b in (self.slope, self.low, self.high))
        return value, low, high


def gap_seen(gamma: float, unit: float, slope: tuple[float, float, float], largest: float) -> Seen:
    """The meaning of differences by their curve; `slope` is beta with the ends of its interval."""
    beta, low, high = slope
    value, least, most = (unit * (math.log(3) / b) ** (1 / gamma) for b in (beta, high, low))
    return Seen(gamma, unit, beta, low, high, None if value > largest else (value, least, most), largest)


def seen(differences: Differences) -> Seen | None:
    """None where the answers do not tell (UNTOLD says so)."""
    apart = differences.verdict != 0
    answers = differences.answers.take(apart)
    if not len(answers) or answers.clusters.few:
        return None
    d = differences.d[apart]
    y = (1 + np.sign(d) * answers.verdict) / 2
    w, unit, size = answers.weight, float(np.median(np.abs(d))), np.abs(d)
    folds = folds_of(answers)
    losses = {g: _crossed_losses((size / unit) ** g, y, w, folds) for g in (1.0, *BENDS)}
    g = 1.0
    best = min(BENDS, key=lambda bend: float((w * losses[bend]).sum()))
    if (w * losses[best]).sum() < (w * losses[1.0]).sum():
        gain, u = ratio(w * (losses[1.0] - losses[best]), w)
        variance = answers.clusters.variance(u)
        if crossed.interval(gain, math.sqrt(float(variance.total)), float(variance.df))[0] > 0:
            g = best
    if (w * losses[g]).sum() / w.sum() >= math.log(2):
        return None
    z = (size / unit) ** g
    beta = _slope(z, y, w)
    p = scipy.special.expit(beta * z)
    information = float((w * z**2 * p * (1 - p)).sum())
    if information <= 0:  # everybody sees every difference: no slope is steep enough
        return None
    u = w * z * (y - p) / information
    if answers.clusters.alike(u):
        return None
    variance = answers.clusters.variance(u)
    low, high = crossed.interval(beta, math.sqrt(float(variance.total)), float(variance.df))
    return gap_seen(g, unit, (beta, float(low), float(high)), float(size.max())) if low > 0 else None


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


def _crossed_losses(z: Floats, y: Floats, w: Floats, folds: np.ndarray) -> Floats:
    """The log-loss of each answer under the slope of the other folds."""
    p = np.empty(len(z))
    for fold in range(int(folds.max()) + 1):
        own = folds == fold
        p[own] = scipy.special.expit(_slope(z[~own], y[~own], w[~own]) * z[own])
    p = np.clip(p, 1e-9, 1 - 1e-9)
    return -(y * np.log(p) + (1 - y) * np.log(1 - p))
