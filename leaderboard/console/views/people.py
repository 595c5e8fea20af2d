"""Who organizes, and who takes part."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from leaderboard.bundle.accounts import find_account
from leaderboard.bundle.state import read
from leaderboard.console.confirm_and_apply import confirm_and_apply
from leaderboard.console.page import chosen_act, page, paged
from leaderboard.lookup import organizer
from submissions.lookup import row_number
from submissions.models import Admission, Challenge, Membership


@organizer
@require_http_methods(["GET", "HEAD", "POST"])
def organizers(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    if request.method == "POST":
        return chosen_act(request, {"add": _add, "remove": _remove})(request, challenge)
    return page(request, "organizers", challenge, "organizers", organizers=challenge.organizers.order_by("username"))


def _add(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    name = request.POST.get("name", "").strip()
    user = find_account(name)
    if user is None:
        messages.error(request, f"“{name[:80]}” has no account here; write a user name or an e-mail address that its owner has confirmed.")
        return redirect(request.path)
    definition = read(challenge)
    names = {*definition.organizers, user.get_username()}
    return confirm_and_apply(
        request, replace(definition, organizers=tuple(sorted(names))), request.path, f"{user} organizes this challenge now."
    )


def _remove(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    definition = read(challenge)
    remaining = tuple(name for name in definition.organizers if name != request.POST.get("name"))
    leaves = request.user.get_username() not in remaining and not request.user.is_staff
    back = reverse("console") if leaves else request.path
    return confirm_and_apply(request, replace(definition, organizers=remaining), back)


@organizer
@require_http_methods(["GET", "HEAD", "POST"])
def participants(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """Those who asked to take part, and what was decided."""
    if request.method == "POST":
        return chosen_act(request, {"admitted": _decide, "declined": _decide})(request, challenge)
    state = request.GET.get("state", "")
    rows = challenge.participations.select_related("user", "decided_by").order_by("-created_at")
    text = request.GET.get("q", "").strip()[:100]
    if state in Admission.values:
        rows = rows.filter(admission=state)
    if text:
        rows = rows.filter(user__username__icontains=text) | rows.filter(user__email__icontains=text)
    numbers, at, page_rows = paged(request, rows)
    memberships = Membership.objects.filter(challenge=challenge, user__in=[row.user_id for row in page_rows])
    teams = dict(memberships.values_list("user_id", "team__name"))
    for row in page_rows:
        row.challenge, row.team_name = challenge, teams.get(row.user_id, "")
    context = {"rows": page_rows, "pages": numbers, "page_number": at, "state": state, "text": text, "states": Admission.choices}
    return page(request, "participants", challenge, "participants", **context)


def _decide(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    row = get_object_or_404(challenge.participations.select_related("user"), pk=row_number(request.POST.get("participation")))
    row.decide(request.user, Admission(request.POST["act"]))
    messages.success(request, f"{row.user} is {row.get_admission_display().lower()}.")
    return redirect(request.get_full_path())
