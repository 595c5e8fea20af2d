"""Charts of a phase: spread of scores, the best score over time, rank intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from evaluation.models import EvaluationBatch, Score
from leaderboard.charts import boards
from leaderboard.lookup import current_ranking, not_shown_yet
from leaderboard.records.board import Board, MetricColumn
from leaderboard.records.chart import Chart
from leaderboard.service.page_cache import PARTS
from leaderboard.wording.board import entry_name
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
        part = PARTS.of(
            key, lambda: render_to_string("leaderboard/parts/charts.html", {"figures": MetricCharts(place, ranking, metric).all})
        )
        context |= {"metrics": ranking.metrics, "metric": metric, "figures": part}
    return render(request, "leaderboard/charts.html", context)


@dataclass(frozen=True)
class MetricCharts:
    """The charts of one column of a board, as titles, names and charts."""

    place: PhasePlace
    board: Board
    metric: MetricColumn

    @cached_property
    def labels(self) -> list[str]:
        return [entry_name(entry.name, self.board.team_of(entry)) for entry in self.board.entries]

    @property
    def all(self) -> list[tuple[str, str, Chart]]:
        found, phase, noun = [], self.place.phase, self.place.challenge.item_noun
        if phase.may_show_items and (not phase.withhold_items or self.place.viewer.organizes):
            found.append((f"Scores per {noun}", "distributions", self.distributions()))
        if phase.has_teams:
            found.append(("The best score over time", "progress", self.progress()))
        found.append(("Ranks and their intervals" if self.board.n_items else "Ranks", "ranks", self.ranks()))
        titles = {name: field.scale.format(item=noun) for name, field in PUBLIC_FIELDS.items() if field.scale}
        costs = [(f"Score against {title.lower()}", f"cost-{name}", self.cost(name, title)) for name, title in titles.items()]
        return found + [(title, name, chart) for title, name, chart in costs if chart is not None]

    def distributions(self) -> Chart:
        """Values per item of the best entries, as many as a chart can hold."""
        sees_reference = self.place.viewer.may("phase.see_reference", self.place.phase)
        best = [i for i in self.metric.order if self.metric.value[i] is not None][: boards.MAX_ENTRIES]
        batch = EvaluationBatch.objects.select_related("reference").get(pk=self.board.batch)
        ids = [self.board.entries[i].id for i in best]
        scores = Score.objects.filter(evaluation__batch=batch, slug=self.metric.slug, evaluation__submission__in=ids)
        vectors = {score.evaluation.submission_id: score.values_shown(sees_reference) for score in scores.select_related("evaluation")}
        series, counts = [], batch.items_of(self.metric.scenes)
        for index, pk in zip(best, ids, strict=True):
            values = vectors.get(pk)
            if values is not None and len(values) == len(batch.item_ids):
                known = [None if math.isnan(v) else v for v in np.where(counts, values, math.nan).tolist()]
                series.append(boards.Series(self.labels[index], known, self.board.entries[index].name))
        return boards.distributions(self.metric, series, batch.item_ids, noun=self.place.challenge.item_noun)

    def progress(self) -> Chart:
        """Every entry that may be seen, whether or not it is the one that counts; a team's own of after the freeze are not the board's."""
        phase, viewer = self.place.phase, self.place.viewer
        shown = ELIGIBLE if viewer.organizes else public_to(viewer, phase)
        entries = Submission.objects.filter(shown, phase=phase, is_baseline=False)
        rows = Score.objects.filter(evaluation__batch=self.board.batch, slug=self.metric.slug, evaluation__submission__in=entries)
        names = ("received_at", "created_at", "method_name", "team__name")
        rows = rows.order_by("-evaluation__submission__received_at")
        recent = rows.values_list("value", *(f"evaluation__submission__{name}" for name in names))[:MAX_RECORDED]
        points = [boards.Point(received or created, value, entry_name(method, team)) for value, received, created, method, team in recent]
        values = zip(self.board.entries, self.metric.value, strict=True)
        baselines = [(entry.name, value) for entry, value in values if entry.baseline and value is not None]
        return boards.progress(self.metric, points, baselines, zone=phase.zone)

    def ranks(self) -> Chart:
        it = self.metric
        rows = [boards.RankRow(self.labels[i], it.rank[i], it.rank_range(i), self.board.entries[i].name) for i in it.order]
        return boards.rank_intervals(it.title, rows)

    def cost(self, name: str, title: str) -> Chart | None:
        """The ranked entries that state this cost, with the number of those that do not; None where none does."""
        ranked = [n for n, rank in enumerate(self.metric.rank) if rank is not None]
        costs = []
        for index in ranked:
            entry, value = self.board.entries[index], self.metric.value[index]
            if (stated := getattr(entry, name)) and value is not None:
                costs.append(boards.CostPoint(self.labels[index], float(stated), value, *self.metric.interval(index), entry.name))
        return boards.cost(self.metric, costs, title, len(ranked) - len(costs)) if costs else None
