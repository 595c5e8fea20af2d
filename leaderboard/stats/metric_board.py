"""Metrics beside each other by one set of answers: how far each agrees with people, its state, and its places among the others.

A study's own metrics and the entries of a challenge of metrics are ranked by it alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leaderboard.stats import agreement, another_rater
from leaderboard.stats.agreement import Agreement, Differences, MetricPair
from leaderboard.stats.another_rater import Person
from leaderboard.stats.another_rater import Standing as State
from leaderboard.stats.answers import Answers, weighted
from leaderboard.stats.states import Reason, too_few
from leaderboard.stats.votes import Floats


@dataclass(frozen=True, eq=False)
class Scored:
    """A metric: x float64[samples, entries], turned so that higher is better, NaN where it has no value.

    `overall` float64[entries] is its value of each entry where that is not the mean over the study's samples. `trained` is not
    empty where it was, or may have been, learnt from these answers. A `reference_point` knows nothing, or size alone.
    """

    key: str
    x: Floats
    overall: Floats | None = None
    trained: str = ""
    reference_point: bool = False

    @property
    def of_entries(self) -> Floats:
        if self.overall is not None:
            return self.overall
        n = (~np.isnan(self.x)).sum(axis=0)
        return np.divide(np.nansum(self.x, axis=0), n, out=np.full(self.x.shape[1], math.nan), where=n > 0)

    @property
    def by_sample(self) -> bool:
        """True if it answers questions; a metric of the whole set does not."""
        return not np.isnan(self.x).all()


def reference_points(answers: Answers, seed: int, size: Floats | None = None, reference_size: Floats | None = None) -> list[Scored]:
    """Rows that know nothing, or size alone, in every table and last in it. `size` is how large what an entry handed in for a sample is
    [samples, entries], `reference_size` how large its reference is [samples], where known."""
    shape = len(answers.samples), len(answers.entries)
    scored = [
        Scored("constant", agreement.constant(*shape), reference_point=True),
        Scored("coin", agreement.coin(seed, *shape), reference_point=True),
    ]
    if size is not None:
        scored.append(Scored("size", size, reference_point=True))
    if reference_size is not None:
        scored.append(Scored("reference only", np.repeat(reference_size[:, None], shape[1], axis=1), reference_point=True))
    return scored


@dataclass(frozen=True)
class Standing:
    """One metric among others: its decided agreement, its state `standing` between chance and another rater, and its `places`, each at 95
    %. `person` compares it with another rater. It `may_be_best` if its places begin at 1. These are None for a reference point, for a
    metric trained on the answers, and where nothing could be tested. `over_size` is its difference to the reference point of size, and
    `above_size` says whether it was shown to see more than that; None where there is no such row."""

    key: str
    reference_point: bool
    trained: str
    decided: Agreement
    person: Person | None
    standing: State | None
    places: tuple[int, int] | None = None
    may_be_best: bool | None = None
    above_size: bool | None = None
    over_size: MetricPair | None = None

    @property
    def few(self) -> Reason | None:
        """Reason why nothing of it is tested: it has values for answers of too few raters, or on too few samples."""
        return self.decided.reason if too_few(self.decided.reason) else None


@dataclass(frozen=True, eq=False)
class Row:
    """A metric, its differences on the answers, and where it stands."""

    metric: Scored
    differences: Differences
    standing: Standing

    @property
    def has_places(self) -> bool:
        """True if it is compared with the others."""
        return not self.metric.reference_point and not self.metric.trained and self.standing.decided.value is not None


@dataclass(frozen=True, eq=False)
class Ranked:
    """The rows, the best first and reference points last, and the tests of each two of those that have places."""

    rows: list[Row]
    pairs: list[MetricPair]

    @property
    def standings(self) -> list[Standing]:
        return [row.standing for row in self.rows]


def ranked(answers: Answers, metrics: Sequence[Scored], step: Callable[[], None] = lambda: None) -> Ranked:
    """These metrics and reference points, by the answers; `step` is called after each."""
    rows = []
    dyads: tuple[Differences, another_rater.Dyads] | None = None  # of the last metric: most have values for the same answers
    for metric in metrics:
        difference = agreement.differences(answers, metric.x)
        headline, person = agreement.decided(difference), None
        # Not looked at before a metric is better than chance.
        if not too_few(headline.reason) and headline.low is not None and headline.low > 0.5:
            made, person = another_rater.beside(difference, dyads)
            dyads = difference, made
        state, decided = another_rater.standing(headline, person), replace(headline, coverage=difference.coverage)
        rows.append(Row(metric, difference, Standing(metric.key, metric.reference_point, metric.trained, decided, person, state)))
        step()
    own, points = ([row for row in rows if row.metric.reference_point is kind] for kind in (False, True))
    pairs = agreement.pairs([(row.metric.key, row.differences) for row in own if row.has_places])
    if not answers.clusters.few:
        own = _tested(own, pairs, next((row.differences for row in points if row.metric.key == "size"), None))

    def order(row: Row) -> tuple[bool, tuple[float, str]]:
        # Where nothing could be tested there is no order of metrics, and none of those that have values for too few raters or samples.
        value = 0.0 if answers.clusters.few or row.standing.few else row.standing.decided.value or 0.0
        return bool(row.standing.few), agreement.place(value, row.metric.key)

    return Ranked([*sorted(own, key=order), *points], pairs)


def _tested(rows: Sequence[Row], pairs: Sequence[MetricPair], size: Differences | None) -> list[Row]:
    """The metrics with their places among each other, and compared with the reference point of size where there is one."""
    places, found = agreement.places([row.metric.key for row in rows if row.has_places and not row.standing.few], pairs), []
    for row in rows:
        standing, key = row.standing, row.metric.key
        if key in places:
            standing = replace(standing, places=places[key], may_be_best=places[key][0] == 1)
        if size is not None and standing.decided.value is not None and not standing.few:
            over = agreement.compared(row.differences, size, (key, "size"))
            standing = replace(standing, over_size=over, above_size=not agreement.not_above(over))
        found.append(replace(row, standing=standing))
    return found


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
