"""The analysis of a study against its budget, and the fit against the published optimiser, in one run.

    PLUMBLINE_DATA=FOLDER python -m tests.benchmarks.bench_study

Bradley and Terry's abilities of 27 methods from 60,000 votes by Newton's method, against 10,000 steps of Adam on the
same loss; then what the service computes of a study: all figures of 17 raters on 3,510 comparisons (59,670 votes) with 12 metrics,
and what is said of metrics and entries by 9,000 answers of 124 raters on 59 entries with 6 metrics, one of which contradicts people
wherever it can; and the command on 8,931 real votes, where FOLDER holds `votes/llmfao.csv`, from start to end. A fit cannot cost less
than reading its 27 x 27 counts and solving a few systems of 27 unknowns: about 10^5 operations. Each line says which share of its
budget was used. Exits with 1 where the fit is less than 300 times as fast (483 to 1,065 were measured, by machine), ends at a larger
gradient, or seconds of the processor exceed their budget: 10 for the large study, 6 for the summary of the other, 8 for the real votes.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from leaderboard.stats import subsample_stability
from leaderboard.stats.answers import answers
from leaderboard.stats.people import People
from leaderboard.stats.preference import fit, gradient
from leaderboard.stats.study import MetricScores, analyse
from leaderboard.stats.votes import Votes
from tests.benchmarks.timing import shortest

METHODS, STEPS, RATIO = 27, 10_000, 300
LARGE, SUMMARY, REAL = 10.0, 6.0, 8.0  # seconds of the processor
COLUMNS = ["--column", "choice=winner", "--column", "rater=worker", "--column", "sample=prompt"]


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


def large(raters: int = 17, samples: int = 10, seed: int = 0) -> tuple[Votes, list[MetricScores]]:
    """17 raters on all 351 pairs of 27 methods on 10 samples, in two tastes, and 12 metrics of growing noise."""
    rng = np.random.default_rng(seed)
    tastes = rng.normal(0, 1, (2, METHODS))
    a, b = np.triu_indices(METHODS, 1)
    rows = []
    for rater in range(raters):
        felt = tastes[rater % 2] + rng.normal(0, 0.5, (samples, METHODS))
        gap = felt[:, b] - felt[:, a]
        rows.append(np.where(np.abs(gap) < 0.2, 0, np.sign(gap)).astype(np.int64).ravel())
    pairs = samples * len(a)
    votes = _votes(
        np.repeat(np.arange(raters), pairs),
        np.tile(np.repeat(np.arange(samples), len(a)), raters),
        np.tile(a, raters * samples),
        np.tile(b, raters * samples),
        np.concatenate(rows),
    )
    return votes, [MetricScores(f"metric {k}", tastes[k % 2] + rng.normal(0, 0.2 * (k + 1), (samples, METHODS))) for k in range(12)]


def wide(raters: int = 124, samples: int = 13, entries: int = 59, answers: int = 9000, seed: int = 0) -> tuple[Votes, list[MetricScores]]:
    """Answers spread over many pairs, 39 in 100 of them ties, and 6 metrics, the last of which is people's order turned round."""
    rng = np.random.default_rng(seed)
    worth = np.linspace(-1.5, 1.5, entries)
    a = rng.integers(0, entries, answers)
    b = (a + rng.integers(1, entries, answers)) % entries
    a, b = np.minimum(a, b), np.maximum(a, b)
    verdict = np.where(rng.random(answers) < 1 / (1 + np.exp(worth[a] - worth[b])), 1, -1)
    verdict[rng.random(answers) < 0.39] = 0
    votes = _votes(rng.integers(0, raters, answers), rng.integers(0, samples, answers), a, b, verdict)
    metrics = [MetricScores(f"metric {k}", worth + rng.normal(0, 0.5 * (k + 1), (samples, entries))) for k in range(5)]
    return votes, [*metrics, MetricScores("against", rng.normal(0, 0.1, (samples, entries)) - worth)]


def _votes(rater: np.ndarray, sample: np.ndarray, a: np.ndarray, b: np.ndarray, verdict: np.ndarray) -> Votes:
    n, raters, samples, methods = len(a), int(rater.max()) + 1, int(sample.max()) + 1, int(max(a.max(), b.max())) + 1
    return Votes(
        tuple(f"r{k:03}" for k in range(raters)),
        tuple(f"s{k:02}" for k in range(samples)),
        tuple(f"m{k:02}" for k in range(methods)),
        ("experts",) * raters,
        rater,
        sample,
        a,
        b,
        verdict,
        np.ones(n, dtype=np.int64),
        np.full(n, 3.0),
        np.zeros(n, dtype=bool),
        np.zeros(n, dtype=bool),
    )


def seconds(votes: Votes, metrics: list[MetricScores]) -> dict[str, float]:
    """Seconds of the processor of the analysis with all its figures, and of its parts: how the order holds with less, and what the answers
    say, without and with what first place hangs on."""
    found = {}
    start = time.process_time()
    analyse(votes, metrics, damaged=set())
    found["analysis"] = time.process_time() - start
    start = time.process_time()
    subsample_stability.curves(votes)
    found["adequacy"] = time.process_time() - start
    for name, fragility in (("summary", False), ("summary with fragility", True)):
        start = time.process_time()
        _ = People(answers(votes), [metric.scored for metric in metrics], fragility=fragility).entries
        found[name] = time.process_time() - start
    print(
        f"{len(votes)} answers on {len(votes.methods)} entries, {len(metrics)} metrics: "
        + ", ".join(f"{name} {value:.1f} s" for name, value in found.items())
    )
    return found


def command(path: Path) -> float:
    """Seconds of the processor of the command that analyses a file of votes, its start and its JSON included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "leaderboard.stats", path, *COLUMNS, "--json"], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    w = wins(60_000)
    once, slow = shortest({"Adam": lambda: adam(w)}, 1)
    times, found = shortest({"fit": lambda: fit(w)}, 9)
    ours, theirs = (float(np.linalg.norm(gradient(w, theta))) for theta in (found["fit"].ability, slow["Adam"]))
    ratio = once["Adam"] / times["fit"]
    print(f"fit {1000 * times['fit']:.2f} ms, gradient {ours:.1e}; Adam {once['Adam']:.2f} s, gradient {theirs:.1e}")
    print(f"the fit is {ratio:.0f} times as fast (floor {RATIO})")
    spent = {
        "the large study": (seconds(*large())["analysis"], LARGE),
        "the summary of the wide one": (seconds(*wide())["summary"], SUMMARY),
    }
    if (votes := Path(os.environ.get("PLUMBLINE_DATA", "")) / "votes" / "llmfao.csv").is_file():
        spent["the command on real votes"] = command(votes), REAL
    for name, (used, budget) in spent.items():
        print(f"{name}: {used:.1f} s, {used / budget:.2f} of its budget (floor {budget:.0f} s)")
    in_time = all(used <= budget for used, budget in spent.values())
    return 0 if ratio >= RATIO and ours <= theirs and in_time else 1


if __name__ == "__main__":
    sys.exit(main())
