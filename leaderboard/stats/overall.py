"""How sure the overall order is: the organizer's whole rule, applied in every bootstrap resample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leaderboard.stats.ranking import TIE_TOLERANCE, Column, Floats, check_rule, combine, costs, placings, placings_among
from leaderboard.stats.uncertainty import (
    RESAMPLES,
    Interval,
    Resampler,
    as_matrix,
    blocks,
    percentile_ranks,
    resample_counts,
    tails,
)

TOP = 200


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
