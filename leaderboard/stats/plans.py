"""Plans that would settle first place: the chance that it is settled with more raters, more items, more answers, or more of all.

A plan multiplies raters, samples and answers. The variance has parts: the part of raters falls with more raters, the part of samples with
more samples, and the rest with more answers. So more answers of the same raters on the same items cannot reduce it below a limit. How the
study would end is drawn from what it knows now: true abilities, then final estimates that keep today's answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import scipy

from leaderboard.stats.levels import DRAWS, Levels
from leaderboard.stats.two_way_intervals import Variance
from leaderboard.stats.votes import Floats, Ints

FACTORS = (1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
ENDLESS = 1e6
LIKELY = 0.8
SPREADS = 61  # values of the spread of true abilities that are weighed

# Of each plan: by what it multiplies raters, samples and answers at factor k.
PLANS: dict[str, Callable[[float], tuple[float, float, float]]] = {
    "answers": lambda k: (1.0, 1.0, k),
    "people": lambda k: (k, 1.0, k),
    "items": lambda k: (1.0, k, k),
    "both": lambda k: (k, k, k),
}


@dataclass(frozen=True)
class Plan:
    """The smallest `factor` with which first place is settled with a `chance` of 80 % or more. If there is none, it is None, and `chance`
    is the one of the largest factor that was tried. `limit` is the chance where the plan goes on for ever, or to its end."""

    factor: float | None
    chance: float
    limit: float


@dataclass(frozen=True)
class Settling:
    """The plans, and what they add to `answers` of `raters` on `samples`."""

    answers: Plan
    people: Plan
    items: Plan
    both: Plan

    def named(self) -> tuple[str, Plan] | None:
        """The plan to name: of the first three the one with the fewest new answers, which is the smallest factor; else `both`."""
        first = [(plan.factor, name) for name in ("answers", "people", "items") if (plan := getattr(self, name)).factor is not None]
        if first:
            name = min(first, key=lambda one: one[0])[1]
            return name, getattr(self, name)
        return ("both", self.both) if self.both.factor is not None else None


def bonferroni(df: float, entries: int) -> float:
    """b(df): t(1 - .025 / (M - 1), df)."""
    return float(scipy.special.stdtrit(df, 1 - 0.025 / (entries - 1)))


@dataclass(frozen=True, eq=False)
class Projection:
    """Abilities `theta` [M] with their `covariance` [M, M], of which the first is not settled, under plans. The same raters have answered
    everything at `end` times the answers of now. `critical` is the bar of the first's rank interval, with `df`."""

    theta: Floats
    covariance: Variance
    end: float
    critical: float
    df: float

    @classmethod
    def of(cls, levels: Levels, critical: float, df: float, among: Ints | None = None) -> Self:
        """The projection for all entries, or for those `among` them."""
        among = np.arange(len(levels)) if among is None else among
        covariance = levels.covariance.each(lambda part: part[np.ix_(among, among)])
        return cls(levels.theta[among], covariance, levels.end(len(among)), critical, df)

    @cached_property
    def between(self) -> Variance:
        """Variance of each difference [M, M]."""
        return self.covariance.between()

    @cached_property
    def own(self) -> Variance:
        """Variance of each ability [M]."""
        return self.covariance.own()

    def under(self, more: tuple[float, float, float]) -> Floats:
        """V' of each difference [M, M]."""
        return _reduced(self.between, more)[0]

    def df_under(self, more: tuple[float, float, float]) -> float:
        """The median over entries of the degrees of freedom of their abilities."""
        v, (r, s, c) = _reduced(self.own, more)
        g_r, g_s, g_c = (max(1.0, by * n - 1) for by, n in zip(more, self.own.clusters, strict=True))
        spent = (r > 0) * (r + c) ** 2 / g_r + (s > 0) * (s + c) ** 2 / g_s + c**2 / g_c
        return float(np.median(np.maximum(1.0, np.divide(v**2, spent, out=np.ones_like(v), where=spent > 0))))

    def bar(self, more: tuple[float, float, float]) -> float:
        """c': what the lead over each rival must be, in its standard errors."""
        m = len(self.theta)
        return self.critical * bonferroni(self.df_under(more), m) / bonferroni(self.df, m)

    def reach(self, more: tuple[float, float, float]) -> float:
        """The least lead of the first over a rival, in standard errors under the plan, less the bar: above 0 first place would be settled
        if estimates stayed as they are."""
        first = int(np.argmax(self.theta))
        others = np.arange(len(self.theta)) != first
        lead = (self.theta[first] - self.theta[others]) / np.sqrt(self.under(more)[first, others])
        return float(lead.min()) - self.bar(more)

    @cached_property
    def _space(self) -> tuple[Floats, Floats, Floats, Floats]:
        """In the space of vectors that sum to 0 (a basis [M, M - 1]): the covariances that raters, samples and cells add, [M - 1, M - 1]
        each."""
        m = len(self.theta)
        basis = scipy.linalg.null_space(np.ones((1, m)))
        parts = self.covariance
        cell = _symmetric(parts.cell)
        inside = (basis.T @ part @ basis for part in (_positive(parts.rater - cell), _positive(parts.sample - cell), cell))
        raters, samples, cells = inside
        return basis, raters, samples, cells

    @cached_property
    def _true(self) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """True abilities that were drawn, in the eigenvectors of today's covariance [draws, M - 1], with its eigenvalues, its vectors,
        today's estimate in them, and the normals of the final one."""
        basis, raters, samples, cells = self._space
        e, vectors = np.linalg.eigh(raters + samples + cells)
        e = np.maximum(e, 1e-9 * e.max())
        y = vectors.T @ (basis.T @ self.theta)
        turn = np.where(y < 0, -1.0, 1.0)  # which way a vector points must not hang on how entries are called
        y, vectors = y * turn, vectors * turn
        spreads = np.linspace(0.0, 3 * math.sqrt(max(float((y**2).mean()), float(e.mean()))), SPREADS)
        total = spreads[:, None] ** 2 + e
        log = (-0.5 * np.log(total) - 0.5 * y**2 / total).sum(axis=1)
        weight = np.exp(log - log.max())
        rng = np.random.default_rng(0)
        s = rng.choice(spreads, DRAWS, p=weight / weight.sum())[:, None] ** 2
        true = s * y / (s + e) + np.sqrt(s * e / (s + e)) * rng.standard_normal((DRAWS, len(e)))
        return true, e, vectors, y, rng.standard_normal((DRAWS, len(e)))

    def chance(self, more: tuple[float, float, float]) -> float:
        """Share of studies in which first place is settled under the plan, whoever is first then."""
        basis, raters, samples, cells = self._space
        true, e, vectors, y, normals = self._true
        later = vectors.T @ (raters / more[0] + samples / more[1] + cells / more[2]) @ vectors
        kept = later / e  # C' C^-1 in these vectors
        final = true + (y - true) @ kept.T + normals @ _root(later - kept @ later.T).T
        ability = final @ (basis @ vectors).T
        leader = ability.argmax(axis=1)
        between = self.under(more)
        np.fill_diagonal(between, 1.0)
        lead = ability[np.arange(DRAWS), leader][:, None] - ability
        with np.errstate(divide="ignore"):
            settled = lead > (self.bar(more) * np.sqrt(between))[leader]
        settled[np.arange(DRAWS), leader] = True
        return float(settled.all(axis=1).mean())

    def plan(self, name: str, end: float = math.inf) -> Plan:
        """The plan of that name, whose factor is at most its `end`."""
        of = PLANS[name]
        tried = [k for k in FACTORS if k < end] + ([max(1.0, end)] if math.isfinite(end) and end <= FACTORS[-1] else [])
        limit, chance = self.chance(of(max(1.0, end) if math.isfinite(end) else ENDLESS)), 0.0
        for k in tried:
            chance = self.chance(of(k))
            if chance >= LIKELY:
                return Plan(k, chance, limit)
        return Plan(None, chance, limit)

    def plans(self) -> Settling:
        """All four."""
        return Settling(self.plan("answers", self.end), self.plan("people"), self.plan("items"), self.plan("both"))


def _reduced(parts: Variance, more: tuple[float, float, float]) -> tuple[Floats, tuple[Floats, Floats, Floats]]:
    """V' and what raters, samples and cells add to it under a plan."""
    r = np.maximum(0.0, parts.rater - parts.cell) / more[0]
    s = np.maximum(0.0, parts.sample - parts.cell) / more[1]
    c = parts.cell / more[2]
    return r + s + c, (r, s, c)


def _symmetric(matrix: Floats) -> Floats:
    return (matrix + matrix.T) / 2


def _positive(matrix: Floats) -> Floats:
    """The matrix without its negative eigenvalues."""
    values, vectors = np.linalg.eigh(_symmetric(matrix))
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def _root(matrix: Floats) -> Floats:
    """The symmetric root of a matrix, without its negative eigenvalues."""
    values, vectors = np.linalg.eigh(_symmetric(matrix))
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
