"""Figures of published evidence, written apart from the product as its specification says them: with loops and dictionaries, slowly.

A set is a list of scores (item, group, entry, rater, score), or of means (item, group, entry, mean, se); a metric is a dictionary of
(item, entry) to a value of which higher is better.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean

import numpy as np
from scipy import optimize, special, stats

Score = tuple[str, str, str, str, float]
Mean = tuple[str, str, str, float, float]
Metric = Mapping[tuple[str, str], float]
Part = tuple[float, float, str, str]  # weight, credit, rater, group


def means_of(scores: Sequence[Score]) -> list[Mean]:
    by_stimulus = defaultdict(list)
    for item, group, entry, _, score in scores:
        by_stimulus[item, group, entry].append(score)
    return [(*key, fmean(s), float(np.std(s, ddof=1)) / math.sqrt(len(s)) if len(s) > 1 else math.nan) for key, s in by_stimulus.items()]


# --- within items


def _comparisons(answers: Iterable[tuple[str, str, str, str, str, float]], metric: Metric) -> list[Part]:
    """Answers are (rater, item, group, first, second, how much the second is above the first)."""
    answers = list(answers)
    asked = defaultdict(int)
    for _, _, _, a, b, _ in answers:
        asked[frozenset((a, b))] += 1
    parts = []
    for rater, item, group, a, b, apart in answers:
        x, z = metric.get((item, a)), metric.get((item, b))
        if apart == 0 or x is None or z is None:
            continue
        tied = abs(z - x) <= 1e-12 * max(1, abs(x), abs(z))
        credit = 0.5 if tied else float((z > x) == (apart > 0))
        parts.append((1 / asked[frozenset((a, b))], credit, rater, group))
    return parts


def own_comparisons(scores: Sequence[Score], metric: Metric) -> list[Part]:
    by_rater = defaultdict(list)
    for item, group, entry, rater, score in scores:
        by_rater[rater, item, group].append((entry, score))
    answers = [
        (rater, item, group, a, b, t - s)
        for (rater, item, group), given in by_rater.items()
        for (a, s), (b, t) in combinations(sorted(given), 2)
    ]
    return _comparisons(answers, metric)


def mean_comparisons(means: Sequence[Mean], metric: Metric, clear: bool = False) -> list[Part]:
    by_item = defaultdict(list)
    for item, group, entry, mean, se in means:
        by_item[item, group].append((entry, mean, se))
    answers = []
    for (item, group), given in by_item.items():
        for (a, y, s), (b, z, t) in combinations(sorted(given), 2):
            apart = 0.0 if abs(z - y) <= 1e-9 else z - y
            if clear and not abs(z - y) > 1.959964 * math.sqrt(s**2 + t**2):
                apart = 0.0  # it keeps its place in the weights
            answers.append((group, item, group, a, b, apart))
    return _comparisons(answers, metric)


def _clustered(pairs: Iterable[tuple[Hashable, float]]) -> tuple[float, int]:
    sums = defaultdict(float)
    for key, u in pairs:
        sums[key] += u
    g, mean = len(sums), fmean(sums.values())
    return g / (g - 1) * sum((one - mean) ** 2 for one in sums.values()), g


def _variance(v_r: float, g_r: int, v_g: float, g_g: int, v_c: float, g_c: int) -> tuple[float, float]:
    v = v_c + max(0, v_r - v_c) + max(0, v_g - v_c)
    spent = (v_r**2 / (g_r - 1) if v_r > v_c * (1 + 1e-9) and g_r < g_c else 0) + (
        v_g**2 / (g_g - 1) if v_g > v_c * (1 + 1e-9) and g_g < g_c else 0
    )
    return v, max(1, v**2 / (spent + v_c**2 / (g_c - 1)))


def share(parts: Sequence[Part], persons: bool) -> tuple[float, float, float, float, float]:
    """(value, low, high, se, df)."""
    total = sum(w for w, _, _, _ in parts)
    value = sum(w * k for w, k, _, _ in parts) / total
    u = [(w * (k - value) / total, rater, group) for w, k, rater, group in parts]
    v_g, g_g = _clustered((group, one) for one, _, group in u)
    if persons:
        v_r, g_r = _clustered((rater, one) for one, rater, _ in u)
        v_c, g_c = _clustered(((rater, group), one) for one, rater, group in u)
        v, df = _variance(v_r, g_r, v_g, g_g, v_c, g_c)
    else:
        v, df = v_g, g_g - 1
    se = math.sqrt(v)
    if value in (0, 1):
        m = min(g_g, len({rater for _, _, rater, _ in parts}) if persons else g_g)
        far = 0.025 ** (1 / m)
        return (value, far, 1.0, 0.0, 1.0) if value else (value, 0.0, 1 - far, 0.0, 1.0)
    half = stats.t.ppf(0.975, df) * se / (value * (1 - value))
    return value, float(special.expit(special.logit(value) - half)), float(special.expit(special.logit(value) + half)), se, df


# --- across items


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> float:
    return float(stats.spearmanr(x, np.round(y, 9)).statistic)


class Curve:
    """The best increasing logistic, by differential evolution and then by scipy's L-BFGS-B from where the full set's ended."""

    def __init__(self) -> None:
        self.at: np.ndarray | None = None

    def __call__(self, x: Sequence[float], y: Sequence[float]) -> float:
        z = (np.array(x) - np.mean(x)) / np.std(x)
        bounds = [(0.1, 30.0), (min(z) - 1, max(z) + 1)]

        def minus(b: np.ndarray) -> float:
            curve = special.expit(b[0] * (z - b[1]))
            return -float(np.corrcoef(curve, y)[0, 1]) if np.ptp(curve) > 0 else 0.0

        if self.at is None:
            found = optimize.differential_evolution(minus, bounds, seed=0, popsize=30, tol=1e-12, maxiter=400)
            self.at = found.x
        found = optimize.minimize(minus, np.clip(self.at, *np.transpose(bounds)), method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14})
        return -float(found.fun)


def across(
    means: Sequence[Mean], scores: Sequence[Score] | None, metric: Metric, statistic: Callable[[Sequence[float], Sequence[float]], float]
) -> tuple[float, float, float, float, float]:
    """(value, low, high, se of Fisher's z, df)."""

    def z(means: Sequence[Mean]) -> float:
        rows = [(metric[item, entry], mean) for item, _, entry, mean, _ in means]
        return math.atanh(statistic(*zip(*rows, strict=True)))

    def jackknife(values: Sequence[float]) -> tuple[float, int]:
        apart, n = whole - np.array(values), len(values)
        return (n - 1) / n * float(((apart - apart.mean()) ** 2).sum()), n

    means = [row for row in means if (row[0], row[2]) in metric]
    whole = z(means)
    v_g, g_g = jackknife([z([row for row in means if row[1] != group]) for group in {row[1] for row in means}])
    if scores is None:
        v, df = v_g, float(g_g - 1)
    else:
        scores = [row for row in scores if (row[0], row[2]) in metric]
        v_r, g_r = jackknife([z(means_of([row for row in scores if row[3] != rater])) for rater in {row[3] for row in scores}])
        cells = {(row[3], row[1]) for row in scores}
        v_c, g_c = jackknife([z(means_of([row for row in scores if (row[3], row[1]) != cell])) for cell in cells])
        v, df = _variance(v_r, g_r, v_g, g_g, v_c, g_c)
    half = stats.t.ppf(0.975, df) * math.sqrt(v)
    return math.tanh(whole), math.tanh(whole - half), math.tanh(whole + half), math.sqrt(v), df


# --- entries


def effects(rows: Sequence[tuple[str, str, float]]) -> tuple[dict[str, float], float]:
    """Effects of entries in rows (item, entry, value), by a regression on dummies, and the least efficiency of two entries."""
    items, entries = sorted({row[0] for row in rows}), sorted({row[1] for row in rows})
    design = np.zeros((len(rows), len(items) + len(entries)))
    for n, (item, entry, _) in enumerate(rows):
        design[n, items.index(item)] = design[n, len(items) + entries.index(entry)] = 1
    found = np.linalg.lstsq(design, np.array([row[2] for row in rows]), rcond=None)[0][len(items) :]
    inverse = np.linalg.pinv(design.T @ design)[len(items) :, len(items) :]
    counts = design.sum(axis=0)[len(items) :]
    least = min(
        (1 / counts[i] + 1 / counts[j]) / (inverse[i, i] + inverse[j, j] - 2 * inverse[i, j])
        for i, j in combinations(range(len(entries)), 2)
    )
    return dict(zip(entries, (found - found.mean()).tolist(), strict=True)), float(least)
