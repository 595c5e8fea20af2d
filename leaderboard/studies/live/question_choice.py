"""Choice of a rater's next questions. Arrays in, arrays out; rows never appear here.

A unit is what is shown on a sample: a pair of entries (first < second), or one entry (second = -1) where opinions
are asked. A cell is a unit on a sample, numbered unit * samples + sample. A rater is asked a cell once, repeats apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leaderboard.stats.preference import fit
from leaderboard.stats.votes import Floats, Ints

EXPLORED = 0.15  # the share of questions chosen by what they tell that are chosen without it
PRIOR = 0.1  # virtual wins in both directions of every pair: nobody is certain of what was never asked


@dataclass(frozen=True, eq=False)
class Grid:
    """All that can be asked: units int64[U] each, over a number of entries and of samples."""

    first: Ints
    second: Ints
    entries: int
    samples: int

    @classmethod
    def pairs(cls, entries: int, samples: int) -> Grid:
        first, second = np.triu_indices(entries, 1)
        return cls(first.astype(np.int64), second.astype(np.int64), entries, samples)

    @classmethod
    def singles(cls, entries: int, samples: int) -> Grid:
        return cls(np.arange(entries), np.full(entries, -1), entries, samples)

    @property
    def units(self) -> int:
        return len(self.first)

    def unit(self, one: Ints, other: Ints) -> Ints:
        """The numbers of the units of these entries, in either order; `other` is -1 where one entry is all."""
        low, high = np.minimum(one, other), np.maximum(one, other)
        return np.where(low < 0, high, low * self.entries - low * (low + 1) // 2 + high - low - 1)

    def live(self, entries: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Units without an entry that dropped out, bool[U]; `entries` bool[M] are those that did not."""
        return entries[self.first] & ((self.second < 0) | entries[self.second])

    def per_entry(self, counts: Ints) -> Ints:
        """Times each entry [M] appears in units that appear `counts` [U] times."""
        times = np.bincount(self.first, counts, self.entries)
        pairs = self.second >= 0
        return (times + np.bincount(self.second[pairs], counts[pairs], self.entries)).astype(np.int64)


@dataclass(frozen=True)
class Overlap:
    """Overlap of raters' questions, without which nothing can be said about how far people agree (AGREEMENT §D, §Q).

    `common` is the share of a rater's questions that are the same for all and never gold. `answers` is the number of raters that each
    question needs; a question with fewer comes before one that nobody was asked. Informative pairs share common questions alone.
    """

    common: float = 0.0
    answers: int = 1


ALONE = Overlap()


@dataclass(frozen=True)
class Crown:
    """First place by the answers so far, and the entries not yet told from it: places of entries in the grid."""

    first: int
    rivals: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Known:
    """Counts of what has been asked so far.

    `free` bool[U, S] marks cells that this rater may still be asked, and `live` bool[U] units that this rater may be asked at all. `asked`
    int64[U, S] counts each cell over all raters. `wins` float64[M, M] counts how often an entry was preferred to another; a tie is half a
    win of both. `gold` bool[U] marks units of known order. `own` counts this rater's questions, and `own_gold` the gold ones among them.
    `crown` is None until the answers have been analysed.
    """

    free: NDArray[np.bool_]
    asked: Ints
    wins: Floats
    gold: NDArray[np.bool_]
    live: NDArray[np.bool_]
    own: int = 0
    own_gold: int = 0
    crown: Crown | None = None


def common_cells(grid: Grid, gold: NDArray[np.bool_], seed: int) -> Ints:
    """All cells without gold, in the order in which everybody is asked them. Each unit comes once before any comes again, then on another
    sample. Pairs come in rounds in which each entry appears once (the circle method of round-robin tournaments)."""
    rng = np.random.default_rng([seed, 17])
    name, samples = rng.permutation(grid.entries), rng.permutation(grid.samples)
    if (grid.second < 0).all():
        units = name
    else:
        seats = grid.entries + grid.entries % 2
        rows = []
        for turn in range(seats - 1):
            circle = [0, *(1 + (np.arange(seats - 1) + turn) % (seats - 1))]
            rows += [(circle[k], circle[seats - 1 - k]) for k in range(seats // 2)]
        pairs = np.array([row for row in rows if max(row) < grid.entries], dtype=np.int64).reshape(-1, 2)
        units = grid.unit(name[pairs[:, 0]], name[pairs[:, 1]])
    units = units[~gold[units]]
    place = np.arange(len(units))[None, :] + np.arange(grid.samples)[:, None]
    return (units[None, :] * grid.samples + samples[place % grid.samples]).ravel()


def exhaustive(grid: Grid, known: Known, count: int, seed: Sequence[int]) -> list[int]:
    """The next `count` cells of a random order of all cells; `seed` fixes that order for a rater."""
    order = np.random.default_rng(seed).permutation(grid.units * grid.samples)
    return order[known.free.ravel()[order]][:count].tolist()


def balanced(grid: Grid, known: Known, count: int, rng: np.random.Generator) -> list[int]:
    """Cells that keep appearances equal: the least asked unit, of those the one whose entries appeared least, on its least asked sample."""
    free, asked = known.free.copy(), known.asked.copy()
    units = asked.sum(axis=1)
    cells = []
    for _ in range(count):
        among = _least_asked(grid, units, free)
        if not len(among):
            break
        cells.append(_take(grid, among, free, asked, rng))
        units[cells[-1] // grid.samples] += 1
    return cells


def informative(grid: Grid, known: Known, count: int, rng: np.random.Generator) -> list[int]:
    """Pairs that tell most under the Bradley-Terry fit of what was answered, some (`EXPLORED`) chosen as balanced ones are.

    A pair tells log(1 + p (1 - p) v). v is the variance of the difference of the two abilities, from the curvature of the likelihood at the
    fit. p is the predicted outcome, which allows for that variance: sigma of the difference over sqrt(1 + pi v / 8). Each chosen pair is
    counted as asked before the next one is chosen.
    """
    free, asked = known.free.copy(), known.asked.copy()
    units = asked.sum(axis=1)
    n = np.zeros((grid.entries, grid.entries))
    n[grid.first, grid.second] = units
    n = np.maximum(n + n.T, known.wins + known.wins.T) + 2 * PRIOR
    ability = fit(known.wins + PRIOR).ability
    gap = ability[grid.first] - ability[grid.second]
    covariance = _covariance(n, ability)
    cells = []
    for _ in range(count):
        open_units = free.any(axis=1)
        if not open_units.any():
            break
        if rng.random() < EXPLORED:
            among = _least_asked(grid, units, free)
        else:
            diagonal = np.diag(covariance)
            v = np.maximum(diagonal[grid.first] + diagonal[grid.second] - 2 * covariance[grid.first, grid.second], 0.0)
            p = 1 / (1 + np.exp(-gap / np.sqrt(1 + math.pi * v / 8)))
            tells = np.where(open_units, np.log1p(p * (1 - p) * v), -1.0)
            among = np.flatnonzero(tells >= tells.max() * (1 - 1e-9))
        cells.append(_take(grid, among, free, asked, rng))
        unit = cells[-1] // grid.samples
        units[unit] += 1
        covariance = _after_comparison(covariance, int(grid.first[unit]), int(grid.second[unit]), float(gap[unit]))
    return cells


def first_place(grid: Grid, known: Known, count: int, rng: np.random.Generator) -> list[int]:
    """Pairs that tell most about first place: the first with an entry that is still tied with it, all equally likely. In `EXPLORED` of the
    cases, or if no such pair is left, any pair is drawn. Each pair is asked on its least asked sample. Pairs are balanced while first place
    is unknown (AGREEMENT §K; given the past the choice does not depend on the coming answer)."""
    if known.crown is None:
        return balanced(grid, known, count, rng)
    free, asked = known.free.copy(), known.asked.copy()
    rivals = np.array(known.crown.rivals, dtype=np.int64)
    hanging = grid.unit(np.full(len(rivals), known.crown.first), rivals)
    cells: list[int] = []
    for _ in range(count):
        is_open = np.flatnonzero(free.any(axis=1))
        among = np.intersect1d(hanging, is_open)
        if not len(among) or rng.random() < EXPLORED:
            among = is_open
        if not len(among):
            break
        cells.append(_take(grid, rng.choice(among, 1), free, asked, rng))
    return cells


def questions(
    grid: Grid, known: Known, way: str, count: int, gold_share: float, seed: int, rater: int, overlap: Overlap = ALONE
) -> list[int]:
    """The next cells of a rater in the study's way of planning, with at least `gold_share` of all they are asked on gold units.

    `way` is "exhaustive", "balanced", "informative" or "first"; opinions have no pairs to choose by what they tell and are balanced.
    """
    rng = np.random.default_rng([seed, rater, known.own])
    cells: list[int] = []
    want = math.ceil(gold_share * (known.own + count) - 1e-9) - known.own_gold if known.gold.any() else 0
    if gold_share > 0 and want > 0:
        gold = replace(known, free=known.free & known.gold[:, None])
        cells = balanced(grid, gold, min(count, want), rng)
        known = _without(known, grid, cells)
    if overlap.common and len(cells) < count:
        # The common cells that are due once a rater was asked so many questions and that this one has not been asked.
        order = common_cells(grid, known.gold, seed)
        due = math.ceil(overlap.common * (known.own + count - len(cells)) - 1e-9)
        order = order[known.live[order // grid.samples]][:due]
        shared = order[known.free.ravel()[order]].tolist()[: count - len(cells)]
        cells += shared
        known = _without(known, grid, shared)
    mixed = bool(cells)
    if way in CHOOSING and (grid.second >= 0).all():
        cells += CHOOSING[way](grid, known, count - len(cells), rng)
    else:
        # Questions that too few were asked come first, then those that nobody was, then any.
        begun = known.asked > 0
        for tier in (begun & (known.asked < overlap.answers), ~begun, begun) if overlap.answers > 1 else (True,):
            there = replace(known, free=known.free & tier)
            rest = count - len(cells)
            more = exhaustive(grid, there, rest, [seed, rater]) if way == "exhaustive" else balanced(grid, there, rest, rng)
            cells += more
            known = _without(known, grid, more)
    return rng.permutation(cells).tolist() if mixed else cells


CHOOSING = {"informative": informative, "first": first_place}  # ways that choose pairs by what the answers so far say


def repeats_due(fresh: int, share: float, seed: int, rater: int, done: int) -> bool:
    """True if the repeat after `done` earlier ones is due once `fresh` questions were asked: one for each 1 / share of them,
    at a moment of that stretch that the rater cannot foresee."""
    if share <= 0:
        return False
    jitter = np.random.default_rng([seed, rater, 7, done]).uniform(0.5, 1.0)
    return fresh >= (done + jitter) / share


def is_flipped(seed: int, rater: int, number: int) -> bool:
    """True if the sides of a rater's question are turned: a fair coin."""
    return bool(np.random.default_rng([seed, rater, 11, number]).random() < 0.5)


def repeats_of(fresh: int, share: float) -> int:
    """The number of repeats that go with so many fresh questions."""
    return math.floor(share * fresh + 0.5)


def _without(known: Known, grid: Grid, cells: Sequence[int]) -> Known:
    """The same once these cells have been asked."""
    free, asked = known.free.copy(), known.asked.copy()
    at = np.unravel_index(np.asarray(cells, dtype=np.int64), (grid.units, grid.samples))
    free[at] = False
    np.add.at(asked, at, 1)
    return replace(known, free=free, asked=asked)


def _least_asked(grid: Grid, units: Ints, free: NDArray[np.bool_]) -> Ints:
    """The units that were asked least, and of them those whose entries appeared least; none where nothing is free."""
    among = np.flatnonzero(free.any(axis=1))
    if not len(among):
        return among
    among = among[units[among] == units[among].min()]
    seen = grid.per_entry(units)
    appeared = seen[grid.first[among]] + np.where(grid.second[among] >= 0, seen[grid.second[among]], 0)
    return among[appeared == appeared.min()]


def _take(grid: Grid, among: Ints, free: NDArray[np.bool_], asked: Ints, rng: np.random.Generator) -> int:
    """The cell of one of these units, taken: one asked least of its unit, on a sample that was shown least."""
    counts = np.where(free[among], asked[among], np.iinfo(np.int64).max)
    least = counts == counts.min(axis=1, keepdims=True)
    shown = np.where(least & free[among], asked.sum(axis=0)[None, :], np.iinfo(np.int64).max)
    rows, samples = np.nonzero(shown == shown.min())
    one = int(rng.integers(len(rows)))
    unit, sample = int(among[rows[one]]), int(samples[one])
    free[unit, sample] = False
    asked[unit, sample] += 1
    return unit * grid.samples + sample


def _covariance(n: Floats, ability: Floats) -> Floats:
    """Covariance of the abilities up to a shift: the inverse of the likelihood's curvature, n (symmetric) comparisons being made."""
    p = 1 / (1 + np.exp(ability[None, :] - ability[:, None]))
    bend = n * p * (1 - p)
    np.fill_diagonal(bend, 0.0)
    m = len(ability)
    return np.linalg.inv(np.diag(bend.sum(axis=1)) - bend + np.full((m, m), 1 / m))


def _after_comparison(covariance: Floats, i: int, j: int, gap: float) -> Floats:
    """The covariance once i and j have met once more (Sherman and Morrison's update)."""
    p = 1 / (1 + math.exp(-gap))
    column = covariance[:, i] - covariance[:, j]
    return covariance - np.outer(column, column) * (p * (1 - p) / (1 + p * (1 - p) * (column[i] - column[j])))
