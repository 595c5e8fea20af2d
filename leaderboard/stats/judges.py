"""Figures of a judge's answers: its Elo per criterion, where a new method stands, and its verdict on people's questions.

A judge gives several texts on one comparison, and every one that could be read counts. Comparisons, not texts, are resampled.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from leaderboard.stats import preference, two_way_intervals
from leaderboard.stats.minimums import ITEMS_FOR_LEFT_SHARE
from leaderboard.stats.reliability import Questions
from leaderboard.stats.votes import Floats

SAME = 1e-6  # points by which the draws of a score may differ and be the same but for rounding


@dataclass(frozen=True)
class Judged:
    """One comparison on one criterion: the verdicts (−1 left better, 0, +1 right better) of the texts that could be read."""

    sample: str
    left: str
    right: str
    verdicts: tuple[int, ...]


@dataclass(frozen=True)
class JudgeAnswers:
    """A judge that answers people's questions too: its name, what it said on the criterion, and facts to be shown beside it.
    `drawn_alike` says that its questions were drawn from all entries and samples, and people's too."""

    key: str
    judged: tuple[Judged, ...] = field(repr=False)
    display_only: bool = False
    drawn_alike: bool = True
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class MethodScore:
    """A method's Elo by a judge, with its interval. The anchor has no interval, nor has a score that every draw of comparisons gives.
    `placed`: among scores that stayed as they were. `regularised`: it never lost or never won."""

    method: str
    elo: float | None
    low: float | None
    high: float | None
    wins: int
    ties: int
    losses: int
    regularised: bool = False
    placed: bool = False

    @property
    def order(self) -> tuple[bool, float, str]:
        """Place in a list, best first: methods without a score behind all others."""
        return self.elo is None, -(self.elo or 0.0), self.method


@dataclass(frozen=True)
class JudgeScores:
    """Scores of methods, best first, and how many comparisons and answers they are of; the anchor is at 1000."""

    anchor: str
    rows: list[MethodScore]
    comparisons: int
    answers: int


def blocks(judged: Iterable[Judged], methods: Sequence[str]) -> np.ndarray:
    """int64[N, 5] as `preference.resampled_blocks` takes it; comparisons without a verdict are left out."""
    place = {name: n for n, name in enumerate(methods)}
    rows = []
    for one in judged:
        if one.verdicts:
            counts = [one.verdicts.count(kind) for kind in (-1, 0, 1)]
            sides = (one.left, one.right) if one.left < one.right else (one.right, one.left)
            rows.append([place[sides[0]], place[sides[1]], *(counts if one.left < one.right else counts[::-1])])
    return np.array(rows, dtype=np.int64).reshape(-1, 5)


def cells(counts: np.ndarray, m: int) -> Floats:
    """`preference.cells` float64[m, m, 2] of such blocks."""
    counted = np.zeros((m, m, 2))
    for a, b, first, tied, second in counts.tolist():
        counted[a, b] += (first, tied)
        counted[b, a] += (second, tied)
    return counted


def elo(judged: Sequence[Judged], anchor: str, resamples: int = preference.RESAMPLES, seed: int = 0) -> JudgeScores:
    """The Elo of every method that was compared, the anchor at 1000.

    Where the anchor was not compared the first method by name stands in its place. Methods that no chain of comparisons joins to
    it have no score; `regularised` marks those that needed half a virtual win each way.
    """
    methods = sorted({name for one in judged if one.verdicts for name in (one.left, one.right)})
    if not methods:
        return JudgeScores(anchor, [], 0, 0)
    at = methods.index(anchor) if anchor in methods else 0
    counts = blocks(judged, methods)
    counted = cells(counts, len(methods))
    value, fitted = preference.judge_elo(counted, at)
    scale = preference.scale(value, preference.judge_elos(preference.resampled_blocks(counts, len(methods), resamples, seed), at))
    ends = [_ends(low, high) for low, high in zip(scale.low, scale.high, strict=True)]
    rows = [
        MethodScore(
            method=name,
            elo=_plain(scale.value[n]),
            low=ends[n][0],
            high=ends[n][1],
            wins=int(counted[n, :, 0].sum()),
            ties=int(counted[n, :, 1].sum()),
            losses=int(counted[:, n, 0].sum()),
            regularised=bool(fitted.regularised[n]),
        )
        for n, name in enumerate(methods)
    ]
    return JudgeScores(methods[at], sorted(rows, key=lambda row: row.order), len(counts), int(counts[:, 2:].sum()))


def place(
    judged: Sequence[Judged], newcomer: str, frozen: Mapping[str, float], resamples: int = preference.RESAMPLES, seed: int = 0
) -> JudgeScores:
    """The score of a new method alone, among `frozen` ones, which stay as they are; comparisons with others are left out."""
    against = sorted({name for one in judged for name in (one.left, one.right) if name != newcomer and name in frozen})
    methods = [newcomer, *against]
    own = [one for one in judged if newcomer in (one.left, one.right) and {one.left, one.right} <= set(methods)]
    counts = blocks(own, methods)
    counted = cells(counts, len(methods))
    samples = preference.resampled_blocks(counts, len(methods), resamples, seed)
    scores = [frozen[name] for name in against]

    def score(one: Floats) -> float:
        w = preference.wins(one, tie=1.0)
        met = (w[0, 1:] + w[1:, 0]) > 0
        return preference.placed([s for s, m in zip(scores, met, strict=True) if m], w[0, 1:][met].tolist(), w[1:, 0][met].tolist())

    low, high = preference.interval(np.array([[score(one)] for one in samples]).reshape(-1, 1))
    ends = _ends(low[0], high[0])
    w = preference.wins(counted, tie=1.0)
    row = MethodScore(
        method=newcomer,
        elo=_plain(score(counted)),
        low=ends[0],
        high=ends[1],
        wins=int(counted[0, :, 0].sum()),
        ties=int(counted[0, :, 1].sum()),
        losses=int(counted[:, 0, 0].sum()),
        regularised=bool(len(counts)) and not (w[0].sum() and w[:, 0].sum()),
        placed=True,
    )
    return JudgeScores("", [row], len(counts), int(counts[:, 2:].sum()))


def elos(judged: Sequence[Judged], methods: Sequence[str]) -> Floats:
    """The Elo of these methods, float64[M], for their order: the one that was compared most is at 1000, so that no name decides which part
    of comparisons that fall apart has scores. NaN where there is none."""
    compared = Counter(name for one in judged if one.verdicts for name in (one.left, one.right))
    anchor = max(sorted(compared), key=lambda name: compared[name], default="")
    elo_of = {row.method: row.elo for row in elo(judged, anchor, resamples=0).rows}
    return np.array([math.nan if elo_of.get(name) is None else elo_of[name] for name in methods], dtype=np.float64)


def win_rates(judged: Sequence[Judged], samples: Sequence[str], methods: Sequence[str]) -> Floats:
    """The share of its comparisons on each sample that a method won, ties half: float64[S, M], NaN where it was not compared."""
    every = sorted({name for one in judged for name in (one.left, one.right)} | set(methods))
    place = [every.index(name) for name in methods]
    rows = []
    for sample in samples:
        counts = blocks((one for one in judged if one.sample == sample), every)
        rows.append(preference.win_rate(preference.wins(cells(counts, len(every))))[place])
    return np.array(rows, dtype=np.float64).reshape(len(samples), len(methods))


@dataclass(frozen=True)
class LeftShare:
    """Share of a judge's `n` decided answers, on so many samples, for the left side, with the 95 % interval over samples."""

    value: float
    low: float
    high: float
    n: int
    samples: int


def left_share(judged: Iterable[Judged]) -> LeftShare | None:
    """Share of left answers, one half for a judge that ignores sides; None if too few samples have a decided answer.

    Answers on one sample are alike, so samples vary. The variance is at least that of as many independent answers: a judge
    that is asked each pair from both sides and repeats itself would have none.
    """
    counts: dict[str, list[int]] = {}
    for one in judged:
        own = counts.setdefault(one.sample, [0, 0])
        own[0] += one.verdicts.count(-1)
        own[1] += one.verdicts.count(-1) + one.verdicts.count(1)
    table = np.array([own for own in counts.values() if own[1]], dtype=np.float64).reshape(-1, 2)
    samples, n = len(table), int(table[:, 1].sum())
    if samples < ITEMS_FOR_LEFT_SHARE:
        return None
    value, influence = two_way_intervals.ratio(table[:, 0], table[:, 1])
    if value in (0.0, 1.0):
        low, high = two_way_intervals.at_the_end(value, samples)
    else:
        variance = max(samples / (samples - 1) * float((influence**2).sum()), value * (1 - value) / n)
        low, high = map(float, two_way_intervals.share_interval(value, math.sqrt(variance), samples - 1.0))
    return LeftShare(value, low, high, n, samples)


def verdicts_on(judged: Iterable[Judged]) -> dict[tuple[str, str, str], list[int]]:
    """All verdicts of a judge by the sample and the two methods, in the order of their names, as if the first had stood left."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for one in judged:
        turn, (a, b) = 1 if one.left < one.right else -1, sorted((one.left, one.right))
        found.setdefault((one.sample, a, b), []).extend(turn * verdict for verdict in one.verdicts)
    return found


def preferred(asked: Questions, samples: Sequence[str], methods: Sequence[str], judged: Iterable[Judged]) -> Floats:
    """A judge's preference for the first method of each of people's questions: float64[Q], 1 always, ½ undecided, 0 never, NaN not asked.

    It is the share of its verdicts on that pair of that sample, ties counting half.
    """
    found, shares = verdicts_on(judged), np.full(len(asked.sample), math.nan)
    for n, (h, a, b) in enumerate(zip(asked.sample.tolist(), asked.a.tolist(), asked.b.tolist(), strict=True)):
        if verdicts := found.get((samples[h], methods[a], methods[b])):
            shares[n] = (1 - sum(verdicts) / len(verdicts)) / 2
    return shares


def verdict(preferred: Floats) -> Floats:
    """A row of verdicts [Q] as raters give them, from `preferred`: what most of the answers say, 0 where they are balanced."""
    return np.sign(0.5 - preferred)


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _ends(low: float, high: float) -> tuple[float | None, float | None]:
    """The ends of an interval; none where all draws give one score, as where every comparison ended alike: that is no certainty."""
    return (float(low), float(high)) if high - low > SAME else (None, None)  # NaN is not
