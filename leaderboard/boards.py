"""A phase's ranking as one plain value: what a snapshot keeps and every page and export reads.

`build` asks the database a fixed number of questions (entries, scores in bundles) and leaves all
arithmetic to `leaderboard.stats`. The payload is JSON: entries in the order they were received,
and per metric and for the overall rank one list per figure, in the same order. A list of floats
holds None where there is no value. Nothing per item, and nothing of the reference, is in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models import Count, Prefetch, Q
from django.utils import timezone

from evaluation.models import EvaluationBatch, Score
from evaluation.results import spec_of
from leaderboard import people
from leaderboard.rows import WAITING
from leaderboard.stats import overall as whole
from leaderboard.stats import ranking, uncertainty
from leaderboard.studies.summary import HIDDEN_NAME
from submissions.models import Phase, Status, Submission

FORMAT = 1
PUBLIC, ORGANIZERS = "public", "organizers"
RANK_CELLS = 2_000_000  # entries times resamples of one metric's rank intervals
FEWEST_RESAMPLES = 200
BUNDLE = 500  # entries whose scores are fetched at once


@dataclass
class Row:
    """One entry of a board, and whether it counts in the ranking."""

    submission: Submission
    counted: bool
    late: bool = False
    waiting: tuple[str, ...] = ()  # slugs of columns that it has no score in before the phase is re-evaluated
    waits: bool = False  # and whether one of them decides the order
    detail: str = ""  # what a table of results says beside the name

    @property
    def received(self) -> datetime:
        return self.submission.received_at or self.submission.created_at

    @property
    def shown_as(self) -> str:
        """Why it does not count, in one word; empty where it does."""
        it = self.submission
        if it.disqualified_at:
            return "disqualified"
        if it.hidden_at:
            return "hidden"
        if self.waits:
            return WAITING
        return "baseline" if it.is_baseline else ""

    @property
    def takes_part(self) -> bool:
        """Whether it is one of the entries of a team that the board stands for."""
        return self.shown_as == "" or (self.shown_as == WAITING and not self.submission.is_baseline)

    def to_dict(self) -> dict[str, Any]:
        it = self.submission
        waiting = {"waiting": list(self.waiting)} if self.waiting else {}
        return {
            "id": it.pk, "number": it.number, "name": it.method_name, "team": it.team.name, "team_id": it.team_id,
            "received_at": self.received.isoformat(), "counted": self.counted, "baseline": it.is_baseline,
            "verified": it.is_verified, "paper": it.paper_url, "code": it.code_url,
            "state": self.shown_as if self.shown_as != "baseline" else "", "late": self.late,
            "detail": self.detail,
            "reason": it.disqualified_reason if it.disqualified_at else it.hidden_reason if it.hidden_at else "",
            **waiting,
        }  # fmt: skip


@dataclass
class Values:
    """The scores of one metric, in the order of the rows."""

    value: list[float | None]
    ci_low: list[float | None]
    ci_high: list[float | None]
    n: list[int]
    vectors: np.ndarray = field(repr=False)  # float64[rows, items], NaN where there is none

    @classmethod
    def empty(cls, rows: int, items: int) -> Values:
        return cls([None] * rows, [None] * rows, [None] * rows, [0] * rows, np.full((rows, items), math.nan))


def build(phase: Phase, audience: str, now: datetime | None = None) -> dict[str, Any] | None:
    """The board of `phase` for an audience ("public" or "organizers") as it stands at `now`; None
    while the phase has nothing to be scored against."""
    batch = EvaluationBatch.current(phase)
    if batch is None:
        return None
    eligible = list(_entries(phase, batch, audience, now or timezone.now()))
    primary = primary_slug(batch.metrics)
    rows = _chosen_rows(phase, batch, eligible, primary)
    scores = _scores(batch, rows)
    counted = [row.counted for row in rows]
    metrics, matrices = [], {}
    for metric in batch.metrics:
        values = scores[metric["slug"]]
        matrices[metric["slug"]] = uncertainty.unit_matrix(values.vectors, batch.groups, spec_of(metric).level)
        metrics.append(_metric(metric, values, matrices[metric["slug"]], counted))
    participants = [row for row in eligible if row.takes_part]
    shown = [row.to_dict() for row in rows]
    by_item = len(set(batch.groups)) in (1, len(batch.item_ids))
    n_resampled = len(batch.item_ids) if by_item else len(set(batch.groups))
    return {
        "format": FORMAT,
        "audience": audience,
        "batch": batch.pk,
        "challenge": {"slug": phase.challenge.slug, "title": phase.challenge.title, "made_up": phase.challenge.made_up},
        "phase": {
            "slug": phase.slug,
            "title": phase.title,
            "entries": Phase.Entries.ALL if batch.is_imported else phase.entries,
            "rule": phase.ranking,
        },
        "reference": batch.version,
        "imported": {"source": phase.results_source, "url": phase.results_url} if batch.is_imported else None,
        "frozen_at": _frozen_at(phase, audience, now),
        "n_teams": len({row.submission.team_id for row in participants}),
        "n_entries": len(participants),
        "n_items": len(batch.item_ids),
        "resampled": "item" if by_item else "group",
        "n_resampled": n_resampled,
        "can_tell": uncertainty.can_tell(n_resampled),
        "rank_resamples": resamples_for(len(rows)),
        "people": people.found_by_people(
            phase, audience == PUBLIC, shown, {metric["slug"]: metric["fingerprint"] for metric in batch.metrics}
        ),
        "entries": shown,
        "metrics": metrics,
        "overall": _overall(phase.ranking, primary, metrics, matrices, counted),
    }


def hides_nothing(phase: Phase, now: datetime | None = None) -> bool:
    """Whether organizers would see the very ranking the public sees."""
    held_back = Submission.objects.sent().filter(phase=phase, status=Status.SCORED, withdrawn_at__isnull=True)
    if phase.frozen_since(now) is not None or phase.studies.filter(is_public=False).exists():
        return False
    return held_back.count() == held_back.eligible().count()


def primary_slug(metrics: Sequence[dict]) -> str | None:
    """The metric a team's best entry is chosen by: the primary one, else the first that ranks."""
    marked = [m["slug"] for m in metrics if m["is_primary"]] or [m["slug"] for m in metrics if m["in_ranking"]]
    return marked[0] if marked else None


def resamples_for(rows: int) -> int:
    """How many resamples a rank interval gets, so that a large board is still built in seconds."""
    return max(FEWEST_RESAMPLES, min(uncertainty.RESAMPLES, RANK_CELLS // max(rows, 1)))


# --- which entries -------------------------------------------------------------------------


def _frozen_at(phase: Phase, audience: str, now: datetime | None) -> str | None:
    frozen = phase.frozen_since(now)
    return frozen.isoformat() if frozen and audience == PUBLIC else None


def _entries(phase: Phase, batch: EvaluationBatch, audience: str, now: datetime) -> Iterator[Row]:
    """Scored entries this audience may see, in the order they were received.

    One that waits in a column that decides the order is shown and not counted, in no column: so a newer entry of a team does not
    take the place of the one that is ranked.
    """
    waiting, primary = _waiting(batch), primary_slug(batch.metrics)
    deciding = {metric["slug"] for metric in batch.metrics if metric["in_ranking"] and phase.ranking != "primary"} | {primary}
    frozen = phase.frozen_since(now)
    entries = Submission.objects.sent().filter(phase=phase, status=Status.SCORED, withdrawn_at__isnull=True)
    if audience == PUBLIC:
        entries = entries.eligible()
    left_out = ["problems", "warnings", "failure_detail", "upload_data", "missing_items"]
    if not phase.is_imported:
        left_out.append("description")
    rows = [Row(submission, counted=False) for submission in entries.select_related("team").defer(*left_out)]
    for row in sorted(rows, key=lambda row: (row.received, row.submission.pk)):
        row.detail = row.submission.description if phase.is_imported else ""
        row.late = frozen is not None and row.received > frozen
        row.waiting = waiting.get(row.submission.pk, ())
        row.waits = not deciding.isdisjoint(row.waiting)
        row.counted = row.shown_as == ""
        if audience == ORGANIZERS or not row.late:
            yield row


def _waiting(batch: EvaluationBatch) -> dict[int, tuple[str, ...]]:
    """By entry, the columns that it has no score in, because it was scored when the code had another version of their metric."""
    if batch.is_imported:
        return {}
    scores = Prefetch("scores", Score.objects.only("evaluation_id", "slug"))
    done = batch.evaluations.filter(state="done").order_by().annotate(n_scores=Count("scores"))
    partly = done.filter(n_scores__lt=len(batch.metrics)).select_related("batch").prefetch_related(scores)
    return {evaluation.submission_id: tuple(column["slug"] for column in evaluation.waiting()) for evaluation in partly}


def _chosen_rows(phase: Phase, batch: EvaluationBatch, eligible: list[Row], primary: str | None) -> list[Row]:
    """Of each team's entries those the phase counts; baselines, hidden, disqualified and waiting ones stay."""
    rule = phase.entries
    if rule == Phase.Entries.ALL or batch.is_imported:  # the rows of a table are not attempts of one team
        return eligible
    if rule == Phase.Entries.CHOSEN:
        return [row for row in eligible if not row.counted or row.submission.is_chosen]
    best_first = list(reversed(eligible)) if rule == Phase.Entries.LATEST else _by_primary(batch, eligible, primary)
    kept: dict[int, Row] = {}
    for row in best_first:
        if row.counted:
            kept.setdefault(row.submission.team_id, row)
    chosen = {row.submission.pk for row in kept.values()}
    return [row for row in eligible if not row.counted or row.submission.pk in chosen]


def _by_primary(batch: EvaluationBatch, rows: list[Row], primary: str | None) -> list[Row]:
    """Best first by the primary metric, the earlier of equals first, those without a value last."""
    if primary is None:
        return rows
    scores = Score.objects.filter(evaluation__batch=batch, slug=primary, evaluation__state="done")
    values = dict(scores.values_list("evaluation__submission_id", "value"))
    higher = spec_of(next(m for m in batch.metrics if m["slug"] == primary)).higher_is_better
    return [rows[i] for i in ranking.order([values.get(row.submission.pk) for row in rows], higher)]


# --- their scores --------------------------------------------------------------------------


def _scores(batch: EvaluationBatch, rows: list[Row]) -> dict[str, Values]:
    """Every metric's scores under the batch, by slug."""
    n_items = len(batch.item_ids)
    place = {row.submission.pk: index for index, row in enumerate(rows)}
    found = {metric["slug"]: Values.empty(len(rows), n_items) for metric in batch.metrics}
    columns = ("evaluation__submission_id", "slug", "value", "ci_low", "ci_high", "n", "vector")
    ids = list(place)
    for start in range(0, len(ids), BUNDLE):
        bundle = Score.objects.filter(
            evaluation__batch=batch, evaluation__state="done", evaluation__submission_id__in=ids[start : start + BUNDLE]
        ).order_by()
        for submission, slug, value, low, high, n, vector in bundle.values_list(*columns).iterator():
            if slug not in found:
                continue
            index, values = place[submission], found[slug]
            values.value[index], values.ci_low[index], values.ci_high[index], values.n[index] = value, low, high, n
            if vector and len(vector) == n_items * 8:
                values.vectors[index] = np.frombuffer(vector, dtype=np.float64)
    return found


# --- figures -------------------------------------------------------------------------------


def _metric(metric: dict, values: Values, matrix: np.ndarray, counted: list[bool]) -> dict[str, Any]:
    """One column of the board. Ranks, intervals and groups are of counted entries only."""
    spec = spec_of(metric)
    higher = spec.higher_is_better
    ranked = [value if part else None for value, part in zip(values.value, counted, strict=True)]
    intervals = uncertainty.rank_intervals(matrix, higher, resamples=resamples_for(len(ranked)), values=ranked)
    ranks = ranking.rank(ranked, higher)
    return {
        "slug": metric["slug"], "key": metric["key"], "title": metric["title"], "fingerprint": metric["fingerprint"],
        "params": metric["params"], "higher_is_better": higher, "unit": spec.unit, "is_primary": metric["is_primary"],
        "in_ranking": metric["in_ranking"], "weight": metric["weight"],
        "scale": scale(values, spec.bounds), "decimals": metric["imported"]["decimals"] if "imported" in metric else decimals(values),
        "value": values.value, "ci_low": values.ci_low, "ci_high": values.ci_high, "n": values.n,
        "rank": ranks, "rank_low": _ends(intervals, 0), "rank_high": _ends(intervals, 1),
        "group": uncertainty.tie_groups(matrix, ranked, higher), "order": ranking.order(values.value, higher),
    }  # fmt: skip


def _overall(rule: str, primary: str | None, metrics: list[dict], matrices: dict[str, np.ndarray], counted: list[bool]) -> dict[str, Any]:
    """The organizer's rule over the metrics that take part. `problem` says why there is no rank."""
    used = [m for m in metrics if m["in_ranking"] or (rule == "primary" and m["slug"] == primary)]
    if rule == "primary":
        used = [m for m in used if m["slug"] == primary]
    columns = [ranking.Column(m["slug"], m["value"], m["higher_is_better"], m["weight"], m["slug"] == primary) for m in used]
    n = len(counted)
    result: dict[str, Any] = {"rule": rule, "metrics": [m["slug"] for m in used], "problem": ""}
    try:
        places = ranking.overall(rule, columns, counted)
    except ValueError as error:
        nothing = [None] * n
        return result | {
            "problem": str(error), "higher_is_better": False, "rank": nothing, "value": nothing, "rank_low": nothing,
            "rank_high": nothing, "group": nothing, "explanation": [""] * n, "order": list(range(n)),
        }  # fmt: skip
    higher = ranking.overall_higher_is_better(rule, columns)
    if rule == "primary":
        low, high, groups = used[0]["rank_low"], used[0]["rank_high"], used[0]["group"]
    else:
        intervals, groups = whole.overall_certainty(rule, columns, [matrices[m["slug"]] for m in used], counted)
        low, high = _ends(intervals, 0), _ends(intervals, 1)
    return result | {
        "higher_is_better": higher, "rank": [place.rank for place in places], "value": [place.value for place in places],
        "rank_low": low, "rank_high": high, "group": groups, "explanation": [place.explanation for place in places],
        "order": ranking.order([place.value for place in places], higher),
    }  # fmt: skip


def _ends(intervals: Sequence[tuple[int, int] | None], end: int) -> list[int | None]:
    return [None if interval is None else interval[end] for interval in intervals]


def scale(values: Values, bounds: tuple[float, float | None]) -> list[float]:
    """[low, high] of the line that all of a column's intervals are drawn on: everything the column
    holds, except values so far out that they would press the others together."""
    ends = [v for v in (*values.value, *values.ci_low, *values.ci_high) if v is not None and math.isfinite(v)]
    if not ends:
        return [max(bounds[0], 0.0), 1.0 if bounds[1] is None else bounds[1]]
    first, third = (float(q) for q in np.quantile(ends, (0.25, 0.75)))
    reach = 3 * (third - first)
    kept = [v for v in ends if first - reach <= v <= third + reach] or ends
    low, high = min(kept), max(kept)
    margin = 0.08 * (high - low) or 0.5 * abs(high) or 0.5
    low, high = low - margin, high + margin
    return [max(low, bounds[0]), high if bounds[1] is None else min(high, bounds[1])]


def decimals(values: Values) -> int:
    """Digits after the point for a whole column (three without any interval): a typical half width
    shows two figures, or one where that takes more than three digits."""
    halves = [
        (high - low) / 2
        for low, high in zip(values.ci_low, values.ci_high, strict=True)
        if low is not None and high is not None and high > low
    ]
    if not halves:
        return 3
    first_figure = -math.floor(math.log10(float(np.median(halves))))
    return max(0, min(first_figure + 1, 3), min(first_figure, 6))


# --- old rankings --------------------------------------------------------------------------

WITHHELD_NAME = HIDDEN_NAME
_FIGURES = ("value", "ci_low", "ci_high", "rank_low", "rank_high", "group")


def barred(phase: Phase) -> frozenset[int]:
    """Entries that the public is told nothing of now: hidden, disqualified, or received after the freeze."""
    found = Q(hidden_at__isnull=False) | Q(disqualified_at__isnull=False)
    frozen = phase.frozen_since()
    if frozen is not None:
        found |= Q(received_at__gt=frozen, made_as="")
    return frozenset(phase.submissions.filter(found).values_list("pk", flat=True))


def withheld(content: dict[str, Any], ids: frozenset[int]) -> dict[str, Any]:
    """A copy of a payload in which the entries `ids` keep their places and nothing else: no name, no
    team, no links, no values. What was decided about them later holds for old rankings too."""
    at = [index for index, entry in enumerate(content["entries"]) if entry["id"] in ids]
    if not at:
        return content
    entries = list(content["entries"])
    for index in at:
        entries[index] = entries[index] | {
            "name": WITHHELD_NAME, "team": "", "team_id": 0, "paper": "", "code": "", "verified": False, "reason": "",
        }  # fmt: skip
    metrics = [_blanked(metric, at) | {"n": _with(metric["n"], at, 0)} for metric in content["metrics"]]
    overall = _blanked(content["overall"], at)
    overall["explanation"] = _with(overall["explanation"], at, "")
    told = people.withheld(content["people"], at, ids) if content.get("people") else None
    if told:
        names = {content["entries"][index]["name"] for index in at}
        told["left_out"] = [name for name in told.get("left_out", []) if name not in names]
    return content | {"entries": entries, "metrics": metrics, "overall": overall, "people": told}


def _blanked(column: dict[str, Any], at: list[int]) -> dict[str, Any]:
    return column | {name: _with(column[name], at, None) for name in _FIGURES if name in column}


def _with(values: list, at: list[int], instead: object) -> list:
    found = list(values)
    for index in at:
        found[index] = instead
    return found
