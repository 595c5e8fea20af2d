"""Teams: who is in them, what they have used, and more uploads for one of them."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_safe

from leaderboard.console.forms.challenge import GrantForm
from leaderboard.console.page import page, paged, told
from leaderboard.lookup import organizer, search_text
from submissions.lookup import row_number, team_of
from submissions.models import Challenge, ExtraTries, Status
from submissions.models.quota import quota_of, tries_used


@organizer
@require_safe
def team_list(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    text = search_text(request)
    teams = challenge.teams.annotate(
        n_members=Count("memberships", distinct=True),
        n_entries=Count("submissions", distinct=True),
        n_scored=Count("submissions", filter=Q(submissions__status=Status.SCORED), distinct=True),
    ).order_by("name")
    if text:
        teams = teams.filter(name__icontains=text)
    rows, foot = paged(request, teams)
    return page(request, "teams", challenge, "teams", rows=rows, text=text, **foot)


@organizer
def team(request: HttpRequest, challenge: Challenge, pk: int) -> HttpResponse:
    """A team's members, entries and quota; forms that grant more uploads and that merge it with another team."""
    chosen_team = team_of(challenge, pk)
    if request.method == "POST" and request.POST.get("act") == "merge":
        into = team_of(challenge, row_number(request.POST.get("into")))
        into.take_in(chosen_team, request.user, dated=False)
        messages.success(request, f"{chosen_team} is a part of {into} now, with its members and entries.")
        return redirect("console_team", challenge.slug, into.pk)
    form = GrantForm(chosen_team, request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        ExtraTries.grant(data["phase"], chosen_team, data["amount"], data["reason"], request.user)
        return told(request, f"{chosen_team} may upload {data['amount']} more in {data['phase'].title}.")
    now = timezone.now()
    usage = [
        {"phase": phase, "quota": quota_of(phase, chosen_team, now), "used": tries_used(phase, [chosen_team], now).values("pk").count()}
        for phase in challenge.phases.all()
        if phase.has_teams
    ]
    # Looked at first, and offered where nothing speaks against it.
    into = challenge.teams.filter(pk=row_number(request.GET.get("into"))).exclude(pk=pk).first()
    context = {
        "into": into,
        "why_not": into.why_not_merge(chosen_team, now, dated=False) if into is not None else "",
        "others": challenge.teams.joined().exclude(pk=pk).order_by("name"),
        "team": chosen_team,
        "form": form,
        "usage": usage,
        "members": chosen_team.memberships.select_related("user"),
        "tries": ExtraTries.objects.filter(team=chosen_team).select_related("phase", "granted_by").order_by("-granted_at"),
        "entries": chosen_team.submissions.select_related("phase").order_by("-created_at")[:20],
    }
    return page(request, "team", challenge, "teams", **context)
