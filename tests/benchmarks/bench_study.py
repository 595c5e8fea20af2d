"""The analysis of a study against its budget, and the fit against the published optimiser, in one run.

    python -m tests.benchmarks.bench_study

Bradley and Terry's abilities of 27 methods from 60,000 votes by Newton's method, against 10,000 steps of Adam on the
same loss; then everything computed of 17 raters on 3,510 pairs with 18 metrics answering too. A fit cannot cost less
than reading its 27 x 27 counts and solving a few systems of 27 unknowns: about 10^5 operations. Exits with 1 where the
fit is less than 1,000 times as fast, ends at a larger gradient, or the analysis or people's figures take more than 30 s each.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from leaderboard.stats.answers import answers
from leaderboard.stats.davidson import fragile, models
from leaderboard.stats.people import people
from leaderboard.stats.preference import fit, gradient
from leaderboard.stats.study import MetricScores, analyse
from leaderboard.stats.votes import Votes

METHODS, STEPS, RATIO, BUDGET = 27, 10_000, 1000, 30.0


def wins(votes: int, seed: int = 0) -> np.ndarray:
    """Counted wins float64[27, 27] of methods whose abilities are drawn from a normal distribution."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, 1, METHODS)
    first = rng.integers(0, METHODS, votes)
    second = (first + rng.integers(1, METHODS, votes)) % METHODS
    won = rng.random(votes) < 1 / (1 + np.exp(theta[second] - theta[first]))
    found = np.zeros((METHODS, METHODS))
    np.add.at(found, (np.where(won, first, second), np.where(won, second, first)), 1)
    return found


def adam(w: np.ndarray) -> np.ndarray:
    """Abilities after 10,000 steps at a rate of 0.1, from standard normal ones, as the paper fits them."""
    theta = np.random.default_rng(0).normal(size=METHODS)
    first, second = np.zeros(METHODS), np.zeros(METHODS)
    for step in range(1, STEPS + 1):
        slope = gradient(w, theta)
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        theta = theta - 0.1 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return theta


def study(raters: int = 17, samples: int = 10, seed: int = 0) -> tuple[Votes, list[MetricScores]]:
    """17 raters on all 351 pairs of 27 methods on 10 samples, in two tastes, and 18 metrics of growing noise."""
    rng = np.random.default_rng(seed)
    names = tuple(f"m{n:02}" for n in range(METHODS))
    tastes = rng.normal(0, 1, (2, METHODS))
    a, b = np.triu_indices(METHODS, 1)
    rows = []
    for rater in range(raters):
        felt = tastes[rater % 2] + rng.normal(0, 0.5, (samples, METHODS))
        gap = felt[:, b] - felt[:, a]
        rows.append(np.where(np.abs(gap) < 0.2, 0, np.sign(gap)).astype(np.int64).ravel())
    n, pairs = raters * samples * len(a), samples * len(a)
    votes = Votes(
        tuple(f"r{k:02}" for k in range(raters)), tuple(f"s{k}" for k in range(samples)), names, ("experts",) * raters,
        np.repeat(np.arange(raters), pairs), np.tile(np.repeat(np.arange(samples), len(a)), raters),
        np.tile(a, raters * samples), np.tile(b, raters * samples), np.concatenate(rows), np.ones(n, dtype=np.int64),
        np.full(n, 3.0), np.zeros(n, dtype=bool), np.zeros(n, dtype=bool),
    )  # fmt: skip
    metrics = [MetricScores(f"metric {k}", tastes[k % 2] + rng.normal(0, 0.2 * (k + 1), (samples, METHODS))) for k in range(18)]
    return votes, metrics


def main() -> int:
    w = wins(60_000)
    start = time.perf_counter()
    slow = adam(w)
    published = time.perf_counter() - start
    times = []
    for _ in range(9):
        start = time.perf_counter()
        found = fit(w)
        times.append(time.perf_counter() - start)
    ours, theirs = (float(np.linalg.norm(gradient(w, theta))) for theta in (found.ability, slow))
    ratio = published / min(times)
    print(f"fit {1000 * min(times):.2f} ms, gradient {ours:.1e}; Adam {published:.2f} s, gradient {theirs:.1e}: {ratio:.0f} times as fast")
    votes, metrics = study()
    start = time.process_time()
    analyse(votes, metrics)
    spent = time.process_time() - start
    asked = f"{len(votes)} votes of {len(votes.raters)} raters with {len(metrics)} metrics"
    print(f"analysis of {asked}: {spent:.1f} s of one core (budget {BUDGET:.0f} s)")
    start = time.process_time()
    found = people(answers(votes), [metric.scored for metric in metrics[:12]], fragility=False)
    summed = time.process_time() - start
    start = time.process_time()
    fragile(models(answers(votes))[0])
    print(
        f"people's figures of {found.answers} answers with {len(found.metrics)} rows of metrics: {summed:.1f} s (budget {BUDGET:.0f} s); "
        f"what first place hangs on: {time.process_time() - start:.1f} s"
    )
    return 0 if ratio >= RATIO and ours <= theirs and max(spent, summed) <= BUDGET else 1


if __name__ == "__main__":
    sys.exit(main())
