"""Coverage of the figures of boards, and of those of people, by simulation, in tables.

    python -m tests.benchmarks.bench_coverage [--only boards] [--studies 200] [--raters 6 12 40] [--samples 8 24 100] [--effects 0 0.5 1]

Of boards: intervals of values, tests of pairs and boards of equal entries, see `board_coverage`; then of people, by study.

Ten entries of known worth, people with tastes of their own, samples with effects of their own, ties after Davidson; a metric
that sees the worth, half of the sample's effect, and noise. The truth is what many more people and samples would say. Printed
per cell: coverage of decided agreement and of the implied rates, how often the coin's interval holds one half, and how often
two equal metrics are told apart. Exits with 1 where a cell of the first two lies below .90 by more than two simulation errors,
or the mean below .94.
"""

from __future__ import annotations

import argparse
import math
import sys

import numpy as np

from leaderboard.stats import agreement as agreement_stats
from leaderboard.stats import davidson
from leaderboard.stats.answers import Answers
from tests.benchmarks import board_coverage

ENTRIES, NU, EACH = 10, 0.8, 60
WORTH = np.linspace(-0.75, 0.75, ENTRIES)
NOISE = 0.7
DRAWS = 40_000
A, B = np.triu_indices(ENTRIES, 1)


def effects(rng: np.random.Generator, count: int, effect: float) -> np.ndarray:
    """Effects of raters, or of samples, on each entry [count, entries]."""
    return rng.normal(0, effect / math.sqrt(2), (count, ENTRIES))


def study(rng: np.random.Generator, raters: int, samples: int, effect: float, each: int = EACH) -> tuple[Answers, np.ndarray]:
    """Answers of one study, and the effects of its samples."""
    tastes, scenes = effects(rng, raters, effect), effects(rng, samples, effect)
    questions = samples * len(A)
    asked = np.concatenate([rng.permutation(questions)[: min(each, questions)] for _ in range(raters)])
    rater = np.repeat(np.arange(raters), min(each, questions))
    sample, pair = asked // len(A), asked % len(A)
    a, b = A[pair], B[pair]
    worth = WORTH + tastes[rater] + scenes[sample]
    rows = np.arange(len(asked))
    first, tie, _ = davidson.chances(worth[rows, a] - worth[rows, b], NU)
    dice = rng.random(len(asked))
    verdict = np.where(dice < first, -1, np.where(dice < first + tie, 0, 1))
    counts = np.bincount(pair, minlength=len(A))
    names = tuple(f"{n:03}" for n in range(max(raters, samples, ENTRIES)))
    none = np.zeros(len(asked), dtype=np.int64)
    return Answers(names[:raters], names[:samples], names[:ENTRIES], rater, sample, a, b, verdict, none, 1 / counts[pair]), scenes


def metric(rng: np.random.Generator, scenes: np.ndarray) -> np.ndarray:
    """A metric's values [samples, entries]."""
    return WORTH + scenes / 2 + rng.normal(0, NOISE, scenes.shape)


def truth(effect: float) -> tuple[float, np.ndarray]:
    """(decided agreement of such a metric, the implied rates [entries]) over all raters and samples."""
    rng = np.random.default_rng(1)
    right = decided = 0.0
    prefers = np.zeros((ENTRIES, ENTRIES))
    for a, b in zip(A, B, strict=True):
        scenes = rng.normal(0, effect / math.sqrt(2), (DRAWS, 2))
        worth = WORTH[[a, b]] + scenes + rng.normal(0, effect / math.sqrt(2), (DRAWS, 2))
        seen = WORTH[[a, b]] + scenes / 2 + rng.normal(0, NOISE, (DRAWS, 2))
        first, tie, second = davidson.chances(worth[:, 0] - worth[:, 1], NU)
        right += float(np.where(seen[:, 0] > seen[:, 1], first, second).mean())
        decided += float((first + second).mean())
        prefers[a, b] = float((first + tie / 2).mean())
        prefers[b, a] = 1 - prefers[a, b]
    return right / decided, prefers.sum(axis=1) / (ENTRIES - 1)


def cell(raters: int, samples: int, effect: float, studies: int, seed: int = 0) -> dict[str, float]:
    """Shares of so many studies."""
    agreement, rates = truth(effect)
    rng = np.random.default_rng([seed, raters, samples, int(10 * effect)])
    held = {"decided": [], "implied": [], "coin": [], "apart": []}
    for _ in range(studies):
        said, scenes = study(rng, raters, samples, effect)
        found = agreement_stats.differences(said, metric(rng, scenes))
        figure = agreement_stats.decided(found)
        held["decided"].append(figure.low <= agreement <= figure.high)
        column = davidson.implied(davidson.models(said)[0])
        held["implied"].append(((column.low <= rates) & (rates <= column.high)).mean())
        coin = agreement_stats.decided(agreement_stats.differences(said, rng.integers(0, 2, scenes.shape).astype(float)))
        held["coin"].append(coin.low <= 0.5 <= coin.high)
        other = agreement_stats.differences(said, metric(rng, scenes))
        held["apart"].append(agreement_stats.compared(found, other, ("one", "other")).p <= 0.05)
    return {name: float(np.mean(values)) for name, values in held.items()}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.bench_coverage", description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=60)
    parser.add_argument("--raters", type=int, nargs="*", default=[6, 12, 40])
    parser.add_argument("--samples", type=int, nargs="*", default=[8, 24, 100])
    parser.add_argument("--effects", type=float, nargs="*", default=[0.0, 0.5, 1.0])
    parser.add_argument("--only", choices=("boards", "people"), help="only the tables of these")
    options = parser.parse_args()
    boards_hold = options.only == "people" or board_coverage.tables()
    if options.only == "boards":
        return int(not boards_hold)
    print(f"{'raters':>6} {'samples':>7} {'effect':>6} {'decided':>8} {'implied':>8} {'coin':>6} {'apart':>6}", flush=True)
    rows = []
    for raters in options.raters:
        for samples in options.samples:
            for effect in options.effects:
                found = cell(raters, samples, effect, options.studies)
                rows.append(found)
                shares = f"{found['decided']:8.3f} {found['implied']:8.3f} {found['coin']:6.3f} {found['apart']:6.3f}"
                print(f"{raters:6} {samples:7} {effect:6.1f} {shares}", flush=True)
    means = {name: float(np.mean([row[name] for row in rows])) for name in ("decided", "implied", "coin", "apart")}
    print(f"{'mean':>21} {means['decided']:8.3f} {means['implied']:8.3f} {means['coin']:6.3f} {means['apart']:6.3f}")
    error = math.sqrt(0.9 * 0.1 / options.studies)
    low = min(min(row["decided"], row["implied"]) for row in rows)
    return int(not boards_hold or low < 0.9 - 2 * error or min(means["decided"], means["implied"]) < 0.94)


if __name__ == "__main__":
    sys.exit(main())
