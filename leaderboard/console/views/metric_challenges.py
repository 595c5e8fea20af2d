"""Challenges of metrics, for organizers: open one on a hidden study, read what became of its entries, and end it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from leaderboard.console.forms.programs import MetricChallengeForm
from leaderboard.console.page import page, told
from leaderboard.lookup import organizer
from leaderboard.models import MetricChallenge, ProgramValues
from leaderboard.views.metric_challenges import full
from submissions.lookup import row_number
from submissions.models import Challenge


@organizer
def metric_challenges(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """Challenges of metrics on this challenge's studies, and the form for another."""
    form = MetricChallengeForm(challenge)
    rows = MetricChallenge.objects.filter(study__phase__challenge=challenge).select_related("study")
    if request.method == "POST":
        if request.POST.get("act") == "end":
            row = get_object_or_404(rows, pk=row_number(request.POST.get("row")))
            row.end(request.user)
            return told(request, f"{row.title} has ended. Its final leaderboard is public.", "console_metric_challenges", challenge.slug)
        form = MetricChallengeForm(challenge, request.POST)
        if form.is_valid():
            row = MetricChallenge.open(actor=request.user, **form.cleaned_data)
            return told(request, f"{row.title} is open.", "console_metric_challenges", challenge.slug)
    return page(request, "metric_challenges", challenge, "programs", form=form, rows=list(rows))


@organizer
def metric_challenge(request: HttpRequest, challenge: Challenge, pk: int) -> HttpResponse:
    """One challenge of metrics: its board in full as it is now, and the output of the checks and the study's runs for each entry."""
    row = get_object_or_404(MetricChallenge.objects.filter(study__phase__challenge=challenge).select_related("study"), pk=pk)
    entries = row.entries.select_related("program__challenge", "user")
    values = {one.program_id: one for one in ProgramValues.objects.filter(study=row.study_id, program__in=entries.values("program"))}
    if request.method == "POST":
        entry = get_object_or_404(entries, pk=row_number(request.POST.get("entry")))
        run = values.get(entry.program_id)
        if run.restart() if run is not None else entry.program.restart():
            messages.success(request, f"{entry.program.read.title} is {'computed' if run is not None else 'checked'} again.")
        else:
            messages.error(request, "It did not fail, or a worker is at it right now.")
        return redirect(request.path)
    return page(
        request,
        "metric_challenge",
        challenge,
        "programs",
        row=row,
        full=full(row, "public", row.standings, request.user),
        entries=[(entry, values.get(entry.program_id)) for entry in entries],
    )
