"""Answers that would still tell something: forecasts from what a study has, a plan before it has any, when to stop."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import scipy

from leaderboard.stats.minimums import ITEMS_FOR_LOOK, RATERS_FOR_LOOK
from leaderboard.stats.states import Counted, Key, Reason
from leaderboard.stats.two_way_intervals import Variance
from leaderboard.stats.uncertainty import ALPHA
from leaderboard.stats.votes import Ints

DESIGN = 2.0  # how many times more answers clustered ones must be, unless a study of the family says otherwise
POWER = 7.849  # (z of 97.5 % + z of 80 %)^2
CHANCE_TO_SEE = 0.8  # of what a plan says it shows
FEW_CLUSTERS = 12
MAX_LOOKS = 10
SHARED_ADVISED = 0.2  # share of the answers that are on questions of two raters


def half_width(variance: Variance, answers: int, more: Sequence[float] = (1.0, 1.0, 1.0)) -> float:
    """Width of each side of an interval with so many times the raters, samples and answers: about 2 sqrt(V)."""
    raters, samples, cells = (float(part) for part in (variance.rater, variance.sample, variance.cell))
    v = max(0.0, raters - cells) / more[0] + max(0.0, samples - cells) / more[1] + cells / more[2]
    clusters = min(variance.clusters[0] * more[0], variance.clusters[1] * more[1])
    return (2.2 if clusters < FEW_CLUSTERS else 2.0) * math.sqrt(v)


@dataclass(frozen=True)
class Forecast:
    """Half widths of a metric's interval now, and with more of one thing, each as (how many more, half width). The things are `answers` of
    these raters on these samples, `raters` with as many answers each as now, and `samples`. `helps` names what helps most."""

    metric: str
    now: float
    answers: tuple[int, float]
    raters: tuple[int, float]
    samples: tuple[int, float]
    helps: str


def forecast(metric: str, variance: Variance, n: int, answers: int = 1000, raters: int = 10, samples: int = 10) -> Forecast:
    """Forecast of the metric's figure, which is made of n answers. More raters bring their answers with them; more samples are asked in
    place of others."""
    g_raters, g_samples, _ = variance.clusters
    grown = 1 + raters / g_raters
    widths = {
        "answers": half_width(variance, n, (1.0, 1.0, 1 + answers / n)),
        "raters": half_width(variance, n, (grown, 1.0, grown)),
        "samples": half_width(variance, n, (1.0, 1 + samples / g_samples, 1.0)),
    }
    helps = min(widths, key=lambda name: widths[name])
    now, of_answers = half_width(variance, n), (answers, widths["answers"])
    return Forecast(metric, now, of_answers, (raters, widths["raters"]), (samples, widths["samples"]), helps)


def power_of_look(looks: int) -> float:
    """(z of the two-sided level + z of 80 %)^2 of one of so many looks, each at 5 % over their number; about `POWER` for one."""
    return float(scipy.stats.norm.isf(ALPHA / looks / 2) + scipy.stats.norm.isf(1 - CHANCE_TO_SEE)) ** 2


def answers_needed(share: float, ties: float, design: float = DESIGN) -> int:
    """Answers on one pair to see a preference of that share (ties half) at 5 % with a power of 80 %."""
    if share == 0.5:
        raise ValueError("a preference of one half cannot be told from one half")
    return math.ceil(POWER * (1 - ties) / 4 / (share - 0.5) ** 2 * design)


@dataclass(frozen=True)
class Look:
    """At one of the looks that were planned: whether first place is settled; `open` are the entries not yet told from the first."""

    settled: bool
    open: tuple[str, ...] = ()
    reason: Reason | None = None


def look(others: Mapping[str, float | None], looks: int, raters: int, samples: int) -> Look:
    """Decide whether first place is settled: the two-sided p of the first against each of the `others` (None: unknown) is at most
    5 % over the number of looks. That number was fixed before the study opened."""
    if not 1 <= looks <= MAX_LOOKS:
        raise ValueError(f"a study has from 1 to {MAX_LOOKS} planned looks")
    for n, least, counted in ((raters, RATERS_FOR_LOOK, Counted.RATERS), (samples, ITEMS_FOR_LOOK, Counted.ITEMS)):
        if n < least:
            return Look(False, tuple(others), Reason(Key.FEW_FOR_LOOK, counted, least, n))
    untold = tuple(name for name, p in others.items() if p is None or p > ALPHA / looks)
    return Look(not untold, untold)


def settled_places(low: Ints, high: Ints) -> int:
    """k: places 1 to k are settled, each of whose rank intervals overlaps none below it. `low`, `high` in the order shown; where all
    but the last are settled, that is too. First place is settled by the first's own interval alone. It is surer than its rivals' intervals
    can be: these have bars of their own, and may still begin at 1."""
    for k in range(len(low) - 1):
        if high[: k + 1].max() >= low[k + 1 :].min():
            return max(k, int(high[0] == 1))
    return len(low)
