"""The most that a metric could reach across items, as far as the noise in people's means alone bounds it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import scipy

from leaderboard.stats.evidence.judged import Basis, Judged
from leaderboard.stats.minimums import RATERS_FOR_FIGURE, STIMULI_FOR_ONE_RATER
from leaderboard.stats.votes import Floats, Ints

HALVES = 200


class From(StrEnum):
    """Source of the bound."""

    HALVES_OF_RATERS = "halves_of_raters"
    HALVES_OF_SCORES = "halves_of_scores"
    ERRORS = "errors"


@dataclass(frozen=True)
class AcrossCeiling:
    """Bounds of both correlations across items, and `one`: the mean correlation of one person's scores with the mean of all others, of
    `persons` people; None where people are not known."""

    srocc: float
    plcc: float
    source: From
    one: float | None = None
    persons: int = 0


def ceiling(judged: Judged) -> AcrossCeiling | None:
    """The bounds; None for means without errors, and where too little is known."""
    if judged.basis is Basis.ERRORS:
        known = ~np.isnan(judged.se)
        variance = float(judged.y[known].var(ddof=1)) if known.sum() > 1 else 0.0
        if variance <= 0:
            return None
        high = math.sqrt(max(0.0, 1 - float((judged.se[known] ** 2).mean()) / variance))
        return AcrossCeiling(high, high, From.ERRORS)
    if judged.basis not in (Basis.PERSONS, Basis.SCORES):
        return None
    persons = judged.basis is Basis.PERSONS
    halves = _halves_of_raters(judged) if persons else _halves_of_scores(judged)
    found = np.array([_alike(first, second) for first, second in halves])
    found = found[~np.isnan(found).any(axis=1)]
    if not len(found):
        return None
    srocc, plcc = (math.sqrt(max(0.0, 2 * h / (1 + h))) for h in found.mean(axis=0).tolist())
    one = _one(judged) if persons else []
    source = From.HALVES_OF_RATERS if persons else From.HALVES_OF_SCORES
    return AcrossCeiling(srocc, plcc, source, float(np.mean(one)) if len(one) >= RATERS_FOR_FIGURE else None, len(one))


def _halves_of_raters(judged: Judged) -> Iterator[tuple[Floats, Floats]]:
    """Means of the stimuli by each of two halves of the raters."""
    scores = judged.by_rater[~np.isnan(judged.by_rater).all(axis=1)]
    total, there = np.nan_to_num(scores), (~np.isnan(scores)).astype(float)
    rng = np.random.Generator(np.random.PCG64(0))
    for _ in range(HALVES):
        half = rng.permutation(len(scores)) < len(scores) // 2
        yield _mean(half @ total, half @ there), _mean(~half @ total, ~half @ there)


def _halves_of_scores(judged: Judged) -> Iterator[tuple[Floats, Floats]]:
    """Means of the stimuli by each of two halves of its scores, an odd one to the second."""
    order = np.lexsort((judged.score, judged.stimulus))
    stimulus, score, n = judged.stimulus[order], judged.score[order], len(judged)
    counts = np.bincount(stimulus, minlength=n)
    place = np.arange(len(stimulus)) - (np.cumsum(counts) - counts)[stimulus]
    first = place < (counts // 2)[stimulus]
    rng = np.random.Generator(np.random.PCG64(0))
    for _ in range(HALVES):
        dealt = score[np.lexsort((rng.random(len(score)), stimulus))]
        sides = ((np.bincount(stimulus[half], dealt[half], n), np.bincount(stimulus[half], minlength=n)) for half in (first, ~first))
        (one, some), (other, more) = sides
        yield _mean(one, some), _mean(other, more)


def _mean(total: Floats | Ints, count: Floats | Ints) -> Floats:
    return np.divide(total, count, out=np.full(len(total), math.nan), where=count > 0)


def _alike(first: Floats, second: Floats) -> tuple[float, float]:
    """Spearman's and Pearson's correlation of what both have; NaN where one does not vary."""
    both = ~(np.isnan(first) | np.isnan(second))
    one, other = np.round(first[both], 9), np.round(second[both], 9)
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return math.nan, math.nan
    ranks = np.corrcoef(scipy.stats.rankdata(one), scipy.stats.rankdata(other))
    return float(ranks[0, 1]), float(np.corrcoef(one, other)[0, 1])


def _one(judged: Judged) -> list[float]:
    """Correlation of each person's scores with the mean of all others."""
    scores = judged.by_rater
    total, count = np.nansum(scores, axis=0), (~np.isnan(scores)).sum(axis=0)
    found = []
    for own in scores:
        seen = ~np.isnan(own) & (count > 1)
        if seen.sum() >= STIMULI_FOR_ONE_RATER:
            alike = _alike(own[seen], (total[seen] - own[seen]) / (count[seen] - 1))[0]
            if not math.isnan(alike):
                found.append(alike)
    return found
