"""A phase's ranking as it stands now.

`build` asks the database a fixed number of questions (entries, scores in bundles) and leaves all arithmetic to `leaderboard.stats`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, Prefetch
from django.utils import timezone

from evaluation.metrics.column import Column
from evaluation.metrics.spec import MetricSpec
from evaluation.models import EvaluationBatch, Score, acceptance_test
from evaluation.models.acceptance_test import Standing
from evaluation.properties.gate import design as gate
from leaderboard.boards import flags, human_agreement
from leaderboard.records.board import (
    FORMAT,
    WAITING,
    Board,
    BoardEntry,
    ChallengeName,
    ColumnAcceptanceTest,
    ImportedFrom,
    MetricColumn,
    NoOverallRank,
    Overall,
    Pairs,
    PhaseRules,
)
from leaderboard.records.unit import Unit
from leaderboard.stats import ranking, uncertainty
from leaderboard.stats.overall import FIRST as OVERALL_FIRST
from leaderboard.stats.overall import OverallBoard, overall_brackets
from leaderboard.stats.ranking import NoOrder
from submissions.entry_fields import PUBLIC_FIELDS
from submissions.models import Phase, Submission
from submissions.models.frozen_board import frozen_since, too_late
from submissions.models.status import RANKED
from submissions.visibility import holds, on_board

PUBLIC, ORGANIZERS = "public", "organizers"
ASKED = 50  # entries that are looked through for what clean views score
LEADERS = 3  # entries whose share of halves of the groups led is kept
BUNDLE = 500  # entries whose scores are fetched at once


@dataclass
class Row:
    """One entry of a board, and whether it counts in the ranking."""

    submission: Submission
    counted: bool
    late: bool = False
    kept_off: bool = False  # by a withdrawal of its team, so that it stands for nobody
    waiting: tuple[str, ...] = ()  # slugs of columns that it has no score in before the phase is re-evaluated
    waits: bool = False  # and whether one of them decides the order
    detail: str = ""  # what a table of results says beside the name

    @property
    def received(self) -> datetime:
        return self.submission.sent_at

    @property
    def shown_as(self) -> str:
        """Reason why it does not count, in one word; empty where it does."""
        if self.submission.disqualified_at:
            return "disqualified"
        if self.submission.hidden_at:
            return "hidden"
        if self.waits:
            return WAITING
        return "baseline" if self.submission.is_baseline else ""

    @property
    def takes_part(self) -> bool:
        """True if the entry is one that its team is ranked by."""
        return self.shown_as == "" or (self.shown_as == WAITING and not self.submission.is_baseline)

    @property
    def entry(self) -> BoardEntry:
        """The row as the board keeps it."""
        submission = self.submission
        hidden = submission.hidden_reason if submission.hidden_at else ""
        stated: dict[str, Any] = {name: getattr(submission, field.name) for name, field in PUBLIC_FIELDS.items()}
        stated |= {name: stated[name] or None for name in BoardEntry.stated}
        return BoardEntry(
            id=submission.pk,
            number=submission.number,
            team=submission.team.name,
            team_id=submission.team_id,
            received_at=self.received,
            counted=self.counted,
            baseline=submission.is_baseline,
            verified=submission.is_verified,
            state=self.shown_as if self.shown_as != "baseline" else "",
            late=self.late,
            detail=self.detail,
            reason=submission.disqualified_reason if submission.disqualified_at else hidden,
            waiting=list(self.waiting) or None,
            **stated,
        )


@dataclass
class Values:
    """The scores of one metric, in the order of the entries."""

    value: list[float | None]
    n: list[int]
    flags: list[Mapping[str, Sequence[int]]]  # the places of items by flag
    vectors: np.ndarray = field(repr=False)  # float64[rows, items], NaN where there is none

    @classmethod
    def empty(cls, rows: int, items: int) -> Values:
        return cls([None] * rows, [0] * rows, [{}] * rows, np.full((rows, items), math.nan))

    @classmethod
    def of_entries(cls, batch: EvaluationBatch, ids: Sequence[int], slugs: Iterable[str]) -> dict[str, Values]:
        """The scores of these entries by the slug of their metric."""
        n_items, place = len(batch.item_ids), {pk: index for index, pk in enumerate(ids)}
        found = {slug: cls.empty(len(ids), n_items) for slug in slugs}
        names = ("evaluation__submission_id", "slug", "value", "n", "flags", "vector")
        done = Score.objects.filter(evaluation__batch=batch, evaluation__state="done", slug__in=found).order_by()
        for start in range(0, len(ids), BUNDLE):
            bundle = done.filter(evaluation__submission_id__in=ids[start : start + BUNDLE])
            for submission, slug, value, n, flagged, vector in bundle.values_list(*names).iterator():
                index, values = place[submission], found[slug]
                values.value[index], values.n[index], values.flags[index] = value, n, flagged
                if vector and len(vector) == n_items * 8:
                    values.vectors[index] = np.frombuffer(vector, dtype=np.float64)
        return found

    def of_scenes(self, batch: EvaluationBatch, chosen: Collection[str] | None) -> Values:
        """The scores over the items of the chosen scenes alone, if any are chosen: the mean over groups of their means. Entries without a
        value stay without one."""
        if chosen is None:
            return self
        vectors = np.where(batch.items_of(chosen)[None, :], self.vectors, math.nan)
        matrix = uncertainty.unit_matrix(vectors, batch.groups, "item", batch.item_ids)
        n = np.isfinite(matrix).sum(axis=1)
        sums = np.where(np.isfinite(matrix), matrix, 0.0).sum(axis=1)
        value = [float(total / k) if k and old is not None else None for total, k, old in zip(sums, n, self.value, strict=True)]
        return Values(value, [int(k) if one is not None else 0 for k, one in zip(n, value, strict=True)], self.flags, vectors)


def build(phase: Phase, audience: str, now: datetime | None = None) -> Board | None:
    """The board of `phase` for an audience ("public" or "organizers") as it stands at `now`; None
    while the phase has nothing to be scored against."""
    batch = EvaluationBatch.current(phase)
    if batch is None:
        return None
    standings = acceptance_test.standings(batch)
    columns = ranking_columns(batch.columns, standings)
    shown_only = next(
        (one.title for one in batch.columns if one.is_primary and one.slug in standings and not standings[one.slug].ranks), None
    )
    eligible = list(_entries(phase, batch, columns, audience, now or timezone.now()))
    primary = primary_slug(columns)
    rows = _chosen_rows(phase, batch, eligible, primary, standings.get(primary or ""))
    counted = [row.counted for row in rows]

    by_slug = Values.of_entries(batch, [row.submission.pk for row in rows], [column.slug for column in batch.columns])
    metrics, matrices = [], {}
    for metric in columns:
        standing = standings.get(metric.slug)
        values = by_slug[metric.slug].of_scenes(batch, _scenes(standing))
        matrices[metric.slug] = uncertainty.unit_matrix(values.vectors, batch.groups, metric.spec.level, batch.item_ids)
        metrics.append(_metric(batch, metric, values, matrices[metric.slug], counted, standing))

    participants = [row for row in eligible if row.takes_part]
    entries = [row.entry for row in rows]
    fingerprints = {column.slug: column.fingerprint for column in batch.columns}
    unit = Unit.of(batch.groups, phase.challenge)
    return Board(
        format=FORMAT,
        uncertainty=uncertainty.RULE,
        audience=audience,
        batch=batch.pk,
        challenge=ChallengeName(slug=phase.challenge.slug, title=phase.challenge.title, simulated=phase.challenge.simulated),
        phase=PhaseRules(
            slug=phase.slug,
            title=phase.title,
            entries=phase.entries if phase.has_teams else Phase.Entries.ALL,
            rule=phase.ranking,
        ),
        reference=batch.version,
        imported=None if phase.is_measured_here else ImportedFrom(source=phase.results_source, url=phase.results_url),
        frozen_at=frozen_since(phase, now) if audience == PUBLIC else None,
        n_teams=len({row.submission.team_id for row in participants}),
        n_entries=len(participants),
        n_items=len(batch.item_ids),
        resampled=unit.noun,
        n_resampled=unit.n,
        inner=unit.inner,
        people=human_agreement.of_phase(phase, audience == PUBLIC, entries, fingerprints),
        entries=entries,
        metrics=metrics,
        overall=_overall(phase.ranking, primary, metrics, matrices, counted, shown_only),
    )


def clean_views(batch: EvaluationBatch, slug: str, scenes: Sequence[str] | None) -> list[tuple[str, float, float, float]]:
    """Mean, least and greatest score of each scene's clean views. Every entry's scores hold them, but for views it has not sent."""
    scenes = scenes or tuple(dict.fromkeys(batch.groups))
    bands: dict[str, tuple[float, float, float]] = {}
    scores = Score.objects.filter(evaluation__batch=batch, evaluation__state="done", slug=slug).only("part_vectors")
    for score in scores.order_by("pk")[:ASKED]:
        bands = score.clean_bands(batch.groups) | bands
        if bands.keys() >= set(scenes):
            break
    known = [(scene, *bands[scene]) for scene in scenes if scene in bands]
    return [(scene, round(mean, 4), round(least, 4), round(greatest, 4)) for scene, mean, least, greatest in known]


def hides_nothing(phase: Phase, now: datetime | None = None) -> bool:
    """True if organizers would see the very ranking the public sees."""
    if frozen_since(phase, now) is not None or phase.studies.filter(is_public=False).exists():
        return False
    ranked = Submission.objects.filter(phase=phase).ranked()
    return ranked.count() == ranked.eligible().count()


def ranking_columns(columns: Sequence[Column], standings: Mapping[str, Standing]) -> list[Column]:
    """The columns of a batch, those that may not rank neither primary nor in the overall rank."""
    return [
        column
        if (standing := standings.get(column.slug)) is None or standing.ranks
        else replace(column, is_primary=False, in_ranking=False)
        for column in columns
    ]


def primary_slug(columns: Sequence[Column]) -> str | None:
    """The metric a team's best entry is chosen by: the primary one, else the first that ranks."""
    marked = [one.slug for one in columns if one.is_primary] or [one.slug for one in columns if one.in_ranking]
    return marked[0] if marked else None


def _scenes(standing: Standing | None) -> Sequence[str] | None:
    """Scenes that a column ranks by, where these are not all."""
    return standing.scenes if standing is not None else None


# --- which entries -------------------------------------------------------------------------


def _entries(phase: Phase, batch: EvaluationBatch, columns: Sequence[Column], audience: str, now: datetime) -> Iterator[Row]:
    """Scored entries this audience may see, in the order they were received.

    An entry that waits in a column that decides the order is shown and counted in no column. So a newer entry of a team does not
    take the place of its ranked one.
    """
    waiting: dict[int, tuple[str, ...]] = {}  # columns without a score of the entry, which was scored with another version of their metric
    if phase.is_measured_here:
        scores = Prefetch("scores", Score.objects.only("evaluation_id", "slug"))
        done = batch.evaluations.filter(state="done").order_by().annotate(n_scores=Count("scores"))
        partly = done.filter(n_scores__lt=len(batch.metrics)).select_related("batch").prefetch_related(scores)
        waiting = {evaluation.submission_id: tuple(column.slug for column in evaluation.waiting()) for evaluation in partly}
    primary = primary_slug(columns)
    deciding = {metric.slug for metric in columns if metric.in_ranking and phase.ranking != "primary"} | {primary}
    after_freeze = too_late(phase, now)
    kept_off = set(Submission.objects.kept_off(phase, now).values_list("pk", flat=True))
    entries = Submission.objects.filter(RANKED if audience == ORGANIZERS else on_board(phase, now), phase=phase)
    left_out = ["problems", "warnings", "failure_detail", "upload_data", "missing_items"]
    if phase.has_teams:
        left_out.append("description")
    rows = [Row(submission, counted=False) for submission in entries.select_related("team").defer(*left_out)]
    for row in sorted(rows, key=lambda row: (row.received, row.submission.pk)):
        row.detail = "" if phase.has_teams else row.submission.description
        row.late = holds(after_freeze, row.submission)
        row.kept_off = row.submission.pk in kept_off
        row.waiting = waiting.get(row.submission.pk, ())
        row.waits = not deciding.isdisjoint(row.waiting)
        row.counted = row.shown_as == ""
        yield row


def _chosen_rows(phase: Phase, batch: EvaluationBatch, eligible: list[Row], primary: str | None, standing: Standing | None) -> list[Row]:
    """The entries of each team that the phase counts; baselines, hidden, disqualified and waiting ones stay. `standing` is that of the
    primary metric."""
    rule = phase.entries
    if rule == Phase.Entries.ALL or not phase.has_teams:  # each row of a table is another method
        return eligible
    rivals = [row for row in eligible if row.counted and not row.kept_off]
    if rule == Phase.Entries.CHOSEN:
        chosen = {row.submission.pk for row in rivals if row.submission.is_chosen}
    else:
        best_first = rivals[::-1] if rule == Phase.Entries.LATEST else rivals
        if rule == Phase.Entries.BEST and primary is not None:
            best_first = _by_value(batch, rivals, primary, _scenes(standing))
        chosen = set({row.submission.team_id: row.submission.pk for row in reversed(best_first)}.values())
    return [row for row in eligible if not row.counted or row.submission.pk in chosen]


def _by_value(batch: EvaluationBatch, rows: Sequence[Row], slug: str, scenes: Collection[str] | None) -> list[Row]:
    """Entries from the best value by a metric to the worst, the earlier of equals first, those without a value last. `scenes` are those
    that the metric ranks by, where it does not rank by all."""
    ids = [row.submission.pk for row in rows]
    if scenes is None:
        scores = Score.objects.filter(evaluation__batch=batch, slug=slug, evaluation__state="done")
        known = dict(scores.values_list("evaluation__submission_id", "value"))
        values = [known.get(pk) for pk in ids]
    else:
        values = Values.of_entries(batch, ids, [slug])[slug].of_scenes(batch, scenes).value
    higher = next(one for one in batch.columns if one.slug == slug).spec.higher_is_better
    return [rows[place] for place in ranking.order(values, higher)]


# --- figures -------------------------------------------------------------------------------


def _metric(
    batch: EvaluationBatch, metric: Column, values: Values, matrix: np.ndarray, counted: list[bool], standing: Standing | None
) -> MetricColumn:
    """One column of the board; one that may not rank (`standing`) has values alone."""
    scenes = _scenes(standing)
    kept = batch.items_of(scenes).tolist()
    has_clean = standing is not None and standing.ranks and gate.kind_of(metric.spec, metric.params) == gate.CROSS
    spec = metric.spec
    higher = spec.higher_is_better
    ranks = standing is None or standing.ranks
    ranked = [value if part and ranks else None for value, part in zip(values.value, counted, strict=True)]
    if not ranks:
        matrix = np.full_like(matrix, math.nan)
    own = uncertainty.mean_interval(matrix, spec.bounds)
    low, high = ([None if math.isnan(value) else value for value in ends.tolist()] for ends in (own.low, own.high))
    board = uncertainty.brackets(matrix, higher, ranked)
    takes_part = np.isfinite(np.array(board.rank, dtype=float))
    shares = uncertainty.leads(np.where(takes_part[:, None], matrix, math.nan), higher)
    return column_of(
        metric,
        scale=scale(values.value, low, high, spec.bounds),
        value=values.value,
        ci_low=low,
        ci_high=high,
        n=values.n,
        rank=list(board.rank),
        **_certain(board, board.rank, board.order, uncertainty.FIRST)._asdict(),
        pairs=Pairs(tested=list(board.tested), p=[row[place + 1 :].tolist() for place, row in enumerate(board.p_tested)]),
        leads=[(i, round(float(shares[i]), 4)) for i in board.order[:LEADERS] if shares[i] > 0],
        order=ranking.order(values.value, higher),
        acceptance_test=ColumnAcceptanceTest(**asdict(standing)) if standing is not None else None,
        clean=clean_views(batch, metric.slug, scenes) if has_clean else None,
        flagged=[(index, *one) for index, known in enumerate(values.flags) for one in flags.counts(known, kept).items()] or None,
    )


def column_of(metric: Column, **figures: Any) -> MetricColumn:
    """A column of a batch with the figures of a board, or of one entry."""
    spec = metric.spec
    return MetricColumn(
        slug=metric.slug,
        key=metric.key,
        title=metric.title,
        fingerprint=metric.fingerprint,
        params=dict(metric.params),
        higher_is_better=spec.higher_is_better,
        unit=spec.unit,
        is_primary=metric.is_primary,
        in_ranking=metric.in_ranking,
        weight=metric.weight,
        bounds=finite_bounds(spec),
        decimals=metric.imported.decimals if metric.imported else None,
        **figures,
    )


def finite_bounds(spec: MetricSpec) -> tuple[float | None, float | None]:
    """A metric's bounds as JSON holds them, which has no infinity."""
    low, high = (end if end is not None and math.isfinite(end) else None for end in spec.bounds)
    return low, high


def _overall(
    rule: str,
    primary: str | None,
    metrics: list[MetricColumn],
    matrices: dict[str, np.ndarray],
    counted: list[bool],
    shown_only: str | None = None,
) -> Overall:
    """The organizer's rule over the columns that take part. `shown_only` is the title of the primary metric, where that may not rank."""
    by_primary, n = rule == "primary", len(counted)
    used = [m for m in metrics if (m.slug == primary and not shown_only if by_primary else m.in_ranking)]
    slugs = [m.slug for m in used]
    columns = [ranking.Column(m.slug, m.value, m.higher_is_better, m.weight, m.slug == primary) for m in used]
    reason = NoOrder.MAY_NOT_RANK if by_primary and shown_only else ranking.no_order(rule, columns)
    nothing: list[int | None] = [None] * n
    certain, fixed = Certain(nothing, nothing, nothing, [False] * n, [""] * n), list[str]()
    if reason is not None:
        problem = NoOverallRank(reason=reason, title=shown_only if reason is NoOrder.MAY_NOT_RANK else None)
        without: dict[str, Any] = {"rank": nothing, "value": nothing, "ranks": nothing, "incomplete": 0, "order": list(range(n))}
        return Overall(rule=rule, metrics=slugs, problem=problem, higher_is_better=False, **without, **certain._asdict())
    places = ranking.overall(rule, columns, counted)
    ranks, values = [place.rank for place in places], [place.value for place in places]
    higher = ranking.overall_higher_is_better(rule, columns)
    order = ranking.order(values, higher)
    if by_primary:
        certain = Certain(*(getattr(used[0], name) for name in Certain._fields))
    elif (found := _of_several(rule, used, matrices, counted, ranks, order)) is not None:
        certain, fixed = found
    return Overall(
        rule=rule,
        metrics=slugs,
        problem=None,
        higher_is_better=higher,
        rank=ranks,
        value=values,
        ranks=[list(place.ranks) or None for place in places],
        incomplete=sum(not place.ranks for place in places),
        order=order,
        fixed=fixed,
        **certain._asdict(),
    )


def _of_several(
    rule: str,
    used: Sequence[MetricColumn],
    matrices: Mapping[str, np.ndarray],
    counted: list[bool],
    ranks: Sequence[int | None],
    order: Sequence[int],
) -> tuple[Certain, list[str]] | None:
    """Ranges of ranks and brackets of an order by several metrics, and those of them without values per item; None where all are."""
    fixed = [index for index, m in enumerate(used) if np.isnan(matrices[m.slug][counted]).all()]
    if len(fixed) == len(used):
        return None
    scores = [[value if part else None for value, part in zip(m.value, counted, strict=True)] for m in used]
    samples, weights = np.stack([matrices[m.slug] for m in used]), [m.weight for m in used]
    found = overall_brackets(rule, samples, [m.higher_is_better for m in used], weights, fixed, scores)
    return _certain(found, ranks, order, OVERALL_FIRST), [used[index].slug for index in fixed]


class Certain(NamedTuple):
    """Ranges of ranks and brackets, as a column and the overall order keep them."""

    rank_low: list[int | None]
    rank_high: list[int | None]
    group: list[int | None]
    loose: list[bool]
    untested: list[str]


def _certain(found: uncertainty.Board | OverallBoard, ranks: Sequence[int | None], order: Sequence[int], most: int) -> Certain:
    """Ranges and brackets of an order whose first `most` entries are tested. `untested` says why ranked entries are in no bracket where
    others are: an entry "lacks" groups that most have, or is below the "first" ones."""
    ends, untested = [interval or (None, None) for interval in found.rank_interval], [""] * len(ranks)
    tested = [place for place, index in enumerate(order) if found.bracket[index] is not None]
    for place, index in enumerate(order):
        if tested and ranks[index] is not None and found.bracket[index] is None:
            untested[index] = "first" if len(tested) == most and place > tested[-1] else "lacks"
    return Certain([low for low, _ in ends], [high for _, high in ends], list(found.bracket), list(found.loose), untested)


def scale(
    values: Sequence[float | None], lows: Sequence[float | None], highs: Sequence[float | None], bounds: tuple[float, float | None]
) -> tuple[float, float]:
    """(low, high) of the line that all of a column's intervals are drawn on: everything the column
    holds, except values so far out that they would press the others together."""
    ends = [v for v in (*values, *lows, *highs) if v is not None and math.isfinite(v)]
    if not ends:
        return max(bounds[0], 0.0), 1.0 if bounds[1] is None else bounds[1]
    first, third = (float(q) for q in np.quantile(ends, (0.25, 0.75)))
    reach = 3 * (third - first)
    inner = [v for v in ends if first - reach <= v <= third + reach] or ends
    low, high = min(inner), max(inner)
    margin = 0.08 * (high - low) or 0.5 * abs(high) or 0.5
    low, high = low - margin, high + margin
    return max(low, bounds[0]), high if bounds[1] is None else min(high, bounds[1])


def alone(board: Board, column: MetricColumn, index: int) -> tuple[int, int] | None:
    """Between which ranks of a column one entry may stand, looked at for its own sake; from the scores it was made of."""
    if column.pairs is None or index not in column.pairs.tested:
        return None
    batch = EvaluationBatch.objects.select_related("reference", "results").get(pk=board.batch)
    values = Values.of_entries(batch, [entry.id for entry in board.entries], [column.slug])[column.slug]
    vectors = values.of_scenes(batch, column.scenes).vectors
    metric = next(one for one in batch.columns if one.slug == column.slug)
    ranked = [value if rank is not None else None for value, rank in zip(column.value, column.rank, strict=True)]
    matrix = uncertainty.unit_matrix(vectors, batch.groups, metric.spec.level, batch.item_ids)
    return uncertainty.alone(matrix, index, column.higher_is_better, ranked)
