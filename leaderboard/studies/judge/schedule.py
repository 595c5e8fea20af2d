"""Schedule of questions: which pair is asked on which prompt, in which kind of question. PURE and fixed by the seed.

A comparison belongs to the row of the plan it was drawn for. Where a pair has no prompt left, its comparison and the row's
slot are dropped together, so that no later comparison is asked a row's question in another's place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from leaderboard.studies.judge.instructions import Row

Pair = tuple[str, str]


class BudgetError(ValueError):
    """The plan does not fit into the budget; the text says by how much."""


@dataclass(frozen=True)
class Comparison:
    """One question to ask: the plan's row, the sample, which method stands left and right, and how many requests it takes."""

    row: int
    sample: str
    left: str
    right: str
    repeats: int = 1


@dataclass(frozen=True)
class Schedule:
    """Comparisons in the order in which they are asked; `skipped` had no prompt left that both methods have."""

    comparisons: tuple[Comparison, ...]
    skipped: int

    @property
    def requests(self) -> int:
        """Requests that this takes if every one is answered well."""
        return sum(one.repeats for one in self.comparisons)


def pairs_of(have: Mapping[str, Collection[str]], newcomer: str | None = None) -> list[Pair]:
    """All unordered pairs of methods, or the pairs of one new method with each other one. KeyError for an unknown newcomer."""
    if newcomer is None:
        return list(combinations(sorted(have), 2))
    if newcomer not in have:
        raise KeyError(newcomer)
    return [(newcomer, other) for other in sorted(have) if other != newcomer]


def planned(have: Mapping[str, Collection[str]], rows: Sequence[Row], budget: int, seed: int = 0, newcomer: str | None = None) -> Schedule:
    """A plan's rows, each as often as it says; `have` is the samples of which each method has a valid object.

    The pairs are shuffled, taken one after the other, and shuffled again when all were taken. BudgetError unless the plan's
    total is below the budget.
    """
    total = sum(row.comparisons for row in rows)
    if total >= budget:
        raise BudgetError(f"The plan takes {total:,} requests and the budget is {budget:,}; give a budget above {total:,}.")
    rng = np.random.default_rng(seed)
    draw = _Draw(have, rng)
    pairs = _endless(pairs_of(have, newcomer), rng)
    comparisons, skipped = [], 0
    for number, row in enumerate(rows):
        for _ in range(row.comparisons):
            pair = next(pairs, None)
            one = draw.one(number, row, pair) if pair else None
            comparisons += [one] if one else []
            skipped += one is None
    return Schedule(tuple(comparisons), skipped)


def swept(
    have: Mapping[str, Collection[str]], rows: Sequence[Row], budget: int, seed: int = 0, newcomer: str | None = None, repeats: int = 1
) -> Schedule:
    """Round after round over all pairs, each time on another prompt, `repeats` requests a comparison, until the budget would be
    passed or no pair has a prompt left. With several rows a comparison asks each of them, of the same sides.

    BudgetError where the budget does not cover one comparison.
    """
    each = repeats * len(rows)
    if each > budget:
        raise BudgetError(f"One comparison takes {each:,} requests and the budget is {budget:,}; give a larger budget.")
    rng = np.random.default_rng(seed)
    draw = _Draw(have, rng)
    pairs = pairs_of(have, newcomer)
    rng.shuffle(pairs)
    comparisons: list[Comparison] = []
    open_pairs: list[Pair] = [(one, other) for one, other in pairs]
    while open_pairs:
        left = []
        for pair in open_pairs:
            if (len(comparisons) + len(rows)) * repeats > budget:
                return Schedule(tuple(comparisons), 0)
            sample = draw.sample(pair)
            if sample is not None:
                sides = draw.sides(pair)
                comparisons += [_asked(number, row, sides, sample, repeats) for number, row in enumerate(rows)]
                left.append(pair)
        open_pairs = left
    return Schedule(tuple(comparisons), 0)


class _Draw:
    """Prompts and sides, drawn by chance; no prompt comes twice for a pair."""

    def __init__(self, have: Mapping[str, Collection[str]], rng: np.random.Generator) -> None:
        self._rng = rng
        self._have = have
        self._left: dict[Pair, list[str]] = {}

    def sample(self, pair: Pair) -> str | None:
        """A sample that both have and that was not taken for this pair; None where there is none left."""
        key = (min(pair), max(pair))
        if key not in self._left:
            self._left[key] = sorted(set(self._have[pair[0]]) & set(self._have[pair[1]]))
        samples = self._left[key]
        return samples.pop(int(self._rng.integers(len(samples)))) if samples else None

    def sides(self, pair: Pair) -> Pair:
        """Left and right, by a fair coin."""
        return pair if self._rng.random() < 0.5 else pair[::-1]

    def one(self, number: int, row: Row, pair: Pair) -> Comparison | None:
        sample = self.sample(pair)
        return None if sample is None else _asked(number, row, self.sides(pair), sample)


def _asked(number: int, row: Row, sides: Pair, sample: str, repeats: int = 1) -> Comparison:
    return Comparison(number, sample, *(sides[::-1] if row.turned else sides), repeats)


def _endless(pairs: list[Pair], rng: np.random.Generator) -> Iterator[Pair]:
    """The pairs in a random order, again and again in a new one; nothing where there are none."""
    while pairs:
        for n in rng.permutation(len(pairs)):
            yield pairs[int(n)]
