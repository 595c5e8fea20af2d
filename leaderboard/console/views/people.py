"""Pages of a challenge's organizers and of its participants."""

from __future__ import annotations

from dataclasses import replace

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse

from leaderboard.bundle.state import read
from leaderboard.console.confirm_and_apply import confirm_and_apply
from leaderboard.console.page import page, paged, told
from leaderboard.lookup import organizer, search_text
from submissions.lookup import row_number
from submissions.models import Admission, Challenge, Membership, User


@organizer
def organizers(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    if request.method != "POST":
        return page(request, "organizers", challenge, "organizers", organizers=challenge.organizers.order_by("username"))
    definition, name = read(challenge), request.POST.get("name", "")
    match request.POST.get("act"):
        case "add":
            user = User.objects.named(name)
            names = {*definition.organizers, user.get_username()}
            added = replace(definition, organizers=tuple(sorted(names)))
            return confirm_and_apply(request, added, request.path, f"{user.introduced(name)} organizes this challenge now.")
        case "remove":
            remaining = tuple(one for one in definition.organizers if one != name)
            leaves = request.user.get_username() not in remaining and not request.user.is_staff
            return confirm_and_apply(request, replace(definition, organizers=remaining), reverse("console") if leaves else request.path)
    raise Http404


@organizer
def participants(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """People who asked to take part, and the decisions."""
    if request.method == "POST":
        act = request.POST.get("act")
        if act not in ("admitted", "declined"):
            raise Http404
        row = get_object_or_404(challenge.participations.select_related("user"), pk=row_number(request.POST.get("participation")))
        row.decide(request.user, Admission(act))
        return told(request, f"{row.user} is {row.get_admission_display().lower()}.", request.get_full_path())
    state = request.GET.get("state", "")
    rows = challenge.participations.select_related("user", "decided_by").order_by("-created_at")
    text = search_text(request)
    if state in Admission.values:
        rows = rows.filter(admission=state)
    if text:
        rows = rows.filter(user__username__icontains=text) | rows.filter(user__email__icontains=text)
    page_rows, foot = paged(request, rows)
    memberships = Membership.objects.filter(challenge=challenge, user__in=[row.user_id for row in page_rows])
    teams = dict(memberships.values_list("user_id", "team__name"))
    for row in page_rows:
        row.challenge, row.team_name = challenge, teams.get(row.user_id, "")
    context = {"rows": page_rows, **foot, "state": state, "text": text, "states": Admission.choices}
    return page(request, "participants", challenge, "participants", **context)
