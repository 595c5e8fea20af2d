"""Rater groups: raters who agree with each other and not with the others, named only where a test on other samples confirms it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leaderboard.stats import reliability
from leaderboard.stats.minimums import QUESTIONS_FOR_GROUPS, RATERS_FOR_GROUPS
from leaderboard.stats.uncertainty import ALPHA
from leaderboard.stats.votes import Floats, Ints

SEPARATE = 0.25  # mean silhouette
PERMUTATIONS = 4999


@dataclass(frozen=True)
class RaterGroups:
    """Rater groups. `sizes` are their numbers of raters, the largest first. A group of one rater is not shown. `within` and `between` are
    the mean agreement of two raters of one group and of two groups on the samples that the check held back; `p` is how often random groups
    differ as much there."""

    sizes: list[int]
    silhouette: float
    within: float
    between: float
    p: float


@dataclass(frozen=True)
class LabelledRaterGroups(RaterGroups):
    """Rater groups with the group of each rater, from 0."""

    label: list[int]


def rater_groups(asked: reliability.Questions, seed: int = 0) -> LabelledRaterGroups | None:
    """Rater groups among the raters of `asked`, which holds counted questions only. None unless there are enough raters, every two share
    enough questions, the clusters have a mean silhouette of .25, and the groups are confirmed: clusters found on samples of odd place agree
    more within than between on samples of even place (permutation of raters, p at most 5 %)."""
    verdicts = asked.verdicts[(~np.isnan(asked.verdicts)).any(axis=1)]
    k = len(verdicts)
    if k < RATERS_FOR_GROUPS:
        return None
    every = reliability.agreement(verdicts)
    if every.common[~np.eye(k, dtype=bool)].min() < QUESTIONS_FOR_GROUPS:
        return None
    found = reliability.clusters(every.all)
    if found.silhouette < SEPARATE or found.label.max() == 0:
        return None
    place = np.searchsorted(np.unique(asked.sample), asked.sample)
    odd = reliability.clusters(reliability.agreement(verdicts[:, place % 2 == 1]).all).label
    even = reliability.agreement(verdicts[:, place % 2 == 0]).all
    within, between = _means(even, odd)
    if math.isnan(within) or math.isnan(between):
        return None
    rng = np.random.Generator(np.random.PCG64(seed))
    drawn = (np.subtract(*_means(even, odd[rng.permutation(k)])) for _ in range(PERMUTATIONS))
    # Rounding must not tell two labellings of the same groups apart.
    p = float(1 + sum(gap >= within - between - 1e-12 for gap in drawn)) / (1 + PERMUTATIONS)
    sizes, label = np.bincount(found.label).tolist(), found.label.tolist()
    return LabelledRaterGroups(sizes, found.silhouette, within, between, p, label) if p <= ALPHA else None


def _means(agreement: Floats, label: Ints) -> tuple[float, float]:
    """Mean agreement of two raters of one group, and of two groups; NaN where no such two have a common question."""
    first, second = np.triu_indices(len(label), 1)
    values, same = agreement[first, second], label[first] == label[second]
    known = ~np.isnan(values)
    means = [float(values[known & part].mean()) if (known & part).any() else math.nan for part in (same, ~same)]
    return means[0], means[1]
