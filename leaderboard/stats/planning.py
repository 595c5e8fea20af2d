"""Answers that would still tell something: forecasts from what a study has, a plan before it has any, pairs to ask, when to stop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.stats.crossed import Variance
from leaderboard.stats.votes import LEAST, Floats, Ints

DESIGN = 2.0  # how many times more answers clustered ones must be, unless a study of the family says otherwise
POWER = 7.849  # (z of 97.5 % + z of 80 %)^2
FEW_CLUSTERS = 12
CROWN = 0.85  # of new questions are pairs of the first with those not yet told from it
MAX_LOOKS = 10
ADVICE = {"raters": 12, "samples": 24, "shared": 0.2}


def half_width(variance: Variance, answers: int, more: Sequence[float] = (1.0, 1.0, 1.0)) -> float:
    """Width of each side of an interval with so many times the raters, samples and answers: about 2 sqrt(V)."""
    raters, samples, cells = (float(part) for part in (variance.rater, variance.sample, variance.cell))
    v = max(0.0, raters - cells) / more[0] + max(0.0, samples - cells) / more[1] + cells / more[2]
    clusters = min(variance.clusters[0] * more[0], variance.clusters[1] * more[1])
    return (2.2 if clusters < FEW_CLUSTERS else 2.0) * math.sqrt(v)


@dataclass(frozen=True)
class Forecast:
    """Half widths of a figure now, and with more of one thing: `answers` of these raters on these samples, `raters` with as many
    answers each as now, `samples`; each as (how many more, half width). `helps` names what helps most."""

    now: float
    answers: tuple[int, float]
    raters: tuple[int, float]
    samples: tuple[int, float]
    helps: str


def forecast(variance: Variance, n: int, answers: int = 1000, raters: int = 10, samples: int = 10) -> Forecast:
    """Forecast of a figure made of n answers. More raters bring their answers with them; more samples are asked in place of others."""
    g_raters, g_samples, _ = variance.clusters
    grown = 1 + raters / g_raters
    widths = {
        "answers": half_width(variance, n, (1.0, 1.0, 1 + answers / n)),
        "raters": half_width(variance, n, (grown, 1.0, grown)),
        "samples": half_width(variance, n, (1.0, 1 + samples / g_samples, 1.0)),
    }
    helps = min(widths, key=lambda name: widths[name])
    return Forecast(half_width(variance, n), (answers, widths["answers"]), (raters, widths["raters"]), (samples, widths["samples"]), helps)


def answers_needed(share: float, ties: float, design: float = DESIGN) -> int:
    """Answers on one pair to see a preference of that share (ties half) at 5 % with a power of 80 %."""
    if share == 0.5:
        raise ValueError("a preference of one half cannot be told from one half")
    return math.ceil(POWER * (1 - ties) / 4 / (share - 0.5) ** 2 * design)


def pairs_to_ask(theta: Floats, p: Floats, n: int, seed: int) -> list[tuple[int, int]]:
    """Which pairs of entries [M] to ask next, where votes tell most about first place: 85 % are of the first and one that is not yet
    told from it (`p` [M, M] two-sided, NaN where nothing is known), the others any pair."""
    rng = np.random.Generator(np.random.PCG64(seed))
    m, first = len(theta), int(np.argmax(theta))
    open_ = [j for j in range(m) if j != first and not p[first, j] <= 0.05]
    pairs = []
    for _ in range(n):
        if open_ and rng.random() < CROWN:
            i, j = first, open_[rng.integers(len(open_))]
        else:
            i, j = rng.choice(m, 2, replace=False).tolist()
        pairs.append((min(i, j), max(i, j)))
    return pairs


@dataclass(frozen=True)
class Look:
    """At one of the looks that were planned: whether first place is settled; `open` are the entries not yet told from the first."""

    settled: bool
    first: int
    open: tuple[int, ...]
    why: str = ""


def look(theta: Floats, p: Floats, looks: int, raters: int, samples: int) -> Look:
    """First place is settled if every other's p is at most 5 % over the number of looks, which was fixed before the study opened."""
    if not 1 <= looks <= MAX_LOOKS:
        raise ValueError(f"a study has from 1 to {MAX_LOOKS} planned looks")
    first = int(np.argmax(theta))
    if raters < LEAST or samples < LEAST:
        return Look(False, first, (), f"Too early: {LEAST} raters and {LEAST} samples are needed.")
    others = tuple(j for j in range(len(theta)) if j != first and not p[first, j] <= 0.05 / looks)
    return Look(not others, first, others)


def more_for(gap: float, variance: float, answers: int) -> int:
    """About how many more answers until a gap of abilities is twice its standard error, all parts of the variance falling alike."""
    if gap == 0:
        raise ValueError("equal abilities are never told apart")
    return max(0, math.ceil(answers * (4 * variance / gap**2 - 1)))


def settled_places(low: Ints, high: Ints) -> int:
    """k: places 1 to k are settled, each of whose rank intervals overlaps none below it. `low`, `high` in the order shown; where all
    but the last are settled, that is too."""
    for k in range(len(low) - 1):
        if high[: k + 1].max() >= low[k + 1 :].min():
            return k
    return len(low)
