"""Parts of a study to judge by, of which training sees neither the samples nor the methods. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.training.preference.votes import Decisions

METHOD_GROUPS = 3


@dataclass(frozen=True)
class Fold:
    """Judged by the pairs of its methods on its samples; trained on the pairs that touch none of them. The rest is left out."""

    samples: tuple[int, ...]
    methods: tuple[int, ...]

    def unseen(self, decisions: Decisions) -> NDArray[np.bool_]:
        """bool[N]: the pairs to judge by."""
        sample, one, other = self._touches(decisions)
        return sample & one & other

    def seen(self, decisions: Decisions) -> NDArray[np.bool_]:
        """bool[N]: the pairs to train on."""
        sample, one, other = self._touches(decisions)
        return ~(sample | one | other)

    def _touches(self, decisions: Decisions) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        return np.isin(decisions.sample, self.samples), np.isin(decisions.winner, self.methods), np.isin(decisions.loser, self.methods)


def folds(samples: int, methods: int, count: int) -> list[Fold]:
    """At most `count` folds: samples, and methods into three groups, are dealt in the order of their names; fold f is judged
    on its samples by group f mod 3.

    With 10 samples and 27 methods that is one sample and nine methods (36 pairs) a fold, and 9 · 153 pairs to train on. Of
    fewer than six methods there are two groups, and no folds of fewer than four methods or two samples.
    """
    groups = min(METHOD_GROUPS, methods // 2)
    count = min(count, samples) if groups >= 2 and samples >= 2 else 0
    return [Fold(_dealt(samples, count, number), _dealt(methods, groups, number % groups)) for number in range(count)]


def _dealt(n: int, hands: int, hand: int) -> tuple[int, ...]:
    return tuple(range(hand, n, hands))


def named(numbers: Sequence[int], names: Sequence[str]) -> list[str]:
    """The names of these rows."""
    return [names[number] for number in numbers]
