"""Studies of a phase: what people found, how far the metrics agree with them, and whom to trust."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Self

from django.db.models import F, Value
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from evaluation.models import EvaluationBatch
from evaluation.models.batch import sentences
from leaderboard.boards.people import lines_of
from leaderboard.boards.study_table import study_table
from leaderboard.charts import studies as study_charts
from leaderboard.evidence.shown import leading
from leaderboard.lookup import current_ranking, not_shown_yet, page_numbers, page_of, shown_board, study_of, with_board_out
from leaderboard.models import InterimAnalysis, Rater, Study, StudyAnalysis
from leaderboard.records.chart import Chart
from leaderboard.records.study import HIDDEN_NAME, Summary
from leaderboard.records.study_table import EntryPage
from leaderboard.service.responses import attachment
from leaderboard.stats import mos_table as rating
from leaderboard.stats import screening
from leaderboard.stats import votes as voting
from leaderboard.stats.evidence.judged import Basis
from leaderboard.stats.records import Metric
from leaderboard.stats.states import too_few
from leaderboard.stats.study import NOTHING_COUNTS
from leaderboard.stats.two_way_intervals import Ends, Figure
from leaderboard.studies import paper_figures
from leaderboard.studies.judge import answers
from leaderboard.studies.judge.shown import TITLES, of_study
from leaderboard.studies.metric_ranking import source_of
from leaderboard.studies.screening_effects import effects
from leaderboard.views import answer_sets
from leaderboard.wording import agreement
from leaderboard.wording import study as words
from leaderboard.wording.board import rule as rule_words
from leaderboard.wording.nouns import counted, plural
from leaderboard.wording.people import basis as basis_words
from leaderboard.wording.reasons import sentence
from leaderboard.wording.statement import Statement
from leaderboard.wording.worded import told
from submissions.formats.spreadsheet_formulas import BYTE_ORDER_MARK, neutral_row
from submissions.lookup import PhasePlace, phase_place
from submissions.models import Phase
from submissions.visibility import hidden_from, hidden_ids, through, visible_challenges, visible_to

MAX_CONTRADICTIONS = 30
PER_PAGE = 20


@dataclass
class Echo:
    """A file that hands back what is written to it."""

    def write(self, value: str) -> str:
        return value


@dataclass(frozen=True)
class StudyBrief:
    """Findings of a study for a list. `basis` is its number of answers and people; `answers` is None where only means were published.
    `between` is how often two people agree, and `missing` the reason why that is unknown. `first` is the first finding."""

    basis: str
    answers: int | None
    raters: int | None
    between: Figure | None
    missing: str
    first: Statement | None


@dataclass(frozen=True)
class StudyRow:
    """A study in the list of studies with what was `found`, if anything."""

    study: Study
    found: StudyBrief | None

    @classmethod
    def of(cls, study: Study, hidden: frozenset[int]) -> Self:
        summary, brief = StudyAnalysis.main_summary(study, hidden), None
        if summary is not None:
            noun = partial(getattr, study, "noun")  # which few sentences name
            missing = sentence(summary.reason, noun) or words.two_raters(summary, noun)
            basis, answers = ("", None) if summary.of == "means" else (basis_words(summary.basis), summary.counted)
            brief = StudyBrief(basis, answers, summary.n_people, summary.another, missing, words.opening(summary, noun))
        answer_set = answer_sets.of_study(study)
        found = leading(answer_set.record) if answer_set is not None and answer_set.record is not None else None
        if found is not None:
            criterion = found.criterion
            answers = None if criterion.basis in (Basis.ERRORS, Basis.MEANS) else criterion.answers
            brief = StudyBrief(found.people, answers, criterion.raters, None, "", Statement.of(found.main_result))
        return cls(study, brief)


@dataclass(frozen=True)
class CriteriaRow:
    method: str
    cells: list[Ends]


@dataclass(frozen=True)
class CriteriaTable:
    """Mean opinions of every criterion side by side."""

    names: list[str]
    rows: list[CriteriaRow]

    @classmethod
    def of(cls, names: list[str], summaries: Mapping[str, Summary], shown: Summary) -> Self:
        """The entries in the order of the one shown."""
        means = [{line.method: line.value for line in one.scales} for one in summaries.values()]
        lines = [*shown.ranked, *shown.unranked]
        return cls(names, [CriteriaRow(line.method, [values.get(line.method, (None,) * 3) for values in means]) for line in lines])


def studies(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """The studies of a phase."""
    place = phase_place(request.user, challenge, phase)
    if not place.sees_board:
        return not_shown_yet(request, place, "people")
    hidden = hidden_from(place.viewer, place.phase)
    rows = [StudyRow.of(study, hidden) for study in seen(place)]
    asking = Study.objects.filter(phase=place.phase).asking_everybody()
    return render(request, "leaderboard/studies.html", place.context("people") | {"rows": rows, "asking": asking})


def every_study(request: HttpRequest) -> HttpResponse:
    """The studies of all challenges that are shown to everybody, the newest first and simulated ones last; and those that ask everybody."""
    now = timezone.now()
    out = with_board_out(Phase.objects.filter(challenge__in=visible_challenges(request.user)), now)
    shown = Study.objects.filter(phase__in=out).shown().select_related("phase__challenge").prefetch_related("analyses", "entries")
    page = page_of(request, shown.order_by("simulated", "-created_at", "-pk"), PER_PAGE)
    context = {
        "rows": [StudyRow.of(study, hidden_ids(study.phase, now)) for study in page.object_list],
        "asking": Study.objects.filter(phase__in=out).select_related("phase__challenge").asking_everybody(now),
        "pages": page_numbers(page.number, page.paginator.num_pages),
        "page": page.number,
    }
    return render(request, "leaderboard/every_study.html", context)


def study(request: HttpRequest, challenge: str, phase: str, slug: str) -> HttpResponse:
    """One study: what people prefer, how far metrics agree, contradictions, reliability, whether it is enough; `?criterion=` chooses
    among several. There is a branch for each thing that a study may lack."""
    place = phase_place(request.user, challenge, phase)
    if not place.sees_board:
        return not_shown_yet(request, place, "people")
    chosen_study = study_of(place.phase, place.viewer.organizes, slug=slug)
    if (answer_set := answer_sets.of_study(chosen_study)) is not None:
        return answer_sets.page(request, place, chosen_study, answer_set)
    rows = {row.criterion: row for row in chosen_study.analyses.all()}
    asked = request.GET.get("criterion", chosen_study.leading(rows) if rows else "")
    if rows and asked not in rows:
        raise Http404
    hidden = chosen_study.hidden_labels(hidden_from(place.viewer, chosen_study.phase))
    summaries = StudyAnalysis.summaries(rows.values(), chosen_study, hidden)
    row, summary = rows.get(asked), summaries.get(asked)
    own_answers = summary.answers if summary and asked == chosen_study.main_criterion else None
    context = place.context("people") | {
        "analysis": row,
        "criterion": asked,
        "criteria": titled(chosen_study, chosen_study.in_order(rows)) if len(rows) > 1 else [],
        "is_early": summary is None or too_few(summary.reason) or summary.reason == NOTHING_COUNTS,
        "share_words": chosen_study.question,
        "looks": words.interim_analyses(InterimAnalysis.so_far(chosen_study, own_answers, hidden)),
        "source_tag": "reported" if summary is not None and summary.of == "means" else source_of(chosen_study),
    }
    context |= _asked_context(chosen_study, hidden)
    if row is not None and summary is not None:
        context |= _analysis_context(place, chosen_study, summary, request.GET.get("metric", ""))
        if len(summaries) > 1 and summary.opinions:
            context["criteria_table"] = CriteriaTable.of([title for _, title in titled(chosen_study, summaries)], summaries, summary)
        context["stale"] = row.state == StudyAnalysis.State.WAITING and row.made_of != row.wanted
        context["share_words"] = next((one.text for one in context["sentences"][:1] if one), chosen_study.question)
    return render(request, "leaderboard/study.html", context | _judges_context(chosen_study, summary, hidden))


def _asked_context(study: Study, hidden: Collection[str]) -> dict[str, Any]:
    """Context of what a study is and how it was asked, whatever was found; `hidden` are labels of entries."""
    batch = study.batch
    return {
        "study": study,
        "noun": study.noun,
        "units": plural(study.noun),
        "withdrawn": study.withdrawn(),
        "by_hand": study.raters.filter(kind=Rater.Kind.PERSON, is_counted=False, left_at=None).count(),
        "rules": [screening.words(key, thresholds) for key, thresholds in study.screening.items()],
        "damage": [(one.label, one.damage) for one in study.entries.exclude(artifact="").order_by("label") if one.label not in hidden],
        "outdated": sentences(batch.outdated()) if batch else [],
        "keeps_values": batch is not None and batch.state != EvaluationBatch.State.CURRENT,
    }


def _judges_context(study: Study, summary: Summary | None, hidden: Collection[str]) -> dict:
    """Context of the models that judge, beside the people of an analysis."""
    judges = of_study(study, summary, hidden)
    gates = [judge.agreement.gate for judge in judges if judge.agreement is not None and judge.agreement.gate is not None]
    return {
        "judges": judges,
        "tolerated": gates[0].tolerated if gates else None,
        "judge_words": words.judges(len(judges), sum(gate.passed for gate in gates) if gates else None),
        "judges_beside": any(judge.agreement is not None and not judge.display_only for judge in judges),
    }


def study_json(request: HttpRequest, challenge: str, phase: str, slug: str) -> HttpResponse:
    """Every analysis of a study as JSON; raters are numbered, as on the page."""
    place = shown_board(request.user, challenge, phase)
    chosen_study = study_of(place.phase, place.viewer.organizes, slug=slug)
    if (answer_set := answer_sets.of_study(chosen_study)) is not None:
        return answer_sets.figures(place, chosen_study, answer_set)
    hidden = chosen_study.hidden_labels(hidden_from(place.viewer, chosen_study.phase))
    summaries = StudyAnalysis.summaries(chosen_study.analyses.all(), chosen_study, hidden)
    about = answer_sets.about(chosen_study) | {
        "withdrawn": chosen_study.withdrawn(),
        "planned_looks": chosen_study.planned_looks,
        "planned_answers": chosen_study.planned_answers,
        "looks": [look.record(hidden).model_dump(mode="json") for look in chosen_study.looks.all()],
    }
    shown = {name: one.numbered(place.viewer.organizes) for name, one in summaries.items()}
    return JsonResponse(about | {"criteria": {name: told(one, chosen_study.noun) for name, one in shown.items()}})


def study_votes(request: HttpRequest, challenge: str, phase: str, slug: str) -> HttpResponse:
    """All votes, or opinion scores, as CSV, with what the study calls its raters: for organizers."""
    chosen_study = _for_organizers(request, challenge, phase, slug)
    if answer_sets.of_study(chosen_study) is not None:
        return answer_sets.archive(chosen_study)
    opinions = chosen_study.kind == Study.Kind.OPINIONS
    table = rating.write(chosen_study.ratings()) if opinions else voting.write(chosen_study.votes())
    return csv_response(table, f"{chosen_study.slug}-{'opinions' if opinions else 'votes'}.csv")


def study_judges(request: HttpRequest, challenge: str, phase: str, slug: str) -> HttpResponse:
    """Answers of judge models on the study's entries, as CSV: for organizers, as votes are."""
    chosen_study = _for_organizers(request, challenge, phase, slug)
    return csv_response(answers.table(answers.runs_of(chosen_study)), f"{chosen_study.slug}-judges.csv")


def _for_organizers(request: HttpRequest, challenge: str, phase: str, slug: str) -> Study:
    """The study, for its organizers; Http404 for others."""
    place = phase_place(request.user, challenge, phase)
    if not place.viewer.organizes:
        raise Http404
    return study_of(place.phase, True, slug=slug)


def csv_response(table: Iterable[list[str]], name: str) -> StreamingHttpResponse:
    """Rows as a file that is sent as they come."""
    writer = csv.writer(Echo())
    lines = (writer.writerow(neutral_row(row)) for row in table)
    return attachment(StreamingHttpResponse(chain([BYTE_ORDER_MARK], lines), content_type="text/csv; charset=utf-8"), name)


def seen(place: PhasePlace) -> list[Study]:
    """The studies that the viewer may know of, newest first, with their analyses and entries."""
    return list(place.phase.studies.shown_to(place.viewer.organizes).prefetch_related("analyses", "entries"))


def _analysis_context(place: PhasePlace, study: Study, summary: Summary, metric: str) -> dict:
    """Context of an analysis beside the board; `metric` is the one whose values are drawn over opinion scores. There is a branch for each
    part of the page that an analysis may lack."""
    noun, titles, snapshot = study.noun, metric_titles(study.phase), current_ranking(place)
    board = snapshot.board if snapshot else None
    lines = lines_of(summary, titles, noun)
    printed = paper_figures.printed(study.phase.results_url) if study.from_results else {}
    table = study_table(summary, lines, board, _entry_pages(place, study), printed, noun)
    enough_rows = words.enough_rows(summary, noun)
    by_resource = {curve.resource: study_charts.adequacy(curve, noun=noun) for curve in summary.adequacy}
    first_curve = by_resource.pop("comparisons", None)
    # Withheld ones share a name, and were judged all the same.
    judged = [name for name in summary.methods if name not in {*summary.damaged, *summary.left_out}]
    n_baselines = study.entries.filter(label__in=judged, submission__is_baseline=True).count()
    of_metrics = [row for row in table.metrics if not row.line.reference_point]
    chosen = next((row.metric for row in table.metrics if row.metric.key == metric), of_metrics[0].metric if of_metrics else None)
    return {
        "found": summary,
        "table": table,
        "n_entries": len(judged) - n_baselines,
        "n_redacted": judged.count(HIDDEN_NAME),
        "n_baselines": n_baselines,
        "sentences": words.sentences(summary, lines, noun),
        "counts": sorted(summary.scales, key=lambda line: line.method) if summary.reason is not None else summary.scales,
        "rough": words.rough(summary, noun),
        "samples": plural(noun, len(summary.samples)),
        "printed": printed,
        "lines": lines,
        "groups": sorted({group for group in summary.groups if group}),
        "unheld": agreement.unheld(lines, plural(noun)),
        "contradictions": table.turned[:MAX_CONTRADICTIONS],
        "n_contradictions": len(table.turned),
        "compare": reverse("compare", args=[study.phase.challenge.slug, study.phase.slug]),
        "covariates": words.covariates(summary),
        "notes": words.left_out(summary),
        "sides": words.sides(summary),
        "two_people": words.two_raters(summary, noun),
        "rater_groups": words.rater_groups(summary, noun),
        "forecast": words.forecast(summary, of_metrics[0].line.title if of_metrics else "", noun),
        "raters": summary.reliability.raters,
        "map": _agreement_map(summary, titles),
        "curve": first_curve,
        "curves": list(by_resource.values()),
        "enough_rows": enough_rows,
        "parts_words": "; ".join(f"{row.what.lower()}: {row.words}" for row in enough_rows if row.of_parts),
        "reliability": words.reliability(summary),
        "n_rater_groups": len(summary.rater_groups.sizes) if summary.rater_groups else 0,
        "n_metrics": len(of_metrics),
        "rule": rule_words(board.rule) if board is not None else "",
        "chosen": chosen,
        "scatter": _scatter(summary, chosen, titles) if summary.opinions and chosen is not None else None,
        "effects": effects(summary),
        "everybody": (summary.n_people or 0) + len(summary.screened),
    }


def _entry_pages(place: PhasePlace, study: Study) -> dict[str, EntryPage]:
    """Pages of the entries by their labels; none of what was made for raters, or is not the viewer's to see."""
    seen = through("submission", visible_to(place.viewer, study.phase))
    visible = study.entries.filter(seen, artifact="", submission__isnull=False)
    team = F("submission__team__name") if study.phase.has_teams else Value("")
    return {label: EntryPage(*page) for label, *page in visible.values_list("label", "submission_id", team)}


def _scatter(summary: Summary, metric: Metric, titles: dict[str, str]) -> Chart | None:
    """A metric's values over opinion scores, entry by entry."""
    if metric.values is None:
        return None
    scores = {line.method: line.value for line in summary.scales}
    out = {*summary.left_out, *summary.damaged}
    points = [
        study_charts.Point(name, value, mos, low, high, is_out=name in out)
        for name, value in zip(summary.methods, metric.values, strict=True)
        for mos, low, high in [scores.get(name, (None, None, None))]
        if value is not None and mos is not None and (low is not None or summary.of == "means")  # below the smallest numbers: no figure
    ]
    if len(points) < 2:
        return None
    return study_charts.scatter(titles.get(metric.key, metric.title), metric.higher_is_better, points, summary.scale)


def titled(study: Study, criteria: Iterable[str]) -> list[tuple[str, str]]:
    """Each criterion with its title: by the study, else as judges are asked about it."""
    own = {one["key"]: one["title"] for one in study.criteria}
    return [(key, own.get(key) or TITLES.get(key) or key or "all answers") for key in criteria]


def metric_titles(phase: Phase) -> dict[str, str]:
    """The titles of the phase's metrics under its current batch, by slug."""
    batch = EvaluationBatch.current(phase)
    return {column.slug: column.title for column in batch.columns} if batch else {}


def _agreement_map(summary: Summary, titles: dict[str, str]) -> Chart | None:
    """The heat map: people in the order in which a tree joins them, then the metrics by how far they agree with people. None below the
    smallest numbers of people and items."""
    agreement = summary.agreement
    if agreement is None or too_few(summary.reason):
        return None
    people = [n for n in agreement.order if agreement.kinds[n] == "person"]
    rank_of = {line.key: n for n, line in enumerate(summary.metrics)}
    # A metric without values of single items, like an imported figure, answers nothing that a person does.
    answered = {n for n, row in enumerate(agreement.all) if any(row[k] is not None for k in people)}
    metrics = sorted(
        (n for n, kind in enumerate(agreement.kinds) if kind == "metric" and n in answered), key=lambda n: rank_of[agreement.names[n]]
    )
    raters = enumerate(zip(summary.raters, summary.groups, strict=True), 1)
    number = {name: f"rater {n}{f' ({group})' if group else ''}" for n, (name, group) in raters}
    kinds = zip(agreement.names, agreement.kinds, strict=True)
    names = [number[name] if kind == "person" else titles.get(name, name) for name, kind in kinds]
    some = [counted(n, word) for n, word in ((len(people), "rater"), (len(metrics), "metric")) if n]
    borders = [len(people)] if people and metrics else []
    return study_charts.agreement_map(names, agreement.all, agreement.common, people + metrics, borders, " and ".join(some))
