"""Agreement across items: all stimuli in one order, and how alike the metric's and people's are.

Two correlations: Spearman's, and Pearson's of people's means with the best increasing logistic of the metric. Their intervals come from
leaving out, on the scale of Fisher's z: one group of items at a time, and where people are known one rater, and one rater's scores of one
group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from leaderboard.stats import two_way_intervals
from leaderboard.stats.agreement import MetricPair
from leaderboard.stats.evidence import figure as figures
from leaderboard.stats.evidence import places
from leaderboard.stats.evidence.figure import SetFigure
from leaderboard.stats.evidence.places import Compared
from leaderboard.stats.states import Key, Reason
from leaderboard.stats.two_way_intervals import Variance
from leaderboard.stats.votes import Floats, Ints, finite

IN_LINE = 1e-12  # so near to 1 or -1, all stimuli are in one line
ROUNDING = 9  # decimals beyond which means differ by rounding alone
STEEP = (0.1, 30.0)  # bounds of the logistic's steepness, for a metric of mean 0 and sd 1
BEYOND = 1.0  # by how much its middle may lie beyond the metric's values
PEAKS = 10  # of a grid, from which the largest correlation is looked for
VALUES_OF_BLOCK = 2_000_000  # of means with something left out, at a time
NEIGHBOURHOODS = 400  # of stimuli, that the grid looks at
STEPS, HALVINGS, FARTHEST = 200, 40, 2.0  # of a search uphill
FLAT = 1e-10  # a gradient that ends it


class Stimuli(Protocol):
    """J stimuli that people judged: the group of each int64[J], its mean y float64[J], and the scores of each rater float64[raters, J],
    NaN where there is none."""

    @property
    def group(self) -> Ints: ...
    @property
    def y(self) -> Floats: ...
    @property
    def by_rater(self) -> Floats: ...


# --- leaving out


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Means of J stimuli without one group, without one rater, and without one rater's scores of one group.

    `y` [J] has the means of all scores, and `group` [J] their groups. `without` float64[raters, J] has the means without each rater.
    `cells` int64[cells, 2] has the raters and groups that go together. Where people are not known, there are none of both.
    """

    y: Floats
    group: Ints
    without: Floats
    cells: Ints

    @property
    def counts(self) -> tuple[int, int, int]:
        """Number of groups, raters and cells."""
        return int(self.group.max(initial=-1)) + 1, len(self.without), len(self.cells)

    def blocks(self) -> Iterator[Floats]:
        """Means float64[B, J], NaN where nothing is left of a stimulus: groups, raters and cells in turn, some at a time."""
        groups, raters, cells = self.counts
        step = max(1, VALUES_OF_BLOCK // max(1, len(self.y)))
        for at in range(0, groups, step):
            yield np.where(np.arange(at, min(groups, at + step))[:, None] == self.group, math.nan, self.y)
        for at in range(0, raters, step):
            yield self.without[at : at + step]
        for at in range(0, cells, step):
            rater, group = self.cells[at : at + step].T
            yield np.where(group[:, None] == self.group, self.without[rater], self.y)


def left_out(judged: Stimuli, persons: bool, known: NDArray[np.bool_]) -> LeftOut:
    """The means of the stimuli that are `known`, to be left out of."""
    group, y = np.unique(judged.group[known], return_inverse=True)[1].astype(np.int64), judged.y[known]
    if not persons:
        return LeftOut(y, group, np.zeros((0, len(y))), np.zeros((0, 2), dtype=np.int64))
    scores = judged.by_rater[:, known]
    scores = scores[(~np.isnan(scores)).any(axis=1)]
    there = ~np.isnan(scores)
    count, total = there.sum(axis=0), np.nansum(scores, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        without = np.where(there, (total - np.nan_to_num(scores)) / (count - 1), y)
    without[there & (count == 1)] = math.nan
    rater, stimulus = np.nonzero(there)
    return LeftOut(y, group, without, np.unique(np.stack([rater, group[stimulus]], axis=1), axis=0))


def _by_mask(y: Floats) -> Iterator[tuple[Ints, NDArray[np.bool_]]]:
    """Rows with the same stimuli left, and these stimuli."""
    _, place = np.unique(np.isnan(y), axis=0, return_inverse=True)
    for n in range(int(place.max(initial=-1)) + 1):
        rows = np.flatnonzero(place.ravel() == n)
        yield rows, ~np.isnan(y[rows[0]])


# --- the two correlations, each of K metrics with B rows of means


def spearman(x: Floats, y: Floats) -> Floats:
    """Spearman's correlations [B, K] of metrics x [J, K] with means y [B, J] on the stimuli that a row has; NaN where one side does not
    vary."""
    made = np.full((len(y), x.shape[1]), math.nan)
    for rows, kept in _by_mask(y):
        own = _standard(scipy.stats.rankdata(x[kept], axis=0), axis=0)
        theirs = _standard(scipy.stats.rankdata(np.round(y[np.ix_(rows, np.flatnonzero(kept))], ROUNDING), axis=1), axis=1)
        made[rows] = theirs @ own
    return made


def _standard(values: Floats, axis: int) -> Floats:
    """With mean 0 and sum of squares 1; NaN where they do not vary."""
    values = values - values.mean(axis=axis, keepdims=True)
    size = np.sqrt((values**2).sum(axis=axis, keepdims=True))
    return np.divide(values, size, out=np.full_like(values, math.nan), where=size > 1e-9)


class Logistic:
    """The largest correlation of means y [J] with an increasing logistic of a metric x [J]. It is r(sigma(b3 (z - b4)), y), and z is x with
    mean 0 and sd 1. b3 is in [.1, 30], and b4 from 1 below the least z to 1 above the largest. y has mean 0 and sum of squares 1."""

    def __init__(self, x: Floats) -> None:
        self.z = (x - x.mean()) / x.std()
        self.low = np.array([STEEP[0], self.z.min() - BEYOND])
        self.high = np.array([STEEP[1], self.z.max() + BEYOND])

    def r(self, b: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
        """Correlation [B] of curves b [B, 2] with means y [B, J], its gradient [B, 2] and second derivatives [B, 2, 2]."""
        steep, apart = b[:, :1], self.z - b[:, 1:]
        curve = scipy.special.expit(steep * apart)
        slope = curve * (1 - curve)
        bend = slope * (1 - 2 * curve)
        first = np.stack([slope * apart, -steep * slope], axis=1)
        mixed = -slope - steep * bend * apart
        second = np.stack([bend * apart**2, mixed, steep**2 * bend], axis=1)
        curve, first, second = (part - part.mean(axis=-1, keepdims=True) for part in (curve, first, second))
        with np.errstate(divide="ignore", invalid="ignore"):  # a curve that is flat on all values has no correlation
            size = np.sqrt((curve**2).sum(axis=1))
            curve = curve / size[:, None]
            r = (curve * y).sum(axis=1)
            first, second = first / size[:, None, None], second / size[:, None, None]
            c, p = first @ curve[:, :, None], first @ y[:, :, None]  # [B, 2, 1]
            gradient = (p - r[:, None, None] * c)[:, :, 0]
            turned = c.swapaxes(1, 2)
            inner = (second @ y[:, :, None])[:, :, 0] - r[:, None] * (second @ curve[:, :, None])[:, :, 0]
            hessian = inner[:, [0, 1, 1, 2]].reshape(-1, 2, 2) - r[:, None, None] * (first @ first.swapaxes(1, 2))
            hessian += 3 * r[:, None, None] * c * turned - p * turned - c * p.swapaxes(1, 2)
        flat = ~np.isfinite(r) | (size < 1e-100)
        r, gradient, hessian = (np.where(flat.reshape(-1, *(1,) * (part.ndim - 1)), 0.0, part) for part in (r, gradient, hessian))
        return r, gradient, hessian

    def near(self, start: Floats, y: Floats) -> tuple[Floats, Floats]:
        """The local maxima [B] reached uphill from the curves `start` [B, 2], and where they are [B, 2]. Steps are Newton's within the
        bounds, or along the gradient where the surface does not bend down. Each is halved until it leads up."""
        b = np.clip(start, self.low, self.high)
        r, gradient, hessian = self.r(b, y)
        active = np.ones(len(b), dtype=bool)
        for _ in range(STEPS):
            free = ~((b <= self.low) & (gradient < 0)) & ~((b >= self.high) & (gradient > 0))
            slope = np.where(free, gradient, 0.0)
            active &= np.abs(slope).max(axis=1) > FLAT
            if not active.any():
                break
            rows = np.flatnonzero(active)
            step = _uphill(slope[rows], hessian[rows], free[rows])
            left, length = np.ones(len(rows), dtype=bool), np.ones(len(rows))
            for _ in range(HALVINGS):
                tried = np.clip(b[rows[left]] + length[left, None] * step[left], self.low, self.high)
                found = self.r(tried, y[rows[left]])
                better = found[0] > r[rows[left]]
                taken = rows[left][better]
                b[taken], r[taken], gradient[taken], hessian[taken] = tried[better], *(part[better] for part in found)
                left[np.flatnonzero(left)[better]] = False
                if not left.any():
                    break
                length[left] /= 2
            active[rows[left]] = False  # no step leads up any more
        return r, b

    def largest(self, y: Floats) -> tuple[float, Floats]:
        """The largest of all for the means y [J]: uphill from the highest peaks of a grid, which of many stimuli looks at neighbours
        together."""
        b3, b4 = np.geomspace(*STEEP, 28), np.linspace(self.low[1], self.high[1], 240)
        order = np.array_split(np.argsort(self.z, kind="stable"), min(len(y), NEIGHBOURHOODS))
        weight = np.array([len(part) for part in order], dtype=float)
        z, theirs = (np.array([values[part].mean() for part in order]) for values in (self.z, y))
        r = np.empty((len(b3), len(b4)))
        for n, steep in enumerate(b3):
            curve = scipy.special.expit(steep * (z - b4[:, None]))
            curve -= (curve @ weight / weight.sum())[:, None]
            size = np.sqrt(curve**2 @ weight)
            r[n] = np.divide(curve @ (weight * theirs), size, out=np.full(len(b4), -1.0), where=size > 1e-9)
        peaks = np.argwhere(r >= scipy.ndimage.maximum_filter(r, 3, mode="nearest"))
        highest = peaks[np.argsort(-r[tuple(peaks.T)], kind="stable")[:PEAKS]]
        found, at = self.near(np.stack([b3[highest[:, 0]], b4[highest[:, 1]]], axis=1), np.tile(y, (len(highest), 1)))
        best = int(np.argmax(found))
        return float(found[best]), at[best]


def _uphill(gradient: Floats, hessian: Floats, free: NDArray[np.bool_]) -> Floats:
    """Steps [B, 2] in the free directions, by Newton where the surface bends down in them."""
    bent = np.where(free[:, :, None] & free[:, None, :], -hessian, 0.0) + np.where(free, 0.0, 1.0)[:, :, None] * np.eye(2)
    determinant = bent[:, 0, 0] * bent[:, 1, 1] - bent[:, 0, 1] ** 2
    down = (bent[:, 0, 0] > 0) & (determinant > 1e-14 * np.abs(bent).max(axis=(1, 2)) ** 2)
    # Where it does not, each direction by itself, as far as its own bend says; at least a little.
    step = gradient / np.maximum(np.abs(np.diagonal(bent, axis1=1, axis2=2)), 1e-3)
    adjugate = np.stack([bent[:, 1, 1], -bent[:, 0, 1], -bent[:, 0, 1], bent[:, 0, 0]], axis=1).reshape(-1, 2, 2)
    step[down] = (adjugate @ gradient[:, :, None])[down, :, 0] / determinant[down, None]
    return np.clip(step, -FARTHEST, FARTHEST)


class Pearson:
    """The largest correlations `best` [K] of metrics x [J, K] with means y [J]; NaN where one side does not vary."""

    def __init__(self, x: Floats, y: Floats) -> None:
        self.x, self.best = x, np.full(x.shape[1], math.nan)
        self.starts: dict[int, Floats] = {}
        for n in range(x.shape[1] if np.ptp(y) > 0 else 0):
            if np.ptp(x[:, n]) > 0:
                self.best[n], self.starts[n] = Logistic(x[:, n]).largest(_standard(y, 0))

    def near(self, y: Floats) -> Floats:
        """The correlations [B, K] with rows of means y [B, J], each the local maximum reached from the full set's curve."""
        made = np.full((len(y), self.x.shape[1]), math.nan)
        for rows, kept in _by_mask(y):
            theirs = _standard(y[np.ix_(rows, np.flatnonzero(kept))], axis=1)
            varies = ~np.isnan(theirs).any(axis=1)
            for n, start in self.starts.items():
                if np.ptp(self.x[kept, n]) > 0 and varies.any():
                    starts = np.tile(start, (int(varies.sum()), 1))
                    made[rows[varies], n] = Logistic(self.x[kept, n]).near(starts, theirs[varies])[0]
        return made


# --- the figures


# Of metrics x [J, K] with means y [J]: the correlation of each [K], and a function of means y [B, J] with something left out.
Correlation = Callable[[Floats, Floats], tuple[Floats, Callable[[Floats], Floats]]]


def _with_curves(x: Floats, y: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    curves = Pearson(x, y)
    return curves.best, curves.near


CORRELATIONS: dict[str, Correlation] = {
    "srocc": lambda x, y: (spearman(x, y[None])[0], partial(spearman, x)),
    "plcc": _with_curves,
}


@dataclass(frozen=True, eq=False)
class Alike:
    """Metrics x [J, K] that have values for the same stimuli, of which `rows` are people's means."""

    keys: Sequence[str]
    x: Floats
    rows: LeftOut
    persons: bool

    @classmethod
    def of(cls, judged: Stimuli, metrics: Mapping[str, Floats], persons: bool) -> Alike:
        """By the values float64[judged stimuli] of each."""
        known = ~np.isnan(next(iter(metrics.values())))
        return cls(list(metrics), np.stack([x[known] for x in metrics.values()], axis=1), left_out(judged, persons, known), persons)

    def compared(self, correlation: Correlation) -> tuple[dict[str, SetFigure], list[MetricPair]]:
        """The figure of each metric, and the tests between each two of them, "size" always the second."""
        groups, raters, n = self.rows.counts[0], self.rows.counts[1] or None, len(self.rows.y)
        value, without = self._correlated(correlation)
        base, reasons = SetFigure(n=n, groups=groups, raters=raters), [self._reason(*one) for one in zip(value, without.T, strict=True)]
        found = {
            key: replace(base, value=finite(own)).because(reason)
            for key, own, reason in zip(self.keys, value, reasons, strict=True)
            if reason is not None
        }
        sure = [at for at, reason in enumerate(reasons) if reason is None]
        if not sure:
            return found, []
        z = np.arctanh(value[sure])
        variance = _variance(z - np.arctanh(without[:, sure]), self.rows)
        own_variance, between = variance.own(), variance.between()
        for place, at in enumerate(sure):
            figure, se, df = replace(base, value=float(value[at])), math.sqrt(own_variance.total[place]), float(own_variance.df[place])
            if se <= two_way_intervals.NOTHING:
                found[self.keys[at]] = figure.because(Reason(Key.ALIKE))
                continue
            low, high = (float(np.tanh(end)) for end in two_way_intervals.interval(float(z[place]), se, df))
            found[self.keys[at]] = replace(figure, low=low, high=high, state=figures.certainty(raters, groups), se=se, df=df)
        tests = []
        for i, j in combinations(range(len(sure)), 2):
            if self.keys[sure[i]] == "size":
                i, j = j, i
            apart, v, df = float(z[i] - z[j]), float(between.total[i, j]), float(between.df[i, j])
            low, high = two_way_intervals.interval(apart, math.sqrt(v), df)
            p = two_way_intervals.two_sided(0.0 if abs(apart) <= two_way_intervals.NOTHING else apart, v, df)
            pair = partial(MetricPair, first=self.keys[sure[i]], second=self.keys[sure[j]], p_holm=None)
            tests.append(pair(apart, float(low), float(high), n, p=p, se=math.sqrt(v)))
        return found, tests

    def _correlated(self, correlation: Correlation) -> tuple[Floats, Floats]:
        """The correlation of each metric [K], and with parts left out [B, K]: none where no metric has an interval."""
        nothing = np.zeros((0, len(self.keys)))
        if not len(self.rows.y):
            return np.full(len(self.keys), math.nan), nothing
        value, near = correlation(self.x, self.rows.y)
        return value, nothing if self._few is not None else np.concatenate([near(block) for block in self.rows.blocks()])

    @cached_property
    def _few(self) -> Reason | None:
        """Reason why no metric has an interval."""
        groups, raters, _ = self.rows.counts
        if not len(self.rows.y):
            return Reason(Key.NO_ANSWER)
        return figures.few(raters if self.persons else None, groups, len(self.rows.y))

    def _reason(self, value: float, without: Floats) -> Reason | None:
        """Reason why a metric has none."""
        if self._few is not None or math.isnan(value):
            return self._few or Reason(Key.ALIKE)
        if abs(value) >= 1 - IN_LINE:
            return Reason(Key.IN_LINE)
        return None if (np.abs(without) < 1 - IN_LINE).all() else Reason(Key.UNSTABLE)


def likeness(
    judged: Stimuli, metrics: Mapping[str, Floats], persons: bool, among: Sequence[str] = (), of: Sequence[str] = tuple(CORRELATIONS)
) -> dict[str, Compared]:
    """Likeness of people's order of all stimuli to each metric x float64[J], by the correlations `of`, with places. A metric that
    lacks values is compared with the stimuli it has. Places are given to the metrics `among`, which have all values. They are compared with
    a metric called "size"."""
    found: dict[str, dict[str, SetFigure]] = {name: {} for name in of}
    tests: dict[str, list[MetricPair]] = {name: [] for name in of}
    patterns: dict[bytes, list[str]] = {}
    for key, x in metrics.items():
        patterns.setdefault(np.isnan(x).tobytes(), []).append(key)
    for keys in patterns.values():
        own = Alike.of(judged, {key: metrics[key] for key in keys}, persons)
        for name in of:
            made = own.compared(CORRELATIONS[name])
            found[name] |= made[0]
            tests[name] += made[1]
    wanted = {key: n for n, key in enumerate(among)}

    def placed(name: str) -> Compared:
        ranked = [key for key in among if found[name][key].low is not None]
        chosen = [one for one in tests[name] if one.first in ranked and (one.second in ranked or one.second == "size")]
        chosen.sort(key=lambda one: (wanted[one.first], wanted.get(one.second, len(wanted))))
        return places.compared(found[name], ranked, chosen)

    return {name: placed(name) for name in of}


def _variance(apart: Floats, rows: LeftOut) -> Variance:
    """Covariances [K, K] by leaving out, from what each figure loses or gains by it [B, K]."""

    def part(start: int, n: int) -> Floats:
        own = apart[start : start + n]
        own = own - own.mean(axis=0)
        return (n - 1) / n * (own.T @ own)

    groups, raters, cells = rows.counts
    by_group = part(0, groups)
    if not raters:  # groups are the only clusters
        return Variance(by_group, by_group, by_group, (groups,) * 3)
    by_rater, by_cell = part(groups, raters), part(groups + raters, cells)
    return Variance(by_rater, by_group, by_cell, (raters, groups, cells))
