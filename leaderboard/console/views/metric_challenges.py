"""Challenges of metrics, for organizers: open one on a hidden study, and end it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods

from leaderboard.console.forms.programs import MetricChallengeForm
from leaderboard.console.page import page
from leaderboard.lookup import organizer
from leaderboard.models import MetricChallenge
from submissions.lookup import row_number
from submissions.models import Challenge


@organizer
@require_http_methods(["GET", "HEAD", "POST"])
def metric_challenges(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """Those of this challenge's studies, and the form for another."""
    form = MetricChallengeForm(challenge)
    rows = MetricChallenge.objects.filter(study__phase__challenge=challenge).select_related("study")
    if request.method == "POST":
        if request.POST.get("act") == "end":
            row = get_object_or_404(rows, pk=row_number(request.POST.get("row")))
            row.end(request.user)
            messages.success(request, f"{row.title} has ended; its final board is shown.")
            return redirect("console_metric_challenges", challenge.slug)
        form = MetricChallengeForm(challenge, request.POST)
        if form.is_valid():
            row = MetricChallenge.open(actor=request.user, **form.cleaned_data)
            messages.success(request, f"{row.title} is open.")
            return redirect("console_metric_challenges", challenge.slug)
    return page(request, "metric_challenges", challenge, "programs", form=form, rows=list(rows))
