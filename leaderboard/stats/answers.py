"""The answers of a study that count, as arrays: what every figure that comes from people is made of.

Answers count unless they repeat a question on purpose, are to a gold question, whose answer is known, or are a judge's. If one rater
answered a question several times, the first answer counts. Every pair of entries that was asked at all weighs the same, so that no figure
depends on which pairs a plan asked more often.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from leaderboard.stats.two_way_intervals import Clusters
from leaderboard.stats.votes import Floats, Ints, Votes


@dataclass(frozen=True, eq=False)
class Answers:
    """N answers. `rater`, `sample`, `a` and `b` index `raters`, `samples` and `entries` (sorted names), a < b.

    `verdict` is -1 where a is better, 0 for equal, +1 where b is; `side` is +1 where a stood left, -1 where it stood right, 0
    where that is not known. `weight` is one over the number of answers on that pair of entries, before any of them was left
    out for want of values or as a tie. `sampled` says whether the study names samples; where it does not, each question is
    one of its own.
    """

    raters: tuple[str, ...]
    samples: tuple[str, ...]
    entries: tuple[str, ...]
    rater: Ints
    sample: Ints
    a: Ints
    b: Ints
    verdict: Ints
    side: Ints
    weight: Floats
    sampled: bool = True
    group_of: Ints | None = None

    def __len__(self) -> int:
        return len(self.verdict)

    @cached_property
    def unit(self) -> Ints:
        """Unit that an interval takes for the sample of each answer: its group, or the question where no sample is named."""
        if self.group_of is not None:
            return self.group_of[self.sample]
        return self.sample if self.sampled else self.question

    @cached_property
    def question(self) -> Ints:
        """A number for each pair of a sample: equal where the same was asked."""
        m = len(self.entries)
        return (self.sample * m + self.a) * m + self.b

    @cached_property
    def clusters(self) -> Clusters:
        return Clusters(self.rater, self.unit)

    @cached_property
    def parts(self) -> list[Ints]:
        """Numbers of the entries of each part of the comparisons, the part of most answers first. Entries of two parts never met, not even
        through others, and have no common order."""
        m = len(self.entries)
        met = np.zeros((m, m), dtype=bool)
        met[self.a, self.b] = True
        part = scipy.sparse.csgraph.connected_components(met, directed=False)[1]
        n = np.bincount(part[self.a], minlength=m)
        found = sorted(np.flatnonzero(n).tolist(), key=lambda one: (-n[one], int(np.argmax(part == one))))
        return [np.flatnonzero(part == one) for one in found]

    def take(self, chosen: NDArray[np.bool_] | Ints) -> Answers:
        """These answers, with the weights they have."""
        columns = ("rater", "sample", "a", "b", "verdict", "side", "weight")
        return replace(self, **{name: getattr(self, name)[chosen] for name in columns})

    @cached_property
    def decided(self) -> Answers:
        """Answers that name a winner."""
        return self.take(self.verdict != 0)


def answers(votes: Votes, entries: Collection[str] | None = None) -> Answers:
    """The answers on pairs of these entries (all without any); gold questions are in none."""
    counted = votes.counted()
    if entries is not None:
        wanted = np.isin(np.array(votes.methods, dtype=object).astype(str), list(entries))
        counted = counted.take(wanted[counted.a] & wanted[counted.b])
    counted = counted.take(np.lexsort((counted.b, counted.a, counted.sample, counted.rater)))  # sums do not depend on the order given
    return weighted(
        Answers(
            votes.raters,
            votes.samples,
            votes.methods,
            counted.rater,
            counted.sample,
            counted.a,
            counted.b,
            counted.verdict,
            counted.side,
            np.ones(len(counted)),
            any(votes.samples),
        )
    )


def pairs_within(group: Ints) -> tuple[Ints, Ints]:
    """Positions of the first and the second of each two that have the same group, in the order in which they stand."""
    _, place, counts = np.unique(group, return_inverse=True, return_counts=True)
    order = np.argsort(place, kind="stable")
    starts = np.cumsum(counts) - counts
    firsts, seconds = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for n in np.unique(counts[counts >= 2]):  # groups of one size at once
        at = starts[counts == n]
        i, j = np.triu_indices(int(n), 1)
        firsts.append((at[:, None] + i).ravel())
        seconds.append((at[:, None] + j).ravel())
    return order[np.concatenate(firsts)], order[np.concatenate(seconds)]


def weighted(found: Answers) -> Answers:
    """These answers, each pair of entries weighing the same among them."""
    pair = found.a * len(found.entries) + found.b
    _, place, counts = np.unique(pair, return_inverse=True, return_counts=True)
    return replace(found, weight=1.0 / counts[place] if len(found) else np.zeros(0))
