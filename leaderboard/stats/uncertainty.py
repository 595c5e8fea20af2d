"""How sure a ranking is: bootstrap rank intervals, groups that cannot be told apart, paired tests.

Everything here resamples *groups* (DESIGN: a house, a scene), with the same resamples for every
entry and every metric, so that what entries have in common cancels. A matrix is float64[entries,
groups] of group means, NaN where an entry has no value for a group; an entry whose row is all NaN
(an imported score) has no vector. All results are fixed by the seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.aggregation import bootstrap_indices
from leaderboard.stats.ranking import (
    TIE_TOLERANCE,
    Floats,
    costs,
    order,
    placings,
    rank,
    tie_tolerance,
)

RESAMPLES = 1000
LEVEL = 0.95
EXACT_UP_TO = 16  # pairs; 2^16 sign patterns are still enumerated
FLIPS = 10_000
BLOCK_CELLS = 1_000_000  # float64 cells of one working array: 8 MB

Interval = tuple[int, int]


@dataclass(frozen=True)
class Paired:
    """Entry a against entry b over the groups both have a value for.

    ``mean_difference`` is mean(a - b) in the metric's unit, with its 95 % bootstrap interval (None
    with fewer than two pairs). ``p_value`` is the two-sided sign-flip permutation test of mean 0.
    ``better``, ``worse`` and ``equal`` count the groups as seen from a, the direction of the metric
    taken into account; ``dropped`` counts the pairs where one or both have no value.
    """

    mean_difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    n: int
    better: int
    worse: int
    equal: int
    dropped: int


def resample_counts(n: int, resamples: int = RESAMPLES, seed: int = 0) -> Floats:
    """How often each of ``n`` groups is drawn in each resample: float64[resamples, n], rows sum to n."""
    drawn = np.asarray(bootstrap_indices(n, resamples, seed))
    flat = drawn + n * np.arange(resamples)[:, None]
    return np.bincount(flat.ravel(), minlength=resamples * n).reshape(resamples, n).astype(np.float64)


def unit_matrix(items: ArrayLike, groups: Sequence[str], level: str = "item") -> Floats:
    """float64[entries, units] from per-item values [entries, items] (NaN where there is none).

    Units are the groups in order of first appearance, holding means within the group, or the
    items themselves where they all share one group: what a submission's own interval resamples.
    A metric whose ``level`` is the whole set, or the only group, leaves nothing to resample: all NaN,
    as where there is no vector.
    """
    samples, names = as_matrix(items), list(dict.fromkeys(groups))
    if samples.shape[1] != len(groups):
        raise ValueError(f"every item needs a group: {samples.shape[1]} items, {len(groups)} groups")
    if level == "set" or (level == "group" and len(names) == 1):
        return np.full_like(samples, math.nan)
    if len(names) in (1, len(groups)):
        return samples
    place = {name: index for index, name in enumerate(names)}
    member = np.zeros((len(groups), len(names)))
    member[np.arange(len(groups)), [place[group] for group in groups]] = 1.0
    valid = (~np.isnan(samples)).astype(np.float64) @ member
    return np.where(valid > 0, np.nan_to_num(samples) @ member / np.maximum(valid, 1), math.nan)


def rank_intervals(
    matrix: ArrayLike,
    higher_is_better: bool,
    resamples: int = RESAMPLES,
    seed: int = 0,
    values: Sequence[float | None] | None = None,
) -> list[Interval | None]:
    """The 95 % interval of every entry's rank in one metric, as whole ranks, ends included.

    ``values`` are the entries' scores as the board shows them (by default the means of the rows).
    An entry with a score but no vector keeps its score in every resample and gets None; an entry
    without a score takes no part and gets None. The interval is rounded outwards and always holds
    the rank itself. With fewer than two groups nothing can be said: all None.
    """
    samples = as_matrix(matrix)
    if values is None:
        values = _row_means(samples).tolist()
    _check_length(samples, values)
    ranks = rank(values, higher_is_better)
    ranked = np.array([r is not None for r in ranks], dtype=bool)
    cost = costs(values, higher_is_better)
    field = Resampler(samples[ranked], cost[ranked], higher_is_better)
    result: list[Interval | None] = [None] * len(samples)
    if field.groups < 2:
        return result
    drawn = np.empty((resamples, field.entries), np.int32)
    counts = resample_counts(field.groups, resamples, seed)
    for rows in blocks(resamples, field.entries):
        drawn[rows] = placings(field.costs(counts[rows]))[0] + 1
    observed = np.array([r for r in ranks if r is not None], dtype=np.int32)
    for index, interval in zip(np.flatnonzero(ranked), percentile_ranks(drawn, observed, field.has_vector), strict=True):
        result[index] = interval
    return result


def tie_groups(
    matrix: ArrayLike,
    values: Sequence[float | None],
    higher_is_better: bool,
    alpha: float = 0.05,
    resamples: int = RESAMPLES,
    seed: int = 0,
    keys: Sequence[Any] | None = None,
) -> list[int | None]:
    """Which entries cannot be told apart: 1, 2, 3, ... from the best entry down.

    In board order (``keys`` break ties as in :func:`leaderboard.stats.ranking.order`), a group runs
    on while the paired bootstrap interval at ``1 - alpha`` of the difference between its first entry
    and the next one holds zero. Entries without a vector or a value cannot be tested: they get None
    and neither end a group nor belong to one. With fewer than two groups all are None.
    """
    samples, ranks = as_matrix(matrix), rank(values, higher_is_better)
    _check_length(samples, values)
    result: list[int | None] = [None] * len(ranks)
    has_vector = ~np.isnan(samples).all(axis=1)
    tested = [i for i in order(values, higher_is_better, keys) if ranks[i] is not None and has_vector[i]]
    used = ~np.isnan(samples[tested]).all(axis=0)
    if used.sum() < 2:
        return result
    lined_up = samples[np.ix_(tested, used)]
    counts = resample_counts(int(used.sum()), resamples, seed)
    group, first = 0, 0
    while first < len(tested):
        group += 1
        following = _first_separable(lined_up, first, counts, alpha)
        for index in tested[first:following]:
            result[index] = group
        first = following
    return result


def paired(
    a: Sequence[float | None],
    b: Sequence[float | None],
    higher_is_better: bool = True,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Paired:
    """Compare two entries over the same groups, in the same order; see :class:`Paired`.

    The permutation test is exact up to 16 pairs and uses 10,000 seeded sign flips above.
    """
    if len(a) != len(b):
        raise ValueError(f"a paired comparison needs the same groups on both sides, not {len(a)} and {len(b)}")
    left, right = -costs(a, True), -costs(b, True)
    both = ~(np.isnan(left) | np.isnan(right))
    left, right = left[both], right[both]
    difference, n = left - right, int(both.sum())
    equal = np.abs(difference) <= tie_tolerance(left)
    a_better = (difference > 0) == higher_is_better
    result = Paired(
        mean_difference=None,
        ci_low=None,
        ci_high=None,
        p_value=None,
        n=n,
        better=int((a_better & ~equal).sum()),
        worse=int((~a_better & ~equal).sum()),
        equal=int(equal.sum()),
        dropped=len(a) - n,
    )
    if n == 0:
        return result
    low, high = None, None
    if n >= 2:
        means = resample_counts(n, resamples, seed) @ difference / n
        low, high = (float(q) for q in np.quantile(means, tails(LEVEL)))
    p_value = sign_flip_p(difference, seed)
    return replace(result, mean_difference=float(difference.mean()), ci_low=low, ci_high=high, p_value=p_value)


def can_tell(n: int) -> bool:
    """Whether `n` paired differences can reject at 5 % at all: the smallest p of their sign flips is 2^(1 - n), so six can."""
    return 2.0 ** (1 - n) <= 1 - LEVEL


def sign_flip_p(difference: Floats, seed: int = 0, flips: int = FLIPS) -> float:
    """Two-sided p of mean 0 when every difference could as well have had the other sign.

    Exact over all 2^n sign patterns up to 16 differences; above, ``(1 + hits) / (1 + flips)``.
    """
    n = len(difference)
    total = abs(float(difference.sum()))
    # A pattern that ties with what was observed must count whatever the order of summation.
    bar = total - TIE_TOLERANCE * float(np.abs(difference).sum())
    if n <= EXACT_UP_TO:
        sums = np.zeros(1)
        for value in difference:
            sums = np.concatenate([sums + value, sums - value])
        return float((np.abs(sums) >= bar).mean())
    generator = np.random.Generator(np.random.PCG64(seed))
    hits = 0
    for rows in blocks(flips, n):
        signs = generator.integers(0, 2, (rows.stop - rows.start, n), dtype=np.int8)
        hits += int((np.abs((2.0 * signs - 1.0) @ difference) >= bar).sum())
    return (1 + hits) / (1 + flips)


class Resampler:
    """Bootstrap means of some entries in one metric, as costs (lower is better).

    An entry without a vector keeps its score. Groups that no entry has a value for are left out,
    unless ``keep`` says which to use.
    """

    def __init__(self, samples: Floats, cost: Floats, higher_is_better: bool, keep: NDArray[np.bool_] | None = None):
        valid = ~np.isnan(samples)
        self.has_vector = valid.any(axis=1)
        keep = valid.any(axis=0) if keep is None else keep
        valid, samples = valid[self.has_vector][:, keep], samples[self.has_vector][:, keep]
        self.entries, self.groups = len(cost), int(keep.sum())
        self._score = cost
        self._sums = np.nan_to_num(-samples if higher_is_better else samples).T
        self._valid = None if valid.all() else valid.T.astype(np.float64)

    def costs(self, counts: Floats) -> Floats:
        """float64[resamples, entries] for counts[resamples, groups]."""
        result = np.tile(self._score, (len(counts), 1))
        means = counts @ self._sums
        if self._valid is None:
            means /= self.groups
        else:
            weight = counts @ self._valid
            # A resample that drew none of an entry's groups says nothing about it.
            means = np.where(weight > 0, means / np.maximum(weight, 1), self._score[self.has_vector])
        result[:, self.has_vector] = means
        return result


def _first_separable(lined_up: Floats, first: int, counts: Floats, alpha: float) -> int:
    """The index of the first entry after ``first`` that is separable from it, or the end.

    Looks ahead in blocks of 1, 2, 4, ... entries, so that a whole board costs a number of tests
    proportional to its entries, whether its groups are short or long.
    """
    start, ahead = first + 1, 1
    widest = max(1, BLOCK_CELLS // max(counts.shape))
    while start < len(lined_up):
        block = lined_up[start : start + ahead]
        apart = _separable(lined_up[first], block, counts, alpha)
        if apart.any():
            return start + int(np.argmax(apart))
        start, ahead = start + len(block), min(2 * ahead, widest)
    return len(lined_up)


def _separable(first: Floats, others: Floats, counts: Floats, alpha: float) -> NDArray[np.bool_]:
    """Whether the bootstrap interval of the mean paired difference leaves zero out, per other entry."""
    difference = first - others
    valid = ~np.isnan(difference)
    means = counts @ np.nan_to_num(difference).T
    means /= len(first) if valid.all() else np.maximum(counts @ valid.T.astype(np.float64), 1)
    low, high = np.quantile(means, tails(1 - alpha), axis=0)
    noise = tie_tolerance(np.nanmean(np.abs(first)))  # a constant difference of rounding is none
    return ((low > noise) | (high < -noise)) & (valid.sum(axis=1) >= 2)


def percentile_ranks(drawn: NDArray[np.int32], observed: NDArray[np.int32], known: NDArray[np.bool_]) -> list[Interval | None]:
    """Percentile intervals of integer ranks [resamples, entries], rounded outwards, holding ``observed``."""
    lower, upper = tails(LEVEL)
    in_order, last = np.sort(drawn.T, axis=1), len(drawn) - 1
    low = np.minimum(in_order[:, math.floor(lower * last)], observed)
    high = np.maximum(in_order[:, math.ceil(upper * last)], observed)
    return [(int(lo), int(hi)) if ok else None for lo, hi, ok in zip(low, high, known, strict=True)]


def tails(level: float) -> tuple[float, float]:
    return (1 - level) / 2, (1 + level) / 2


def as_matrix(matrix: ArrayLike) -> Floats:
    samples = np.asarray(matrix, dtype=np.float64)
    if samples.ndim != 2:
        raise ValueError(f"samples come as a matrix of entries by groups, not {samples.ndim} dimensions")
    return np.where(np.isfinite(samples), samples, math.nan)


def _check_length(samples: Floats, values: Sequence[float | None]) -> None:
    if len(samples) != len(values):
        raise ValueError(f"the matrix needs one row per entry: {len(samples)} rows, {len(values)} values")


def _row_means(samples: Floats) -> Floats:
    valid = ~np.isnan(samples)
    n = valid.sum(axis=1)
    return np.where(n > 0, np.nansum(samples, axis=1) / np.maximum(n, 1), math.nan)


def blocks(total: int, cells_each: int) -> Iterator[slice]:
    """Slices of ``range(total)`` such that a block of that many rows stays under BLOCK_CELLS."""
    step = max(1, BLOCK_CELLS // max(1, cells_each))
    for start in range(0, total, step):
        yield slice(start, min(start + step, total))
