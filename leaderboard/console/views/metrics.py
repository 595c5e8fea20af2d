"""The metrics of a phase: add, edit, order, remove."""

from __future__ import annotations

from dataclasses import replace

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from evaluation.metrics.registry import REGISTRY, MetricSpec, find, get, resolve_params
from evaluation.models import MetricProgram, Score
from leaderboard.bundle.definition import MetricDef
from leaderboard.bundle.state import metric_definition, read
from leaderboard.console.confirm_and_apply import confirm_and_apply, moved, with_phase
from leaderboard.console.forms.metrics import MetricForm, free_slug
from leaderboard.console.metric_evidence import MetricEvidence
from leaderboard.console.page import page
from leaderboard.lookup import organizer_of_measured_phase
from submissions.models import Phase


@organizer_of_measured_phase
def metric_list(request: HttpRequest, phase: Phase) -> HttpResponse:
    """The current columns, and the metrics that can be added."""
    if request.method == "POST":
        metrics, slug = _metrics(phase), request.POST.get("slug", "")
        match request.POST.get("act"):
            case "move":
                return _apply_metrics(request, phase, moved(metrics, slug, request.POST.get("to", "")))
            case "remove":
                return _apply_metrics(request, phase, tuple(metric for metric in metrics if metric.slug != slug))
            case "replace" if (key := request.POST.get("key", "")) in REGISTRY and _spec(phase, key):
                taken = {metric.slug for metric in metrics}
                return _apply_metrics(
                    request,
                    phase,
                    tuple(
                        replace(one, slug=free_slug(key, taken), key=key, title="", params={}) if one.slug == slug else one
                        for one in metrics
                    ),
                )
            case "primary" if slug in {metric.slug for metric in metrics}:
                return _apply_metrics(request, phase, metrics, slug)
        raise Http404
    own = [program.spec for program in MetricProgram.objects.newest().filter(scope=phase.challenge.slug)]
    family = [*own, *(spec for spec in REGISTRY.values() if spec.family == phase.challenge.family)]
    return page(request, "metrics", phase.challenge, "metrics", phase, columns=phase.metrics.all(), specs=family)


@organizer_of_measured_phase
def new(request: HttpRequest, phase: Phase, key: str) -> HttpResponse:
    spec = _spec(phase, key)
    metrics = _metrics(phase)
    form = MetricForm(spec, {metric.slug for metric in metrics}, request.POST or None)
    if request.method == "POST" and form.is_valid():
        entered = form.definition()
        return _apply_metrics(request, phase, (*metrics, entered), entered.slug if entered.is_primary else "")
    return page(request, "metric", phase.challenge, "metrics", phase, form=form, spec=spec, evidence=_evidence(form, phase))


@organizer_of_measured_phase
def edit(request: HttpRequest, phase: Phase, metric: str) -> HttpResponse:
    metrics = _metrics(phase)
    column = next((other for other in metrics if other.slug == metric), None)
    if column is None:
        raise Http404
    others = {other.slug for other in metrics if other.slug != metric}
    form = MetricForm(get(column.key), others, request.POST or None, metric=column)
    if request.method == "POST" and form.is_valid():
        entered = form.definition()
        return _apply_metrics(
            request, phase, tuple(entered if other.slug == metric else other for other in metrics), metric if entered.is_primary else ""
        )
    spec, failed = get(column.key), None
    if spec.is_program:
        current = {"evaluation__batch__phase": phase, "evaluation__batch__state": "current"}
        scores = Score.objects.filter(**current, slug=metric).exclude(failures=[]).defer("vector", "part_vectors")
        rows = scores.select_related("evaluation__submission__team").order_by("-evaluation__submission_id")
        failed = [(score.evaluation.submission, score.n_failed) for score in rows]
    return page(
        request,
        "metric",
        phase.challenge,
        "metrics",
        phase,
        form=form,
        spec=spec,
        column=column,
        evidence=_evidence(form, phase),
        failed=failed,
        n_failed=sum(n for _, n in failed or ()),
    )


@organizer_of_measured_phase
@require_safe
def evidence(request: HttpRequest, phase: Phase, key: str) -> HttpResponse:
    """The part of the form's page that follows the parameters as they are typed."""
    spec = _spec(phase, key)
    form = MetricForm(spec, set(), request.GET)
    known = _evidence(form, phase, request.GET.get("column", ""))
    return page(request, "parts/metric_evidence", phase.challenge, "metrics", phase, evidence=known)


def _spec(phase: Phase, key: str) -> MetricSpec:
    """A metric that the phase may have: one of its kind, of ours or of its organizer's; Http404 for another."""
    spec = find(key)
    if spec is None or spec.family != phase.challenge.family or (spec.is_program and key.partition("/")[0] != phase.challenge.slug):
        raise Http404
    return spec


def _evidence(form: MetricForm, phase: Phase, column: str = "") -> MetricEvidence:
    """Evidence on the metric with the form's parameters, or the defaults while those cannot be."""
    params = form.entered()
    if params is None:
        params = resolve_params(form.spec.key, {})
    return MetricEvidence(form.spec, params, phase, form.metric.slug if form.metric else column)


def _metrics(phase: Phase) -> tuple[MetricDef, ...]:
    """The phase's current columns."""
    return tuple(metric_definition(metric) for metric in phase.metrics.all())


def _apply_metrics(request: HttpRequest, phase: Phase, metrics: tuple[MetricDef, ...], primary: str = "") -> HttpResponse:
    """Apply `metrics`. One of them is primary: the one that `primary` names, else the one that was, else the first that may be."""
    primary = primary or next((metric.slug for metric in metrics if metric.is_primary), "")
    metrics = tuple(replace(metric, is_primary=metric.slug == primary) for metric in metrics)
    after = with_phase(read(phase.challenge), phase.slug, metrics=metrics)
    return confirm_and_apply(request, after, reverse("console_metrics", args=[phase.challenge.slug, phase.slug]))
