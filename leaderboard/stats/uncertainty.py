"""Certainty of a board: comparisons of entries, brackets of tied entries, and ranges of ranks.

A matrix is float64[entries, groups] of one metric's group means (a house, a scene), NaN where an entry has no value for a group.
Below six groups there is no test at all: six is where a test of signs can first reject at 5 %. There is one test, of the signs of
paired differences; a board takes all its pairs as one family, because its order was made from the same values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.aggregation import mean_interval as mean_interval
from evaluation.metrics.aggregation import unit_matrix as unit_matrix
from leaderboard.stats.minimums import GROUPS_FOR_BOARD_INTERVAL
from leaderboard.stats.ranking import TIE_TOLERANCE, Floats, costs, order, rank, tie_tolerance

RULE = 3  # of all that is here; 2 tested a board by 999 patterns in the order of items, 1 was by percentile bootstraps
ALPHA = 0.05
ALL = 16  # groups up to which every pattern of signs is tried
FLIPS = 9_999  # random patterns above that
MORE_FLIPS = 99_999  # of a family with a p that so few patterns may put on the wrong side of 5 %
NEAR = (0.02, 0.10)  # such a p lies between these
MOST_OF_MORE = 4_950  # pairs of a family up to which so many are tried: those of 100 entries in one metric
OFTEN = 32  # pairs after which the least of the largest statistics is looked at again
PATTERNS = 16_384  # of a block: fewer cost more calls, more leave the processor's cache
FIRST = 200  # entries of a board that are tested against each other
HALVES = 500  # permutations, each of which gives two

Interval = tuple[int, int]


# --- two entries


@dataclass(frozen=True)
class Paired:
    """Entry a against entry b over the groups both have a value for.

    ``mean_difference`` is mean(a - b) in the metric's unit. ``p_value`` is of the test of signs, and the 95 % interval is that
    test turned round: it leaves 0 out exactly where p is at most 5 %. Both are None below six groups. ``better``, ``worse`` and
    ``equal`` count the groups as seen from a, the direction of the metric taken into account; ``dropped`` counts the groups where
    one or both have no value.
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


def paired(a: Sequence[float | None] | Floats, b: Sequence[float | None] | Floats, higher_is_better: bool = True) -> Paired:
    """Compare two entries over the same groups, in the same order; see :class:`Paired`."""
    if len(a) != len(b):
        raise ValueError(f"a paired comparison needs the same groups on both sides, not {len(a)} and {len(b)}")
    left, right = -costs(a, True), -costs(b, True)
    both = ~(np.isnan(left) | np.isnan(right))
    left, right = left[both], right[both]
    equal = np.abs(left - right) <= tie_tolerance(left)
    difference, n = np.where(equal, 0.0, left - right), int(both.sum())
    a_better = (difference > 0) == higher_is_better
    comparison = Paired(
        None, None, None, None, n, int((a_better & ~equal).sum()), int((~a_better & ~equal).sum()), int(equal.sum()), len(a) - n
    )
    if n == 0:
        return comparison
    comparison = replace(comparison, mean_difference=float(difference.mean()))
    if n < GROUPS_FOR_BOARD_INTERVAL:
        return comparison
    p, low, high = _signs(difference)
    return replace(comparison, p_value=p, ci_low=low, ci_high=high)


def _signs(d: Floats) -> tuple[float, float, float]:
    """(p, low, high) of the mean of differences d [n]."""
    n = len(d)
    bar = abs(float(d.sum())) - TIE_TOLERANCE * float(np.abs(d).sum())
    hits, total = 0, 0
    lower: list[Floats] = []
    upper: list[Floats] = []
    for signs in _patterns(n, FLIPS):
        sums = signs @ d
        hits += int((np.abs(sums) >= bar).sum())
        total += len(signs)
        flipped = (signs < 0).sum(axis=1)
        of_flipped, of_rest = (d.sum() - sums) / 2, (d.sum() + sums) / 2
        # Hartigan's typical values; a random pattern may flip none or all, and what is left of the other sum then is rounding.
        u = np.divide(of_flipped, flipped, out=np.full(len(sums), math.nan), where=flipped > 0)
        v = np.divide(of_rest, n - flipped, out=np.full(len(sums), math.nan), where=flipped < n)
        lower.append(np.fmin(u, v))
        upper.append(np.fmax(u, v))
    lows, highs = np.concatenate(lower), np.concatenate(upper)
    k = math.floor(ALPHA * (total + 1))
    low = float(np.partition(lows, k - 1)[k - 1])
    high = float(np.partition(highs, total - k)[total - k])
    return (1 + hits) / (1 + total), low, high


def _patterns(n: int, flips: int) -> Iterator[Floats]:
    """Blocks [patterns, n] of signs, without the pattern of no flips: all with the last one kept, or `flips` random ones fixed by the
    seed."""
    if n <= ALL:
        numbers = np.arange(1, 2 ** (n - 1))
        for start in range(0, len(numbers), PATTERNS):
            bits = numbers[start : start + PATTERNS, None] >> np.arange(n) & 1
            yield 1 - 2 * bits.astype(np.float64)
        return
    rng = np.random.Generator(np.random.PCG64(0))
    for start in range(0, flips, PATTERNS):
        yield (rng.integers(0, 2, (min(PATTERNS, flips - start), n)) * 2 - 1).astype(np.float64)


# --- all pairs of a board


def adjusted(x: ArrayLike, only: int | None = None) -> Floats:
    """p of all pairs as one family: [entries, entries], of x [entries, n]; of x [metrics, entries, n], all metrics one family, [metrics,
    entries, entries]. x is complete. With ``only`` the family is that entry's pairs. NaN below six groups, and for other pairs.

    Westfall and Young's step-down over the largest statistic (1993), the signs of the groups shared by all pairs.
    """
    given = np.asarray(x, dtype=np.float64)
    samples = given[None] if given.ndim == 2 else given
    metrics, entries, n = samples.shape
    p_values = np.full((metrics, entries, entries), math.nan)
    p_values[:, np.arange(entries), np.arange(entries)] = 1.0
    i, j = np.triu_indices(entries, 1)
    if only is not None:
        of_it = (i == only) | (j == only)
        i, j = i[of_it], j[of_it]
    if n >= GROUPS_FOR_BOARD_INTERVAL and len(i):
        p = _step_down(samples, i, j)
        for metric in range(metrics):
            p_values[metric, i, j] = p_values[metric, j, i] = p[metric]
    return p_values[0] if given.ndim == 2 else p_values


def _step_down(samples: Floats, i: NDArray[np.intp], j: NDArray[np.intp]) -> Floats:
    """p [metrics, pairs] of the pairs (i, j)."""
    metrics, _, n = samples.shape
    largest = np.maximum(1.0, np.abs(samples).max(axis=(1, 2)))
    centred = samples - samples.mean(axis=1, keepdims=True)
    squares, products = (centred**2).sum(axis=2), np.einsum("mig,mjg->mij", centred, centred)
    length = np.sqrt(np.maximum(0.0, squares[:, i] + squares[:, j] - 2 * products[:, i, j]))
    close = length <= 1e-6 * largest[:, None] * math.sqrt(n)  # where the products cancel, the differences themselves say
    for metric, pair in zip(*np.nonzero(close), strict=True):
        length[metric, pair] = np.sqrt(((centred[metric, i[pair]] - centred[metric, j[pair]]) ** 2).sum())
    equal = (length <= 1e-9 * largest[:, None] * math.sqrt(n)).ravel()
    p = np.ones(equal.shape)
    tested = np.flatnonzero(~equal)
    if not len(tested):
        return p.reshape(metrics, len(i))
    metric, pair = tested // len(i), tested % len(i)
    scale = length.ravel()[tested]
    left, right = metric * samples.shape[1] + i[pair], metric * samples.shape[1] + j[pair]
    flat = centred.reshape(-1, n)

    sums = flat.sum(axis=1)
    observed = np.abs(sums[left] - sums[right]) / scale
    rising = np.argsort(observed, kind="stable")
    steps = list(
        zip(left[rising].tolist(), right[rising].tolist(), (1 / scale[rising]).tolist(), (observed[rising] - 1e-9).tolist(), strict=True)
    )

    def stepped(flips: int) -> Floats:
        hits, total = np.zeros(len(steps)), 0
        for signs in _patterns(n, flips):
            rows = list(flat @ signs.T)
            # One pair at a time for all patterns of a block: what is worked on stays in the cache.
            largest, one, least = np.zeros(len(signs)), np.empty(len(signs)), 0.0
            for step, (a, b, inverse, bar) in enumerate(steps):
                np.subtract(rows[a], rows[b], out=one)
                np.abs(one, out=one)
                np.multiply(one, inverse, out=one)
                np.maximum(largest, one, out=largest)
                # Bars rise slowly and the largest fast. Mostly every pattern is a hit, as the least of the largest shows, some steps old.
                if step % OFTEN == 0:
                    least = largest.min()
                hits[step] += len(signs) if least >= bar else np.count_nonzero(largest >= bar)
            total += len(signs)
        return np.maximum.accumulate(((1 + hits) / (1 + total))[::-1])[::-1]

    found = stepped(FLIPS)
    if n > ALL and metrics * len(i) <= MOST_OF_MORE and ((found > NEAR[0]) & (found < NEAR[1])).any():
        found = stepped(MORE_FLIPS)
    p[tested[rising]] = found
    return p.reshape(metrics, len(i))


@dataclass(frozen=True)
class Board:
    """Certainty of the order of a board, one of each per entry in the order given.

    ``order`` lists the entries from the first to the last. ``bracket`` counts 1, 2, 3, ... An entry is tied with the first of its bracket,
    and the firsts of any two brackets differ significantly. ``loose`` ones are also tied with the first of a higher bracket.
    ``rank_interval`` holds the true rank of every entry at once on 95 % of boards. ``tested`` lists the entries that are tested against
    each other, in their order, and ``p_tested`` has their p; the others have no bracket. ``tied`` lists the entries that each tested one is
    tied with.
    """

    order: tuple[int, ...]
    bracket: tuple[int | None, ...]
    loose: tuple[bool, ...]
    rank: tuple[int | None, ...]
    rank_interval: tuple[Interval | None, ...]
    tested: tuple[int, ...]
    p_tested: Floats
    tied: tuple[tuple[int, ...], ...]

    @property
    def p(self) -> Floats:
        """[entries, entries], NaN for pairs that are not tested."""
        p_values = np.full((len(self.rank), len(self.rank)), math.nan)
        p_values[np.ix_(self.tested, self.tested)] = self.p_tested
        return p_values


def brackets(
    values: ArrayLike,
    higher_is_better: bool = True,
    scores: Sequence[float | None] | None = None,
    keys: Sequence[Any] | None = None,
) -> Board:
    """The board of values [entries, groups]. ``scores`` as the board shows them, by default the means of the rows; an entry without
    one has no rank. ``keys`` break ties."""
    samples = as_matrix(values)
    if scores is None:
        scores = _row_means(samples).tolist()
    if len(samples) != len(scores):
        raise ValueError(f"the matrix needs one row per entry: {len(samples)} rows, {len(scores)} values")
    ranks, in_order = rank(scores, higher_is_better), order(scores, higher_is_better, keys)
    tested, used, cut = tested_of(samples, ranks, in_order)
    x, cost = samples[tested][:, used], costs(scores, higher_is_better)
    p = adjusted(x)
    differs = (p <= ALPHA) & same_direction(x, cost[tested], higher_is_better)
    bracket, loose = lined(tested, differs, len(samples))
    intervals = ranges(ranks, cost, tested, differs & (cost[tested, None] < cost[None, tested]), cut)
    tied: list[tuple[int, ...]] = [()] * len(samples)
    entries = np.array(tested, dtype=np.int64)
    for entry, row in zip(tested, ~(differs | np.eye(len(tested), dtype=bool)), strict=True):
        tied[entry] = tuple(np.sort(entries[row]).tolist())
    return Board(tuple(in_order), bracket, loose, tuple(ranks), intervals, tuple(tested), p, tuple(tied))


def tested_of(
    samples: Floats, ranks: Sequence[int | None], in_order: Sequence[int], most: int = FIRST
) -> tuple[list[int], NDArray[np.bool_], bool]:
    """The entries that are tested, in their order; the groups that it is done over, which are those that more than half of the ranked ones
    have; and whether there were more entries. None where fewer than two entries or six groups are left."""
    known = ~np.isnan(samples)
    some = np.asarray(known.any(axis=1))
    candidates = [i for i in in_order if ranks[i] is not None and some[i]]
    used = known[candidates].sum(axis=0) > len(candidates) / 2
    every = np.asarray(known[:, used].all(axis=1))
    complete = [i for i in candidates if every[i]]
    if len(complete) < 2 or used.sum() < GROUPS_FOR_BOARD_INTERVAL:
        return [], used, False
    return complete[:most], used, len(complete) > most


def same_direction(x: Floats, cost: Floats, higher_is_better: bool) -> NDArray[np.bool_]:
    """Pairs of entries, bool[entries, entries], that are in the order of their ``cost`` by their means over the tested groups, x [entries,
    groups], too. The board's scores can be of more groups; then the test is of another difference than the board shows."""
    mean = x.mean(axis=1) if x.shape[1] else np.zeros(len(x))
    by_means = np.sign(mean[:, None] - mean[None, :]) * (-1 if higher_is_better else 1)
    return np.asarray(by_means * np.sign(cost[:, None] - cost[None, :]) >= 0)


def lined(tested: Sequence[int], differs: NDArray[np.bool_], n: int) -> tuple[tuple[int | None, ...], tuple[bool, ...]]:
    """(bracket, loose) of n entries, going down the ``tested`` ones; ``differs`` [tested, tested] says which differ significantly."""
    bracket: list[int | None] = [None] * n
    loose = [False] * n
    firsts: list[int] = []
    for place, entry in enumerate(tested):
        if differs[firsts, place].all():
            firsts.append(place)
        bracket[entry] = len(firsts)
        loose[entry] = not differs[firsts[:-1], place].all()
    return tuple(bracket), tuple(loose)


def ranges(
    ranks: Sequence[int | None], cost: Floats, tested: Sequence[int], better: NDArray[np.bool_], cut: bool
) -> tuple[Interval | None, ...]:
    """Between which ranks each tested entry may stand; ``better`` [tested, tested] says which are surely better than which. Entries
    that are not tested stand where they are; where some were cut off, an entry not told from the last tested one may be among them."""
    n = len(ranks)
    intervals: list[Interval | None] = [None] * n
    if not tested:
        return tuple(intervals)
    ranked = np.array([r is not None for r in ranks], dtype=bool)
    apart = ranked.copy()
    apart[list(tested)] = False
    k, others = int(ranked.sum()), cost[apart]
    for place, entry in enumerate(tested):
        above = int(better[:, place].sum()) + int((others < cost[entry]).sum())
        below = int(better[place].sum()) + int((others > cost[entry]).sum())
        open_end = cut and not better[place, -1]
        own = ranks[entry]
        assert own is not None
        intervals[entry] = (min(own, 1 + above), k if open_end else max(own, k - below))
    return tuple(intervals)


def alone(values: ArrayLike, entry: int, higher_is_better: bool = True, scores: Sequence[float | None] | None = None) -> Interval | None:
    """Between which ranks one entry may stand, looked at for its own sake: the family is its own pairs. Narrower than on the board."""
    samples = as_matrix(values)
    if scores is None:
        scores = _row_means(samples).tolist()
    ranks = rank(scores, higher_is_better)
    tested, used, cut = tested_of(samples, ranks, order(scores, higher_is_better))
    if entry not in tested:
        return None
    x, cost = samples[tested][:, used], costs(scores, higher_is_better)
    differs = (adjusted(x, tested.index(entry)) <= ALPHA) & same_direction(x, cost[tested], higher_is_better)
    return ranges(ranks, cost, tested, differs & (cost[tested, None] < cost[None, tested]), cut)[entry]


def leads(values: ArrayLike, higher_is_better: bool = True) -> Floats:
    """In which share of 1,000 random halves of the groups each entry is first, shared firsts split; of the entries that would be
    tested, 0 for the others. NaN where nothing can be tested. It is not a chance of being the best."""
    samples = as_matrix(values)
    means = _row_means(samples).tolist()
    tested, used, _ = tested_of(samples, rank(means, higher_is_better), order(means, higher_is_better))
    if not tested:
        return np.full(len(samples), math.nan)
    x = samples[tested][:, used] * (1 if higher_is_better else -1)
    n = x.shape[1]
    rng = np.random.Generator(np.random.PCG64(0))
    chosen = np.zeros((2 * HALVES, n))
    for row in range(HALVES):
        shuffled = rng.permutation(n)
        chosen[2 * row, shuffled[: n // 2]] = 1.0
        chosen[2 * row + 1, shuffled[n - n // 2 :]] = 1.0
    means = chosen @ x.T / (n // 2)
    best = means.max(axis=1, keepdims=True)
    first = means >= best - tie_tolerance(best)
    shares = np.zeros(len(samples))
    shares[tested] = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def as_matrix(matrix: ArrayLike) -> Floats:
    samples = np.asarray(matrix, dtype=np.float64)
    if samples.ndim != 2:
        raise ValueError(f"samples come as a matrix of entries by groups, not {samples.ndim} dimensions")
    return np.where(np.isfinite(samples), samples, math.nan)


def _row_means(samples: Floats) -> Floats:
    valid = ~np.isnan(samples)
    n = valid.sum(axis=1)
    return np.where(n > 0, np.nansum(samples, axis=1) / np.maximum(n, 1), math.nan)
