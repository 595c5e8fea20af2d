"""From pairwise verdicts to a scale: win rate, Bradley-Terry, Elo in two conventions, singular-vector quality.

Wins are counted in a matrix W float64[M, M]: W[i, j] is how often method i was preferred to j. Bradley and
Terry's model is P(i > j) = 1 / (1 + exp(theta_j - theta_i)); its abilities maximise sum_ij W_ij ln P(i > j).

Two Elo scales are used here. Do not mix them. `wf_elo` = 400 theta + 800; 400 divides the natural logit. The judges' Elo has P =
1 / (1 + 10^((s_j - s_i) / 400)). It is anchored at one method, and a tie counts as a whole win of both sides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leaderboard.stats.votes import Floats, Ints, Votes, finite

RESAMPLES = 1000
LEVEL = 0.95
ANCHOR = 1000.0
PER_LOGIT = 400.0 / math.log(10.0)  # judges' Elo points in one natural logit
WF_SCALE, WF_OFFSET = 400.0, 800.0
GRADIENT = 1e-10
STEPS = 60
BATCH = 1 << 22  # float64 cells of one batch of fits


@dataclass(frozen=True, eq=False)
class Fit:
    """Abilities theta float64[M] in natural logits, mean 0 over each component; NaN where a method met no other.

    `component` int64[M] numbers the parts of the comparison graph: abilities of two parts cannot be compared.
    `regularised` marks the methods that had no finite ability of their own.
    """

    ability: Floats
    component: NDArray[np.int64]
    regularised: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Scale:
    """A value per method float64[M] with its 95 % interval; NaN where there is none."""

    value: Floats
    low: Floats
    high: Floats

    def ends(self, n: int) -> tuple[float | None, float | None, float | None]:
        """Value and interval of one method."""
        return finite(self.value[n]), finite(self.low[n]), finite(self.high[n])


# --- counting


def cells(votes: Votes) -> Floats:
    """Count of each verdict on each pair: float64[M, M, 2], wins of row over column, and ties (on both sides)."""
    m = len(votes.methods)
    counts = np.zeros((m, m, 2))
    won = votes.verdict < 0
    lost = votes.verdict > 0
    tied = votes.verdict == 0
    wins, ties = counts[..., 0], counts[..., 1]
    np.add.at(wins, (votes.a[won], votes.b[won]), 1.0)
    np.add.at(wins, (votes.b[lost], votes.a[lost]), 1.0)
    np.add.at(ties, (votes.a[tied], votes.b[tied]), 1.0)
    np.add.at(ties, (votes.b[tied], votes.a[tied]), 1.0)
    return counts


def wins(counted: Floats, tie: float = 0.5) -> Floats:
    """W from `cells` [..., M, M, 2]: a tie gives `tie` of a win to both sides (half; or 1, the judges' dilation)."""
    return counted[..., 0] + tie * counted[..., 1]


def win_rate(w: Floats) -> Floats:
    """Points over appearances [..., M], of W with half wins for ties; NaN for a method that never appeared."""
    points, met = w.sum(-1), w.sum(-1) + w.sum(-2)
    return np.divide(points, met, out=np.full_like(points, math.nan), where=met > 0)


def win_rate_with_self(w: Floats) -> Floats:
    """The win rate as if each method had also met itself as often as the average opponent, and tied."""
    points, met = w.sum(-1), w.sum(-1) + w.sum(-2)
    own = met / (w.shape[-1] - 1)
    return np.divide(points + own / 2, met + own, out=np.full_like(points, math.nan), where=met > 0)


def implied(ability: Floats, with_self: bool = True) -> Floats:
    """The mean P(i > j) over all methods [M], the method itself (at one half) included or not."""
    p = 1 / (1 + np.exp(ability[None, :] - ability[:, None]))
    return p.mean(axis=1) if with_self else (p.sum(axis=1) - 0.5) / (len(ability) - 1)


# --- Bradley and Terry


def fit(w: Floats) -> Fit:
    """Abilities of W [M, M] by Newton's method on the likelihood, to a gradient of 1e-10.

    If one side of a pair cannot be reached from the other by wins, no finite abilities exist. Each such pair that met then gets half a
    virtual win in both directions, and its methods are marked as regularised.
    """
    w = np.array(w, dtype=np.float64)
    np.fill_diagonal(w, 0.0)
    together, loose = _parts(w[None])
    ability = _newton(w[None] + 0.5 * loose, together)[0]
    alone = ~((w + w.T) > 0).any(axis=1)
    component = np.unique(together[0].argmax(axis=1), return_inverse=True)[1]  # numbered by their first methods
    return Fit(np.where(alone, math.nan, ability), component.astype(np.int64), loose[0].any(axis=1))


def fits(w: Floats) -> Floats:
    """Abilities [R, M] of many W [R, M, M], each as `fit` gives them."""
    r, m = w.shape[:2]
    abilities = np.full((r, m), math.nan)
    step = max(1, BATCH // max(1, m * m))
    for start in range(0, r, step):
        batch = w[start : start + step]
        together, loose = _parts(batch)
        batch = batch + 0.5 * loose
        met = (batch + batch.transpose(0, 2, 1) > 0).any(axis=-1)
        abilities[start : start + step] = np.where(met, _newton(batch, together), math.nan)
    return abilities


def _parts(w: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Masks of the pairs [R, M, M] of W [R, M, M]: lie in one component; met but cannot reach each other both ways by wins."""
    won = w > 0
    met = won | won.transpose(0, 2, 1)
    reached = _reached(won)
    return _reached(met), met & ~(reached & reached.transpose(0, 2, 1))


def _reached(adjacent: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Nodes reached from each node of many graphs, bool[R, M, M], itself among them: steps are doubled until nothing is new."""
    # One product for all graphs of a study's resamples: asking scipy for each of them took nine tenths of an analysis.
    reached = adjacent | np.eye(adjacent.shape[-1], dtype=bool)
    for _ in range(adjacent.shape[-1].bit_length()):
        steps = reached.astype(np.float32)
        further = steps @ steps > 0
        if (further == reached).all():
            break
        reached = further
    return reached


def gradient(w: Floats, ability: Floats) -> Floats:
    """The slope of the negative log-likelihood at `ability` [..., M], per method."""
    p = 1 / (1 + np.exp(ability[..., None, :] - ability[..., :, None]))
    return ((w + np.swapaxes(w, -1, -2)) * p - w).sum(-1)


def _newton(w: Floats, together: NDArray[np.bool_]) -> Floats:
    """Abilities [R, M] of W [R, M, M] that have finite ones, with mean 0 over each component; `together` are the pairs in one."""
    both = w + w.transpose(0, 2, 1)
    m = w.shape[-1]
    diagonal = np.arange(m)
    # The likelihood does not see a shift of a component; a spring on its mean, at 0 from the start, makes the step unique.
    spring = together.astype(np.float64)
    ability = np.zeros(w.shape[:2])
    loss = _loss(w, ability)
    enough = np.maximum(GRADIENT, 1e-15 * both.sum(axis=(-1, -2)))
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(ability[:, None, :] - ability[:, :, None]))
        slope = (both * p - w).sum(-1)
        if (np.linalg.norm(slope, axis=-1) <= enough).all():
            break
        bend = both * p * (1 - p)
        hessian = spring - bend
        hessian[:, diagonal, diagonal] += bend.sum(-1)
        step = -np.linalg.solve(hessian, slope[..., None])[..., 0]
        size = np.ones(len(w))
        for _ in range(30):
            trial = ability + size[:, None] * step
            trial_loss = _loss(w, trial)
            worse = trial_loss > loss + 1e-12 * np.abs(loss)
            if not worse.any():
                break
            size[worse] /= 2
        ability, loss = trial, trial_loss
    return ability


def _loss(w: Floats, ability: Floats) -> Floats:
    apart = ability[:, None, :] - ability[:, :, None]
    return (w * (np.maximum(apart, 0) + np.log1p(np.exp(-np.abs(apart))))).sum(axis=(-1, -2))


# --- Elo


def wf_elo(ability: Floats) -> Floats:
    """400 theta + 800; P(i > j) = 1 / (1 + exp((E_j - E_i) / 400))."""
    return WF_SCALE * ability + WF_OFFSET


def judge_elo(counted: Floats, anchor: int) -> tuple[Floats, Fit]:
    """The judges' Elo [M] of `cells`, exactly 1000 at `anchor`; NaN for methods that no chain of pairs joins to it."""
    fitted = fit(wins(counted, tie=1.0))
    reached = fitted.component == fitted.component[anchor]
    return np.where(reached, ANCHOR + PER_LOGIT * (fitted.ability - fitted.ability[anchor]), math.nan), fitted


def placed(against: Sequence[float], won: Sequence[float], lost: Sequence[float]) -> float:
    """The judges' Elo of a new method, of wins and losses against opponents whose scores stay as they are.

    Without any win or any loss there is no finite score: half a virtual win in both directions against each opponent is added.
    """
    scores, w, v = (np.asarray(values, dtype=np.float64) for values in (against, won, lost))
    if not len(scores) or not (w.sum() + v.sum()):
        return math.nan
    if not w.sum() or not v.sum():
        w, v = w + 0.5, v + 0.5
    scores = scores / PER_LOGIT
    low, high = scores.min() - 60.0, scores.max() + 60.0  # the slope changes its sign once in between

    def slope(ability: float) -> float:
        return float(((w + v) / (1 + np.exp(scores - ability)) - w).sum())

    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return PER_LOGIT * (low + high) / 2


# --- singular-vector quality


def quality(rates: Floats) -> tuple[Floats, float]:
    """(quality factor [..., M], the share of the first singular value) of choice rates [..., M, K] in (0, 1), one column per rater.

    The first left singular vector of ln(M / (1 - M)), of length 1, turned so that methods above the mean rate get more.
    """
    left, values, _ = np.linalg.svd(np.log(rates / (1 - rates)), full_matrices=False)
    first = left[..., 0]
    above = rates.mean(-1) - rates.mean(axis=(-1, -2))[..., None]
    sign = np.where((first * above).sum(-1) > 0, 1.0, -1.0)
    total = (values**2).sum(-1)  # 0 where nobody preferred anything
    share = np.divide(values[..., 0] ** 2, total, out=np.full_like(total, math.nan), where=total > 0)
    return first * sign[..., None], share


def choice_rates(points: Floats, times_shown: Floats) -> Floats:
    """(points + 1/2) / (n + 1) [..., M, K]: never 0 or 1, one half for a method that a rater never saw."""
    return (points + 0.5) / (times_shown + 1)


def rater_points(votes: Votes) -> tuple[Floats, Floats]:
    """Points (ties half) and appearances of each method with each rater: float64[M, K] each."""
    points = np.zeros((len(votes.methods), len(votes.raters)))
    times_shown = np.zeros_like(points)
    np.add.at(points, (votes.a, votes.rater), (1 - votes.verdict) / 2)
    np.add.at(points, (votes.b, votes.rater), (1 + votes.verdict) / 2)
    np.add.at(times_shown, (votes.a, votes.rater), 1.0)
    np.add.at(times_shown, (votes.b, votes.rater), 1.0)
    return points, times_shown


# --- intervals


def resampled(votes: Votes, resamples: int = RESAMPLES, seed: int = 0) -> Floats:
    """`cells` of bootstrap samples of the votes: float64[R, M, M, 2]. Fixed by the seed."""
    m = len(votes.methods)
    kinds, counts = kinds_of(votes)
    a, b, verdict = kinds.a, kinds.b, kinds.verdict
    drawn = _drawn(counts, resamples, seed)
    tallies = np.zeros((len(drawn), m, m, 2))
    for rows, columns, layer, which in (
        (a, b, 0, verdict < 0),
        (b, a, 0, verdict > 0),
        (a, b, 1, verdict == 0),
        (b, a, 1, verdict == 0),
    ):
        tallies[:, rows[which], columns[which], layer] = drawn[:, which]
    return tallies


def kinds_of(votes: Votes) -> tuple[Votes, Ints]:
    """One vote of each verdict on each pair, by pair and verdict, and how many there are of each."""
    m = len(votes.methods)
    _, first, counts = np.unique((votes.a * m + votes.b) * 3 + votes.verdict + 1, return_index=True, return_counts=True)
    return votes.take(first), counts


def points_of(kinds: Votes) -> tuple[Floats, Floats]:
    """Points (ties half) and appearances that a vote of each kind gives to each method: float64[kinds, M] each."""
    points, met = np.zeros((len(kinds), len(kinds.methods))), np.zeros((len(kinds), len(kinds.methods)))
    rows = np.arange(len(kinds))
    points[rows, kinds.a], points[rows, kinds.b] = (1 - kinds.verdict) / 2, (1 + kinds.verdict) / 2
    met[rows, kinds.a] = met[rows, kinds.b] = 1.0
    return points, met


def _drawn(counts: Ints, resamples: int, seed: int) -> Ints:
    """Number of times that each kind is drawn in bootstrap samples of as many votes [R, kinds]; of no votes there are no samples."""
    n = int(counts.sum())
    return np.random.default_rng(seed).multinomial(n, counts / n, size=resamples) if n else np.zeros((0, 0), dtype=np.int64)


def resampled_blocks(blocks: NDArray[np.int64], m: int, resamples: int = RESAMPLES, seed: int = 0) -> Floats:
    """`cells` of bootstrap samples of comparisons with several verdicts each: float64[R, M, M, 2]. Fixed by the seed.

    `blocks` int64[N, 5] holds for each comparison its two methods, the wins of the first, the ties and the wins of the second.
    """
    tallies = np.zeros((resamples, m, m, 2))
    if not len(blocks):
        return tallies
    kinds, counts = np.unique(blocks, axis=0, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(len(blocks), counts / len(blocks), size=resamples).astype(float)
    for n, (a, b, first, tied, second) in enumerate(kinds.tolist()):
        tallies[:, a, b, 0] += first * drawn[:, n]
        tallies[:, b, a, 0] += second * drawn[:, n]
        tallies[:, a, b, 1] += tied * drawn[:, n]
        tallies[:, b, a, 1] += tied * drawn[:, n]
    return tallies


def judge_elos(counted: Floats, anchor: int) -> Floats:
    """`judge_elo` of many `cells` [R, M, M, 2]: float64[R, M], NaN where no chain of pairs joins a method to the anchor."""
    w = wins(counted, tie=1.0)
    ability = fits(w)
    elos = ANCHOR + PER_LOGIT * (ability - ability[:, anchor : anchor + 1])
    elos[~_reached(w + w.transpose(0, 2, 1) > 0)[:, anchor]] = math.nan
    return elos


def interval(values: Floats, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Percentiles over the first axis, NaN left out; NaN where nothing is left."""
    low, high = np.full(values.shape[1:], math.nan), np.full(values.shape[1:], math.nan)
    some = ~np.isnan(values).all(axis=0)
    if some.any():
        low[some], high[some] = np.nanpercentile(values[:, some], [50 * (1 - level), 50 * (1 + level)], axis=0)
    return low, high


def scale(value: Floats, samples: Floats) -> Scale:
    """A value with the interval of its resamples; none where the value itself is none."""
    low, high = interval(samples)
    return Scale(value, np.where(np.isnan(value), math.nan, low), np.where(np.isnan(value), math.nan, high))


def quality_scale(votes: Votes, resamples: int = RESAMPLES, seed: int = 0) -> tuple[Scale, float]:
    """The quality factor with its interval (votes of each rater resampled by themselves), and the explained share; NaN where nobody
    preferred anything, of which any direction is as good."""
    points, times_shown = rater_points(votes)
    value, share = quality(choice_rates(points, times_shown))
    if math.isnan(share):
        nothing = np.full(len(value), math.nan)
        return Scale(nothing, nothing, nothing), float(share)
    rng = np.random.default_rng(seed)
    drawn = np.zeros((resamples, *points.shape)), np.zeros((resamples, *points.shape))
    for k in range(len(votes.raters)):
        kinds, counts = kinds_of(votes.take(votes.rater == k))
        counted = _drawn(counts, resamples, int(rng.integers(1 << 31))).astype(np.float64)
        if len(counted):
            drawn[0][:, :, k], drawn[1][:, :, k] = (counted @ table for table in points_of(kinds))
    samples, _ = quality(choice_rates(*drawn))
    return scale(value, samples), float(share)
