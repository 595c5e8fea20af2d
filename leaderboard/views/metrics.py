"""The metrics the service can compute, from the registry."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from evaluation.metrics import registry
from evaluation.models import PhaseMetric
from leaderboard.views.home import visible

WORST = {
    "0": "0, the worst value there is",
    "1": "1, the worst value there is",
    "tau": "the threshold (tau)",
    "2": "2, the worst value there is",
    "gt_diagonal": "the diagonal of the reference's bounding box",
    "gt_diagonal_squared": "the squared diagonal of the reference's bounding box",
    "empty_prediction": "what an empty prediction gets for this reference",
}
FAMILIES = {"wireframe": "Wireframes", "mesh": "Meshes", "render": "Renders"}


def metric_list(request: HttpRequest) -> HttpResponse:
    """Every metric, by family."""
    families: dict[str, list[registry.MetricSpec]] = {}
    for spec in registry.REGISTRY.values():
        families.setdefault(FAMILIES.get(spec.family, spec.family), []).append(spec)
    return render(request, "leaderboard/metric_list.html", {"families": list(families.items())})


def metric(request: HttpRequest, key: str) -> HttpResponse:
    """One metric: what it measures, with which parameters, and where it is used."""
    spec = registry.REGISTRY.get(key)
    if spec is None:
        raise Http404
    used = PhaseMetric.objects.filter(key=key, phase__challenge__in=visible(request.user)).select_related("phase__challenge")
    context = {
        "spec": spec, "worst": WORST[spec.worst], "used": [(it, _changed(it)) for it in used[:50]],
        "family": FAMILIES.get(spec.family, spec.family), "fingerprint": registry.fingerprint(key, {}),
    }  # fmt: skip
    return render(request, "leaderboard/metric.html", context)


def _changed(metric: PhaseMetric) -> str:
    """The parameters a phase set otherwise than the defaults, in words."""
    defaults = registry.resolve_params(metric.key, {})
    return ", ".join(f"{name} = {value}" for name, value in metric.resolved.items() if value != defaults[name])
