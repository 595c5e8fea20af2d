"""Rater groups of people are found where they are, and named nowhere else."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from leaderboard.stats import rater_groups, reliability
from leaderboard.stats.reliability import Questions
from leaderboard.stats.votes import canonical
from tests.support.leaderboard.stats.ballots import vote

TASTE = np.linspace(1.0, -1.0, 4)


def asked(raters: int = 14, samples: int = 10, split: bool = True, seed: int = 0) -> Questions:
    """Four entries in all pairs on all samples; every second rater has it turned round where `split`."""
    rng = np.random.default_rng(seed)
    of_sample, votes = rng.normal(0, 0.4, (samples, 4)), []
    for r in range(raters):
        felt = (-TASTE if split and r % 2 else TASTE) + rng.normal(0, 0.3, 4) + of_sample
        for s, (i, j) in itertools.product(range(samples), itertools.combinations(range(4), 2)):
            wins = rng.random() < 1 / (1 + np.exp(2 * (felt[s, j] - felt[s, i])))
            votes.append(vote(f"m{i}", f"m{j}", "left" if wins else "right", f"r{r:02}", f"s{s}"))
    return reliability.questions(canonical(votes).counted())


def test_two_tastes_are_two_rater_groups():
    found = rater_groups.rater_groups(asked())
    assert found is not None and found.sizes == [7, 7] and found.p <= 0.05
    assert len(set(found.label[::2])) == len(set(found.label[1::2])) == 1
    assert found.within > 0.6 > 0.4 > found.between


def test_the_likeness_told_is_of_the_samples_that_the_rater_groups_were_not_found_on():
    questions = asked()
    found = rater_groups.rater_groups(questions)
    even = questions.verdicts[:, questions.sample % 2 == 0]
    values = {True: [], False: []}
    for i in range(14):
        for j in range(i):
            values[i % 2 == j % 2].append((1 - np.abs(even[i] - even[j]) / 2).mean())
    assert (found.within, found.between) == pytest.approx((np.mean(values[True]), np.mean(values[False])))


def test_one_mind_is_rarely_called_two():
    assert sum(rater_groups.rater_groups(asked(split=False, seed=seed)) is not None for seed in range(10)) <= 1


@pytest.mark.parametrize(
    "questions",
    [
        pytest.param(asked(raters=11), id="eleven people"),
        pytest.param(asked(samples=4), id="24 shared questions"),
        pytest.param(Questions(np.zeros(0, int), np.zeros(0, int), np.zeros(0, int), np.zeros((0, 0))), id="nobody"),
    ],
)
def test_too_few_are_no_rater_groups(questions):
    assert rater_groups.rater_groups(questions) is None


def test_whoever_shares_too_little_with_one_other_keeps_rater_groups_from_being_named():
    questions = asked()
    verdicts = questions.verdicts.copy()
    verdicts[0, 25:] = np.nan
    assert rater_groups.rater_groups(Questions(questions.sample, questions.a, questions.b, verdicts)) is None
    verdicts[0] = np.nan  # and who answered nothing is nobody
    assert rater_groups.rater_groups(Questions(questions.sample, questions.a, questions.b, verdicts)) is not None
