"""Agreement of a metric with people: one figure that says it, three beside it, the best that is possible, and a test between two.

A metric is a table x float64[samples, entries], turned so that higher is better, NaN where it has no value. On a question (a pair of
entries of one sample) its difference is d = x[b] - x[a]. The headline is decided agreement: of the answers that name a winner, how often
the metric puts that winner first, half where it ties. A constant, random answers and noise get one half, whatever the share of ties among
people's answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy
from numpy.typing import NDArray

from leaderboard.stats import two_way_intervals
from leaderboard.stats.answers import Answers
from leaderboard.stats.states import Key, Reason
from leaderboard.stats.two_way_intervals import Estimate, Figure
from leaderboard.stats.uncertainty import ALPHA
from leaderboard.stats.votes import Floats, Ints

EQUAL = 1e-12  # of the larger value, or of 1: differences up to this are rounding
FOLDS = 5
ALL_FLIPS = 16  # samples up to which every pattern of signs is tried

NO_ANSWER, NO_WINNER = Reason(Key.NO_ANSWER), Reason(Key.NO_WINNER)


@dataclass(frozen=True, eq=False)
class Differences:
    """A metric's differences d = x[b] - x[a] float64[N] on the answers it has values for, and `credit` for each: its own
    verdict, -1 (a), 0 (a tie) or +1 (b). `had` marks these among all that count; `largest` is the largest |x| of these."""

    answers: Answers
    d: Floats
    verdict: Floats
    had: NDArray[np.bool_]
    largest: float

    @property
    def coverage(self) -> float | None:
        return len(self.d) / len(self.had) if len(self.had) else None


def bounds(first: Floats, second: Floats) -> Floats:
    """Bounds of the differences that make each two values of a metric a tie."""
    return EQUAL * np.maximum(1.0, np.maximum(np.abs(first), np.abs(second)))


def differences(answers: Answers, x: Floats) -> Differences:
    first, second = x[answers.sample, answers.a], x[answers.sample, answers.b]
    d = second - first
    had = ~np.isnan(d)
    verdict = np.where(np.abs(d) <= bounds(first, second), 0.0, np.sign(d))
    largest = float(np.abs(np.concatenate([first[had], second[had]])).max(initial=0.0))
    return Differences(answers.take(had), d[had], verdict[had], had, largest)


# --- B: one metric against the answers


def credit(deltas: Differences) -> tuple[Answers, Floats]:
    """The answers that name a winner, and for each 1 if the metric puts it first, 0 if the other, 1/2 if it ties."""
    chosen = deltas.answers.verdict != 0
    return deltas.answers.take(chosen), (1 + deltas.verdict[chosen] * deltas.answers.verdict[chosen]) / 2


@dataclass(frozen=True)
class Agreement(Estimate):
    """Decided agreement: of the answers that name a winner, how often the metric puts it first. `coverage` is the share of answers that
    it has values for."""

    coverage: float | None = None


def decided(deltas: Differences) -> Agreement:
    """Decided agreement: sum w k / sum w. 1/2 is chance."""
    answers, k = credit(deltas)
    if not len(answers):
        return Agreement.lacking(NO_WINNER)
    value, u = two_way_intervals.ratio(answers.weight * k, answers.weight)
    return Agreement(**vars(two_way_intervals.figure(value, u, answers.clusters, answers.weight)))


def better_worse(deltas: Differences) -> Figure:
    """The area under the curve of d against who won: whether larger differences go with surer winners.

    Each answer that names a winner enters from both sides (Krasula et al., QoMEX 2016, of pairs: Hanhart et al., QoMEX 2016).
    """
    chosen = deltas.answers.verdict != 0
    answers = deltas.answers.take(chosen)
    if not len(answers):
        return Figure.lacking(NO_WINNER)
    d = _steps(deltas)[chosen] * answers.verdict
    value, above, below = _area(d, answers.weight, -d, answers.weight)
    return two_way_intervals.figure(value, above + below, answers.clusters, answers.weight)


def different_similar(deltas: Differences) -> Figure:
    """The area under the curve of |d| against whether people saw a difference at all."""
    answers, split = deltas.answers, deltas.answers.verdict != 0
    if not len(answers):
        return Figure.lacking(NO_ANSWER)
    if split.all() or not split.any():
        return Figure.lacking(Reason(Key.NEVER_TIED if split.all() else Key.ALWAYS_TIED))
    d, w = np.abs(_steps(deltas)), answers.weight
    value, above, below = _area(d[split], w[split], d[~split], w[~split])
    u = np.empty(len(d))
    u[split], u[~split] = above, below
    return two_way_intervals.figure(value, u, answers.clusters, w)


def _steps(found: Differences) -> Floats:
    """d in whole steps, so that rounding makes no equal differences unequal."""
    return np.round(found.d / (EQUAL * max(1.0, found.largest)))


def _area(positive: Floats, w: Floats, negative: Floats, v: Floats) -> tuple[float, Floats, Floats]:
    """The weighted Mann-Whitney area, and the influence of each positive and of each negative."""
    below = _cumulative(negative, v, positive)  # of each positive: the share of negatives below it, equal ones half
    value = float((w * below).sum() / w.sum())
    above = 1 - _cumulative(positive, w, negative)
    return value, w * (below - value) / w.sum(), v * (above - value) / v.sum()


def _cumulative(values: Floats, weight: Floats, at: Floats) -> Floats:
    """The share of the weight that lies below each of `at`, what is equal by half."""
    order = np.argsort(values, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(weight[order])])
    ranked = values[order]
    left, right = np.searchsorted(ranked, at, "left"), np.searchsorted(ranked, at, "right")
    return (total[left] + total[right]) / 2 / total[-1]


@dataclass(frozen=True)
class ThreeWay(Figure):
    """Share of answers in which the metric gives people's very answer, ties included, its own being differences of at most a `tolerance`.

    The figure judges each fold of samples by the tolerance of the others. `tolerance` is over all samples, `range` over the folds.
    """

    tolerance: float | None = None
    range: tuple[float, float] | None = None


def three_way(deltas: Differences) -> ThreeWay:
    """Deutsch, Foster and Freitag, EMNLP 2023, with crossed tolerances and balanced weights."""
    answers = deltas.answers
    if not len(answers):
        return ThreeWay.lacking(NO_ANSWER)
    folds = folds_of(answers)
    tolerance = _tolerance(deltas.d, answers.verdict, answers.weight)
    n = int(folds.max()) + 1
    if n < 2:
        return replace(ThreeWay.lacking(Reason(Key.FEW_FOR_TOLERANCE)), tolerance=tolerance)
    each = [_tolerance(deltas.d[folds != fold], answers.verdict[folds != fold], answers.weight[folds != fold]) for fold in range(n)]
    value, u = two_way_intervals.ratio(answers.weight * _same(deltas.d, answers.verdict, np.array(each)[folds]), answers.weight)
    found = two_way_intervals.figure(value, u, answers.clusters, answers.weight).brief
    return ThreeWay(**vars(found), tolerance=tolerance, range=(min(each), max(each)))


def folds_of(answers: Answers) -> NDArray[np.int64]:
    """The fold of each answer: its samples that occur, in order of name, are dealt in turn."""
    place = np.unique(answers.unit, return_inverse=True)[1]
    return place % min(FOLDS, int(place.max()) + 1)


def _same(d: Floats, verdict: Ints, tolerance: Floats | float) -> Floats:
    return (np.where(np.abs(d) <= tolerance, 0.0, np.sign(d)) == verdict).astype(np.float64)


def _tolerance(d: Floats, verdict: Ints, weight: Floats) -> float:
    """The smallest tolerance that gives most answers: 0, halfway between two neighbouring |d|, or the largest."""
    size = np.abs(d)
    distinct, place = np.unique(size, return_inverse=True)
    # Of each distinct size: what is won where it counts as a tie, and where it does not.
    tied = np.bincount(place, weight * (verdict == 0))
    apart = np.bincount(place, weight * (np.sign(d) == verdict) * (verdict != 0)) + np.bincount(place, weight * ((d == 0) & (verdict == 0)))
    candidates = np.concatenate([[0.0], (distinct[1:] + distinct[:-1]) / 2, distinct[-1:]])
    upto = np.searchsorted(distinct, candidates, "right")
    won = np.concatenate([[0.0], np.cumsum(tied)])[upto] + (apart.sum() - np.concatenate([[0.0], np.cumsum(apart)])[upto])
    return float(candidates[np.flatnonzero(won >= won.max() - EQUAL * max(1.0, weight.sum()))[0]])


# --- E: metric against metric


@dataclass(frozen=True, kw_only=True)
class MetricPair(Figure):
    """Difference in agreement of the first metric and the second, on the answers both have values for; `se` is its standard error, None
    where there is no interval. `p_holm` is None before `adjusted`, and where there was no test."""

    first: str
    second: str
    p: float | None
    p_holm: float | None
    se: float | None = None

    @property
    def known(self) -> tuple[float, float] | None:
        """The difference and its standard error; None where there is no interval."""
        return (self.value, self.se) if self.value is not None and self.se else None


def compared(first: Differences, second: Differences, keys: tuple[str, str]) -> MetricPair:
    """The difference of two decided agreements, its interval, and the two-sided p that there is none."""
    both = first.had & second.had
    answers = first.answers.take(both[first.had])
    decisive = answers.verdict != 0
    answers = answers.take(decisive)
    pair = partial(MetricPair, n=len(answers), first=keys[0], second=keys[1], p_holm=None)
    if not len(answers):
        return pair(None, None, None, state=NO_WINNER.state, reason=NO_WINNER, p=None)
    ours, theirs = first.verdict[both[first.had]][decisive], second.verdict[both[second.had]][decisive]
    k = (ours - theirs) * answers.verdict / 2
    value, u = two_way_intervals.ratio(answers.weight * k, answers.weight)
    clusters = answers.clusters
    if clusters.few:
        return pair(value, None, None, p=None).because(clusters.few)
    if clusters.alike(u):
        return pair(value, None, None, p=1.0 if abs(value) <= EQUAL else 0.0).because(two_way_intervals.ALIKE)
    variance = clusters.variance(u)
    total, df = float(variance.total), float(variance.df)
    low, high = two_way_intervals.interval(value, math.sqrt(total), df)
    return pair(value, float(low), float(high), p=two_way_intervals.two_sided(value, total, df), se=math.sqrt(total))


def place(value: float, key: str) -> tuple[float, str]:
    """Sorts metrics by their agreement, the best first; those that are equal except for rounding by key."""
    return -round(value, 12), key


def places(keys: Sequence[str], tests: Sequence[MetricPair]) -> dict[str, tuple[int, int]]:
    """Places of each metric by the `tests` between them, each at 5 % over the number of its rivals. They begin at 1 plus the number of
    better metrics, and end at the number of all metrics less the worse ones. A metric may be the best if its places begin at 1. Each
    statement holds for one metric, not for all at once. {} for fewer than two metrics."""
    rivals = len(keys) - 1
    if rivals < 1:
        return {}
    better, worse = dict.fromkeys(keys, 0), dict.fromkeys(keys, 0)
    for test in tests:
        if test.first in better and test.second in better and test.p is not None and test.value and test.p <= ALPHA / rivals:
            above, below = (test.first, test.second) if test.value > 0 else (test.second, test.first)
            worse[above] += 1
            better[below] += 1
    return {key: (1 + better[key], len(keys) - worse[key]) for key in keys}


# --- F: entries as a whole


def certain_by_people(theta: Floats, variance: Floats, df: Floats) -> Floats:
    """Probability by people that the row's entry is not better than the column's: P(t_df > (theta_i - theta_j) / sqrt(V)) [M, M]."""
    gap = theta[:, None] - theta[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(variance > two_way_intervals.NO_VARIANCE, gap / np.sqrt(variance), np.sign(gap) * np.inf)
    return np.where(
        (variance <= two_way_intervals.NO_VARIANCE) & (np.abs(gap) <= two_way_intervals.NOTHING), 0.5, scipy.special.stdtr(df, -t)
    )


def certain_by_samples(x: Floats) -> Floats:
    """Probability by values per sample x [S, M] that the row's entry is not better than the column's [M, M]; NaN without a sample in
    common. Sign flips of the paired differences, those that are rounding taken as 0, all flips up to 16 samples, Student's t above."""
    m = x.shape[1]
    certainty = np.full((m, m), math.nan)
    for i in range(m):
        for j in range(i + 1, m):
            d = x[:, i] - x[:, j]
            d[np.abs(d) <= bounds(x[:, i], x[:, j])] = 0.0
            p = one_sided(d[~np.isnan(d)])
            certainty[i, j], certainty[j, i] = p, 1 - p
    return certainty


def one_sided(d: Floats) -> float:
    """P(a sum as large as the sum of the differences d [n], if their signs were random); equal sums count half; NaN for none."""
    n = len(d)
    if not n:
        return math.nan
    if not d.any():
        return 0.5
    if n > ALL_FLIPS:
        se = float(d.std(ddof=1)) / math.sqrt(n)
        mean = float(d.mean())
        return float(scipy.special.stdtr(n - 1, -mean / se)) if se > 0 else float(mean < 0)
    sums = np.zeros(1)
    for one in d:
        sums = np.concatenate([sums + one, sums - one])
    close = 1e-9 * float(np.abs(d).sum())
    observed = float(d.sum())
    return float((sums > observed + close).mean() + (np.abs(sums - observed) <= close).mean() / 2)


def soft_pairwise(people: Floats, metric: Floats) -> float | None:
    """Likeness of people's and a metric's certainty: the mean over pairs of 1 - |p - p| (Thompson et al., WMT 2024)."""
    i, j = np.triu_indices(len(people), 1)
    gap = np.abs(people[i, j] - metric[i, j])
    known = ~np.isnan(gap)
    return float((1 - gap[known]).mean()) if known.any() else None


# --- M: reference points


def coin(seed: int, samples: int, entries: int) -> Floats:
    """A metric that knows nothing: 0 or 1 for each entry of each sample."""
    return np.random.Generator(np.random.PCG64(seed)).integers(0, 2, (samples, entries)).astype(np.float64)


def constant(samples: int, entries: int) -> Floats:
    """A metric that says the same of everything."""
    return np.zeros((samples, entries))


def not_above(pair: MetricPair) -> bool:
    """True if the first metric of the pair has not been shown to agree more than the second, a reference point."""
    return pair.p is None or pair.value is None or not (pair.p <= ALPHA and pair.value > 0)


def pairs(by_metric: Sequence[tuple[str, Differences]]) -> list[MetricPair]:
    """Every two of these metrics against each other, with Holm's correction over those that could be tested."""
    made = [compared(one, other, (key, name)) for n, (key, one) in enumerate(by_metric) for name, other in by_metric[n + 1 :]]
    return adjusted(made)


def adjusted(made: list[MetricPair]) -> list[MetricPair]:
    """The same with Holm's correction over those that could be tested."""
    tested = [n for n, pair in enumerate(made) if pair.p is not None]
    p_holm = two_way_intervals.holm(np.array([made[n].p for n in tested], dtype=np.float64))
    for n, p in zip(tested, p_holm.tolist(), strict=True):
        made[n] = replace(made[n], p_holm=p)
    return made
