"""What a board's payload says of its metrics' agreement and of other orders: for the page and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leaderboard.boards import build
from leaderboard.models import Snapshot, decode
from leaderboard.stats import ranking_variants
from leaderboard.stats.ranking import Column
from leaderboard.stats.ranking_variants import Flip, Matrix, Way

MOST_ENTRIES = 1000  # of the board's order; beyond that pairs take longer than a page may
MOST_FLIPS = 40
_KEPT = 32  # boards whose answer is kept in a process


@dataclass(frozen=True)
class Agreement:
    """``metrics`` and ``entries`` are the payload's, less metrics without any value; indices in the rest refer to them.

    ``n`` entries are compared; ``incomplete`` lack a value and ``beyond`` stand too far down to be compared.
    """

    metrics: tuple[dict[str, Any], ...]
    entries: tuple[dict[str, Any], ...]
    order: tuple[int, ...]
    n: int
    incomplete: int
    beyond: int
    matrix: Matrix
    ways: tuple[Way, ...]
    flips: tuple[Flip, ...]
    n_flips: int
    problem: str = ""

    @property
    def n_pairs(self) -> int:
        return self.n * (self.n - 1) // 2

    @property
    def step(self) -> float:
        """By how much one swapped pair moves tau."""
        return 2 / self.n_pairs if self.n_pairs else 0.0


def of_snapshot(snapshot: Snapshot) -> Agreement:
    """The agreement on a ranking, less what is withheld from it."""
    return _kept(snapshot.pk, snapshot.digest, snapshot.withheld)


@lru_cache(maxsize=_KEPT)
def _kept(pk: int, digest: str, withheld: frozenset[int]) -> Agreement:
    # A ranking never changes, so neither does the answer.
    return of(build.withheld(decode(pk, digest), withheld))


def of(content: dict[str, Any]) -> Agreement:
    """The agreement on a payload's counted entries with a value in every metric."""
    entries, overall = content["entries"], content["overall"]
    metrics = [metric for metric in content["metrics"] if any(value is not None for value in metric["value"])]
    titles = _titles(metrics)
    columns = [_column(metric) for metric in metrics]
    counted = np.array([entry["counted"] for entry in entries], bool)
    whole = ranking_variants.complete(columns, counted) if columns else np.zeros(len(entries), bool)
    order = [index for index in overall["order"] if whole[index]]
    used = np.zeros(len(entries), bool)
    used[order[:MOST_ENTRIES]] = True
    ways, flips, n_flips, problem = _orders(content, columns, used, titles)
    return Agreement(
        tuple(metric | {"title": title} for metric, title in zip(metrics, titles, strict=True)), tuple(entries),
        _by_board(order, used, ways), int(used.sum()), int(counted.sum() - whole.sum()), max(0, len(order) - MOST_ENTRIES),
        ranking_variants.matrix(columns, used), tuple(ways), tuple(flips), n_flips, problem,
    )  # fmt: skip


def _column(metric: dict[str, Any]) -> Column:
    return Column(metric["slug"], metric["value"], metric["higher_is_better"], metric["weight"], metric["is_primary"])


def _titles(metrics: list[dict[str, Any]]) -> list[str]:
    """Titles, with the slug where two columns have the same one."""
    titles = [metric["title"] for metric in metrics]
    return [f"{title} ({m['slug']})" if titles.count(title) > 1 else title for title, m in zip(titles, metrics, strict=True)]


def _orders(
    content: dict[str, Any], columns: list[Column], used: NDArray[np.bool_], titles: list[str]
) -> tuple[list[Way], list[Flip], int, str]:
    """The ways to rank and the pairs they turn round; a board without an overall order has none."""
    overall = content["overall"]
    known = {column.slug for column in columns}
    if overall["problem"] or not overall["metrics"] or not set(overall["metrics"]) <= known:
        return [], [], 0, overall["problem"] or "a metric of the board's rule has no values yet"
    ways = ranking_variants.ways(overall["rule"], columns, overall["metrics"], used, titles)
    flips, n_flips = ranking_variants.flips(ways, MOST_FLIPS)
    return ways, flips, n_flips, ""


def _by_board(order: list[int], used: NDArray[np.bool_], ways: list[Way]) -> tuple[int, ...]:
    """The compared entries in the board's order."""
    kept = [index for index in order if used[index]]
    return tuple(sorted(kept, key=lambda index: ways[0].ranks[index] or 0)) if ways else tuple(kept)
