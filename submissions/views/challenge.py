"""A challenge's own pages: overview, rules, those that its organizers add, joining, and the access page of a private one."""

from __future__ import annotations

from pathlib import Path

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from submissions.checklist import steps
from submissions.kinds import RENDER
from submissions.lookup import ChallengePlace, PhasePlace, challenge_place, private_challenge
from submissions.models import ChallengeFile, Participation, Phase, Team
from submissions.models.participation import opens
from submissions.permissions import allowed, require
from submissions.storage.stored_files import store


@require_safe
def overview(request: HttpRequest, challenge: str) -> HttpResponse:
    """The overview: subject, dates, organizers, news, and the viewer's next step."""
    place = challenge_place(request.user, challenge)
    to_do = steps(place.viewer, place.main_phase)
    main = PhasePlace(place.main_phase, place.viewer) if place.main_phase else None
    may_enter = main is not None and main.phase.takes_uploads(place.now)
    context = place.context("overview") | {
        "steps": to_do,
        "enter_url": next((step.url for step in to_do if step.now), "") if may_enter else "",
        "closes_in": main.closes_in if main else None,
        "takes_entries": not place.phases or any(phase.has_teams for phase in place.phases),
        "zone": place.main_phase.time_zone if place.main_phase else "UTC",
        "announcements": place.challenge.announcements.filter(published_at__lte=place.now),
        "organizers": place.challenge.organizer_names,
        "n_teams": place.challenge.teams.joined().count(),
        "phase_rows": [_phase_row(place, phase) for phase in place.phases],
    }
    return render(request, "submissions/challenge.html", context)


def _phase_row(place: ChallengePlace, phase: Phase) -> dict:
    """A phase's line in the table: its state in a word, and where this viewer can go from it."""
    now = place.now
    state = "imported" if not phase.has_teams else "open" if phase.is_open(now) else "upcoming" if not phase.has_opened(now) else "over"
    return {
        "phase": phase,
        "state": state,
        "board": place.viewer.may("phase.see_board", phase),
        "upload": state == "open" and place.viewer.may("phase.upload", phase),
        "data": place.viewer.may("phase.see_inputs", phase),
    }


@require_safe
def rules(request: HttpRequest, challenge: str) -> HttpResponse:
    """The rules in force, their version, and the form that accepts them."""
    place = challenge_place(request.user, challenge)
    participation = place.viewer.participation
    context = place.context("rules") | {
        "participation": participation,
        "must_accept": place.viewer.known and (participation is None or participation.must_accept),
        "may_join": place.viewer.may("challenge.join", place.challenge),
        "next": request.GET.get("next", ""),
    }
    return render(request, "submissions/rules.html", context)


@require_safe
def page(request: HttpRequest, challenge: str, page: str) -> HttpResponse:
    """A page that the organizers added, such as FAQ or prizes."""
    place = challenge_place(request.user, challenge)
    found = get_object_or_404(place.challenge.pages, slug=page)
    return render(request, "submissions/challenge_page.html", place.context(f"page {found.slug}") | {"page": found})


@require_safe
def picture(request: HttpRequest, challenge: str, name: str) -> HttpResponse:
    """A picture of the challenge's texts, or its logo, as it was re-encoded when it was uploaded."""
    place = challenge_place(request.user, challenge)
    found = get_object_or_404(place.challenge.files, kind=ChallengeFile.Kind.PICTURE, name=name)
    try:
        data = store().read(found.key)
    except FileNotFoundError:
        raise Http404 from None
    response = HttpResponse(data, content_type=f"image/{RENDER.suffixes[Path(found.name).suffix.lower()].replace('jpg', 'jpeg')}")
    response["Cache-Control"] = "private, max-age=300"
    return response


@login_required
@require_POST
def join(request: HttpRequest, challenge: str) -> HttpResponse:
    """Accept the rules, and have a team: of one, where the person is in none yet."""
    place = challenge_place(request.user, challenge)
    require(request.user, "challenge.join", place.challenge)
    if request.POST.get("accept") != "yes":
        messages.error(request, "Tick the box to say that you accept the rules.")
        return redirect("rules", challenge)
    with transaction.atomic():
        participation = Participation.accept_rules(place.challenge, request.user, request.POST.get("version", ""))
        team = Team.of_one(place.challenge, request.user)
    if participation.is_waiting:
        messages.success(request, f"You accepted the rules as {team}. The organizers decide on your participation.")
    else:
        messages.success(request, f"You take part as {team}.")
    wanted = request.POST.get("next", "")
    here = url_has_allowed_host_and_scheme(wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return redirect(wanted) if wanted and here else redirect("challenge", challenge)


@require_http_methods(["GET", "HEAD", "POST"])
def access(request: HttpRequest, challenge: str, key: str) -> HttpResponse:
    """The access page of a private challenge: its link, shown to everybody who has it, opened by the signed-in."""
    found = private_challenge(challenge)
    if allowed(request.user, "challenge.see", found):
        return redirect("challenge", challenge)
    if not opens(found, key):
        raise Http404
    if request.method == "POST" and request.user.is_authenticated:
        Participation.enter(found, request.user, key)
        if not allowed(request.user, "challenge.see", found):
            return render(request, "submissions/access.html", {"challenge": found, "declined": True}, status=403)
        return redirect("challenge", challenge)
    return render(request, "submissions/access.html", {"challenge": found})
