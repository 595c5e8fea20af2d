"""Check of whether columns of single scores are people: a person is a little too strict or too kind everywhere.

Both tests shuffle scores, by a fixed seed. *Across* shuffles the columns of each group of items: a column that is one person is
stricter or kinder in all groups alike. *Inside* shuffles the scores of each stimulus among its columns, so unequal filling of
the last columns does not pass for people.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leaderboard.stats.votes import Floats, Ints

DEALS_ACROSS, DEALS_INSIDE = 999, 199
PEOPLE = 0.01  # both p are at most this
ROUNDING = 1e-9


@dataclass(frozen=True)
class PeopleCheck:
    """Result for `columns` of scores in `groups`: p of both tests, and the standard deviation of the columns' stable bias."""

    p_across: float
    p_inside: float
    stable_bias_sd: float
    columns: int
    groups: int

    @property
    def people(self) -> bool:
        return self.p_across <= PEOPLE and self.p_inside <= PEOPLE


def people_check(column: Ints, stimulus: Ints, group: Ints, score: Floats) -> PeopleCheck:
    """The check of scores float64[N], each of a column on a stimulus of a group of items."""
    order = np.lexsort((column, stimulus, group))  # so that the draws do not depend on the order of a file
    columns, column = np.unique(column[order], return_inverse=True)
    groups, group = np.unique(group[order], return_inverse=True)
    stimulus, score = np.unique(stimulus[order], return_inverse=True)[1], score[order]
    r, g = len(columns), len(groups)
    apart = score - (np.bincount(stimulus, score) / np.bincount(stimulus))[stimulus]
    cell = column * g + group
    counts = np.bincount(cell, minlength=r * g)

    def biases(apart: Floats) -> Floats:
        total = np.bincount(cell, apart, r * g)
        return np.divide(total, counts, out=np.full(r * g, math.nan), where=counts > 0).reshape(r, g)

    b = biases(apart)
    there = ~np.isnan(b)
    own = float(np.nansum(b**2))  # the same however columns are dealt
    s = float((np.nansum(b, axis=1) ** 2).sum()) - own
    terms = int((there.sum(axis=1) * (there.sum(axis=1) - 1)).sum())
    slack = ROUNDING * max(1.0, own)
    rng = np.random.Generator(np.random.PCG64(0))
    sums = np.zeros((DEALS_ACROSS, r))
    for n in range(g):
        among = np.flatnonzero(there[:, n])
        sums[:, among] += rng.permuted(np.tile(b[among, n], (DEALS_ACROSS, 1)), axis=1)
    across = int(np.count_nonzero((sums**2).sum(axis=1) - own >= s - slack))
    rng = np.random.Generator(np.random.PCG64(0))
    inside = 0
    for _ in range(DEALS_INSIDE):
        dealt = apart[np.lexsort((rng.random(len(apart)), stimulus))]
        inside += float(np.nansum(biases(dealt) ** 2)) >= own - slack
    stable = math.sqrt(max(0.0, s / terms)) if terms else 0.0
    return PeopleCheck((1 + across) / (1 + DEALS_ACROSS), (1 + inside) / (1 + DEALS_INSIDE), stable, r, g)
