"""Made-up raters for the demo: two tastes, some noise, ties between bad ones. Everything they say is invented.

Half of them look at the corners of a roof, the other half at how far its edges run astray. What a
rater feels of an entry on a house is that value of it plus noise of their own; pairs that feel
alike, and most pairs of two bad ones, are called equal. Some pairs come again, as in a real study.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leaderboard.stats.votes import Vote


@dataclass(frozen=True)
class Taste:
    """A group of raters: how many, and the metrics (by slug) that they feel, each over its own spread, with their weights."""

    group: str
    raters: int
    weights: Mapping[str, float]


TASTES = (Taste("corners", 6, {"corner_f1": 1.0}), Taste("edges", 6, {"ecd_chamfer": -0.6, "edge_f1": 0.4}))
SAMPLES = 12
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
    pairs = [(i, j) for i in range(len(methods)) for j in range(i)]
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
                for i, j in pairs:
                    left, right = (i, j) if rng.random() < 0.5 else (j, i)
                    gap = float(felt[left] - felt[right])
                    equal = abs(gap) < ALIKE or (max(felt[left], felt[right]) < BAD and rng.random() < 0.7)
                    choice = "tie" if equal else "left" if gap > 0 else "right"
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


def liked(values: Mapping[str, np.ndarray], weights: Mapping[str, float]) -> np.ndarray:
    """float64[methods, samples]: how good each entry is to somebody who feels these metrics, by slug, the more the better.

    By places from 0 to 1 among all values: one that is far out, as distances may be, must not make the others alike. A missing value is
    at the end that the weight dislikes.
    """
    total: Any = 0
    for slug, weight in weights.items():
        known = np.nan_to_num(values[slug], nan=-np.inf if weight > 0 else np.inf)
        places = known.ravel().argsort(kind="stable").argsort(kind="stable").reshape(known.shape) / (known.size - 1)
        total = total + weight * places
    return np.asarray(total)
