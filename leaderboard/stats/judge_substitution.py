"""Test of whether a judge (a model that answers like a rater) may stand in for people, and estimates from its answers beside theirs.

A judge may be shown beside people only if it passes the alternative-annotator test on the study's own questions (Calderon, Reichart and
Dror, ACL 2025). For most raters, it must agree with the other raters about as often as that rater does. People's answers and a judge's
together make a prediction-powered estimate (Angelopoulos et al., 2301.09633 and 2311.01453), which is people's own where the judge is no
help.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from leaderboard.stats import two_way_intervals
from leaderboard.stats.minimums import QUESTIONS_FOR_GATE, RATERS_FOR_GATE
from leaderboard.stats.states import Counted, Key, Reason
from leaderboard.stats.two_way_intervals import Clusters, Variance
from leaderboard.stats.votes import Floats, Ints

TOLERATED = {"crowd": 0.1, "skilled": 0.15, "expert": 0.2}  # what a judge costs less than such a rater, as a share
LEVEL = 0.05


@dataclass(frozen=True)
class Gate:
    """Outcome for a judge, over the `raters` that answered enough. `winning` is the share of raters against whom it holds. `chance` is the
    mean share of questions on which it agrees with the others at least as well as the rater. `reason` says what it lacks."""

    passed: bool
    winning: float | None
    chance: float | None
    raters: int
    tolerated: float
    reason: Reason | None
    why: str = field(default="", compare=False)


def gate(people: Floats, judge: Floats, tolerated: float) -> Gate:
    """The test on verdicts -1, 0, +1 of people [K, Q] and of a judge [Q], NaN where there is none."""
    p_values, chances = [], []
    for k, own in enumerate(people):
        others = np.delete(people, k, axis=0)
        both = ~np.isnan(own) & ~np.isnan(judge) & ~np.isnan(others).all(axis=0)
        n = np.count_nonzero(both)
        if n < QUESTIONS_FOR_GATE:
            continue
        known = ~np.isnan(others[:, both])
        judges = ((others[:, both] == judge[both]) & known).sum(axis=0) / known.sum(axis=0)
        humans = ((others[:, both] == own[both]) & known).sum(axis=0) / known.sum(axis=0)
        wins, losses = judges >= humans, humans >= judges
        d = losses.astype(float) - wins
        se = float(d.std(ddof=1)) / math.sqrt(n)
        gap = float(d.mean()) - tolerated
        p_values.append(float(scipy.special.stdtr(n - 1, gap / se)) if se > 0 else float(gap >= 0))
        chances.append(float(wins.mean()))
    m = len(p_values)
    if m < RATERS_FOR_GATE:
        few = Reason(Key.FEW_FOR_GATE, Counted.RATERS, RATERS_FOR_GATE, m, float(QUESTIONS_FOR_GATE))
        return Gate(False, None, None, m, tolerated, few)
    winning = float(benjamini_yekutieli(np.array(p_values)).mean())
    passed = winning >= 0.5
    return Gate(passed, winning, float(np.mean(chances)), m, tolerated, None if passed else Reason(Key.GATE_NOT_PASSED))


def benjamini_yekutieli(p: Floats) -> np.ndarray:
    """Rejected hypotheses, bool[N], whatever the dependence between them."""
    n = len(p)
    order = np.argsort(p, kind="stable")
    bounds = LEVEL * np.arange(1, n + 1) / (n * (1 / np.arange(1, n + 1)).sum())
    below = np.flatnonzero(p[order] <= bounds)
    rejected = np.zeros(n, dtype=bool)
    if len(below):
        rejected[order[: below[-1] + 1]] = True
    return rejected


@dataclass(frozen=True)
class Joined:
    """A share estimated from the answers of people and of a judge, with its interval. `trust` (0 to 1) is the weight of the judge's
    answers. People's `n` answers together with the judge's are as precise as `worth` answers of people alone."""

    value: float | None
    low: float | None
    high: float | None
    trust: float
    n: int
    worth: float | None
    reason: Reason | None
    why: str = field(default="", compare=False)


@dataclass(frozen=True, eq=False)
class Asked:
    """Answers on questions: the value of each float64[N], and the rater and sample of each (a judge's raters are not used)."""

    value: Floats
    rater: Ints
    sample: Ints


def trust(people: Floats, same: Floats, more: Floats) -> float:
    """Weight of the judge's answers: people's y on n questions, the judge's f on the same, and F on N others."""
    n, many = len(people), len(more)
    spread = float(np.concatenate([same, more]).var(ddof=1))
    if n < 2 or not many or spread <= 0:
        return 0.0
    return min(1.0, max(0.0, float(np.cov(people, same, ddof=1)[0, 1]) / ((1 + n / many) * spread)))


def together(people: Asked, same: Floats, more: Asked) -> Joined:
    """People's answers and a judge's on the same questions, with the judge's on others that were drawn by the same plan."""
    weight = trust(people.value, same, more.value)
    value = float(weight * more.value.mean() + (people.value - weight * same).mean()) if len(more.value) else float(people.value.mean())
    variance, clusters = _variance(people, same, more, weight)
    alone, _ = _variance(people, same, more, 0.0)
    n = len(people.value)
    if clusters.few:
        return Joined(value, None, None, weight, n, None, clusters.few)
    # Where the judge has no weight, both together are people alone.
    worth = n * float(alone.total) / float(variance.total) if variance.total > 0 else float(n) if not weight else None
    # An estimate with a correction is not bound to the range of a share.
    if not -two_way_intervals.NOTHING <= value <= 1 + two_way_intervals.NOTHING:
        return Joined(value, None, None, weight, n, worth, Reason(Key.OUT_OF_RANGE))
    if not two_way_intervals.NOTHING < value < 1 - two_way_intervals.NOTHING:
        low, high = two_way_intervals.at_the_end(value, min(clusters.n_raters, clusters.n_samples))
        return Joined(value, low, high, weight, n, worth, None)
    if variance.total <= two_way_intervals.NO_VARIANCE:
        return Joined(value, None, None, weight, n, worth, two_way_intervals.ALIKE)
    # The last term counts people's answers only: the judge's are many and add no degrees of freedom of people's.
    low, high = two_way_intervals.share_interval(value, math.sqrt(float(variance.total)), _df(variance, clusters.n_raters, n))
    return Joined(value, float(low), float(high), weight, n, worth, None)


def _variance(people: Asked, same: Floats, more: Asked, weight: float) -> tuple[Variance, Clusters]:
    """Variance of people and judge together, and the clusters of people's answers. Each answer of the judge is a rater of its own; only
    people are counted."""
    n, many = len(people.value), len(more.value)
    rest = people.value - weight * same
    u = (rest - rest.mean()) / n
    rater = people.rater
    sample = people.sample
    if many and weight:
        u = np.concatenate([u, weight * (more.value - more.value.mean()) / many])
        rater = np.concatenate([rater, (int(rater.max()) + 1 if n else 0) + np.arange(many)])
        sample = np.concatenate([sample, more.sample])
    clusters = Clusters(people.rater, people.sample)
    variance = Clusters(rater, sample).variance(u)
    by_rater = (
        variance.rater * two_way_intervals.scale(clusters.n_raters) / two_way_intervals.scale(variance.clusters[0])
        if clusters.n_raters > 1
        else 0.0
    )
    return replace(variance, rater=np.asarray(by_rater)), clusters


def _df(variance: Variance, raters: int, n: int) -> float:
    samples = variance.clusters[1]
    spent = 0.0
    # G_R counts people alone, the cells the judge too: where each answer is of another rater the two variances still differ.
    by_raters, by_samples = variance.rater > variance.cell * (1 + two_way_intervals.SAME), variance.clustered[1]
    if by_raters:
        spent += float(variance.rater) ** 2 / max(1, raters - 1)
    if by_samples:
        spent += float(variance.sample) ** 2 / max(1, samples - 1)
    spent += float(variance.cell) ** 2 / max(1, n - 1)
    return max(1.0, float(variance.total) ** 2 / spent) if spent > 0 else 1.0
