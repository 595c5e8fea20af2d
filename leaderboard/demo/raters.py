"""Made-up raters for the demo: two tastes, some noise, ties between bad ones. Everything they say is invented.

Half of them look at the corners of a roof, the other half at how far its edges run astray. What a
rater feels of an entry on a house is that value of it plus noise of their own; pairs that feel
alike, and most pairs of two bad ones, are called equal. Some pairs come again, as in a real study.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from leaderboard.stats.votes import Vote


@dataclass(frozen=True)
class Taste:
    """A group of raters: how many, and the metrics (by slug) that they feel, each over its own spread, with their weights."""

    group: str
    raters: int
    weights: Mapping[str, float]


TASTES = (Taste("corners", 6, {"corner_f1": 1.0}), Taste("edges", 6, {"ecd_chamfer": -0.6, "edge_f1": 0.4}))
SAMPLES = 8
NOISE, ALIKE, BAD = 0.10, 0.06, 0.25
REPEATS = 0.05
SEED = 20260711


def made_up_votes(
    values: Mapping[str, np.ndarray],
    methods: list[str],
    samples: list[str],
    tastes: tuple[Taste, ...] = TASTES,
    criterion: str = "",
    seed: int = SEED,
) -> list[Vote]:
    """Every rater on every pair of methods on the first samples; `values` are float64[methods, samples] by metric slug.

    Fixed by the seed. A value that is missing is the worst there is.
    """
    rng = np.random.default_rng(seed)
    votes: list[Vote] = []
    number = 0
    for taste in tastes:
        liking = liked(values, taste.weights)
        spread = np.ptp(liking) or 1.0
        for _ in range(taste.raters):
            number += 1
            own: list[Vote] = []
            for h, sample in enumerate(samples[:SAMPLES]):
                felt = (liking[:, h] - liking.min()) / spread + rng.normal(0, NOISE, len(methods))
                for i in range(len(methods)):
                    own += [_vote(f"rater {number:02}", taste.group, sample, methods, felt, i, j, rng) for j in range(i)]
            votes += own
            for n in np.flatnonzero(rng.random(len(own)) < REPEATS).tolist():  # the same pair once more, its sides turned
                vote, choice = own[n], _turned(own[n].choice, rng)
                votes.append(replace(vote, left=vote.right, right=vote.left, choice=choice, repeat_of=str(n + 1), swapped="1"))
    return [replace(vote, criterion=criterion) for vote in votes]


def liked(values: Mapping[str, np.ndarray], weights: Mapping[str, float]) -> np.ndarray:
    """float64[methods, samples]: how good each entry is to somebody who feels these metrics, by slug, the more the better."""
    return np.asarray(sum(weight * _placed(values[slug], weight) for slug, weight in weights.items()))


def _placed(values: np.ndarray, weight: float) -> np.ndarray:
    """Places from 0 to 1 among all values: one that is far out, as distances may be, must not make the others alike.

    A missing value is at the end that the weight dislikes.
    """
    known = np.nan_to_num(values, nan=-np.inf if weight > 0 else np.inf)
    return known.ravel().argsort(kind="stable").argsort(kind="stable").reshape(values.shape) / (values.size - 1)


def _vote(rater: str, group: str, sample: str, methods: list[str], felt: np.ndarray, i: int, j: int, rng: np.random.Generator) -> Vote:
    left, right = (i, j) if rng.random() < 0.5 else (j, i)
    gap = float(felt[left] - felt[right])
    equal = abs(gap) < ALIKE or (max(felt[left], felt[right]) < BAD and rng.random() < 0.7)
    choice = "tie" if equal else "left" if gap > 0 else "right"
    seconds = round(float(rng.lognormal(1.3 + (0.4 if equal else 0.0), 0.5)), 1)
    return Vote(rater, methods[left], methods[right], choice, sample, group, seconds=seconds)


def _turned(choice: str, rng: np.random.Generator) -> str:
    """The answer to the same pair with its sides turned: mostly the same verdict."""
    if rng.random() < 0.1:
        return "tie" if choice != "tie" else "left"
    return {"left": "right", "right": "left", "tie": "tie"}[choice]
