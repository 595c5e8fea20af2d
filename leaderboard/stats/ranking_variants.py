"""Agreement of a board's metrics on its entries, and what becomes of the order under other choices.

Two metrics agree as far as they put the entries in one order (Kendall's tau-b, or Spearman's rho); those that agree strongly are grouped.
The order is then taken again by every other rule and without each metric in turn. `ranking` alone decides ranks; here they are only
compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from leaderboard.stats.ranking import Column, Floats, costs, overall, rank_counts

TOGETHER = 0.7  # groups are joined while their metrics agree on average by at least this tau

RULE_TITLES = {"mean_rank": "Mean rank", "median_rank": "Median rank", "borda": "Borda count", "weighted": "Weighted mean rank"}


@dataclass(frozen=True)
class Matrix:
    """Agreement of each metric with each: ``tau`` and ``rho`` float64 [k, k], NaN where a metric ties all entries.

    ``groups`` holds indices of columns: groups that agree, side by side as they were joined, so that the
    concatenation is the order in which to show the matrix.
    """

    tau: Floats
    rho: Floats
    groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class RankingVariant:
    """One way to put the entries in order: ``ranks`` are of the complete and counted entries, None for the others.

    ``kind`` is board, rule, metric or without. ``flipped`` counts the pairs that stand the other way round than on the
    board, ``moved`` the entries with another rank, ``tau`` is the agreement with the board's order (NaN where undefined).
    """

    kind: str
    title: str
    ranks: tuple[int | None, ...]
    flipped: int = 0
    moved: int = 0
    tau: float = 1.0


@dataclass(frozen=True)
class Flip:
    """A pair that some ways turn round: ``above`` and ``below`` as the board has them, and the ways that do."""

    above: int
    below: int
    variants: tuple[int, ...]


def complete(columns: Sequence[Column], counted: Sequence[bool] | NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Entries that count and have a value in every column, bool[entries]: only of those can all orders be compared."""
    cost = np.array([costs(column.values, column.higher_is_better) for column in columns]).reshape(len(columns), len(counted))
    return ~np.isnan(cost).any(axis=0) & np.asarray(counted, bool)


def matrix(columns: Sequence[Column], used: NDArray[np.bool_]) -> Matrix:
    """The agreement of all columns on the entries ``used``, which must be complete."""
    cost = np.array([costs(column.values, column.higher_is_better)[used] for column in columns])
    cost = cost.reshape(len(columns), np.count_nonzero(used))  # also where there are no columns, or no entries
    better, equal = rank_counts(cost)
    ranks = better + (equal + 1) / 2
    tau = kendall(ranks)
    return Matrix(tau, pearson(ranks), clusters(tau))


# --- coefficients


def kendall(ranks: Floats) -> Floats:
    """Kendall's tau-b of each row of [k, n] with each; NaN where a row is all alike."""
    taus = np.full((len(ranks), len(ranks)), math.nan)
    varies = [row for row, values in enumerate(ranks) if len(values) and np.ptp(values) > 0]
    for place, row in enumerate(varies):
        taus[row, row] = 1.0
        for other in varies[:place]:
            taus[row, other] = taus[other, row] = scipy.stats.kendalltau(ranks[row], ranks[other]).statistic
    return np.clip(taus, -1, 1)


def pearson(ranks: Floats) -> Floats:
    """The correlation of each row of [k, n] with each; of mean ranks it is Spearman's rho. NaN where a row is all alike."""
    coefficients = np.full((len(ranks), len(ranks)), math.nan)
    varies = [row for row, values in enumerate(ranks) if len(values) and np.ptp(values) > 0]
    if varies:
        coefficients[np.ix_(varies, varies)] = np.corrcoef(ranks[varies])
    return coefficients


# --- groups


def clusters(tau: Floats, together: float = TOGETHER) -> tuple[tuple[int, ...], ...]:
    """Average-linkage clusters of metrics, joined while their mean tau is at least ``together``.

    The order is from the whole tree: the joining goes on below ``together`` to place each group next to the group it agrees with most. The
    side with the earlier column comes first.
    """
    likeness = np.where(np.isnan(tau), 0.0, tau)
    groups: list[tuple[int, ...]] = [(index,) for index in range(len(tau))]
    apart: dict[tuple[int, ...], tuple[tuple[int, ...], ...]] = {group: (group,) for group in groups}
    while len(groups) > 1:
        # Rounded, so that sums in another order cannot decide between equals.
        means = [(round(float(likeness[np.ix_(a, b)].mean()), 12), -i, -j) for i, a in enumerate(groups) for j, b in enumerate(groups[:i])]
        most, i, j = max(means)
        a, b = sorted((groups[-i], groups[-j]), key=min)
        joined = a + b
        apart[joined] = (joined,) if most >= together else apart[a] + apart[b]
        groups = sorted([group for group in groups if group not in (a, b)] + [joined], key=min)
    return apart[groups[0]] if groups else ()


def centre(tau: Floats, group: Sequence[int]) -> int:
    """The metric of a group that agrees most with the others, the first of equals: what to call the group by."""
    sums = np.nan_to_num(tau[np.ix_(group, group)]).sum(axis=1).round(12)
    return group[int(np.argmax(sums))]


# --- other ways to rank


def variants(
    rule: str, columns: Sequence[Column], ranking: Sequence[str], used: NDArray[np.bool_], titles: Sequence[str]
) -> list[RankingVariant]:
    """The board's own order first, then every other: by the other rules, by each metric alone, and without each metric.

    ``ranking`` names the columns that take part in the board's rule; ``titles`` are the columns' names. Where the rule is
    one metric alone, leaving metrics out would say nothing of it, so it is done under the mean rank of all columns.
    """
    names = {column.slug: title for column, title in zip(columns, titles, strict=True)}
    ways = list(_ways(rule, columns, [column for column in columns if column.slug in ranking], names))
    rankings = [_ranks(other, part, used) for _, _, other, part in ways]
    board = rankings[0]
    known = np.array([rank is not None for rank in board], bool)
    table = np.array([[rank or 0 for rank in ranks] for ranks in rankings], float).reshape(len(rankings), len(board))[:, known]
    compared = []
    for (kind, title, _, _), ranks, row in zip(ways, rankings, table, strict=True):
        moved = int((row != table[0]).sum())
        tau = kendall(np.stack([table[0], row]))[0, 1]
        compared.append(RankingVariant(kind, title, ranks, int(_turned(table[0], row).sum()), moved, float(tau)))
    return compared


def _ways(
    rule: str, columns: Sequence[Column], part: Sequence[Column], names: Mapping[str, str]
) -> Iterator[tuple[str, str, str, Sequence[Column]]]:
    """Kind and title of each way to rank, its rule, and the columns that take part in it."""
    yield "board", "The board", rule, part
    several = columns if rule == "primary" or len(part) < 2 else part
    alike = len({column.weight for column in several}) == 1
    for other, title in RULE_TITLES.items():
        if other != rule and len(several) > 1 and not (other == "weighted" and alike):
            yield "rule", title, other, several
    for column in columns:
        if rule != "primary" or column.slug != part[0].slug:
            yield "metric", names[column.slug], "primary", [replace(column, primary=True)]
    left = "mean_rank" if rule == "primary" else rule
    for column in several if len(several) > 2 else ():
        others = [other for other in several if other is not column]
        if left != "weighted" or sum(other.weight for other in others) > 0:
            yield "without", names[column.slug], left, others


def _ranks(rule: str, columns: Sequence[Column], used: NDArray[np.bool_]) -> tuple[int | None, ...]:
    return tuple(place.rank for place in overall(rule, columns, used.tolist()))


def _turned(board: Floats, other: Floats) -> NDArray[np.bool_]:
    """[n, n]: where the row's entry stands above the column's on the board, and below it in the other order."""
    return (board[:, None] < board[None, :]) & (other[:, None] > other[None, :])


def flips(rankings: Sequence[RankingVariant], most: int) -> tuple[list[Flip], int]:
    """The pairs that any way turns round, the highest on the board first, at most ``most`` of them; and how many there are."""
    board = np.array([np.nan if rank is None else rank for rank in rankings[0].ranks], float)
    turned = np.zeros((len(board), len(board)), np.int32)
    each = []
    for variant in rankings[1:]:
        each.append(_turned(board, np.array([np.nan if rank is None else rank for rank in variant.ranks], float)))
        turned += each[-1]
    above, below = np.nonzero(turned)
    order = np.lexsort((below, above, board[below], board[above]))[:most]
    pairs = [(int(above[n]), int(below[n])) for n in order]
    return [Flip(a, b, tuple(n + 1 for n, one in enumerate(each) if one[a, b])) for a, b in pairs], len(above)
