"""Metrics ranked by how far each agrees with people's answers: figures, tiers, and which stand above what knows nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from leaderboard.stats import agreement
from leaderboard.stats.agreement import Agreement, Differences
from leaderboard.stats.answers import Answers, weighted
from leaderboard.stats.states import too_few
from leaderboard.stats.uncertainty import ALPHA
from leaderboard.stats.votes import Floats

GUARDS = {"coin": "A coin", "constant": "A constant"}


@dataclass(frozen=True)
class Standing:
    """One metric: its decided agreement, its tier (None for a guard, and without a figure), and whether it is better than chance: its
    interval lies above one half; `above` is None where it has none. `above_size` says whether it was shown to be better than the size of
    entries alone, None where that was not tested."""

    key: str
    decided: Agreement
    tier: int | None
    guard: bool = False
    above: bool | None = None
    above_size: bool | None = None


def ranked(counted: Answers, metrics: Mapping[str, Floats], seed: int = 0, size: Floats | None = None) -> list[Standing]:
    """The standings of metrics, each x float64[samples, entries] turned so that higher is better, the best first, and of the guards after
    them, of which `size` is how large entries are, where that is known. Holm's correction of the tests behind tiers is over all pairs
    of metrics, guards left out."""
    shape = (len(counted.samples), len(counted.entries))
    found = {key: agreement.differences(counted, x) for key, x in metrics.items()}
    figures = {key: _decided(one) for key, one in found.items()}
    # Also one of which all answers are alike, as of a constant: it has no interval, and can be held against others.
    values = {key: figure.value for key, figure in figures.items() if figure.value is not None and not too_few(figure.reason)}
    made = agreement.pairs([(key, found[key]) for key in values])
    p_holm = {frozenset((pair.first, pair.second)): pair.p_holm for pair in made if pair.p_holm is not None}
    tier_of = tiers(values, p_holm)
    guards = {} if size is None else {"size": size}
    guards |= {"coin": agreement.coin(seed, *shape), "constant": agreement.constant(*shape)}
    blind = {key: agreement.differences(counted, x) for key, x in guards.items()}
    # By its own interval, as everywhere: one draw of a coin may be lucky or unlucky.
    above = {key: figure.low > 0.5 + agreement.EQUAL for key, figure in figures.items() if figure.low is not None}
    beyond: dict[str, bool] = {}
    if size is not None:
        beyond = {key: not agreement.not_above(agreement.compared(found[key], blind["size"], (key, "size"))) for key in values}
    rows = [Standing(key, figures[key], tier_of.get(key), above=above.get(key), above_size=beyond.get(key)) for key in found]
    # Where there are too few answers for a figure, the order must not tell it.
    rows.sort(key=lambda row: (row.tier is None, row.tier or 0, agreement.place(values.get(row.key, 0.0), row.key)))
    return rows + [Standing(key, _decided(one), None, True) for key, one in blind.items()]


def tiers(values: Mapping[str, float], p_holm: Mapping[frozenset[str], float]) -> dict[str, int]:
    """The tier of each metric. The first opens tier 1; a tier runs on while the next metric is not worse than its first."""
    tier_of: dict[str, int] = {}
    tier, first = 0, ""
    for key in sorted(values, key=lambda key: agreement.place(values[key], key)):
        worse = first and values[key] < values[first] and p_holm.get(frozenset((first, key)), 1.0) <= ALPHA
        if not first or worse:
            tier, first = tier + 1, key
        tier_of[key] = tier
    return tier_of


def _decided(found: Differences) -> Agreement:
    return replace(agreement.decided(found), coverage=found.coverage)


def halves(
    samples: Collection[str], seed: int, known: tuple[Collection[str], Collection[str]] = ((), ())
) -> tuple[frozenset[str], frozenset[str]]:
    """The public half of the samples, and the other; which is which hangs on the seed. An odd one goes to the other. Those of the `known`
    halves stay in theirs, whatever comes or goes: what was public decides nothing later."""
    public, final = (frozenset(half) for half in known)
    more = sorted(set(samples) - public - final)
    names = [more[place] for place in np.random.default_rng(seed).permutation(len(more))]
    cut = max(0, (len(public) + len(final) + len(more)) // 2 - len(public))
    return public | frozenset(names[:cut]), final | frozenset(names[cut:])


def part(counted: Answers, samples: Collection[str]) -> Answers:
    """The answers on these samples; each pair of entries weighs the same among them, however often it was asked about on the others."""
    inside = np.array([name in samples for name in counted.samples], dtype=bool)
    return weighted(counted.take(inside[counted.sample]))
