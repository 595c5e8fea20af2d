"""A metric beside another rater: how often two raters say the same, and whether the metric does better or worse on the same answers.

The unit is a dyad: two answers of different raters to one question, each of which names a winner. A rater is in many dyads, so raters
are nodes that dyads share (Aronow, Samii, Assenova, Political Analysis 2015); samples are clusters, and a cell is two raters on a sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

import numpy as np
import scipy

from leaderboard.stats import two_way_intervals
from leaderboard.stats.agreement import Agreement, Differences, credit
from leaderboard.stats.answers import Answers, pairs_within
from leaderboard.stats.minimums import ANSWERS_FOR_ANOTHER_RATER
from leaderboard.stats.states import Counted, Key, Reason, too_few
from leaderboard.stats.two_way_intervals import ALIKE, Ends, Estimate, Figure, Variance
from leaderboard.stats.votes import Floats, Ints


class Standing(StrEnum):
    """State of a metric by a study's answers, in the order in which they are looked at."""

    TOO_EARLY = "too_early"
    WORSE_THAN_CHANCE = "worse_than_chance"
    AT_CHANCE = "at_chance"
    BELOW_HUMAN_LEVEL = "below_human_level"
    ABOVE_HUMAN_LEVEL = "above_human_level"
    HUMAN_LEVEL = "human_level"
    UNCLEAR = "unclear"  # better than chance, human level unclear


@dataclass(frozen=True)
class Person:
    """A metric beside another rater on the same dyads. `apart` is its agreement less the rater's; `half` is its agreement less the middle
    between chance and the rater's. Each has its 95 % interval and standard error. `shared` answers are on questions that two raters
    decided. `reason` says why there is no comparison, and `why` does in outputs."""

    apart: Ends
    half: Ends
    shared: int
    reason: Reason | None = None
    apart_se: float | None = None
    half_se: float | None = None
    why: str = field(default="", compare=False)


class Dyads:
    """All dyads of answers that name a winner, as pairs of their positions (`first`, `second`), with the weight of each answer in them."""

    def __init__(self, decisive: Answers) -> None:
        _, question, counts = np.unique(decisive.question, return_inverse=True, return_counts=True)
        n = counts[question] if len(decisive) else np.zeros(0, dtype=np.int64)
        self.shared = int(np.count_nonzero(n >= 2))
        self.first, self.second = pairs_within(question)
        each = np.divide(decisive.weight, n - 1, out=np.zeros(len(decisive)), where=n >= 2)
        self.weight_first, self.weight_second = each[self.first], each[self.second]
        self.weight = self.weight_first + self.weight_second
        self.same = decisive.verdict[self.first] == decisive.verdict[self.second]
        self.raters = np.stack([decisive.rater[self.first], decisive.rater[self.second]])
        self.sample = decisive.unit[self.first]

    def __len__(self) -> int:
        return len(self.weight)

    @cached_property
    def _groups(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Number of the rater of each side, of the two together, of the sample and of the cell of each dyad."""
        raters = np.unique(self.raters, return_inverse=True)[1].reshape(2, -1)
        n = int(raters.max(initial=0)) + 1
        pair = np.unique(raters.min(axis=0) * n + raters.max(axis=0), return_inverse=True)[1]
        sample = np.unique(self.sample, return_inverse=True)[1]
        cell = np.unique(pair * (int(sample.max(initial=0)) + 1) + sample, return_inverse=True)[1]
        return raters, pair, sample, cell

    @cached_property
    def counts(self) -> tuple[int, int, int]:
        """Number of raters, samples and cells that are in a dyad."""
        raters, _, sample, cell = self._groups
        return (int(raters.max()) + 1, int(sample.max()) + 1, int(cell.max()) + 1) if len(self) else (0, 0, 0)

    def variance(self, u: Floats) -> Variance:
        """Variance of the figure with influences u [dyads], of which there is at least one."""
        raters, pair, sample, cell = self._groups
        by_rater = np.bincount(raters.ravel(), np.concatenate([u, u]))
        by_pair, by_sample, by_cell = (float((np.bincount(place, u) ** 2).sum()) for place in (pair, sample, cell))
        r, s, c = (two_way_intervals.scale(n) for n in self.counts)
        by_raters = r * (float((by_rater**2).sum()) - by_pair)
        return Variance(np.asarray(by_raters), np.asarray(s * by_sample), np.asarray(c * by_cell), self.counts)

    @property
    def _few(self) -> Reason:
        return Reason(Key.FEW_SHARED, Counted.ANSWERS, ANSWERS_FOR_ANOTHER_RATER, self.shared)

    def another_rater(self) -> Estimate:
        """D: how often two raters who both decided say the same, with its interval."""
        if not len(self):
            return Estimate.lacking(self._few)
        raters, samples, _ = self.counts
        value, u = two_way_intervals.ratio(self.weight * self.same, self.weight)
        found = Estimate(value, None, None, self.shared, two_way_intervals.known(raters, samples), raters=raters, samples=samples)
        if few := two_way_intervals.few(raters, samples):
            return found.because(few)
        if not two_way_intervals.NOTHING < value < 1 - two_way_intervals.NOTHING:
            low, high = two_way_intervals.at_the_end(value, min(raters, samples))
            return replace(found, low=low, high=high)
        variance = self.variance(u)
        se, df = math.sqrt(float(variance.total)), float(variance.df)
        if float(variance.total) <= two_way_intervals.NO_VARIANCE:
            return found.because(ALIKE)
        low, high = two_way_intervals.share_interval(value, se, df)
        return replace(found, low=float(low), high=float(high), se=se, df=df)

    def beside(self, credits: Floats) -> Person:
        """A metric with these credits, one for each answer that the dyads were made of, beside another rater."""
        person = self.another_rater()
        nothing: Ends = (None, None, None)
        reason = person.reason
        if reason is None and self.shared < ANSWERS_FOR_ANOTHER_RATER:
            reason = self._few
        if reason is None and (person.value or 0.0) <= 0.5:
            reason = Reason(Key.RATERS_AT_CHANCE)
        if reason is not None:
            return Person(nothing, nothing, self.shared, reason)
        own = self.weight_first * credits[self.first] + self.weight_second * credits[self.second]
        apart, apart_se = self._ends(own - self.weight * self.same)
        half, half_se = self._ends(own - self.weight * (self.same + 0.5) / 2)
        return Person(apart, half, self.shared, apart_se=apart_se, half_se=half_se)

    def _ends(self, num: Floats) -> tuple[Ends, float | None]:
        value, u = two_way_intervals.ratio(num, self.weight)
        variance = self.variance(u)
        se = math.sqrt(float(variance.total))
        if float(variance.total) <= two_way_intervals.NO_VARIANCE:
            return (value, None, None), None
        low, high = two_way_intervals.interval(value, se, float(variance.df))
        return (value, float(low), float(high)), se


def standing(decided: Agreement, person: Person | None) -> Standing | None:
    """State of a metric; None where no answer names a winner between entries that it has values for. `person` is not looked at before the
    metric is better than chance."""
    if decided.value is None:
        return None
    if too_few(decided.reason):
        return Standing.TOO_EARLY
    if decided.high is not None and decided.high < 0.5:
        return Standing.WORSE_THAN_CHANCE
    if decided.low is None or decided.low <= 0.5:
        return Standing.AT_CHANCE
    if person is None or person.reason is not None:
        return Standing.UNCLEAR
    apart, half = person.apart, person.half
    if apart[2] is not None and apart[2] < 0:
        return Standing.BELOW_HUMAN_LEVEL
    if half[1] is not None and half[1] > 0:
        return Standing.ABOVE_HUMAN_LEVEL if apart[1] is not None and apart[1] > 0 else Standing.HUMAN_LEVEL
    return Standing.UNCLEAR


def beside(deltas: Differences, cached: tuple[Differences, Dyads] | None = None) -> tuple[Dyads, Person]:
    """A metric beside another rater, on the decisive answers that it has values for. Dyads that were `cached` for another metric are used
    again where both have values for the same answers."""
    answers, credits = credit(deltas)
    if cached is not None and np.array_equal(cached[0].had, deltas.had):
        return cached[1], cached[1].beside(credits)
    dyads = Dyads(answers)
    return dyads, dyads.beside(credits)


# --- the best that is possible


@dataclass(frozen=True)
class Ceiling:
    """The best that any metric could do on these answers: E[max(p, 1 - p)], p the share of deciders who prefer a on a question.

    `two_people`: how often two deciders of one question say the same; `leave_one_out`: how often one says what most of the
    others do. Both are reached by somebody, so the best lies at `low` or above; by Jensen's inequality it is at most `high`;
    `likely` is where it lies if p is spread like Beta(k, k). `n` answers on questions that two decided.
    """

    two_people: Figure
    leave_one_out: float
    low: float
    likely: float
    high: float
    n: int


def another_rater(answers: Answers) -> Estimate | None:
    """Share of what two raters who both decided say alike; None where no two decided one question."""
    found = Dyads(answers.decided).another_rater()
    return None if found.value is None else found


def ceiling(answers: Answers, two: Estimate) -> Ceiling | None:
    """The same by how often two raters say the same; None where that is not known."""
    decisive = answers.decided
    if two.value is None:
        return None
    _, place, counts = np.unique(decisive.question, return_inverse=True, return_counts=True)
    twice = counts[place] >= 2
    first = np.bincount(place, decisive.verdict < 0)
    same = (np.where(decisive.verdict < 0, first[place], counts[place] - first[place]) - 1)[twice]
    weight = decisive.weight[twice]
    majority = (1 + np.sign(2 * same - (counts[place] - 1)[twice])) / 2
    rest = float((weight * majority).sum() / weight.sum())
    low, likely, high = band(two.value, rest)
    return Ceiling(two.brief, rest, low, likely, high, int(np.count_nonzero(twice)))


def band(two_people: float, leave_one_out: float = 0.0) -> tuple[float, float, float]:
    """(low, likely, high) of the best possible, from the shares of `Ceiling`."""
    d = max(0.5, two_people)
    high = (1 + math.sqrt(2 * d - 1)) / 2
    low = min(high, max(two_people, leave_one_out))
    if d >= 1 or d <= 0.5:
        likely = min(1.0, d)
    else:
        k = (1 - d) / (2 * d - 1)
        if k > 500:  # the limit of the beta function below
            likely = 0.5 + 0.5 * math.sqrt(2 / math.pi) * math.sqrt(2 * d - 1)
        else:
            likely = 0.5 + math.exp(-k * math.log(4) - math.log(k) - float(scipy.special.betaln(k, k)))
    return low, min(high, max(low, likely)), high
