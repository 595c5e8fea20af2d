"""One entry's scores as its page shows them: per metric, and per item with the worst first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.metrics.aggregation import mean_interval, unit_matrix
from evaluation.metrics.result import Status
from evaluation.metrics.spec import MetricSpec
from evaluation.models import Evaluation, Score, acceptance_test
from evaluation.models.score import CLEAN_BAND
from leaderboard.boards import flags
from leaderboard.boards.build import column_of
from leaderboard.records.board import Board, ColumnHead
from leaderboard.records.cell import Cell
from leaderboard.records.unit import Unit
from leaderboard.stats import ranking
from submissions.models import Submission

DRAWN = "object_"  # parts that begin so are objects of a view, which its page draws


@dataclass(frozen=True)
class Result:
    """One metric of an entry, with its rank in the newest ranking, None where it is not ranked."""

    metric: ColumnHead
    spec: MetricSpec
    score: Score
    cell: Cell
    rank: int | None
    ranks: tuple[int, int] | None  # its 95 % range
    vector: np.ndarray  # values per item, float64 with NaN: of the scenes alone that the column is ranked by

    @property
    def slug(self) -> str:
        return self.metric.slug

    @property
    def value(self) -> float | None:
        return self.cell.value

    @property
    def interval(self) -> tuple[float | None, float | None]:
        return self.cell.ends


def current_evaluation(submission: Submission) -> Evaluation | None:
    """The evaluation whose scores the board shows, or that is being done for it."""
    current = Evaluation.objects.filter(submission=submission, batch__state="current")
    return current.select_related("batch__reference", "batch__results", "batch__phase__challenge").first()


def results(evaluation: Evaluation, board: Board | None) -> list[Result]:
    """Scores in the board's order; `board` is a ranking that may or may not hold the entry."""
    scores = {score.slug: score for score in evaluation.scores.all()}
    index = board.index_of(evaluation.submission_id) if board else None
    noun = Unit.of(evaluation.batch.groups, evaluation.batch.phase.challenge).noun
    made, standings, groups = [], acceptance_test.standings(evaluation.batch), evaluation.batch.groups
    for metric in evaluation.batch.columns:
        score = scores.get(metric.slug)
        if score is None:
            continue
        spec, (low_end, high_end), (value, n) = metric.spec, score.interval() or (None, None), (score.value, score.n)
        standing, vector = standings.get(metric.slug), score.values
        if standing is not None and standing.scenes is not None and len(vector) == len(groups):
            vector = np.where(evaluation.batch.items_of(standing.scenes), vector, math.nan)
            units = unit_matrix(vector[None], groups, spec.level, evaluation.batch.item_ids)
            known = units[0][np.isfinite(units[0])]
            value, n = (float(known.mean()), len(known)) if len(known) and value is not None else (None, 0)
            found = mean_interval(units, spec.bounds)
            low_end, high_end = (None, None) if math.isnan(found.low[0]) else (float(found.low[0]), float(found.high[0]))
        column = board.column(metric.slug) if board else None
        if column is not None and column.fingerprint != metric.fingerprint:
            column = None
        scale = column.scale if column is not None else own_scale(spec, (value, low_end, high_end))
        own = column_of(
            metric,
            scale=scale,
            value=[value],
            n=[n],
            ci_low=[low_end],
            ci_high=[high_end],
            rank=[None],
            rank_low=[None],
            rank_high=[None],
            group=[None],
            loose=[False],
            order=[0],
            flagged=[(0, *one) for one in flags.counts(score.flags).items()] or None,
        )
        rank, ranks = (None, None) if column is None or index is None else (column.rank[index], column.rank_range(index))
        made.append(Result(own, spec, score, Cell(own, 0, noun), rank, ranks, vector))
    return made


def own_scale(spec: MetricSpec, known: Sequence[float | None]) -> tuple[float, float]:
    """(low, high) of a line for a metric that no ranking has a scale for."""
    ends = [v for v in known if v is not None]
    low = spec.bounds[0] if math.isfinite(spec.bounds[0]) else min(0.0, *ends, 0.0)
    high = spec.bounds[1] if spec.bounds[1] is not None else max(ends, default=1.0) * 1.2 or 1.0
    return low, high


# --- per item ------------------------------------------------------------------------------


@dataclass(frozen=True)
class ItemCell:
    """Value of an item, NaN without one, with the status and the flag that say why it is what it is."""

    value: float
    status: Status
    flag: str


@dataclass(frozen=True)
class ItemRow:
    item: str
    group: str
    cells: list[ItemCell]


class ItemTable:
    """All items of an entry, sorted by one metric (the worst first unless asked otherwise) or by name."""

    def __init__(
        self, evaluation: Evaluation, found: Sequence[Result], sort: str = "", best_first: bool = False, sees_reference: bool = False
    ) -> None:
        reference = evaluation.batch.reference
        self.ids, self.groups = reference.item_ids, reference.groups
        self.results = [result for result in found if len(result.score.values) == len(self.ids)]
        slugs = [result.slug for result in self.results]
        main = next((r.slug for r in self.results if r.metric.is_primary), slugs[0] if slugs else "item")
        self.sort = sort if sort in (*slugs, "item") else main
        self.best_first, self.sees_reference = best_first, sees_reference

    @property
    def has_groups(self) -> bool:
        return len(set(self.groups)) not in (1, len(self.groups))

    def order(self) -> list[int]:
        """Indices of the items; those without a value stand last, whichever way round."""
        if self.sort == "item":
            return list(range(len(self.ids)))[:: -1 if self.best_first else 1]
        result = next(r for r in self.results if r.slug == self.sort)
        values = [None if math.isnan(v) else v for v in result.score.values_shown(self.sees_reference).tolist()]
        best = ranking.order(values, result.spec.higher_is_better)
        if self.best_first:
            return best
        valued = [i for i in best if values[i] is not None]
        return valued[::-1] + [i for i in best if values[i] is None]

    @property
    def failures(self) -> list[tuple[Result, dict[str, str]]]:
        """Results of organizers' programs that failed on items, each with the reasons by item."""
        shown = ((result, result.score.failures_shown(self.sees_reference)) for result in self.results)
        return [(result, found) for result, found in shown if found]

    def rows(self, start: int, stop: int) -> list[ItemRow]:
        columns = [(r.score.values_shown(self.sees_reference), r.score.statuses, r.score.flags) for r in self.results]
        item_rows = []
        for index in self.order()[start:stop]:
            cells = [ItemCell(float(values[index]), statuses[index], flags.of_item(known, index)) for values, statuses, known in columns]
            item_rows.append(ItemRow(self.ids[index], self.groups[index], cells))
        return item_rows


@dataclass(frozen=True)
class ItemDetail(ItemCell):
    """A metric's value of one item. Its `parts` (counts, distances, the uncapped value) tell the size of the reference, so they are only
    for people who may see it. Everybody who sees the value also sees the `band` of clean views, as on the page of the column's
    acceptance test, and the value as `measured` if a flag changed it."""

    result: Result
    parts: dict[str, float]
    band: tuple[float, ...]
    measured: float | None
    failure: str  # why an organizer's program failed on it


def item_details(metric_results: Sequence[Result], item: str, index: int, sees_reference: bool) -> list[ItemDetail]:
    details = []
    for result in metric_results:
        values = result.score.values_shown(sees_reference)
        if index >= len(values):
            continue
        known = {name: float(vector[index]) for name, vector in result.score.parts.items() if not np.isnan(vector[index])}
        band = tuple(known.pop(name) for name in CLEAN_BAND) if known.keys() >= set(CLEAN_BAND) else ()
        parts = {name: value for name, value in known.items() if not name.startswith(DRAWN)} if sees_reference else {}
        own = float(values[index]), result.score.statuses[index], flags.of_item(result.score.flags, index)
        failure = result.score.failures_shown(sees_reference).get(item, "")
        details.append(ItemDetail(*own, result, parts, band, known.get("measured"), failure))
    return details
