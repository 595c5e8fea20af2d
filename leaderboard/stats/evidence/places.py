"""Places of metrics in one figure, and whether each was shown to see more than size alone, from tests between two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leaderboard.stats import agreement
from leaderboard.stats.agreement import MetricPair
from leaderboard.stats.evidence.figure import SetFigure


@dataclass(frozen=True)
class MetricDifference:
    """By how much the figure of the `first` metric is above the second's, with its 95 % interval, standard error and two-sided p: of
    correlations on Fisher's z."""

    first: str
    second: str
    value: float
    p: float
    low: float | None = None
    high: float | None = None
    se: float | None = None


@dataclass(frozen=True)
class Compared:
    """Figures of metrics with their places, and the differences that they were made of."""

    figures: dict[str, SetFigure]
    differences: list[MetricDifference]


def compared(figures: Mapping[str, SetFigure], among: Sequence[str], tests: Sequence[MetricPair], size: str = "size") -> Compared:
    """The figures with places of the metrics `among`, each at 5 % over the number of its rivals, and compared with `size` at 5 %. `tests`
    has the tests between each two of these metrics, and between each metric and size."""
    between = [test for test in tests if test.second != size and test.p is not None]
    over = {test.first: test for test in tests if test.second == size and test.p is not None}
    places = agreement.places(among, between) if between else {}
    made = {}
    for key, figure in figures.items():
        if key in places:
            figure = replace(figure, places=places[key], may_be_best=places[key][0] == 1)
        if key in over:
            figure = replace(figure, above_size=not agreement.not_above(over[key]), size_p=over[key].p)
        made[key] = figure
    differences = [
        MetricDifference(test.first, test.second, test.value, test.p, test.low, test.high, test.se)
        for test in between
        if test.value is not None and test.p is not None
    ]
    return Compared(made, differences)
