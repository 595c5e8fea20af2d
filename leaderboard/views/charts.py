"""Charts of a phase: spread of scores, the best score over time, rank intervals."""

from __future__ import annotations

import math

import numpy as np
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from evaluation.models import EvaluationBatch, Score
from leaderboard.charts import boards
from leaderboard.lookup import current_ranking, not_shown_yet
from leaderboard.records.board import Board, MetricColumn
from leaderboard.service.page_cache import PARTS
from submissions.entry_fields import PUBLIC_FIELDS
from submissions.lookup import PhasePlace, phase_place
from submissions.models import Submission
from submissions.models.frozen_board import frozen_since
from submissions.models.status import ELIGIBLE
from submissions.visibility import public_to

MAX_RECORDED = 5000  # entries in the chart over time, the newest


def charts(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """One metric's charts; `?metric=` chooses it."""
    place = phase_place(request.user, challenge, phase)
    if not place.sees_board:
        return not_shown_yet(request, place, "charts")
    snapshot = current_ranking(place)
    context = place.context("charts") | {"snapshot": snapshot, "figures": ""}
    ranking = snapshot.board if snapshot is not None else None
    if snapshot is not None and ranking is not None and ranking.entries and ranking.metrics:
        metric = ranking.column(request.GET.get("metric", "")) or ranking.primary or ranking.metrics[0]
        viewer, phase = place.viewer, place.phase
        key = (
            "charts",
            snapshot.seen,
            metric.slug,
            # The chart over time is of entries beside the ranking too: it holds until the phase changes, or its freeze begins.
            phase.board_revision,
            frozen_since(phase, place.now),
            phase.time_zone,
            place.challenge.item_noun,
            viewer.organizes,
            viewer.team_id,
            phase.withhold_items,
            viewer.may("phase.see_reference", phase),
        )
        part = PARTS.of(key, lambda: render_to_string("leaderboard/parts/charts.html", {"figures": _figures(place, ranking, metric)}))
        context |= {"metrics": ranking.metrics, "metric": metric, "figures": part}
    return render(request, "leaderboard/charts.html", context)


def _figures(place: PhasePlace, board: Board, metric: MetricColumn) -> list[dict]:
    said = boards.Metric(metric.title, metric.higher_is_better, metric.unit)
    labels = [entry.name if board.imported else f"{entry.name} ({entry.team})" for entry in board.entries]
    figures, noun = [], place.challenge.item_noun
    if not place.phase.is_imported and (not place.phase.withhold_items or place.viewer.organizes):
        # The vectors of the best entries, as many as a chart can hold.
        sees_reference = place.viewer.may("phase.see_reference", place.phase)
        best = [i for i in metric.order if metric.value[i] is not None][: boards.MAX_ENTRIES]
        batch = EvaluationBatch.objects.select_related("reference").get(pk=board.batch)
        ids = [board.entries[i].id for i in best]
        scores = Score.objects.filter(evaluation__batch=batch, slug=metric.slug, evaluation__submission__in=ids).select_related(
            "evaluation"
        )
        vectors = {score.evaluation.submission_id: score.values_shown(sees_reference) for score in scores}
        series, counts = [], batch.items_of(metric.acceptance_test.scenes if metric.acceptance_test is not None else None)
        for index in best:
            values = vectors.get(board.entries[index].id)
            if values is not None and len(values) == len(batch.item_ids):
                values = np.where(counts, values, math.nan)
                series.append(boards.Series(labels[index], [None if math.isnan(v) else v for v in values.tolist()]))
        drawn = boards.distributions(said, series, batch.item_ids, noun=noun)
        figures.append((f"Scores per {noun}", "distributions", drawn))

    if not place.phase.is_imported:
        # Every entry that may be seen, whether or not it is the one that counts; a team's own of after the freeze are not the board's.
        shown = ELIGIBLE if place.viewer.organizes else public_to(place.viewer, place.phase)
        entries = Submission.objects.filter(shown, phase=place.phase, is_baseline=False)
        rows = Score.objects.filter(evaluation__batch=board.batch, slug=metric.slug, evaluation__submission__in=entries)
        recent = rows.order_by("-evaluation__submission__received_at").values_list(
            "evaluation__submission__received_at",
            "evaluation__submission__created_at",
            "value",
            "evaluation__submission__method_name",
            "evaluation__submission__team__name",
        )
        points = [
            boards.Point(received or created, value, f"{method} ({team})")
            for received, created, value, method, team in recent[:MAX_RECORDED]
        ]
        values_by_entry = zip(board.entries, metric.value, strict=True)
        baselines = [(entry.name, value) for entry, value in values_by_entry if entry.baseline and value is not None]
        figures.append(("The best score over time", "progress", boards.progress(said, points, baselines, zone=place.phase.zone)))

    ranks = "Ranks" if place.phase.is_imported else "Ranks and their intervals"
    ranked = [boards.RankRow(labels[i], metric.rank[i], metric.rank_low[i], metric.rank_high[i]) for i in metric.order]
    figures.append((ranks, "ranks", boards.rank_intervals(metric.title, ranked)))

    # Of the ranked entries those that state what they cost, and how many do not.
    for name, field in PUBLIC_FIELDS.items():
        if not field.scale:
            continue
        title, costs, n_silent = field.scale.format(item=noun), [], 0
        for index in (n for n, rank in enumerate(metric.rank) if rank is not None):
            stated, value = getattr(board.entries[index], name), metric.value[index]
            if stated and value is not None:
                costs.append(boards.CostPoint(labels[index], float(stated), value, *metric.interval(index)))
            else:
                n_silent += 1
        if costs:
            figures.append((f"Score against {title.lower()}", f"cost-{name}", boards.cost(said, costs, title, n_silent)))
    return [{"title": title, "name": name, "chart": chart} for title, name, chart in figures]
