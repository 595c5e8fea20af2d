"""Stability of the order with less: the ranking by a part of the raters, comparisons or samples, against the ranking by all.

For each size k, 500 subsets are drawn without replacement. Methods are ranked by win rate on each subset, and compared with the ranking by
all answers (Kendall's tau-b). Methods that a subset never shows are left out of its comparison. A size is enough where 95 % of the parts of
that and of every larger size reach a tau of 0.95.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.stats.minimums import ITEMS_FOR_FIGURE, RATERS_FOR_FIGURE
from leaderboard.stats.preference import kinds_of, points_of
from leaderboard.stats.votes import Floats, Votes

RESAMPLES = 500
ENOUGH = 0.95
MAX_SIZES = 24
RESOURCES = ("raters", "comparisons", "samples")


@dataclass(frozen=True)
class Curve:
    """Tau by size: `mean`, `low`, `high` (2.5 and 97.5 percentiles) for each of `sizes`, None where no part has one; the smallest size
    that is enough, or None."""

    resource: str
    sizes: list[int]
    mean: list[float | None]
    low: list[float | None]
    high: list[float | None]
    enough: int | None

    @property
    def steady(self) -> int | None:
        """The smallest part from which on the order stays. None where only all of them order the entries as all of them do, which says
        nothing about less; and no fewer people or samples than any figure needs."""
        if self.enough is None:
            return None
        from_ = max({"raters": RATERS_FOR_FIGURE, "samples": ITEMS_FOR_FIGURE}.get(self.resource, 1), self.enough)
        return from_ if from_ < self.sizes[-1] else None


def curves(votes: Votes, resamples: int = RESAMPLES, seed: int = 0) -> tuple[Curve, ...]:
    """A curve for each of raters, comparisons and samples, of the votes that count."""
    counted = votes.counted()
    return tuple(curve(counted, resource, resamples, seed) for resource in RESOURCES)


def curve(votes: Votes, resource: str, resamples: int = RESAMPLES, seed: int = 0) -> Curve:
    """The curve of one resource; the whole of it is the last size, where tau is 1 by definition."""
    of_all, met = (table.sum(axis=0) for table in points_of(votes))
    full = _rates(of_all, met)
    kinds, draw = _drawer(votes, resource)
    sizes = list(range(1, kinds + 1))
    if kinds > MAX_SIZES:  # evenly spaced by their logarithms
        sizes = sorted({round(float(size)) for size in np.geomspace(1, kinds, MAX_SIZES)})
    rng = np.random.default_rng([seed, RESOURCES.index(resource)])
    rows: list[Sequence[float | None]] = []
    for size in sizes:
        taus = tau_b(_rates(*draw(size, resamples, rng)), full)
        taus = taus[~np.isnan(taus)]
        rows.append((float(taus.mean()), *np.percentile(taus, [2.5, 97.5]).tolist()) if len(taus) else (None,) * 3)
    mean, low, high = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    return Curve(resource, sizes, mean, low, high, _enough(sizes, low))


def tau_b(rates: Floats, full: Floats) -> Floats:
    """Kendall's tau-b [R] of each row of rates [R, M] with `full` [M], over the methods that both have; NaN where undefined."""
    known = ~np.isnan(rates) & ~np.isnan(full)[None, :]
    pairs = np.triu_indices(rates.shape[1], 1)
    both = known[:, pairs[0]] & known[:, pairs[1]]
    row = np.where(both, np.sign(_rounded(rates[:, pairs[0]] - rates[:, pairs[1]])), 0.0)
    full_order = np.where(both, np.sign(_rounded(full[pairs[0]] - full[pairs[1]]))[None, :], 0.0)
    untied = np.abs(row).sum(1) * np.abs(full_order).sum(1)
    return np.divide((row * full_order).sum(1), np.sqrt(untied), out=np.full(len(rates), math.nan), where=untied > 0)


def _rounded(difference: Floats) -> Floats:
    """Ratios of equal counts summed in another order must stay equal."""
    return np.where(np.abs(difference) <= 1e-12, 0.0, difference)


def _rates(points: Floats, met: Floats) -> Floats:
    """Points over appearances; NaN for a method that never appeared."""
    return np.divide(points, met, out=np.full_like(points, math.nan), where=met > 0)


def _drawer(votes: Votes, resource: str) -> tuple[int, Callable[[int, int, np.random.Generator], tuple[Floats, Floats]]]:
    """(how much there is of the resource, what draws the points and appearances [R, M] of parts of a size)."""
    if resource == "comparisons":
        kinds, counts = kinds_of(votes)
        points, met = points_of(kinds)

        def some(size: int, resamples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
            drawn = rng.multivariate_hypergeometric(counts, size, resamples, method="count").astype(np.float64)
            return drawn @ points, drawn @ met

        return len(votes), some
    names, owner = np.unique(votes.rater if resource == "raters" else votes.sample, return_inverse=True)
    by_owner = tuple(np.array([table[owner == n].sum(axis=0) for n in range(len(names))]) for table in points_of(votes))

    def overall(size: int, resamples: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        chosen = np.argsort(rng.random((resamples, len(names))), axis=1)[:, :size]
        picked = np.zeros((resamples, len(names)))
        np.put_along_axis(picked, chosen, 1.0, axis=1)
        return picked @ by_owner[0], picked @ by_owner[1]

    return len(names), overall


def _enough(sizes: Sequence[int], low: Sequence[float | None]) -> int | None:
    found = None
    for size, value in zip(reversed(sizes), reversed(low), strict=True):
        if value is None or value < ENOUGH - 1e-9:
            break
        found = size
    return found
