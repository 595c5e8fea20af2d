"""Simulated votes for the tests of studies: methods of known strength, raters of two tastes."""

from __future__ import annotations

import numpy as np

from leaderboard.stats.votes import Vote, Votes, canonical


def vote(left: str, right: str, choice: str, rater: str = "r", sample: str = "s", **more) -> Vote:
    return Vote(rater, left, right, choice, sample, **more)


def from_wins(w, ties=()) -> Votes:
    """Votes with w[i][j] wins of method i over j and the ties (i, j, n)."""
    rows = []
    for i, row in enumerate(w):
        for j, n in enumerate(row):
            rows += [vote(f"m{i}", f"m{j}", "left", rater=f"r{k}") for k in range(n)]
    for i, j, n in ties:
        rows += [vote(f"m{i}", f"m{j}", "tie", rater=f"t{k}") for k in range(n)]
    return canonical(rows)


def simulated_votes(
    raters: int = 8, samples: int = 5, methods: int = 6, seed: int = 0, noise: float = 0.4, tie: float = 0.15
) -> list[Vote]:
    """Every rater on every pair of every sample: half of them like methods in order, the others the reverse of the middle."""
    rng = np.random.default_rng(seed)
    tastes = [np.linspace(1.5, -1.5, methods), np.linspace(1.5, -1.5, methods)]
    tastes[1][1:-1] = tastes[1][1:-1][::-1]
    rows = []
    for k in range(raters):
        for h in range(samples):
            felt = tastes[k % 2] + rng.normal(0, noise, methods)
            for i in range(methods):
                for j in range(i):
                    left, right = (i, j) if rng.random() < 0.5 else (j, i)
                    gap = felt[left] - felt[right]
                    choice = "tie" if abs(gap) < tie else "left" if gap > 0 else "right"
                    rows.append(vote(f"m{left}", f"m{right}", choice, f"r{k}", f"s{h}", group="ab"[k % 2], seconds=float(2 + k)))
    return rows
