"""Agreement within an item: of two entries on the same item, how often a metric picks the one that people prefer.

`decided` asks each person's own answers, `concordance` people's means. Means have less noise, so the two are not comparable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leaderboard.stats import agreement, another_rater
from leaderboard.stats.answers import Answers
from leaderboard.stats.evidence import figure as figures
from leaderboard.stats.evidence import places
from leaderboard.stats.evidence.figure import Decided, SetFigure, Split
from leaderboard.stats.evidence.places import Compared
from leaderboard.stats.votes import Floats

SPLIT = 0.75  # the largest share of decisive answers on one side that makes a comparison one that divides people


def agreements(answers: Answers, tables: Mapping[str, Floats], persons: bool, among: Sequence[str] = ()) -> Compared:
    """Share of the answers that name the entry which each metric picks. `tables` are metrics x float64[items, entries], turned so that
    higher is better. Places are given to the metrics `among`, which are compared with a metric called "size"."""
    deltas = {key: agreement.differences(answers, x) for key, x in tables.items()}
    found = {
        key: replace(figures.share(agreement.decided(one), persons), coverage=1.0 if one.coverage is None else one.coverage)
        for key, one in deltas.items()
    }
    pairs = [(first, second) for n, first in enumerate(among) for second in among[n + 1 :]]
    if "size" in tables:
        pairs += [(key, "size") for key in among]
    tests = [agreement.compared(deltas[first], deltas[second], (first, second)) for first, second in pairs]
    return places.compared(found, among, tests)


def with_standings(found: Compared, answers: Answers, tables: Mapping[str, Floats], persons: bool) -> Compared:
    """The figures of people's own answers with each metric's state between chance and another rater."""
    made: dict[str, SetFigure] = {}
    dyads = None
    for key, figure in found.figures.items():
        delta = agreement.differences(answers, tables[key])
        person = None
        if persons and figure.low is not None and figure.low > 0.5:
            used, person = another_rater.beside(delta, dyads)
            dyads = delta, used
        made[key] = Decided(**vars(figure), standing=another_rater.standing(agreement.decided(delta), person))
    return Compared(made, found.differences)


def split(answers: Answers, x: Floats) -> Split | None:
    """A metric's agreement on the comparisons of which the larger side holds at most three quarters of the decisive answers; None where
    there are none. The bound is what a metric would reach that always sides with most people."""
    decisive, credit = agreement.credit(agreement.differences(answers, x))
    if not len(decisive):
        return None
    _, question, counts = np.unique(decisive.question, return_inverse=True, return_counts=True)
    first = np.bincount(question, decisive.verdict < 0)
    larger = np.maximum(first, counts - first)[question] / counts[question]
    chosen = larger <= SPLIT
    w = decisive.weight[chosen]
    if not len(w):
        return None
    value, bound = float((w * credit[chosen]).sum() / w.sum()), float((w * larger[chosen]).sum() / w.sum())
    return Split(value, bound, len(w))


@dataclass(frozen=True)
class WithinCeiling:
    """Another rater within items, and the band in which the best possible metric lies; see `leaderboard.stats.another_rater.Ceiling`."""

    another_rater: SetFigure
    leave_one_out: float
    low: float
    likely: float
    high: float
    n: int


def ceiling(answers: Answers) -> WithinCeiling | None:
    """Agreement of two people who both decided, and the bounds that it sets; None where no two decided one comparison."""
    two = another_rater.another_rater(answers)
    best = None if two is None else another_rater.ceiling(answers, two)
    if two is None or best is None:
        return None
    return WithinCeiling(figures.share(two, persons=True), best.leave_one_out, best.low, best.likely, best.high, best.n)
