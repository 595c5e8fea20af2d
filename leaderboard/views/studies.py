"""Studies of a phase: what people found, how far the metrics agree with them, and whom to trust."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render

from leaderboard import plots_study
from leaderboard.models import Study, StudyAnalysis
from leaderboard.people import metric_titles, reading, spread
from leaderboard.stats import votes as voting
from leaderboard.views.places import PhasePlace, not_shown_yet, phase_place

MOST_CONTRADICTIONS = 30
CRITERION_WORDS = {"": "all votes"}


@dataclass
class Echo:
    """A file that hands back what is written to it."""

    def write(self, value: str) -> str:
        return value


def studies(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """The studies of a phase."""
    place = phase_place(request, challenge, phase)
    if not place.sees_board:
        return not_shown_yet(request, place, "people")
    rows = []
    for study in seen(place):
        analysis = study.main_analysis
        rows.append({"study": study, "found": analysis.content if analysis else None})
    return render(request, "leaderboard/studies.html", place.context("people") | {"rows": rows})


def study(request: HttpRequest, challenge: str, phase: str, slug: str) -> HttpResponse:
    """One study: scales, agreement, contradictions, reliability, adequacy; `?criterion=` chooses among several."""
    place = phase_place(request, challenge, phase)
    if not place.sees_board:
        return not_shown_yet(request, place, "people")
    found = _study(place, slug)
    rows = {row.criterion: row for row in found.analyses.order_by("criterion")}
    asked = request.GET.get("criterion", "overall" if "overall" in rows else next(iter(rows), ""))
    if rows and asked not in rows:
        raise Http404
    row = rows.get(asked)
    context = place.context("people") | {"study": found, "analysis": row, "criterion": asked, "criteria": [*rows] if len(rows) > 1 else []}
    if row is not None and row.content is not None:
        context |= _shown(found, row, metric_titles(found.phase))
    return render(request, "leaderboard/study.html", context)


def study_json(request: HttpRequest, challenge: str, phase: str, slug: str) -> HttpResponse:
    """Every analysis of a study as JSON; raters are numbered, as on the page."""
    place = phase_place(request, challenge, phase)
    if not place.sees_board:
        raise Http404
    found = _study(place, slug)
    criteria = {row.criterion: _anonymous(row.content) for row in found.analyses.filter(content__isnull=False)}
    about = {"study": found.slug, "title": found.title, "question": found.question, "source": found.source, "made_up": found.made_up}
    return JsonResponse(about | {"criteria": criteria})


def study_votes(request: HttpRequest, challenge: str, phase: str, slug: str) -> HttpResponse:
    """All votes as CSV, with the raters' names: for organizers."""
    place = phase_place(request, challenge, phase)
    found = _study(place, slug)
    if not place.viewer.organizes:
        raise Http404
    writer = csv.writer(Echo())
    response = StreamingHttpResponse((writer.writerow(row) for row in voting.write(found.votes())), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{found.slug}-votes.csv"'
    return response


def seen(place: PhasePlace) -> list[Study]:
    """The studies that the viewer may know of, newest first."""
    rows = Study.objects.filter(phase=place.phase)
    return list(rows if place.viewer.organizes else rows.filter(is_public=True))


def _study(place: PhasePlace, slug: str) -> Study:
    found = Study.objects.filter(phase=place.phase, slug=slug).first()
    if found is None or not (place.viewer.organizes or found.is_public):
        raise Http404
    return found


def _shown(study: Study, row: StudyAnalysis, titles: dict[str, str]) -> dict[str, Any]:
    """What the page shows of an analysis."""
    content = row.content
    entries = {entry.label: entry.submission_id for entry in study.entries.all()}
    rates = [line["win_rate"] for line in content["scales"]]
    scales = [
        line | {"place": place, "entry": entries.get(line["method"]), "bar": spread(*line["win_rate"], rates)}
        for place, line in enumerate(content["scales"], 1)
    ]
    metrics = sorted(content["metrics"], key=lambda line: -(line["pairs"]["value"] or 0))
    groups = sorted({group for group in content["groups"] if group})
    for line in metrics:
        line["title"] = titles.get(line["key"], line["key"])
        line["reading"] = reading(line["title"], line["pairs"], content["people"]["pairs"])
        line["by_group"] = [line["groups"].get(group) for group in groups]
    turned = [one | {"metric": line["title"]} for line in metrics for one in line["contradictions"]]
    turned.sort(key=lambda one: -one["low"])
    raters = [line | {"number": n} for n, line in enumerate(content["reliability"]["raters"], 1)]
    clusters = content["agreement"]["cluster"]
    return {
        "found": content, "scales": scales, "metrics": metrics, "groups": groups, "raters": raters,
        "contradictions": turned[:MOST_CONTRADICTIONS], "n_contradictions": len(turned),
        "clusters": [sum(1 for label in clusters if label == number) for number in range(max(clusters, default=0) + 1)],
        "map": _map(content, titles), "curves": [plots_study.adequacy(curve).to_dict() for curve in content["adequacy"]],
        "stale": row.state == StudyAnalysis.State.WAITING and row.made_of != row.wanted,
    }  # fmt: skip


def _map(content: dict[str, Any], titles: dict[str, str]) -> dict[str, Any]:
    """The heat map: people cluster by cluster as the tree joins them, then the metrics by how far they agree with people."""
    agreement = content["agreement"]
    people = [n for n in agreement["order"] if agreement["kinds"][n] == "person"]
    people.sort(key=lambda n: agreement["cluster"][n])  # stable: the tree's order within
    rank = {line["key"]: -(line["pairs"]["value"] or 0) for line in content["metrics"]}
    metrics = sorted((n for n, kind in enumerate(agreement["kinds"]) if kind == "metric"), key=lambda n: rank[agreement["names"][n]])
    order = people + metrics
    labels = [agreement["cluster"][n] if n < len(agreement["cluster"]) else -1 for n in order]
    borders = [at for at in range(1, len(order)) if labels[at] != labels[at - 1]]
    groups = content["groups"]
    names = [
        f"rater {n + 1}{f' ({groups[n]})' if groups[n] else ''}" if kind == "person" else titles.get(name, name)
        for n, (name, kind) in enumerate(zip(agreement["names"], agreement["kinds"], strict=True))
    ]
    return plots_study.agreement_map(names, agreement["all"], agreement["common"], order, borders).to_dict()


def _anonymous(content: dict[str, Any]) -> dict[str, Any]:
    """The content with numbers for the raters' names."""
    number = {name: f"rater {n}" for n, name in enumerate(content["raters"], 1)}
    people = len(content["raters"])
    agreement = content["agreement"] | {"names": [*number.values(), *content["agreement"]["names"][people:]]}
    rows = [line | {"rater": number[line["rater"]]} for line in content["reliability"]["raters"]]
    return content | {"raters": [*number.values()], "agreement": agreement, "reliability": content["reliability"] | {"raters": rows}}
