"""Studies of a phase: what people found, how far the metrics agree with them, and whom to trust."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse

from evaluation.models import EvaluationBatch
from evaluation.models.batch import sentences
from leaderboard import boards, plots_study
from leaderboard.judge import answers
from leaderboard.judge.shown import TITLES, of_study
from leaderboard.models import Study, StudyAnalysis
from leaderboard.people import n_raters, reading, spread, trained_more, trained_words, unnamed
from leaderboard.stats import ratings as rating
from leaderboard.stats import votes as voting
from leaderboard.views import study_opinions
from leaderboard.views.places import PhasePlace, not_shown_yet, phase_place
from submissions.models import Phase

MOST_CONTRADICTIONS = 30


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
    rows, barred = [], barred_from(place.phase, place.viewer.organizes)
    for study in seen(place):
        analysis = study.main_analysis
        rows.append({"study": study, "found": _brief(unnamed(analysis.content, withheld_labels(study, barred))) if analysis else None})
    open_to_all = Study.objects.filter(phase=place.phase, access=Study.Access.OPEN, state=Study.State.OPEN)
    asking = [study for study in open_to_all if not study.closed_sentence()]
    return render(request, "leaderboard/studies.html", place.context("people") | {"rows": rows, "asking": asking})


def study(request: HttpRequest, challenge: str, phase: str, slug: str) -> HttpResponse:
    """One study: scales, agreement, contradictions, reliability, adequacy; `?criterion=` chooses among several."""
    place = phase_place(request, challenge, phase)
    if not place.sees_board:
        return not_shown_yet(request, place, "people")
    found = _study(place, slug)
    every = {row.criterion: row for row in found.analyses.all()}
    rows = {name: every[name] for name in found.in_order(every)}
    asked = request.GET.get("criterion", found.leading(rows) if rows else "")
    if rows and asked not in rows:
        raise Http404
    row = rows.get(asked)
    context = place.context("people") | {
        "study": found, "analysis": row, "criterion": asked, "criteria": titled(found, rows) if len(rows) > 1 else [],
    }  # fmt: skip
    withheld = withheld_labels(found, barred_from(found.phase, place.viewer.organizes))
    for one in rows.values():
        one.content = one.content and unnamed(one.content, withheld)
    if row is not None and row.content is not None:
        titles = metric_titles(found.phase)
        if row.content.get("kind") == "opinions":
            others = {name: one.content for name, one in rows.items() if one.content is not None}
            context |= study_opinions.shown(row.content, others, _pages(found), titles, request.GET.get("metric", ""))
            if context["criteria_table"]:
                context["criteria_table"]["names"] = [title for _, title in titled(found, others)]
        else:
            context |= _shown(found, row, titles)
        context["stale"] = row.state == StudyAnalysis.State.WAITING and row.made_of != row.wanted
    context["withdrawn"] = found.withdrawn()
    rows_of_entries = found.entries.exclude(artifact="").order_by("label")
    context["damage"] = [(entry.label, entry.damage) for entry in rows_of_entries if entry.label not in withheld]
    batch = found.batch
    context["outdated"] = sentences(batch.outdated()) if batch else []
    context["keeps_values"] = batch is not None and batch.state != EvaluationBatch.State.CURRENT
    context["judges"] = of_study(found, context.get("found"), withheld)
    return render(request, "leaderboard/study.html", context)


def study_json(request: HttpRequest, challenge: str, phase: str, slug: str) -> HttpResponse:
    """Every analysis of a study as JSON; raters are numbered, as on the page."""
    place = phase_place(request, challenge, phase)
    if not place.sees_board:
        raise Http404
    found = _study(place, slug)
    done = {row.criterion: row.content for row in found.analyses.filter(content__isnull=False)}
    withheld = withheld_labels(found, barred_from(found.phase, place.viewer.organizes))
    criteria = {name: anonymous(unnamed(done[name], withheld)) for name in found.in_order(done)}
    about = {"study": found.slug, "title": found.title, "question": found.question, "source": found.source, "made_up": found.made_up}
    about["withdrawn"] = found.withdrawn()
    return JsonResponse(about | {"criteria": criteria})


def study_votes(request: HttpRequest, challenge: str, phase: str, slug: str) -> HttpResponse:
    """All votes, or opinion scores, as CSV, with the raters' names: for organizers."""
    place = phase_place(request, challenge, phase)
    found = _study(place, slug)
    if not place.viewer.organizes:
        raise Http404
    opinions = found.kind == Study.Kind.OPINIONS
    table = rating.write(found.ratings()) if opinions else voting.write(found.votes())
    return csv_response(table, f"{found.slug}-{'opinions' if opinions else 'votes'}.csv")


def study_judges(request: HttpRequest, challenge: str, phase: str, slug: str) -> HttpResponse:
    """What judge models said of the study's entries, as CSV: for organizers, as votes are."""
    place = phase_place(request, challenge, phase)
    found = _study(place, slug)
    if not place.viewer.organizes:
        raise Http404
    return csv_response(answers.table(answers.runs_of(found)), f"{found.slug}-judges.csv")


def csv_response(table: Iterable[list[str]], name: str) -> HttpResponse:
    """Rows as a file that is sent as they come."""
    writer = csv.writer(Echo())
    response = StreamingHttpResponse((writer.writerow(row) for row in table), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def seen(place: PhasePlace) -> list[Study]:
    """The studies that the viewer may know of, newest first, with their analyses and entries."""
    rows = Study.objects.filter(phase=place.phase).prefetch_related("analyses", "entries")
    return list(rows if place.viewer.organizes else rows.shown())


def barred_from(phase: Phase, organizes: bool) -> frozenset[int]:
    """Entries that are told to organizers alone, for somebody who is one or is not."""
    return frozenset() if organizes else boards.barred(phase)


def withheld_labels(study: Study, barred: Collection[int]) -> set[str]:
    """What the study calls these entries."""
    return {entry.label for entry in study.entries.all() if entry.submission_id in barred} if barred else set()


def _study(place: PhasePlace, slug: str) -> Study:
    rows = Study.objects.filter(phase=place.phase, slug=slug)
    found = (rows if place.viewer.organizes else rows.shown()).first()
    if found is None:
        raise Http404
    return found


def _shown(study: Study, row: StudyAnalysis, titles: dict[str, str]) -> dict[str, Any]:
    """What the page shows of an analysis."""
    content = row.content
    entries = _pages(study)
    rates = [line["win_rate"] for line in content["scales"]]
    scales = [
        line | {"place": place, "entry": entries.get(line["method"]), "bar": spread(*line["win_rate"], rates)}
        for place, line in enumerate(content["scales"], 1)
    ]
    metrics = sorted(content["metrics"], key=lambda line: -(line["pairs"]["value"] or 0))
    groups = sorted({group for group in content["groups"] if group})
    for line in metrics:
        line["title"] = titles.get(line["key"], line["key"])
        line["reading"] = reading(line["title"], line["pairs"], content["people"]["pairs"]) + trained_more(line)
        line["trained"] = trained_words(line)
        line["by_group"] = [line["groups"].get(group) for group in groups]
    turned = [
        one | {"metric": line["title"], "link": _side_by_side(study, entries, one)} for line in metrics for one in line["contradictions"]
    ]
    turned.sort(key=lambda one: -one["low"])
    raters = [line | {"number": n} for n, line in enumerate(content["reliability"]["raters"], 1)]
    clusters = content["agreement"]["cluster"]
    return {
        "found": content, "scales": scales, "metrics": metrics, "groups": groups, "raters": raters,
        "contradictions": turned[:MOST_CONTRADICTIONS], "n_contradictions": len(turned),
        "clusters": [sum(1 for label in clusters if label == number) for number in range(max(clusters, default=0) + 1)],
        "map": _map(content, titles), "curves": [plots_study.adequacy(curve).to_dict() for curve in content["adequacy"]],
    }  # fmt: skip


def _pages(study: Study) -> dict[str, int | None]:
    """Which entry's page each label leads to: none for what was made for raters, or has been withdrawn."""
    rows = study.entries.filter(artifact="", submission__withdrawn_at=None)
    return dict(rows.values_list("label", "submission_id"))


def titled(study: Study, criteria: Iterable[str]) -> list[tuple[str, str]]:
    """Each criterion with what it is called: by the study, else as judges are asked about it."""
    own = {one["key"]: one["title"] for one in study.criteria}
    return [(key, own.get(key) or TITLES.get(key) or key or "all answers") for key in criteria]


def _side_by_side(study: Study, entries: dict[str, int | None], one: dict[str, Any]) -> str:
    """Where the two entries of a contradiction are compared; nowhere for mere labels."""
    a, b = entries.get(one["preferred"]), entries.get(one["other"])
    if a is None or b is None:
        return ""
    return f"{reverse('compare', args=[study.phase.challenge.slug, study.phase.slug])}?a={a}&b={b}"


def metric_titles(phase: Phase) -> dict[str, str]:
    """The titles of the phase's metrics under its current batch, by slug."""
    batch = EvaluationBatch.current(phase)
    return {metric["slug"]: metric["title"] for metric in batch.metrics} if batch else {}


def _map(content: dict[str, Any], titles: dict[str, str]) -> dict[str, Any]:
    """The heat map: people cluster by cluster as the tree joins them, then the metrics by how far they agree with people, then judges."""
    agreement = content["agreement"]
    people = [n for n in agreement["order"] if agreement["kinds"][n] == "person"]
    people.sort(key=lambda n: agreement["cluster"][n])  # stable: the tree's order within
    rank = {line["key"]: -(line["pairs"]["value"] or 0) for line in content["metrics"]}
    metrics = sorted((n for n, kind in enumerate(agreement["kinds"]) if kind == "metric"), key=lambda n: rank[agreement["names"][n]])
    models = [n for n, kind in enumerate(agreement["kinds"]) if kind == "judge"]
    order = people + metrics + models
    kinds = {"metric": -1, "judge": -2}
    labels = [kinds.get(agreement["kinds"][n], agreement["cluster"][n] if n < len(agreement["cluster"]) else 0) for n in order]
    borders = [at for at in range(1, len(order)) if labels[at] != labels[at - 1]]
    groups = content["groups"]
    names = [
        f"rater {n + 1}{f' ({groups[n]})' if groups[n] else ''}" if kind == "person" else titles.get(name, name)
        for n, (name, kind) in enumerate(zip(agreement["names"], agreement["kinds"], strict=True))
    ]
    counts = ((len(people), "rater"), (len(metrics), "metric"), (len(models), "judge"))
    some = [f"{n} {word}{'s' if n > 1 else ''}" for n, word in counts if n]
    who = " and ".join([", ".join(some[:-1]), some[-1]] if len(some) > 1 else some)
    return plots_study.agreement_map(names, agreement["all"], agreement["common"], order, borders, who).to_dict()


def _brief(content: dict[str, Any]) -> dict[str, Any]:
    """What the list of studies says of one."""
    opinions = content.get("kind") == "opinions"
    between = content["like_others"] if opinions else content["people"]["pairs"]["value"]
    return {
        "judgements": content["counted"], "opinions": opinions, "raters": n_raters(content), "between": between,
        "first": content["scales"][0]["method"] if content["scales"] else "",
    }  # fmt: skip


def anonymous(content: dict[str, Any]) -> dict[str, Any]:
    """The content with numbers for the raters' names."""
    number = {name: f"rater {n}" for n, name in enumerate(content["raters"], 1)}
    if content.get("kind") == "opinions":
        rows = [line | {"rater": number[line["rater"]]} for line in content["reliability"]["raters"]]
        screened = [number[name] for name in content["screened"]]
        return content | {"raters": [*number.values()], "screened": screened, "reliability": {"raters": rows}}
    people = len(content["raters"])
    agreement = content["agreement"] | {"names": [*number.values(), *content["agreement"]["names"][people:]]}
    rows = [line | {"rater": number[line["rater"]]} for line in content["reliability"]["raters"]]
    return content | {"raters": [*number.values()], "agreement": agreement, "reliability": content["reliability"] | {"raters": rows}}
