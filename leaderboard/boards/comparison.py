"""Several entries beside each other: their values of each metric on one line, and which of them the metric tells apart.

The pairs of the entries that were chosen are one family, by the one test of boards (`leaderboard.stats.uncertainty`); what the board
says of a pair, among all of its own, stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evaluation.metrics.spec import MetricSpec
from evaluation.models import EvaluationBatch
from leaderboard.boards.digits import Rounded, rounded
from leaderboard.boards.people import spread
from leaderboard.boards.rows import Cell, bracket_classes, meaning_words
from leaderboard.boards.scorecard import Result
from leaderboard.records.board import Board, ColumnHead, MetricColumn
from leaderboard.records.unit import Unit
from leaderboard.stats.ranking import order, rank
from leaderboard.stats.uncertainty import ALPHA, brackets, paired, unit_matrix
from leaderboard.wording import certainty
from leaderboard.wording.nouns import listed

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
    """Two of the entries, by their places, the better one first: their difference, with the interval of these two alone; p among all pairs
    of the chosen ones; what the board says of the two, and how many people see the gap."""

    first: int
    second: int
    difference: Rounded
    ends: str
    n: int
    p: str
    is_apart: bool
    on_board: str
    gap: str


@dataclass(frozen=True)
class ComparedMetric:
    """The entries by one metric, the best first. `few` says why nothing is tested; `pairs` are empty then."""

    metric: ColumnHead
    spec: MetricSpec
    rows: list[ComparedRow]
    pairs: list[ComparedPair]
    few: str

    def claim(self, names: Sequence[str]) -> tuple[str, str]:
        """The sentence that follows from the pairs: who is first, and whom it is not told from."""
        firsts = [row.at for row in self.rows if row.rank == 1]
        title = self.metric.title
        if not firsts:
            return f"{title} has no values to put them in order.", ""
        if len(firsts) > 1:
            return f"{len(firsts)} of them are level in first place by {title}.", self.few
        first = names[firsts[0]]
        if self.few:
            return f"By {title} {first} has the best value.", self.few
        rivals = [pair for pair in self.pairs if pair.first == firsts[0]]
        level = [names[pair.second] for pair in rivals if not pair.is_apart]
        met = {pair.second for pair in rivals}
        untested = [names[row.at] for row in self.rows if row.at != firsts[0] and row.at not in met]
        rest = f" Not tested: {', '.join(untested)}." if untested else ""
        counted = ", corrected for all pairs" if len(self.rows) > 2 else ""
        if not level:
            who = names[rivals[0].second] if len(self.rows) == 2 else "every other" if not untested else "the others that are tested"
            best = "is better" if len(self.rows) == 2 else "is the best of them"
            return f"By {title} {first} {best},", f"significantly different from {who}{counted}.{rest}"
        if len(level) == len(rivals) > 1:
            return f"By {title} {first} has the best value,", f"but is tied with all others{counted}.{rest}"
        return f"By {title} {first} has the best value,", f"but is tied with {listed(level)}{counted}.{rest}"


def compared(
    results: Sequence[Sequence[Result]],
    batch: EvaluationBatch,
    unit: Unit,
    sees_items: bool,
    board: Board | None,
    ids: Sequence[int],
) -> list[ComparedMetric]:
    """The metrics that all entries have in common, in the order of the first one's. `results` are their scores on `batch`, `ids`
    their numbers; `board` is the newest ranking that the viewer may see."""
    others = [{result.slug: result for result in own} for own in results[1:]]
    found = []
    for first in results[0]:
        same = [first, *(one for one in (own.get(first.slug) for own in others) if one is not None)]
        if len(same) < len(results) or len({one.score.fingerprint for one in same}) > 1:
            continue
        higher = first.spec.higher_is_better
        scores = [one.value for one in same]
        intervals = [one.interval for one in same]
        ends = [(value, low, high) for value, (low, high) in zip(scores, intervals, strict=True)]
        vectors = [one.vector for one in same]
        values = None
        if sees_items and len({len(vector) for vector in vectors}) == 1 and len(vectors[0]):
            values = unit_matrix(np.stack(vectors), batch.groups, first.spec.level, batch.item_ids)
            values = None if np.isnan(values).all() else values

        tested = brackets(values, higher, scores, list(ids)) if values is not None else None
        in_order = list(tested.order) if tested is not None else order(scores, higher, list(ids))
        ranks = tested.rank if tested is not None else rank(scores, higher)
        pieces = [""] * len(same)
        if tested is not None:
            pieces = bracket_classes([tested.bracket[at] for at in in_order], [tested.loose[at] for at in in_order])
        rows = []
        for at, piece in zip(in_order, pieces, strict=True):
            low, high = intervals[at]
            rows.append(ComparedRow(at, same[at].cell, ranks[at], spread(scores[at], low, high, ends), piece))
        if tested is None or values is None:
            few = f"It has no values per {unit.noun} here, so nothing is tested."
            found.append(ComparedMetric(first.metric, first.spec, rows, [], few))
            continue
        if not tested.tested:
            few = certainty.few(min(unit.n, values.shape[1]), unit)
            found.append(ComparedMetric(first.metric, first.spec, rows, [], few))
            continue

        column = board.column(first.slug) if board is not None else None
        column = column if column is not None and column.fingerprint == first.score.fingerprint else None
        pairs = []
        for one, other in combinations(in_order, 2):
            if one not in tested.tested or other not in tested.tested:
                continue
            p = float(tested.p[one, other])
            test = paired(values[one].tolist(), values[other].tolist(), higher)
            own = rounded(test.mean_difference, test.ci_low, test.ci_high)
            between = ""
            if own.spread and test.ci_low is not None and test.ci_high is not None:
                between = f"{own.end(test.ci_low)} to {own.end(test.ci_high)}"
            on_board, gap = of_board(board, column, ids[one], ids[other], unit.noun)
            pairs.append(ComparedPair(one, other, own, between, test.n, certainty.p_words(p), p <= ALPHA, on_board, gap))
        found.append(ComparedMetric(first.metric, first.spec, rows, pairs, ""))
    return found


def of_board(board: Board | None, column: MetricColumn | None, first: int, second: int, noun: str) -> tuple[str, str]:
    """Two sentences of the board on two entries by one of its columns: its own test of the pair, and what their difference means; each
    empty where it says nothing."""
    if board is None or column is None:
        return "", ""
    a, b = board.index_of(first), board.index_of(second)
    if a is None or b is None or a == b:
        return "", ""
    lines = board.people.metrics if board.people is not None else []
    known = next((line.difference for line in lines if line.slug == column.slug and line.difference is not None), None)
    gap = meaning_words(column, known, a, b) if known is not None and known.tells and column.n[a] == column.n[b] else ""
    return certainty.board_pair(column.pair_p(a, b)), gap
