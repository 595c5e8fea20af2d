"""Studies that ask about first place and stop at planned looks: how often they claim one among equals, and what they save."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.stats import planning
from leaderboard.stats.answers import answers
from leaderboard.stats.people import People
from leaderboard.stats.records import FirstPlace
from leaderboard.stats.votes import canonical
from leaderboard.studies.live import question_choice
from leaderboard.studies.live.question_choice import Crown, Grid, Known
from tests.support.leaderboard.stats.ballots import vote

ENTRIES, SAMPLES, LOOKS, RATERS, EACH = 8, 24, 5, 5, 40
SPREAD = 0.5  # of what a rater, and a sample, adds to an entry


def study(worth: np.ndarray, way: str, seed: int) -> tuple[str, int]:
    """The entry that was called first, if any, and after how many answers: looks after five new raters of 40 questions each."""
    rng = np.random.default_rng(seed)
    grid = Grid.pairs(ENTRIES, SAMPLES)
    of_sample = rng.normal(0, SPREAD / np.sqrt(2), (SAMPLES, ENTRIES))
    asked, votes = np.zeros((grid.units, SAMPLES), dtype=np.int64), []
    found: FirstPlace | None = None
    for look in range(1, LOOKS + 1):
        for rater in range(RATERS * (look - 1), RATERS * look):
            of_rater = rng.normal(0, SPREAD / np.sqrt(2), ENTRIES)
            crown = None
            if found is not None:
                others = {rival.entry: rival.p for rival in found.others}
                untold = tuple(int(name[1:]) for name, p in others.items() if p is None or p > 0.05)
                crown = Crown(int(found.entry[1:]), untold)
            nothing = np.zeros(grid.units, dtype=bool)
            known = Known(np.ones_like(asked, dtype=bool), asked, np.zeros((ENTRIES, ENTRIES)), nothing, ~nothing, crown=crown)
            for cell in question_choice.questions(grid, known, way, EACH, 0.0, seed, rater):
                unit, sample = divmod(cell, SAMPLES)
                i, j = int(grid.first[unit]), int(grid.second[unit])
                gap = worth[i] - worth[j] + of_rater[i] - of_rater[j] + of_sample[sample, i] - of_sample[sample, j]
                share = np.array([np.exp(gap / 2), 0.8, np.exp(-gap / 2)])  # Davidson's ties
                said = rng.choice(["left", "tie", "right"], p=share / share.sum())
                votes.append(vote(f"m{i}", f"m{j}", said, f"r{rater}", f"s{sample:02}"))
                asked[unit, sample] += 1
        summary = People(answers(canonical(votes)), fragility=False).entries
        found = summary.first_place
        if found is None:
            continue
        others = {rival.entry: rival.p for rival in found.others}
        if planning.look(others, LOOKS, summary.raters_counted, summary.samples_counted).settled:
            return found.entry, summary.answers
    return "", len(votes)


@pytest.mark.parametrize(("way", "runs"), [("first", 120), ("balanced", 60)])
def test_equal_leaders_are_rarely_called_settled(way, runs):
    worth = np.array([0.8, 0.8, 0.2, 0.0, -0.2, -0.4, -0.6, -0.8])
    claimed = sum(bool(study(worth, way, seed)[0]) for seed in range(runs))
    print(f"{way}: {claimed} of {runs} claimed a first place among equals")
    assert claimed <= 0.05 * runs + 2.6 * np.sqrt(0.05 * 0.95 * runs)


def test_first_place_is_found_oftener_and_with_fewer_answers_than_by_balanced_pairs():
    worth = np.array([1.2, 0.4, 0.2, 0.0, -0.2, -0.4, -0.6, -0.8])
    found = {way: [study(worth, way, seed) for seed in range(40)] for way in ("first", "balanced")}
    right = {way: np.mean([entry == "m0" for entry, _ in rows]) for way, rows in found.items()}
    answers = {way: np.mean([n for _, n in rows]) for way, rows in found.items()}
    print(right, answers)
    assert right["first"] >= 0.8 and right["first"] > right["balanced"] and answers["first"] < answers["balanced"]
