"""Published metrics over several sets: by name and material, apart from the metrics of this service, which go by fingerprint.

Three figures are pooled, each by itself: `decided` and `decided_between` on the scale of the logit, `srocc` on Fisher's z. Agreement with
means is listed and never pooled with these. Sets that share people or stimuli count once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from leaderboard.stats import agreement, pooled
from leaderboard.stats.evidence.figure import SetFigure
from leaderboard.stats.evidence.record import EvidenceRecord
from leaderboard.stats.minimums import STUDIES_FOR_MEAN
from leaderboard.stats.pooled import Pooled
from leaderboard.stats.states import Counted, Key, Reason

POOLS = ("decided", "decided_between", "srocc")


@dataclass(frozen=True)
class InSet:
    """A metric's figure in one set; `counts` where it is in the pool: it has an interval, lies inside its scale, and no larger set shares
    people or stimuli with this one."""

    record: str
    figure: SetFigure
    counts: bool


@dataclass(frozen=True)
class NamedMetric:
    """A published metric in one `figure` of `POOLS`. `pooled` is None below three sets that count, for this `reason`; places are those
    among the metrics that are pooled on this material."""

    name: str
    material: str
    figure: str
    sets: tuple[InSet, ...]
    pooled: Pooled | None = None
    reason: Reason | None = None
    places: tuple[int, int] | None = None
    may_be_best: bool | None = None

    @property
    def counting(self) -> set[str]:
        """The sets that count."""
        return {one.record for one in self.sets if one.counts}


def named_metrics(records: Sequence[EvidenceRecord], pool: str) -> list[NamedMetric]:
    """The published metrics in the figure `pool`, one of `POOLS`, by each set's leading criterion: those that are pooled first, by their
    mean, then by name."""
    if pool not in POOLS:
        raise ValueError(f"{pool} is not pooled over sets; {', '.join(POOLS)} are")
    found: dict[tuple[str, str], dict[str, SetFigure]] = {}
    for record in records:
        for metric in record.leading.metrics.values() if record.leading else ():
            figure = getattr(metric, pool)
            if metric.name and not metric.reference_point and figure is not None and figure.value is not None:
                found.setdefault((metric.name, record.material), {})[record.name] = figure
    pooling = _Pool(pool, {record.name: record for record in records})
    rows = [pooling.row(name, material, by_set) for (name, material), by_set in found.items()]
    for material in {row.material for row in rows}:
        among = {row.name: row.counting for row in rows if row.material == material and row.pooled is not None}
        places = pooling.places(among)
        for n, row in enumerate(rows):
            if row.material == material and row.name in places:
                rows[n] = replace(row, places=places[row.name], may_be_best=places[row.name][0] == 1)
    return sorted(rows, key=lambda row: (row.material, row.pooled is None, -(row.pooled.value if row.pooled else 0.0), row.name))


@dataclass(frozen=True)
class _Pool:
    """Pooling of one figure over `records`, by name."""

    figure: str
    records: Mapping[str, EvidenceRecord]

    def row(self, name: str, material: str, by_set: Mapping[str, SetFigure]) -> NamedMetric:
        """The metric's figures in each set, and their mean."""
        scaled = {key: own for key, figure in by_set.items() if (own := _scaled(figure, self.figure)) is not None}
        kept = _counting({key: by_set[key] for key in scaled}, self.records)
        mean = pooled.pool([scaled[key] for key in sorted(kept)])
        sets = tuple(InSet(key, figure, key in kept) for key, figure in sorted(by_set.items()))
        if mean is None:
            few = Reason(Key.FEW_SETS, Counted.SETS, STUDIES_FOR_MEAN, len(kept))
            return NamedMetric(name, material, self.figure, sets, reason=few)
        return NamedMetric(name, material, self.figure, sets, mean.as_correlation() if self.figure == "srocc" else mean.as_share())

    def places(self, counting: Mapping[str, set[str]]) -> dict[str, tuple[int, int]]:
        """Places of metrics by the differences of each two in the sets that count for both, pooled on the scale they are tested on."""
        names = sorted(counting)
        by_pair = {
            (first, second): [
                found
                for record in sorted(counting[first] & counting[second])
                if (found := _difference(self.records[record], self.figure, first, second)) is not None
            ]
            for first, second in combinations(names, 2)
        }
        return agreement.places(names, pooled.pairs(by_pair))


def _scaled(figure: SetFigure, pool: str) -> tuple[float, float] | None:
    """The figure and its standard error on the scale that is pooled; None without an interval, and at the ends of the scale."""
    if pool != "srocc":
        return pooled.on_logit(figure)
    if figure.value is None or figure.low is None or not figure.se or abs(figure.value) >= 1:
        return None
    return math.atanh(figure.value), figure.se


def _counting(figures: Mapping[str, SetFigure], records: Mapping[str, EvidenceRecord]) -> set[str]:
    """The sets that count: of those that share people or stimuli, directly or by a chain of others, the one with most groups."""
    part = {name: {name} for name in figures}
    for one, other in combinations(figures, 2):
        if other in records[one].overlaps or one in records[other].overlaps:
            joined = part[one] | part[other]
            part.update(dict.fromkeys(joined, joined))
    return {min(names, key=lambda name: (-figures[name].groups, -figures[name].n, name)) for names in part.values()}


def _difference(record: EvidenceRecord, pool: str, first: str, second: str) -> tuple[float, float] | None:
    assert record.leading is not None
    name_of = {key: metric.name for key, metric in record.leading.metrics.items()}
    for one in record.leading.differences.get(pool, ()):
        names = name_of[one.first], name_of[one.second]
        if one.se and set(names) == {first, second}:
            return (one.value if names[0] == first else -one.value), one.se
    return None
