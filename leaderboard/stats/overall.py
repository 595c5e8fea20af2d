"""Certainty of the overall order: which entries the organizer's rule puts before which, whatever the undecided pairs turn out to be."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leaderboard.stats import uncertainty
from leaderboard.stats.minimums import GROUPS_FOR_BOARD_INTERVAL
from leaderboard.stats.ranking import RULES, TIE_TOLERANCE, Column, Floats, combine, costs, rank_counts, tie_tolerance
from leaderboard.stats.uncertainty import ALPHA, Interval, adjusted, lined, ranges, same_direction, tested_of

FIRST = 100  # complete entries of an order by several metrics that are tested


@dataclass(frozen=True, eq=False)
class OverallBoard:
    """Certainty of the overall order. ``ahead`` bool[entries, entries] says which are before which whatever the order of undecided
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
    """Certainty of values [metrics, entries, groups] under a rule of ``ranking``; "primary" is of the first metric alone.

    ``fixed`` names the metrics without values per group: every strict order of their scores is taken as it stands. ``scores``
    [metrics, entries] are what the board shows, by default the means over groups; entries without one in every metric take no
    part. At most the first 100 are tested, over the groups that they have in every metric; of one metric alone as many as on its board.
    """
    if rule not in RULES:
        raise ValueError(f"{rule!r} is not a ranking rule; choose one of {', '.join(RULES)}")
    samples = np.asarray(values, dtype=np.float64)
    metrics, n, _ = samples.shape
    valid = ~np.isnan(samples)
    means = np.where(valid.any(axis=2), np.nansum(samples, axis=2) / np.maximum(1, valid.sum(axis=2)), math.nan)
    shown = means if scores is None else scores
    cost = np.array([costs(row, better) for row, better in zip(shown, higher_is_better, strict=True)]).reshape(metrics, n)
    if rule == "primary":
        samples, cost, metrics, fixed = samples[:1], cost[:1], 1, {0} & set(fixed)
    share = np.ones(metrics) if weights is None or rule != "weighted" else np.asarray(weights, dtype=np.float64)
    points, ranks = _points_and_ranks(rule, cost, share)
    in_order = sorted((i for i in range(n) if ranks[i] is not None), key=lambda i: (points[i], i))
    moving = [m for m in range(metrics) if m not in fixed]
    has_values = np.asarray((~np.isnan(samples[moving])).any(axis=2).all(axis=0))
    tested = [i for i in in_order if has_values[i]]
    if rule == "primary" and moving:
        tested, groups, cut = tested_of(samples[0], ranks, in_order, uncertainty.FIRST)
    else:
        cut, tested = len(tested) > FIRST, tested[:FIRST]
        groups = np.asarray(~np.isnan(samples[moving][:, tested]).any(axis=(0, 1)))  # those that all of them have in every metric
    if len(tested) < 2 or (moving and groups.sum() < GROUPS_FOR_BOARD_INTERVAL):
        return OverallBoard(np.zeros((n, n), dtype=bool), (None,) * n, (False,) * n, (None,) * n)
    own = cost[:, tested]
    before = own[:, :, None] < (own - tie_tolerance(own))[:, None, :]
    sure = before.copy()  # of metrics without values per group
    if moving:
        x = samples[moving][:, tested][:, :, groups]
        seen = [same_direction(x[n], own[m], higher_is_better[m]) for n, m in enumerate(moving)]
        sure[moving] = (adjusted(x) <= ALPHA) & before[moving] & np.array(seen)
    inside = _ahead(rule, sure, share)
    bracket, loose = lined(tested, inside | inside.T, n)
    ahead = np.zeros((n, n), dtype=bool)
    ahead[np.ix_(tested, tested)] = inside
    return OverallBoard(ahead, bracket, loose, ranges(ranks, points, tested, inside, cut))


def _points_and_ranks(rule: str, cost: Floats, weights: Floats) -> tuple[Floats, list[int | None]]:
    """Points [entries] under the rule and the ranks by these; NaN and None of entries without a cost [metrics, entries] in every metric."""
    metrics, n = cost.shape
    points, ranks = np.full(n, math.nan), list[int | None]([None] * n)
    complete = np.flatnonzero(~np.isnan(cost).any(axis=0))
    if len(complete):
        columns = [Column(str(m), [], True, float(weights[m]), m == 0) for m in range(metrics)]
        points[complete] = combine(rule, columns, *rank_counts(cost[:, complete]), len(complete))
        for i, better in zip(complete, rank_counts(points[None, complete])[0][0], strict=True):
            ranks[i] = int(better) + 1
    return points, ranks


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
        # The largest possible rank of the row less the column's; the column itself is none of the others.
        largest = 1.0 + (not_above[:, None] - ~one) - (one.sum(axis=0)[None, :] - one)
        total += weight * np.where(one, -1.0 - through, largest)
    # Weights of .8, .1 and .7 leave -1e-16 where 8, 1 and 7 leave 0.
    return (total < -TIE_TOLERANCE * k * weights.sum()) & ~np.eye(k, dtype=bool)
