"""Coverage of a board's figures, by simulation: intervals of values, tests of pairs, boards of equal entries.

`bench_coverage` prints the tables; a short version runs in the tests. Each kind of values has a known mean. Rare failures and
heavy tails are the hard ones: what is in none of a few items is in no interval of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import stats

from leaderboard.stats.uncertainty import ALPHA, adjusted, mean_interval, paired

Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
Bounds = tuple[float | None, float | None]

SIZES = (6, 8, 12, 24, 43, 100)
UNIT: Bounds = (0.0, 1.0)
# By name: draws, their mean, the bounds of such a metric, and the least coverage that 95 % may mean.
VALUES: dict[str, tuple[Draw, float, Bounds, float]] = {
    "normal": (lambda rng, shape: rng.normal(size=shape), 0.0, (None, None), 0.94),
    "groups of 1 to 12 items": (lambda rng, shape: rng.normal(size=shape) / np.sqrt(rng.integers(1, 13, shape)), 0.0, (None, None), 0.93),
    "six steps, ties": (lambda rng, shape: rng.binomial(5, 0.7, shape) / 5, 0.7, UNIT, 0.94),
    "F1 near 1, beta 8, 1.2": (lambda rng, shape: rng.beta(8, 1.2, shape), 8 / 9.2, UNIT, 0.93),
    "0 or 1, mostly, beta ½, ½": (lambda rng, shape: rng.beta(0.5, 0.5, shape), 0.5, UNIT, 0.94),
    "distances, gamma 2": (lambda rng, shape: rng.gamma(2, size=shape), 2.0, (0.0, None), 0.93),
    "15 % zeros, else beta 5, 2": (lambda rng, shape: (rng.random(shape) >= 0.15) * rng.beta(5, 2, shape), 0.85 * 5 / 7, UNIT, 0.9),
    "15 % zeros, else near 1": (lambda rng, shape: (rng.random(shape) >= 0.15) * rng.beta(8, 1.2, shape), 0.85 * 8 / 9.2, UNIT, 0.82),
    "80 % exactly 1": (lambda rng, shape: np.where(rng.random(shape) < 0.8, 1.0, rng.random(shape)), 0.9, UNIT, 0.94),
    "lognormal": (lambda rng, shape: rng.lognormal(size=shape), math.exp(0.5), (0.0, None), 0.86),
}
# Differences of two equal entries, and the largest share of them that a test at 5 % may tell apart.
DIFFERENCES: dict[str, tuple[Draw, float]] = {
    "normal": (lambda rng, shape: rng.normal(size=shape), 0.05),
    "t, 3 degrees": (lambda rng, shape: rng.standard_t(3, shape), 0.05),
    "beta less beta": (lambda rng, shape: rng.beta(8, 1.2, shape) - rng.beta(8, 1.2, shape), 0.05),
    "gamma, skewed": (lambda rng, shape: rng.gamma(2, size=shape) - 2, 0.08),
}
BOARDS = ("normal", "F1 near 1, beta 8, 1.2", "15 % zeros, else near 1", "lognormal")
SPLIT = 0.065  # the largest share of boards of equal entries that may be split


def coverage(kind: str, n: int, draws: int, seed: int = 0) -> tuple[float, float, float]:
    """(coverage, that of Student's t, mean width over that of t's) of the interval of a mean over n groups. Draws all whose values
    are equal have no interval, claim nothing, and count as covered by both."""
    draw, mean, bounds, _ = VALUES[kind]
    x = draw(np.random.default_rng([seed, n]), (draws, n)).astype(np.float64)
    found = mean_interval(x, bounds)
    half = stats.t.ppf(0.975, n - 1) * x.std(axis=1, ddof=1) / math.sqrt(n)
    none = np.isnan(found.low)
    held = none | ((found.low <= mean) & (mean <= found.high))
    plain = none | (np.abs(x.mean(axis=1) - mean) <= half)
    unclipped = mean_interval(x[~none])
    return float(held.mean()), float(plain.mean()), float((unclipped.high - unclipped.low).mean() / (2 * half[~none]).mean())


def told_apart(kind: str, n: int, draws: int, seed: int = 0) -> float:
    """Share of pairs of equal entries over n groups that the paired test tells apart."""
    differences = DIFFERENCES[kind][0](np.random.default_rng([seed, n]), (draws, n))
    return float(np.mean([(paired(row.tolist(), [0.0] * n).p_value or 0.0) <= ALPHA for row in differences]))


def split(kind: str, entries: int, n: int, draws: int, seed: int = 0) -> float:
    """Share of boards of equal entries over n groups on which any pair is told apart; groups differ as much as entries do in them."""
    rng = np.random.default_rng([seed, n, entries])
    boards = VALUES[kind][0](rng, (draws, entries, n)) + rng.normal(size=(draws, 1, n))
    return float(np.mean([(adjusted(board) <= ALPHA).any() for board in boards]))


def tables(draws: int = 6000, tests: int = 400) -> bool:
    """Print all of it; whether every cell is within what it may be, three simulation errors allowed."""
    held = True

    def mark(share: float, limit: float, count: int, at_least: bool) -> str:
        nonlocal held
        error = 3 * math.sqrt(limit * (1 - limit) / count)
        good = share >= limit - error if at_least else share <= limit + error
        held &= good
        return " " if good else "!"

    print(f"Intervals of values: coverage / that of t (width over that of t), {draws} draws each")
    print(f"{'':26}" + "".join(f"{f'n = {n}':>22}" for n in SIZES))
    for kind, (*_, least) in VALUES.items():
        cells = [coverage(kind, n, draws) for n in SIZES]
        print(f"{kind:26}" + "".join(f"{f'{a:.3f} / {b:.3f} ({w:.2f})':>21}{mark(a, least, draws, True)}" for a, b, w in cells), flush=True)
    print(f"\nTwo equal entries told apart at 5 %, {tests} pairs each")
    for kind, (_, most) in DIFFERENCES.items():
        shares = [told_apart(kind, n, tests) for n in SIZES[:4]]
        print(f"{kind:26}" + "".join(f"{share:21.3f}{mark(share, most, tests, False)}" for share in shares), flush=True)
    for entries in (10, 30):
        print(f"\nBoards of {entries} equal entries split, {tests} boards each")
        for kind in BOARDS:
            shares = [split(kind, entries, n, tests) for n in SIZES[:4]]
            print(f"{kind:26}" + "".join(f"{share:21.3f}{mark(share, SPLIT, tests, False)}" for share in shares), flush=True)
    print()
    return held
