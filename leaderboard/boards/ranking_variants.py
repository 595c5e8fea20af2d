"""Agreement of a ranking's metrics, and other orders: for the page and for programs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leaderboard.models.snapshot import Seen, Snapshot
from leaderboard.records.board import Board, BoardEntry, MetricColumn, NoOverallRank
from leaderboard.service.page_cache import kept
from leaderboard.stats import ranking_variants
from leaderboard.stats.ranking import Column, NoOrder
from leaderboard.stats.ranking_variants import Flip, Matrix, RankingVariant

MAX_ENTRIES = 1000  # of the board's order; beyond that pairs take longer than a page may
MAX_FLIPS = 40
_CACHED_BOARDS = 32  # boards whose answer is kept in a process


@dataclass(frozen=True)
class Agreement:
    """``metrics`` and ``entries`` are the board's, less metrics without any value; indices in the rest refer to them.

    ``n`` entries are compared; ``incomplete`` lack a value and ``beyond`` stand too far down to be compared.
    """

    metrics: tuple[MetricColumn, ...]
    entries: tuple[BoardEntry, ...]
    order: tuple[int, ...]
    n: int
    incomplete: int
    beyond: int
    matrix: Matrix
    variants: tuple[RankingVariant, ...]
    flips: tuple[Flip, ...]
    n_flips: int
    problem: NoOverallRank | None = None

    @property
    def n_pairs(self) -> int:
        return self.n * (self.n - 1) // 2

    @property
    def step(self) -> float:
        """By how much one swapped pair moves tau."""
        return 2 / self.n_pairs if self.n_pairs else 0.0


def of_snapshot(snapshot: Snapshot) -> Agreement:
    """The agreement on a ranking, less its redacted entries."""
    return _cached(snapshot.seen)


@kept(size=_CACHED_BOARDS)
def _cached(seen: Seen) -> Agreement:
    # A ranking never changes, so neither does the answer.
    return of(seen.board)


def of(board: Board) -> Agreement:
    """The agreement on a board's counted entries with a value in every metric."""
    entries, overall = board.entries, board.overall
    metrics = [metric for metric in board.metrics if any(value is not None for value in metric.value)]
    slugs, titles = [metric.slug for metric in metrics], [metric.title for metric in metrics]
    # Of columns with the same title each has its slug.
    titles = [f"{title} ({slug})" if titles.count(title) > 1 else title for title, slug in zip(titles, slugs, strict=True)]
    columns = [Column(m.slug, m.value, m.higher_is_better, m.weight, m.is_primary) for m in metrics]
    counted = np.array([entry.counted for entry in entries], bool)
    complete = ranking_variants.complete(columns, counted) if columns else np.zeros(len(entries), bool)
    order = [index for index in overall.order if complete[index]]
    compared = order[:MAX_ENTRIES]
    used = np.zeros(len(entries), bool)
    used[compared] = True
    variants: list[RankingVariant] = []
    flips: list[Flip] = []
    n_flips, problem = 0, overall.problem
    if problem is None and not (overall.metrics and set(overall.metrics) <= set(slugs)):
        problem = NoOverallRank(reason=NoOrder.NO_VALUES)
    if problem is None:
        variants = ranking_variants.variants(overall.rule, columns, overall.metrics, used, titles)
        flips, n_flips = ranking_variants.flips(variants, MAX_FLIPS)
    if variants:
        compared.sort(key=lambda index: variants[0].ranks[index] or 0)
    return Agreement(
        tuple(metric.model_copy(update={"title": title}) for metric, title in zip(metrics, titles, strict=True)),
        tuple(entries),
        tuple(compared),
        int(used.sum()),
        int(counted.sum() - complete.sum()),
        max(0, len(order) - MAX_ENTRIES),
        ranking_variants.matrix(columns, used),
        tuple(variants),
        tuple(flips),
        n_flips,
        problem,
    )
