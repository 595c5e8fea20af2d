"""The figures of a large board, against the percentile bootstrap that boards were made by before, in one run and one thread.

    python -m tests.benchmarks.bench_ranking

Of 5,000 entries, 12 metrics and 100 groups: intervals of values, brackets, rank intervals, leads and the overall order by mean
rank. Floor: at most twice the time of the earlier rule on the same values (400 resamples of ranks, 1,000 of differences; overall
1,000 of the first 200). Checked as well: the brackets of a small board are those of a loop over patterns and pairs. Exits with 1
above the floor, or where the answers differ.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

# One thread each, set before numpy loads: the comparison is of the work, not of who finds a free core.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from leaderboard.stats.overall import overall_brackets
from leaderboard.stats.uncertainty import adjusted, brackets, leads, mean_interval

ENTRIES, METRICS, GROUPS, ROUNDS = 5000, 12, 100, 3
FLOOR = 2.0
RANK_RESAMPLES, RESAMPLES, TOP = 400, 1000, 200

Matrices = list[np.ndarray]


def board(entries: int, metrics: int, groups: int) -> Matrices:
    """Simulated metrics, each float64[entries, groups], with as much overlap as real boards have."""
    rng = np.random.Generator(np.random.PCG64(0))
    level = np.linspace(0, 1, entries)[:, None]
    return [level + 0.1 * rng.standard_normal((entries, 1)) + 0.2 * rng.standard_normal((entries, groups)) for _ in range(metrics)]


def now(matrices: Matrices) -> dict[str, float]:
    """Processor seconds of each part of a board, as it is made."""
    found, scores = {}, [matrix.mean(axis=1).tolist() for matrix in matrices]
    parts: dict[str, Callable[[], Any]] = {
        "intervals": lambda: [mean_interval(matrix) for matrix in matrices],
        "brackets and rank intervals": lambda: [brackets(matrix, True, own) for matrix, own in zip(matrices, scores, strict=True)],
        "leads": lambda: [leads(matrix) for matrix in matrices],
        "overall order": lambda: overall_brackets("mean_rank", np.stack(matrices), [True] * len(matrices), scores=scores),
    }
    for name, part in parts.items():
        start = time.process_time()
        part()
        found[name] = time.process_time() - start
    return found


def before(matrices: Matrices) -> dict[str, float]:
    """The same of the earlier rule: every entry's rank in resamples of the groups, brackets by the paired bootstrap against the
    first of each, and the mean rank of the first entries in resamples. Its intervals of values were made as entries were scored."""
    few, many = (resampled(GROUPS, count) for count in (RANK_RESAMPLES, RESAMPLES))
    found, start = {}, time.process_time()
    for matrix in matrices:
        drawn = ranks(few @ matrix.T)
        np.sort(drawn.T, axis=1)[:, [int(0.025 * RANK_RESAMPLES), int(0.975 * RANK_RESAMPLES)]]
    found["rank intervals"], start = time.process_time() - start, time.process_time()
    for matrix in matrices:
        groups_of(matrix[np.argsort(-matrix.mean(axis=1))], many)
    found["brackets"], start = time.process_time() - start, time.process_time()
    first = np.argsort(-np.mean([matrix.mean(axis=1) for matrix in matrices], axis=0))[:TOP]
    points = np.mean([ranks(many @ matrix[first].T) for matrix in matrices], axis=0)
    np.quantile(points, (0.025, 0.975), axis=0)
    found["overall order"] = time.process_time() - start
    return found


def resampled(groups: int, count: int) -> np.ndarray:
    """Number of times that each group is drawn in each resample: float64[count, groups]."""
    drawn = np.random.Generator(np.random.PCG64(0)).integers(0, groups, size=(count, groups))
    flat = drawn + groups * np.arange(count)[:, None]
    return np.bincount(flat.ravel(), minlength=count * groups).reshape(count, groups).astype(np.float64)


def ranks(points: np.ndarray) -> np.ndarray:
    """int32[resamples, entries] from 1, the highest first."""
    found, order = np.empty(points.shape, np.int32), np.argsort(-points, axis=1)
    np.put_along_axis(found, order, np.broadcast_to(np.arange(1, points.shape[1] + 1, dtype=np.int32), points.shape), axis=1)
    return found


def groups_of(ordered: np.ndarray, counts: np.ndarray) -> list[int]:
    """First entry of each bracket by the earlier rule, looking ahead by 1, 2, 4, ... entries."""
    found, first = [], 0
    while first < len(ordered):
        found.append(first)
        start, ahead = first + 1, 1
        while start < len(ordered):
            means = counts @ (ordered[first] - ordered[start : start + ahead]).T
            low, high = np.quantile(means, (0.025, 0.975), axis=0)
            apart = (low > 0) | (high < 0)
            if apart.any():
                start += int(np.argmax(apart))
                break
            start, ahead = min(start + ahead, len(ordered)), 2 * ahead
        first = start
    return found


def plainly(x: np.ndarray) -> np.ndarray:
    """`adjusted` by a loop over all patterns and pairs, for a few groups."""
    n = x.shape[1]
    pairs = list(combinations(range(len(x)), 2))
    d = np.array([x[i] - x[j] for i, j in pairs])
    scale = np.sqrt((d**2).sum(axis=1))
    order = np.argsort(np.abs(d.sum(axis=1)) / scale, kind="stable")
    seen, hits = np.abs(d.sum(axis=1))[order] / scale[order], np.zeros(len(pairs))
    for number in range(2 ** (n - 1)):
        signs = np.array([-1.0 if number >> bit & 1 else 1.0 for bit in range(n)])
        hits += np.maximum.accumulate(np.abs(d[order] @ signs) / scale[order]) >= seen - 1e-9
    p = np.maximum.accumulate((hits / 2 ** (n - 1))[::-1])[::-1]
    found = np.eye(len(x))
    for place, value in zip(order, p, strict=True):
        found[pairs[place]] = found[pairs[place][::-1]] = value
    return found


def main() -> int:
    matrices = board(ENTRIES, METRICS, GROUPS)
    runs = [(now(matrices), before(matrices)) for _ in range(ROUNDS)]  # in turns, so that a busy machine slows both alike
    ours, theirs = (min((run[side] for run in runs), key=lambda parts: sum(parts.values())) for side in (0, 1))
    print(f"{ENTRIES} entries, {METRICS} metrics, {GROUPS} groups, processor seconds in one thread, the best of {ROUNDS}")
    for title, parts in (("now", ours), ("before", theirs)):
        print(f"{title:>6}: {sum(parts.values()):.2f} s ({', '.join(f'{name} {seconds:.2f}' for name, seconds in parts.items())})")
    ratio = sum(ours.values()) / sum(theirs.values())
    held = ratio <= FLOOR
    print(f"{ratio:.2f} times the earlier time (floor {FLOOR:g}): {'ok' if held else 'TOO SLOW'}")
    small = board(8, 1, 9)[0]
    same = bool(np.allclose(adjusted(small), plainly(small), atol=1e-12))
    print("same answers as the plain loop" if same else "DIFFERENT ANSWERS")
    return 0 if held and same else 1


if __name__ == "__main__":
    sys.exit(main())
