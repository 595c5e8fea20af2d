"""A phase of six houses with three scored entries, and answers of people about them."""

from __future__ import annotations

import numpy as np

from leaderboard.stats.mos_table import Rating
from leaderboard.stats.votes import Vote
from submissions.models import Challenge, Phase
from tests.support.factories import PhaseFactory, gables, give_reference
from tests.support.leaderboard import scores as scored
from tests.support.leaderboard.stats.ballots import vote
from tests.support.people import People

NAMES = ("near", "midway", "far off")  # the best entry first


def scored_houses(challenge: Challenge, people: People) -> Phase:
    phase = PhaseFactory(challenge=challenge, entries="all")
    give_reference(phase, gables(6))
    for seed, (scale, name) in enumerate(zip((0.05, 0.3, 0.7), NAMES, strict=True)):
        scored.houses(phase, people.team, 6, scale, seed, uploaded_by=people.owner, method_name=name)
    return phase


def items(phase: Phase) -> list[str]:
    return list(phase.batches.get(state="current").reference.item_ids)


def comparisons(phase: Phase, raters: int = 7, seed: int = 0) -> list[Vote]:
    """Answers of r0, r1, … on every pair of every house: six of ten for the better one, two of ten for neither."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(raters):
        for item in items(phase):
            for i, better in enumerate(NAMES):
                for worse in NAMES[i + 1 :]:
                    first, second, turned = (better, worse, False) if rng.random() < 0.5 else (worse, better, True)
                    said = rng.choice(["left", "tie", "right"], p=[0.6, 0.2, 0.2][:: -1 if turned else 1])
                    rows.append(vote(first, second, str(said), f"r{k}", item))
    return rows


def scores(phase: Phase, raters: int = 7, seed: int = 0) -> list[Rating]:
    """Opinion scores by r0, r1, … of every entry on every house."""
    rng = np.random.default_rng(seed)
    return [
        Rating(f"r{k}", name, float(np.clip(round(4.2 - n + rng.normal(0, 0.8)), 1, 5)), item)
        for k in range(raters)
        for item in items(phase)
        for n, name in enumerate(NAMES)
    ]
