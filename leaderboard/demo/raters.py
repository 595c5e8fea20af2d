"""Simulated raters for the demo: they answer by the strength of the damage that was done to an entry, and by no metric.

How bad an entry looks on an item is the strength of its damage, times how much a group of raters minds that kind of damage, times
how much the damage shows on that item. The last is drawn, and is the same for all raters: people then agree on something that no
metric computes. A rater adds noise of their own. Pairs that feel alike, and most pairs of two bad ones, are called equal. Some pairs
come again, as in a real study.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from leaderboard.demo.story import Damage, Taste
from leaderboard.stats.votes import Vote

SAMPLES = 12
SHOWS = 0.45  # standard deviation of the logarithm of how much a damage shows on an item
NOISE, ALIKE, BAD = 0.05, 0.04, 0.25  # of the range between the worst and the best
REPEATS = 0.05
SEED = 20260711


def quality(
    damages: Mapping[str, Damage], samples: list[str], missing: Collection[tuple[str, str]], minds: Mapping[str, float], seed: int = SEED
) -> np.ndarray:
    """float64[methods, samples]: how good each method's item looks to raters who mind kinds of damage so much; 1 the best, 0 the worst.

    A pair of method and sample in `missing` is the worst. Fixed by the seed, and so is what all raters see alike.
    """
    shows = np.exp(np.random.default_rng(seed).normal(0, SHOWS, (len(damages), len(samples))))
    bad = np.array([minds.get(damage.kind, 1.0) * damage.strength for damage in damages.values()])[:, None] * shows
    bad[np.array([[(method, sample) in missing for sample in samples] for method in damages])] = bad.max()
    return (bad.max() - bad) / (np.ptp(bad) or 1.0)


def simulated_votes(
    damages: Mapping[str, Damage],
    samples: list[str],
    missing: Collection[tuple[str, str]],
    tastes: tuple[Taste, ...],
    criterion: str = "",
    seed: int = SEED,
) -> list[Vote]:
    """Votes of every rater on every pair of methods, from their damages by method, on the first samples. Fixed by the seed."""
    rng = np.random.default_rng(seed + 1)  # not the stream that draws what shows
    methods, samples = list(damages), samples[:SAMPLES]
    pairs = [(i, j) for i in range(len(methods)) for j in range(i)]
    votes: list[Vote] = []
    number = 0
    for taste in tastes:
        seen = quality(damages, samples, missing, taste.minds, seed)
        for _ in range(taste.raters):
            number += 1
            own: list[Vote] = []
            for h, sample in enumerate(samples):
                felt = seen[:, h] + rng.normal(0, NOISE, len(methods))
                for i, j in pairs:
                    left, right = (i, j) if rng.random() < 0.5 else (j, i)
                    difference = float(felt[left] - felt[right])
                    equal = abs(difference) < ALIKE or (max(felt[left], felt[right]) < BAD and rng.random() < 0.7)
                    choice = "tie" if equal else "left" if difference > 0 else "right"
                    seconds = round(float(rng.lognormal(1.3 + (0.4 if equal else 0.0), 0.5)), 1)
                    own.append(Vote(f"rater {number:02}", methods[left], methods[right], choice, sample, taste.group, seconds=seconds))
            votes += own
            for n in np.flatnonzero(rng.random(len(own)) < REPEATS).tolist():  # the same pair once more, its sides turned
                vote = own[n]
                choice = {"left": "right", "right": "left", "tie": "tie"}[vote.choice]
                if rng.random() < 0.1:  # mostly the same verdict
                    choice = "tie" if vote.choice != "tie" else "left"
                votes.append(replace(vote, left=vote.right, right=vote.left, choice=choice, repeat_of=str(n + 1), swapped="1"))
    return [replace(vote, criterion=criterion) for vote in votes]
