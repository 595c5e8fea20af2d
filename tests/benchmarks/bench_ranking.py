"""Rank intervals and tie groups of a large board, against pandas and scipy, in one run and one thread.

    python -m tests.benchmarks.bench_ranking

Floors: rank intervals at least 2.5 times as fast as pandas resample by resample and 1.3 times as fast
as scipy's rankdata over all resamples at once; tie groups at least 10 times as fast as scipy's
bootstrap pair by pair. All give the same answer, which is checked. Exits with 1 below a floor.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

# One thread each, set before numpy loads: the comparison is of the work, not of who finds a free core.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
from scipy import stats

from evaluation.metrics.aggregation import bootstrap_indices
from leaderboard.stats.uncertainty import rank_intervals, resample_counts, tie_groups

ENTRIES, GROUPS, RESAMPLES, ROUNDS = 5000, 43, 1000, 3
TIED_ENTRIES = 1000
PANDAS_FLOOR, SCIPY_FLOOR, TIES_FLOOR = 2.5, 1.3, 10.0

Intervals = list[tuple[int, int]]


def board(entries: int) -> np.ndarray:
    """A made-up metric, float64[entries, groups], with as much overlap as real boards have."""
    generator = np.random.Generator(np.random.PCG64(0))
    return np.linspace(0, 1, entries)[:, None] + 0.2 * generator.standard_normal((entries, GROUPS))


def by_pandas(matrix: np.ndarray) -> Intervals:
    frame = pd.DataFrame(matrix)
    ranks = [frame[row].mean(axis=1).rank(method="min", ascending=False) for row in bootstrap_indices(GROUPS, RESAMPLES, 0)]
    return _intervals(np.array(ranks))


def by_scipy(matrix: np.ndarray) -> Intervals:
    means = resample_counts(GROUPS, RESAMPLES, 0) @ matrix.T / GROUPS
    return _intervals(stats.rankdata(-means, method="min", axis=1))


def ties_by_scipy(matrix: np.ndarray, values: list[float]) -> list[int]:
    groups, group, first = [0] * len(values), 0, -1
    for index in np.argsort(-np.array(values), kind="stable"):
        if first >= 0:
            difference = matrix[first] - matrix[index]
            drawn = stats.bootstrap((difference,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=np.random.default_rng(0))
        if first < 0 or drawn.confidence_interval.low > 0:
            group, first = group + 1, int(index)
        groups[index] = group
    return groups


def _intervals(ranks: np.ndarray) -> Intervals:
    low = np.percentile(ranks, 2.5, axis=0, method="lower")
    high = np.percentile(ranks, 97.5, axis=0, method="higher")
    return [(int(a), int(b)) for a, b in zip(low, high, strict=True)]


def timed(*works: Callable[[], Any]) -> list[tuple[float, Any]]:
    """Processor seconds of the fastest of several runs, and the result, for each; taken in turns, so
    that a busy machine slows all alike."""
    best, results = [float("inf")] * len(works), [None] * len(works)
    for _ in range(ROUNDS):
        for index, work in enumerate(works):
            start = time.process_time()
            results[index] = work()
            best[index] = min(best[index], time.process_time() - start)
    return list(zip(best, results, strict=True))


def line(what: str, ours: float, peer: float, floor: float) -> bool:
    ratio = peer / ours
    held = ratio >= floor
    print(f"{what}: {ours:.2f} s against {peer:.2f} s, {ratio:.1f} times as fast (floor {floor:g}): {'ok' if held else 'TOO SLOW'}")
    return held


def main() -> int:
    matrix = board(ENTRIES)
    (seconds, ours), (scipy_seconds, scipys), (pandas_seconds, pandas_) = timed(
        lambda: rank_intervals(matrix, True, RESAMPLES), lambda: by_scipy(matrix), lambda: by_pandas(matrix)
    )
    same = ours == scipys == pandas_

    small = matrix[:: ENTRIES // TIED_ENTRIES]
    values = small.mean(axis=1).tolist()
    (tie_seconds, groups), (peer_seconds, peers) = timed(
        lambda: tie_groups(small, values, True, resamples=RESAMPLES), lambda: ties_by_scipy(small, values)
    )
    same = same and groups == peers

    size = f"{ENTRIES} entries, {GROUPS} groups, {RESAMPLES} resamples"
    held = [
        line(f"rank intervals against pandas ({size})", seconds, pandas_seconds, PANDAS_FLOOR),
        line(f"rank intervals against scipy ({size})", seconds, scipy_seconds, SCIPY_FLOOR),
        line(f"tie groups against scipy ({TIED_ENTRIES} entries, {max(groups)} groups found)", tie_seconds, peer_seconds, TIES_FLOOR),
    ]
    print("same answers" if same else "DIFFERENT ANSWERS")
    return 0 if same and all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
