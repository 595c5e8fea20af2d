"""How sure the overall order is: which entries the organizer's rule puts before which, whatever the undecided pairs turn out to be."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leaderboard.stats.ranking import RULES, TIE_TOLERANCE, Column, Floats, check_rule, combine, costs, placings, placings_among
from leaderboard.stats.uncertainty import (
    ALPHA,
    LEAST,
    RESAMPLES,
    Interval,
    Resampler,
    adjusted,
    as_matrix,
    blocks,
    lined,
    percentile_ranks,
    ranges,
    resample_counts,
    tails,
)

FIRST = 100  # complete entries of the order that are tested
TOP = 200


@dataclass(frozen=True, eq=False)
class OverallBoard:
    """How sure the overall order is. ``ahead`` bool[entries, entries] says which are before which whatever the order of undecided
    pairs; the others as in ``uncertainty.Board``."""

    ahead: NDArray[np.bool_]
    bracket: tuple[int | None, ...]
    loose: tuple[bool, ...]
    rank_interval: tuple[Interval | None, ...]


def overall_brackets(
    rule: str,
    values: ArrayLike,
    higher_is_better: Sequence[bool],
    weights: Sequence[float] | None = None,
    fixed: Collection[int] = (),
    scores: Sequence[Sequence[float | None]] | None = None,
) -> OverallBoard:
    """Of values [metrics, entries, groups] under a rule of ``ranking``; "primary" is of the first metric alone.

    ``fixed`` names the metrics without values per group: every strict order of their scores is taken as it stands. ``scores``
    [metrics, entries] are what the board shows, by default the means over groups; entries without one in every metric take no
    part. At most the first 100 are tested, over the groups that they have in every metric.
    """
    if rule not in RULES:
        raise ValueError(f"{rule!r} is not a ranking rule; choose one of {', '.join(RULES)}")
    samples = np.asarray(values, dtype=np.float64)
    metrics, n, _ = samples.shape
    if scores is None:
        valid = ~np.isnan(samples)
        means = np.where(valid.any(axis=2), np.nansum(samples, axis=2) / np.maximum(1, valid.sum(axis=2)), math.nan)
        scores = [[None if math.isnan(value) else value for value in row] for row in means.tolist()]
    cost = np.array([costs(row, better) for row, better in zip(scores, higher_is_better, strict=True)]).reshape(metrics, n)
    if rule == "primary":
        samples, cost, metrics, fixed = samples[:1], cost[:1], 1, [m for m in fixed if m == 0]
    share = np.ones(metrics) if weights is None or rule != "weighted" else np.asarray(weights, dtype=np.float64)
    complete = np.flatnonzero(~np.isnan(cost).any(axis=0))
    columns = [Column(str(m), [], True, float(share[m]), m == 0) for m in range(metrics)]
    points = np.full(n, math.nan)
    if len(complete):
        points[complete] = combine(rule, columns, *placings(cost[:, complete]), len(complete))
    in_order = sorted(complete.tolist(), key=lambda i: (points[i], i))
    ranks: list[int | None] = [None] * n
    for i, better in zip(complete, placings(points[None, complete])[0][0], strict=True):
        ranks[i] = int(better) + 1
    moving = [m for m in range(metrics) if m not in fixed]
    tested = [i for i in in_order if all(not np.isnan(samples[m, i]).all() for m in moving)]
    used = ~np.isnan(samples[np.ix_(moving, tested)]).any(axis=0) if moving and tested else np.ones((0, 0), dtype=bool)
    # The groups that more than half have in every metric; who lacks one of them is not tested.
    groups = used.sum(axis=0) > len(tested) / 2 if used.size else np.zeros(samples.shape[2], dtype=bool)
    if moving:
        tested = [i for i, row in zip(tested, used, strict=True) if row[groups].all()]
        enough = len(tested) > 1 and groups.sum() >= LEAST
    else:
        enough = len(tested) > 1
    nothing = OverallBoard(np.zeros((n, n), dtype=bool), (None,) * n, (False,) * n, (None,) * n)
    if not enough:
        return nothing
    cut, tested = len(tested) > FIRST, tested[:FIRST]
    sure = np.zeros((metrics, len(tested), len(tested)), dtype=bool)
    own = cost[:, tested]
    before = own[:, :, None] < own[:, None, :]
    for m in fixed:
        sure[m] = before[m]
    if moving:
        p = adjusted(samples[np.ix_(moving, tested, np.flatnonzero(groups))])
        sure[moving] = (p <= ALPHA) & before[moving]
    inside = _ahead(rule, sure, share)
    bracket, loose = lined(tested, inside | inside.T, n)
    ahead = np.zeros((n, n), dtype=bool)
    ahead[np.ix_(tested, tested)] = inside
    return OverallBoard(ahead, bracket, loose, ranges(ranks, points, tested, inside, cut))


def _ahead(rule: str, sure: NDArray[np.bool_], weights: Floats) -> NDArray[np.bool_]:
    """[k, k]: where the rule puts the row before the column whatever the order of the pairs that are not sure; sure [m, k, k]."""
    if rule == "primary":
        return sure[0]
    k = sure.shape[1]
    if rule == "median_rank":
        worst, best = k - sure.sum(axis=2), 1 + sure.sum(axis=1)  # [m, k] each: the last and the first rank it may have
        return sure.all(axis=0) | (np.median(worst, axis=0)[:, None] < np.median(best, axis=0)[None, :])
    total = np.zeros((k, k))
    for one, weight in zip(sure, weights, strict=True):
        table = one.astype(np.float64)
        through = table @ table  # how many are surely worse than the row and surely better than the column
        not_above = k - 1 - one.sum(axis=1)  # of the others, those the row is not surely better than
        # The largest possible rank of the row less that of the column; the column itself is none of the others.
        largest = 1.0 + (not_above[:, None] - ~one) - (one.sum(axis=0)[None, :] - one)
        total += weight * np.where(one, -1.0 - through, largest)
    return (total < 0) & ~np.eye(k, dtype=bool)


# --- by resampling: what boards show until they are made by the above


@dataclass(frozen=True, eq=False)
class _Draws:
    """The entries resampled (``pool``, best first), their observed points and the resampled ones
    [resamples, pool], lower is better; ``held`` are the points of the ranked entries that stay put
    (ascending) and ``moves`` says which of the pool have any per-group values."""

    pool: NDArray[np.intp]
    observed: Floats
    drawn: Floats
    held: Floats
    moves: NDArray[np.bool_]


def overall_intervals(
    rule: str,
    columns: Sequence[Column],
    matrices: Sequence[ArrayLike | None],
    counted: Sequence[bool] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    top: int = TOP,
) -> list[Interval | None]:
    """The 95 % interval of every entry's overall rank, the whole rule applied in each resample.

    ``matrices`` holds one [entries, groups] matrix per column over the same groups, or None where
    a metric has no per-group values; those columns stay at their values. Work is bounded by ``top``:
    the best ``top`` entries are resampled (about ``top * metrics * resamples`` cells), the others
    stay where they are and get None, as do unranked and uncounted entries.
    """
    draws = _draws(rule, columns, matrices, counted, resamples, seed, top)
    return [None] * len(columns[0].values) if draws is None else _intervals(draws, len(columns[0].values))


def overall_certainty(
    rule: str,
    columns: Sequence[Column],
    matrices: Sequence[ArrayLike | None],
    counted: Sequence[bool] | None = None,
    alpha: float = 0.05,
    resamples: int = RESAMPLES,
    seed: int = 0,
    top: int = TOP,
) -> tuple[list[Interval | None], list[int | None]]:
    """The intervals of :func:`overall_intervals`, and which entries the rule cannot separate.

    Groups are 1, 2, 3, ... from the best entry down: a group runs on while the interval at
    ``1 - alpha`` of the paired difference in the rule's points (mean rank, Borda points, ...)
    between its first entry and the next one holds zero. Entries outside the resampled ones get None.
    """
    n = len(columns[0].values) if columns else 0
    draws = _draws(rule, columns, matrices, counted, resamples, seed, top)
    if draws is None:
        return [None] * n, [None] * n
    groups: list[int | None] = [None] * n
    tested = np.flatnonzero(draws.moves)
    group, first = 0, -1
    for place in tested:
        if first < 0 or _apart(draws.drawn[:, first], draws.drawn[:, place], alpha):
            group, first = group + 1, int(place)
        groups[draws.pool[place]] = group
    return _intervals(draws, n), groups


def _apart(first: Floats, other: Floats, alpha: float) -> bool:
    low, high = np.quantile(other - first, tails(1 - alpha))
    noise = TIE_TOLERANCE * max(1.0, float(np.abs(first).max()))
    return bool(low > noise or high < -noise)


def _intervals(draws: _Draws, n: int) -> list[Interval | None]:
    result: list[Interval | None] = [None] * n
    ranks = placings(draws.drawn)[0] + placings_among(draws.drawn, draws.held)[0] + 1
    for index, interval in zip(draws.pool, percentile_ranks(ranks, draws.observed.astype(np.int32), draws.moves), strict=True):
        result[index] = interval
    return result


def _draws(
    rule: str,
    columns: Sequence[Column],
    matrices: Sequence[ArrayLike | None],
    counted: Sequence[bool] | None,
    resamples: int,
    seed: int,
    top: int,
) -> _Draws | None:
    """The rule's points in every resample; None where nothing can be resampled."""
    check_rule(rule, columns)
    cost = np.array([costs(column.values, column.higher_is_better) for column in columns])
    takes_part = ~np.isnan(cost).any(axis=0)
    if counted is not None:
        takes_part &= np.asarray(counted, dtype=bool)
    field = np.flatnonzero(takes_part)
    points = combine(rule, columns, *placings(cost[:, field]), len(field))
    best_first = np.argsort(points, kind="stable")
    pool, rest = field[best_first[:top]], field[best_first[top:]]
    held, held_points = np.sort(cost[:, rest], axis=1), np.sort(points[best_first[top:]])
    movers = _movers(columns, matrices, cost, pool)
    groups = movers[0].groups if movers else 0
    if groups < 2 or not len(pool):
        return None
    drawn = np.empty((resamples, len(pool)))
    counts = resample_counts(groups, resamples, seed)
    for rows in blocks(resamples, len(pool) * len(columns)):
        better = np.empty((len(columns), rows.stop - rows.start, len(pool)), np.int32)
        equal = np.empty_like(better)
        for index, mover in enumerate(movers):
            resampled = mover.costs(counts[rows])
            inside, outside = placings(resampled), placings_among(resampled, held[index])
            better[index], equal[index] = inside[0] + outside[0], inside[1] + outside[1]
        drawn[rows] = combine(rule, columns, better, equal, len(field))
    observed = placings(points[None])[0][0][best_first[:top]] + 1
    moves = np.any([mover.has_vector for mover in movers], axis=0)
    return _Draws(pool, observed, drawn, held_points, moves)


def _movers(columns: Sequence[Column], matrices: Sequence[ArrayLike | None], cost: Floats, pool: NDArray[np.intp]) -> list[Resampler]:
    """One resampler per column, all over the same groups."""
    if len(matrices) != len(columns):
        raise ValueError(f"one matrix (or None) per metric is needed: {len(columns)} metrics, {len(matrices)} matrices")
    given = [None if matrix is None else as_matrix(matrix) for matrix in matrices]
    shapes = {matrix.shape for matrix in given if matrix is not None}
    if any(shape[0] != cost.shape[1] for shape in shapes) or len(shapes) > 1:
        raise ValueError("all matrices need one row per entry and the same groups")
    if not shapes:
        return []
    rows = [np.full((len(pool), next(iter(shapes))[1]), math.nan) if m is None else m[pool] for m in given]
    keep = np.any([~np.isnan(row).all(axis=0) for row in rows], axis=0)
    return [Resampler(row, values[pool], column.higher_is_better, keep) for row, values, column in zip(rows, cost, columns, strict=True)]
