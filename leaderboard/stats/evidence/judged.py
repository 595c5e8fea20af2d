"""One criterion of a published set, ready for its figures: what people said of each stimulus, and the values of metrics on it.

Items, entries and groups are in the order of their names, so no figure depends on the order of a file. Scores are turned so that higher
is better, so no figure depends on the direction of a scale. References, damaged and empty entries are left out before.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import pairwise

import numpy as np

from leaderboard.evidence.tables import Criterion, EvidenceTables, Scores
from leaderboard.stats import agreement
from leaderboard.stats.answers import Answers, answers, weighted
from leaderboard.stats.mos_table import Ratings
from leaderboard.stats.votes import Floats, Ints

EQUAL_MEANS = 1e-9  # means that differ by no more are equal


class Basis(StrEnum):
    """Basis of a set's figures: what is known of people's answers, and so which figures there can be."""

    PERSONS = "persons"  # single scores of people
    SCORES = "scores"  # single scores whose persons are not known
    ERRORS = "errors"  # means with their standard errors
    MEANS = "means"
    PAIRS = "pairs"  # comparisons by people
    PAIRS_WITHOUT_PERSONS = "pairs_without_persons"

    @property
    def persons(self) -> bool:
        return self in (Basis.PERSONS, Basis.PAIRS)

    @property
    def pairs(self) -> bool:
        return self in (Basis.PAIRS, Basis.PAIRS_WITHOUT_PERSONS)


@dataclass(frozen=True, eq=False)
class Judged:
    """J stimuli, by item and then by entry. `item`, `entry` and `group` int64[J] index `items`, `entries` and `groups`; `group_of`
    int64[items], `family_of` int64[entries].

    `y` float64[J] is the mean of each and `se` its standard error, NaN where not known. `rater`, `stimulus` int64[N] and `score` float64[N]
    are the single scores, empty where there are none; `asked` are answers on pairs. `x` float64[J, K] has the values of metrics, turned so
    that higher is better, NaN where there is none.
    """

    name: str
    basis: Basis
    items: tuple[str, ...]
    entries: tuple[str, ...]
    groups: tuple[str, ...]
    families: tuple[str, ...]
    item: Ints
    entry: Ints
    group_of: Ints
    family_of: Ints
    y: Floats
    se: Floats
    rater: Ints
    stimulus: Ints
    score: Floats
    n_raters: int
    x: Floats
    asked: Answers | None = None

    def __len__(self) -> int:
        return len(self.item)

    @property
    def group(self) -> Ints:
        return self.group_of[self.item]

    @property
    def n_answers(self) -> int:
        """The number of single scores, of answers on pairs, or of means."""
        return len(self.score) or len(self if self.asked is None else self.asked)

    @property
    def n_persons(self) -> int | None:
        """The number of people who judged; None where they are not known."""
        if not self.basis.persons:
            return None
        return self.of_people.clusters.n_raters if self.basis.pairs else len(np.unique(self.rater))

    @property
    def has_families(self) -> bool:
        return len(self.families) < len(self.entries)

    def table(self, values: Floats) -> Floats:
        """Values float64[J] of stimuli as a table float64[items, entries]; NaN where there is no result of an entry on an item."""
        made = np.full((len(self.items), len(self.entries)), math.nan)
        made[self.item, self.entry] = values
        return made

    def at_stimuli(self, table: Floats) -> Floats:
        return table[self.item, self.entry]

    @cached_property
    def by_rater(self) -> Floats:
        """float64[raters, J]: the scores of each rater, NaN where there is none."""
        made = np.full((self.n_raters, len(self)), math.nan)
        made[self.rater, self.stimulus] = self.score
        return made

    # --- answers, of which agreement within items is made

    @cached_property
    def of_people(self) -> Answers:
        """People's own answers: on pairs, or on each two entries of an item that one rater scored. Where persons are not known, groups are
        the only clusters."""
        if self.asked is not None:
            return self.asked
        return self._grouped(self._compared(self.rater, self.item[self.stimulus], self.entry[self.stimulus], self.score))

    @cached_property
    def of_means(self) -> Answers:
        """Means as answers: on each two entries of an item, which has the higher mean."""
        return self._without_raters(self._compared(np.zeros(len(self), dtype=np.int64), self.item, self.entry, self._apart))

    @cached_property
    def of_clear_means(self) -> Answers:
        """Means as answers, if their difference is significant by their standard errors. Weights stay those of all."""
        found, se = self.of_means, self.table(self.se)
        y = self.table(self.y)
        apart = np.abs(y[found.sample, found.b] - y[found.sample, found.a])
        error = np.hypot(se[found.sample, found.a], se[found.sample, found.b])
        return found.take(apart > 1.959964 * error)  # False where an error is not known

    @cached_property
    def _apart(self) -> Floats:
        """Means of which those of one item that are equal except for rounding are the same number."""
        made = self.y.copy()
        order = np.lexsort((self.y, self.item))
        for before, after in pairwise(order.tolist()):
            if self.item[before] == self.item[after] and self.y[after] - made[before] <= EQUAL_MEANS:
                made[after] = made[before]
        return made

    def _compared(self, rater: Ints, item: Ints, entry: Ints, score: Floats) -> Answers:
        raters = tuple(f"{n:06}" for n in range(max(1, self.n_raters)))
        seconds = np.full(len(score), math.nan)
        ratings = Ratings(raters, self.items, self.entries, ("",) * len(raters), rater, item, entry, score, seconds)
        return answers(ratings.comparisons())

    def _grouped(self, found: Answers) -> Answers:
        return replace(found, group_of=self.group_of)

    def _without_raters(self, found: Answers) -> Answers:
        """Each group is its own rater: so groups are the only clusters."""
        return replace(self._grouped(found), rater=self.group_of[found.sample], raters=self.groups)

    def between_families(self, found: Answers) -> Answers:
        """The answers on two entries of different families."""
        return found.take(self.family_of[found.a] != self.family_of[found.b])


def judged(tables: EvidenceTables, criterion: Criterion, basis: Basis) -> Judged:
    """The criterion of a set without labelled entries, see `EvidenceTables.entries_only`. Stimuli that nobody judged are left out."""
    stimuli, turn = tables.stimuli, 1.0 if tables.better_is_higher else -1.0
    counts = np.zeros(len(stimuli))
    y, se = np.full((2, len(stimuli)), math.nan)
    scores, means, pairs = criterion.scores, criterion.means, criterion.pairs
    if scores is not None:
        y, se, counts = _means_of(scores, len(stimuli))
    elif means is not None:
        y, se, counts = means.mean, means.se, (~np.isnan(means.mean)).astype(float)
    elif pairs is not None:
        counts = np.bincount(np.concatenate([pairs.left, pairs.right]), minlength=len(stimuli)).astype(float)
    item_at, entry_at = _ranks(stimuli.items), _ranks(stimuli.entries)
    kept = np.flatnonzero(counts)
    kept = kept[np.lexsort((entry_at[stimuli.entry[kept]], item_at[stimuli.item[kept]]))]
    new = np.full(len(stimuli), -1)
    new[kept] = np.arange(len(kept))
    # Items and entries that nobody judged on this criterion go.
    items, item = _named(stimuli.items, stimuli.item[kept])
    entries, entry = _named(stimuli.entries, stimuli.entry[kept])
    groups, group_of = _named(stimuli.groups, stimuli.group_of[[stimuli.items.index(name) for name in items]])
    families, family_of = _named(stimuli.families, stimuli.family_of[[stimuli.entries.index(name) for name in entries]])
    none = np.zeros(0, dtype=np.int64)
    found = Judged(
        criterion.name,
        basis,
        items,
        entries,
        groups,
        families,
        item,
        entry,
        group_of,
        family_of,
        turn * y[kept],
        se[kept],
        none if scores is None else scores.rater,
        none if scores is None else new[scores.stimulus],
        np.zeros(0) if scores is None else turn * scores.score,
        0 if scores is None else scores.n_raters,
        tables.oriented()[kept],
    )
    if pairs is None:
        return found
    left, right = new[pairs.left], new[pairs.right]
    forward = entry[left] < entry[right]
    a, b = np.where(forward, entry[left], entry[right]), np.where(forward, entry[right], entry[left])
    rater, sample, m = pairs.rater, item[left], max(1, len(entries))
    # Of several answers of one rater to one question the first counts.
    _, first = np.unique(((rater * max(1, len(items)) + sample) * m + a) * m + b, return_index=True)
    asked = Answers(
        tuple(f"{n:06}" for n in range(pairs.n_raters)),
        items,
        entries,
        rater[first],
        sample[first],
        a[first],
        b[first],
        np.where(forward, pairs.choice, -pairs.choice)[first],
        np.where(forward, 1, -1)[first],
        np.ones(len(first)),
    )
    asked = weighted(asked)
    return replace(found, asked=found._grouped(asked) if basis.persons else found._without_raters(asked))


def _means_of(scores: Scores, n_stimuli: int) -> tuple[Floats, Floats, Floats]:
    """Plain mean of the scores of each stimulus, its standard error, and how many scores there are."""
    order = np.argsort(scores.score, kind="stable")  # so that sums do not depend on the order of a file
    stimulus, score = scores.stimulus[order], scores.score[order]
    n = np.bincount(stimulus, minlength=n_stimuli).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(stimulus, score, n_stimuli) / n
        squares = np.bincount(stimulus, (score - mean[stimulus]) ** 2, n_stimuli)
        se = np.sqrt(squares / (n - 1) / n)
    return mean, np.where(n > 1, se, math.nan), n


def _ranks(names: Sequence[str]) -> Ints:
    """The place of each name in their order."""
    made = np.empty(len(names), dtype=np.int64)
    made[sorted(range(len(names)), key=lambda n: names[n])] = np.arange(len(names))
    return made


def _named(names: Sequence[str], used: Ints) -> tuple[tuple[str, ...], Ints]:
    """The names that are used, sorted, and the place of each use among them."""
    kept = sorted(set(used.tolist()), key=lambda n: names[n])
    place = np.full(len(names), -1)
    place[kept] = np.arange(len(kept))
    return tuple(names[n] for n in kept), place[used].astype(np.int64)


def reference_points(of: Judged, set_name: str) -> dict[str, Floats]:
    """Metrics float64[J] that know nothing: always equal, and random by the name of the set."""
    seed = int(hashlib.sha256(set_name.encode()).hexdigest()[:8], 16)
    shape = len(of.items), len(of.entries)
    return {"constant": of.at_stimuli(agreement.constant(*shape)), "coin": of.at_stimuli(agreement.coin(seed, *shape))}
