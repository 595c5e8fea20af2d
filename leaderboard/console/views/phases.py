"""A new phase, and everything of a phase but its metrics, reference and files."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from leaderboard.bundle.definition import PhaseDef
from leaderboard.bundle.state import read
from leaderboard.console.confirm_and_apply import confirm_and_apply, with_phase
from leaderboard.console.forms.challenge import PhaseForm
from leaderboard.console.page import page
from leaderboard.lookup import organizer, organizer_of_phase
from submissions.models import Challenge, Phase


@organizer
def new(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    form = PhaseForm(request.POST or None, instance=Phase(challenge=challenge))
    if request.method == "POST" and form.is_valid():
        definition = read(challenge)
        phase = PhaseDef(slug=form.cleaned_data["slug"], **form.values())
        after = replace(definition, phases=(*definition.phases, phase))
        back = reverse("console_metrics", args=[challenge.slug, phase.slug])
        return confirm_and_apply(request, after, back, "The phase was added. Choose its metrics.")
    return page(request, "phase_new", challenge, "overview", form=form)


@organizer_of_phase
def edit(request: HttpRequest, phase: Phase) -> HttpResponse:
    challenge = phase.challenge
    if request.method == "POST":
        definition = read(challenge)
        if request.POST.get("act") == "remove":
            after = replace(definition, phases=tuple(other for other in definition.phases if other.slug != phase.slug))
            return confirm_and_apply(
                request, after, reverse("console_challenge", args=[challenge.slug]), f"The phase {phase.title} is removed."
            )
        form = PhaseForm(request.POST, instance=phase)
        if form.is_valid():
            return confirm_and_apply(request, with_phase(definition, phase.slug, **form.values()), request.path)
    else:
        form = PhaseForm(instance=phase)
    return page(request, "phase", challenge, "phase", Phase.objects.select_related("challenge").get(pk=phase.pk), form=form)
