"""The reference of a phase: its versions, a new one, and which is valid."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.html import format_html

from evaluation.models import EvaluationBatch
from evaluation.reference_warnings import REGIONS
from leaderboard.bundle.apply import apply
from leaderboard.bundle.state import read, reference_definition, reference_in_force
from leaderboard.console import acts
from leaderboard.console.confirm_and_apply import confirm_and_apply, with_phase
from leaderboard.console.forms.challenge import ReferenceForm
from leaderboard.console.page import page
from leaderboard.lookup import organizer_of_measured_phase
from submissions import throttling
from submissions.lookup import row_number
from submissions.models import Phase


@organizer_of_measured_phase
def reference(request: HttpRequest, phase: Phase) -> HttpResponse:
    """Versions and the form for a new one. A new version is kept first; the switch to it is a second step, which shows the changes and how
    many entries are scored again."""
    family = phase.challenge.kind
    form = ReferenceForm(family)
    if request.method == "POST":
        if request.POST.get("act") == "use":
            row = get_object_or_404(phase.references, version=row_number(request.POST.get("version")))
            after = with_phase(read(phase.challenge), phase.slug, reference=reference_definition(row))
            scoring = reverse("console_scoring", args=[phase.challenge.slug, phase.slug])
            return confirm_and_apply(request, after, request.path, f"Version {row.version} is valid.", then=scoring)
        form = ReferenceForm(family, request.POST, request.FILES)
        if form.is_valid():
            throttling.limit_references(request)
            file = form.cleaned_data["file"]
            columns = [(metric.key, metric.params) for metric in phase.metrics.all()]
            warnings: list[str] = []
            items = acts.read_reference(file.name, file.chunks(), family, phase.background, form.drawing(), columns, warnings.append)
            row = acts.store_reference(phase, items, form.cleaned_data.get("groups", {}), form.cleaned_data["note"], request.user)
            tell_stored(request, phase, f"Version {row.version} is kept, with {len(row.item_ids)} items.")
            for warning in [*family.reference_warnings(items), *warnings][:5]:
                messages.warning(request, warning)
            if any(key == REGIONS for key, _ in columns) and row.scenes_without_regions():
                address = reverse("console_regions", args=[phase.challenge.slug, phase.slug])
                messages.info(request, format_html('Regions can also be <a href="{}">marked on the reference’s pictures</a>.', address))
            return redirect(request.path)
    in_force = reference_in_force(phase)
    current = EvaluationBatch.current(phase)
    context = {
        "form": form,
        "versions": phase.references.select_related("created_by").order_by("-version"),
        "in_force": in_force,
        "on_board": current.reference if current else None,
    }
    return page(request, "reference", phase.challenge, "reference", phase, **context)


def tell_stored(request: HttpRequest, phase: Phase, words: str) -> None:
    """Say that a new version is kept. While nothing is scored yet, the switch is immediate."""
    if EvaluationBatch.latest(phase) is None:
        apply(read(phase.challenge), request.user)
        messages.success(request, words)
    else:
        messages.success(request, f"{words} Nothing is scored with it before you switch to it.")
