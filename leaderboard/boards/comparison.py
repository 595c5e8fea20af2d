"""Several entries beside each other: their values of each metric on one line, and which of them the metric tells apart.

The pairs of the chosen entries are one family, by the one test of leaderboards (`leaderboard.stats.uncertainty`). The leaderboard's own
result for a pair, among all its pairs, is shown beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from evaluation.metrics.spec import MetricSpec
from evaluation.models import Evaluation, EvaluationBatch
from leaderboard.boards.people import spread
from leaderboard.boards.rows import bracket_classes
from leaderboard.boards.rows import meaning as meaning_of
from leaderboard.boards.scorecard import Result, results
from leaderboard.records.board import Board, ColumnHead
from leaderboard.records.cell import Cell
from leaderboard.records.comparison import Compared
from leaderboard.records.unit import Unit
from leaderboard.stats.meaning import At
from leaderboard.stats.ranking import order, rank
from leaderboard.stats.two_way_intervals import Ends
from leaderboard.stats.uncertainty import ALPHA, brackets, paired, unit_matrix
from leaderboard.stats.uncertainty import Board as Brackets

MAX_ENTRIES = 6


@dataclass(frozen=True)
class ComparedRow:
    """One entry, by its place among those that were chosen: its value, where it stands on the line of all of them, and the classes that
    draw its piece of a bracket."""

    at: int
    cell: Cell
    rank: int | None
    bar: Mapping[str, float] | None
    bracket: str


@dataclass(frozen=True)
class ComparedPair:
    """Two of the chosen entries, by their places, the better one first. It holds their difference with the interval of these two alone, and
    p corrected for all pairs of the chosen entries. It also holds p of the board's test of all its pairs and the meaning of the difference
    to people, each None if unknown."""

    first: int
    second: int
    difference: Ends
    n: int
    p: float
    p_board: float | None
    meaning: At | None

    @property
    def is_apart(self) -> bool:
        return self.p <= ALPHA


@dataclass(frozen=True)
class ComparedMetric:
    """The entries by one metric, the best first. `lacking` is the number of units that all have values of, where pairs are not tested: 0
    if there are no values of single units; None where pairs are tested."""

    metric: ColumnHead
    spec: MetricSpec
    unit: Unit
    rows: list[ComparedRow]
    lacking: int | None
    pairs: list[ComparedPair]

    @property
    def order(self) -> Compared:
        """The entries that are first, and those that the first is tied with, significantly different from, and not tested against."""
        firsts = [row.at for row in self.rows if row.rank == 1]
        rivals = [pair for pair in self.pairs if firsts and pair.first == firsts[0]]
        met = {*firsts[:1], *(pair.second for pair in rivals)}
        return Compared(
            title=self.metric.title,
            n=len(self.rows),
            firsts=tuple(firsts),
            tied=tuple(pair.second for pair in rivals if not pair.is_apart),
            apart=tuple(pair.second for pair in rivals if pair.is_apart),
            untested=tuple(row.at for row in self.rows if row.at not in met),
            unit=self.unit,
            lacking=self.lacking,
        )


def main(metrics: Collection[ComparedMetric]) -> ComparedMetric:
    """The primary metric, else the first."""
    return next((one for one in metrics if one.metric.is_primary), next(iter(metrics)))


@dataclass(frozen=True)
class Ground:
    """Basis of a comparison: the current evaluations of the entries, whether the viewer sees tests of pairs, and the newest ranking that
    the viewer may see (`board`)."""

    evaluations: Sequence[Evaluation]
    sees_tests: bool
    board: Board | None

    @property
    def batch(self) -> EvaluationBatch:
        return self.evaluations[0].batch

    @cached_property
    def unit(self) -> Unit:
        """Unit of the tests."""
        return Unit.of(self.batch.groups, self.batch.phase.challenge)

    @property
    def is_tested(self) -> bool:
        """True if there are values of single items, and the viewer sees tests of them."""
        return self.sees_tests and bool(self.batch.item_ids)

    @property
    def ids(self) -> list[int]:
        return [one.submission_id for one in self.evaluations]

    def common(self) -> Iterator[list[Result]]:
        """The scores of all entries by each metric that all have under the same definition, in the order of the first entry's metrics."""
        firsts, *others = ({result.slug: result for result in results(one, None)} for one in self.evaluations)
        for slug, first in firsts.items():
            same = [first, *(own[slug] for own in others if slug in own)]
            if len(same) == len(self.evaluations) and len({one.score.fingerprint for one in same}) == 1:
                yield same

    def compared(self) -> list[ComparedMetric]:
        """The metrics that all entries have in common."""
        return [self._by_metric(same) for same in self.common()]

    def _by_metric(self, same: Sequence[Result]) -> ComparedMetric:
        """The entries by one metric that they have in common."""
        first, higher, values = same[0], same[0].spec.higher_is_better, self.values(same)
        scores = [one.value for one in same]
        tested = brackets(values, higher, scores, self.ids) if values is not None else None
        in_order = list(tested.order) if tested is not None else order(scores, higher, self.ids)
        ranks = tested.rank if tested is not None else rank(scores, higher)
        pieces = [""] * len(same)
        if tested is not None:
            pieces = bracket_classes([tested.bracket[at] for at in in_order], [tested.loose[at] for at in in_order])
        ends = [(one.value, *one.interval) for one in same]
        rows = [
            ComparedRow(at, same[at].cell, ranks[at], spread(*ends[at], ends), piece) for at, piece in zip(in_order, pieces, strict=True)
        ]
        if tested is None or values is None or not tested.tested:
            lacking = 0 if values is None else int((~np.isnan(values)).all(axis=0).sum()) or self.unit.n
            return ComparedMetric(first.metric, first.spec, self.unit, rows, lacking, [])
        return ComparedMetric(first.metric, first.spec, self.unit, rows, None, list(self._pairs(first, values, tested)))

    def values(self, same: Sequence[Result]) -> np.ndarray | None:
        """Values per unit, float64[entries, units]; None where they may not be seen, or there are none."""
        vectors = [one.vector for one in same]
        if not self.sees_tests or len({len(vector) for vector in vectors}) > 1 or not len(vectors[0]):
            return None
        values = unit_matrix(np.stack(vectors), self.batch.groups, same[0].spec.level, self.batch.item_ids)
        return None if np.isnan(values).all() else values

    def _pairs(self, first: Result, values: np.ndarray, tested: Brackets) -> Iterator[ComparedPair]:
        """The pairs that were tested, with the interval of the two alone and what the board says of them."""
        for one, other in combinations([at for at in tested.order if at in tested.tested], 2):
            test = paired(values[one].tolist(), values[other].tolist(), first.spec.higher_is_better)
            difference = test.mean_difference, test.ci_low, test.ci_high
            yield ComparedPair(one, other, difference, test.n, float(tested.p[one, other]), *self.on_board(first, one, other))

    def on_board(self, result: Result, one: int, other: int) -> tuple[float | None, At | None]:
        """p of the board's own test of two entries in the column of a result, and what their difference means to people. `one` and `other`
        are places of the entries; each value is None where the board has none."""
        board = self.board
        column = board.column(result.slug) if board is not None else None
        if board is None or column is None or column.fingerprint != result.score.fingerprint:
            return None, None
        a, b = board.index_of(self.ids[one]), board.index_of(self.ids[other])
        if a is None or b is None or a == b:
            return None, None
        lines = board.people.metrics if board.people is not None else []
        known = next((line.difference for line in lines if line.slug == column.slug and line.difference is not None), None)
        told = known if known is not None and known.tells and column.n[a] == column.n[b] else None
        return column.pair_p(a, b), None if told is None else meaning_of(column, told, a, b)
