"""Ranks of entries: per metric, and overall by the organizer's rule.

This is the only place where entries are put in order. Values that differ by at most
``1e-12 * max(1, |value|)`` share a rank; a value that is missing or not finite has no rank and
stands last, whichever direction is better. Ranks are competition ranks (1, 1, 3) over the full
set of values given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

TIE_TOLERANCE = 1e-12
RULES = ("primary", "mean_rank", "median_rank", "borda", "weighted")

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


class NoOrder(StrEnum):
    """Reason why a board has no overall rank."""

    NO_METRIC = "no_metric"  # takes part in it
    WEIGHTS = "weights"  # that are not finite, negative, or all zero
    MAY_NOT_RANK = "may_not_rank"  # the metric that decides the order
    NO_VALUES = "no_values"  # of one of its metrics, yet
    EARLIER = "earlier"  # what a ranking by earlier rules says


@dataclass(frozen=True)
class Column:
    """One metric over all entries. ``weight`` matters to the rule "weighted", ``primary`` to "primary"."""

    slug: str
    values: Sequence[float | None]
    higher_is_better: bool
    weight: float = 1.0
    primary: bool = False


@dataclass(frozen=True)
class OverallResult:
    """Place of one entry under a rule, and the ranks that it is made of.

    ``value`` is what the rule orders by: the primary metric's own value, a mean, median or
    weighted mean of ranks (lower is better), or Borda points (higher is better).
    ``ranks`` holds its rank in each column among the complete entries, equal ones sharing the mean of their places (a mid-rank);
    ``missing`` names the columns it has no value for. An entry that is not counted has a value, so that it can be
    shown in its place, and no rank.
    """

    rank: int | None
    value: float | None
    ranks: tuple[float, ...]
    missing: tuple[str, ...]


def tie_tolerance(values: Floats) -> Floats:
    """The distance a value may have from ``values`` and still count as equal to it."""
    return TIE_TOLERANCE * np.maximum(1.0, np.abs(values))


def costs(values: Sequence[float | None] | Floats, higher_is_better: bool) -> Floats:
    """``values`` as float64[n] with the best one lowest; NaN where there is none or it is not finite."""
    numbers = np.array([math.nan if value is None else float(value) for value in values], dtype=np.float64)
    numbers[~np.isfinite(numbers)] = math.nan
    return -numbers if higher_is_better else numbers


def rank_counts(cost: Floats) -> tuple[Ints, Ints]:
    """For float64[rows, n] of finite costs, each row a field of its own: how many are strictly
    better than each entry, and how many equal it, itself included. Both int32[rows, n].

    Equal is judged against the first (best) of a run of equals, so that it stays an equivalence.
    """
    rows, n = cost.shape
    if n == 0:
        return np.zeros((rows, 0), np.int32), np.zeros((rows, 0), np.int32)
    position = np.arange(n, dtype=np.int32)
    order_ = np.argsort(cost, axis=1)
    ordered = np.take_along_axis(cost, order_, axis=1)
    better, equal = np.empty((rows, n), np.int32), np.ones((rows, n), np.int32)
    np.put_along_axis(better, order_, np.broadcast_to(position, (rows, n)), axis=1)
    # Most rows hold no two equal values; only the others need their runs looked up.
    widest = tie_tolerance(np.maximum(-ordered[:, :1], ordered[:, -1:]))
    tied = np.flatnonzero((np.diff(ordered, axis=1) <= widest).any(axis=1))
    if not len(tied):
        return better, equal
    starts = _run_starts(ordered[tied])
    # A run ends where the next one starts: look for the next start from the right.
    last = np.ones((len(tied), n), dtype=bool)
    last[:, :-1] = starts[:, 1:] == position[1:]
    ends = np.minimum.accumulate(np.where(last, position, n)[:, ::-1], axis=1)[:, ::-1]
    places = tied[:, None], order_[tied]
    better[places], equal[places] = starts, ends - starts + 1
    return better, equal


def rank_counts_among(cost: Floats, field: Floats) -> tuple[Ints, Ints]:
    """Counts of ``field`` (float64[m], ascending): how many are strictly better than, and how many equal,
    each cost in an array of any shape. The costs themselves are not part of the field."""
    tolerance = tie_tolerance(cost)
    better = np.searchsorted(field, cost - tolerance, side="left")
    not_worse = np.searchsorted(field, cost + tolerance, side="right")
    return better.astype(np.int32), (not_worse - better).astype(np.int32)


def rank(values: Sequence[float | None], higher_is_better: bool) -> list[int | None]:
    """Competition ranks, 1 is best; ``None`` where the value is missing or not finite."""
    cost = costs(values, higher_is_better)
    ranks: list[int | None] = [None] * len(cost)
    valid = np.flatnonzero(~np.isnan(cost))
    for index, better in zip(valid, rank_counts(cost[None, valid])[0][0], strict=True):
        ranks[index] = int(better) + 1
    return ranks


def order(values: Sequence[float | None], higher_is_better: bool, keys: Sequence[Any] | None = None) -> list[int]:
    """Indices from best to worst, the unranked last.

    Entries that share a rank, and the unranked, go by ``keys`` (one comparable per entry, such as
    ``(submitted_at, id)``) and then by their position in ``values``.
    """
    ranks = rank(values, higher_is_better)
    if keys is not None and len(keys) != len(ranks):
        raise ValueError(f"order needs one key per value: {len(ranks)} values, {len(keys)} keys")

    def place(index: int) -> tuple[Any, ...]:
        ranked = ranks[index]
        return ranked is None, ranked or 0, keys[index] if keys is not None else 0, index

    return sorted(range(len(ranks)), key=place)


def overall_higher_is_better(rule: str, columns: Sequence[Column]) -> bool:
    """The direction of :attr:`OverallResult.value` under ``rule``."""
    if rule == "primary":
        return columns[primary_index(columns)].higher_is_better
    return rule == "borda"


def overall(rule: str, columns: Sequence[Column], counted: Sequence[bool] | None = None) -> list[OverallResult]:
    """The overall rank of every entry under ``rule`` (one of :data:`RULES`), in the order given.

    An entry that lacks a value in any column is unranked and takes no part, so it cannot change
    the order of the others. An entry with ``counted`` false (a baseline) takes no part either,
    but gets the value it would have, to be shown in its place. Raises ValueError for an unknown
    rule, columns of different lengths, a missing or second primary column, or where there is no order.
    """
    if rule not in RULES:
        raise ValueError(f"{rule!r} is not a ranking rule; choose one of {', '.join(RULES)}")
    if (reason := no_order(rule, columns)) is not None:
        raise ValueError(f"the rule {rule!r} gives no order of these columns: {reason}")
    if len({len(column.values) for column in columns}) != 1:
        raise ValueError("every metric needs one value (or None) per entry, the same number in each")
    cost = np.array([costs(column.values, column.higher_is_better) for column in columns])
    complete = ~np.isnan(cost).any(axis=0)
    takes_part = complete if counted is None else complete & np.asarray(counted, dtype=bool)
    field = cost[:, takes_part]
    better, equal = np.zeros(cost.shape, np.int32), np.zeros(cost.shape, np.int32)
    better[:, takes_part], equal[:, takes_part] = rank_counts(field)
    outside = np.flatnonzero(complete & ~takes_part)
    for row, ascending in enumerate(np.sort(field, axis=1)):
        better[row, outside], others = rank_counts_among(cost[row, outside], ascending)
        equal[row, outside] = np.maximum(1, others)  # it stands where an entry of its value stands

    score = combine(rule, columns, better, equal, field.shape[1])
    values: list[float | None] = [None] * cost.shape[1]
    for index in np.flatnonzero(complete).tolist():
        shown = float(score[index])
        if rule == "primary":
            own_value = columns[primary_index(columns)].values[index]
            assert own_value is not None  # only complete entries come here
            shown = float(own_value)
        values[index] = -shown + 0.0 if rule == "borda" else shown
    ranks = rank(
        [value if part else None for value, part in zip(values, takes_part, strict=True)],
        overall_higher_is_better(rule, columns),
    )
    results = []
    for index, value in enumerate(values):
        missing = tuple(column.slug for column, is_missing in zip(columns, np.isnan(cost[:, index]), strict=True) if is_missing)
        own = () if missing else tuple((better[:, index] + (equal[:, index] + 1) / 2).tolist())
        results.append(OverallResult(ranks[index], value, own, missing))
    return results


def combine(rule: str, columns: Sequence[Column], better: Ints, equal: Ints, field: int) -> Floats:
    """One number per entry from its ranks in each column, lower is better.

    ``better`` and ``equal`` are int32[columns, ...] as :func:`rank_counts` gives them, the entry itself among its equals; ``field`` is
    the number of entries ranked. Ranks are mid-ranks: 1 + better + half of the other equal ones.
    Borda points are ``entries worse + half the others that are equal``, summed, and come back negated.
    """
    if rule == "primary":
        return better[primary_index(columns)] + 1.0
    ranks = better + (equal + 1) / 2
    if rule == "mean_rank":
        return ranks.mean(axis=0)
    if rule == "median_rank":
        return np.asarray(np.median(ranks, axis=0))
    if rule == "borda":
        return (ranks - field).sum(axis=0)
    return np.average(ranks, axis=0, weights=[column.weight for column in columns])


def no_order(rule: str, columns: Sequence[Column]) -> NoOrder | None:
    """Reason why a rule cannot put entries in order by these columns; None where it can."""
    if not columns:
        return NoOrder.NO_METRIC
    weights = [column.weight for column in columns]
    usable = all(math.isfinite(weight) and weight >= 0 for weight in weights) and sum(weights) > 0
    return NoOrder.WEIGHTS if rule == "weighted" and not usable else None


def primary_index(columns: Sequence[Column]) -> int:
    """Index of the primary column; ValueError unless there is exactly one."""
    primaries = [index for index, column in enumerate(columns) if column.primary]
    if len(primaries) != 1:
        raise ValueError(f"the rule 'primary' needs exactly one primary metric, {len(primaries)} are marked")
    return primaries[0]


def _run_starts(ordered: Floats) -> Ints:
    """For ascending rows [rows, n], the index where each entry's run of equals starts."""
    rows, n = ordered.shape
    fresh = np.ones((rows, n), dtype=bool)
    fresh[:, 1:] = np.diff(ordered, axis=1) > tie_tolerance(ordered[:, :-1])
    starts = np.maximum.accumulate(np.where(fresh, np.arange(n, dtype=np.int32), np.int32(0)), axis=1)
    first = np.take_along_axis(ordered, starts, axis=1)
    # Neighbours may each be within the tolerance while the far end of the run is not; this is
    # rare enough to be worth a plain loop, and nothing else is.
    for row in np.flatnonzero((ordered - first > tie_tolerance(first)).any(axis=1)):
        start = 0
        for index in range(n):
            if ordered[row, index] - ordered[row, start] > tie_tolerance(ordered[row, start]):
                start = index
            starts[row, index] = start
    return starts
