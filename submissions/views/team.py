"""A participant's team in a challenge: who is in it, invitations, and what its leaders may do."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from submissions import throttling
from submissions.errors import Refused
from submissions.lookup import ChallengePlace, challenge_for, challenge_place, own_team, row_number, team_place
from submissions.models import Invitation, Participation, Team, TeamMerge, User
from submissions.permissions import allowed, require


@login_required
@require_safe
def team(request: HttpRequest, challenge: str) -> HttpResponse:
    """The viewer's team; without one, how to have one. Members who no longer see the challenge are shown the team alone."""
    return _page(request, team_place(request.user, challenge))


def _page(request: HttpRequest, place: ChallengePlace, status: int = 200, **more) -> HttpResponse:
    sees = place.viewer.may("challenge.see", place.challenge)
    frame = f"submissions/{'challenge_base' if sees else 'team_alone'}.html"
    context = place.context("team") | {"team": place.team, "cap": place.challenge.team_size, "sees": sees, "frame": frame} | more
    if place.team is not None:
        members = list(place.team.memberships.select_related("user").order_by("-is_leader", "joined_at"))
        context |= {
            "members": members,
            "leads": any(one.is_leader and one.user_id == request.user.pk for one in members),
            "manages": sees and place.viewer.may("team.manage", place.team),
            "n_leaders": sum(one.is_leader for one in members),
            "invites": place.team.invites.open(place.now),
            "n_entries": place.team.submissions.filter(received_at__isnull=False).count(),
            "n_earlier": place.team.earlier_entries.count(),
            "why_not_leave": place.team.why_not_leave(request.user),
            "merges_wanted": place.team.merges_wanted.select_related("asking", "asked__challenge"),
            "merges_asked": place.team.merges_asked.select_related("asked"),
            "merging": place.challenge.merge_until is None or place.now < place.challenge.merge_until,
        }
    return render(request, "submissions/team.html", context, status=status)


def _act(words: str, action: str = "team.lead", unseen: bool = False) -> Callable:
    """A POST on the viewer's team: asks permission, runs the act, says in `words` that it is done. `unseen`: also for members who no
    longer see the challenge.

    Refusals of the model are shown on the page itself, above the form.
    """

    def decorate(act: Callable[[HttpRequest, Team], str | None]) -> Callable:
        @login_required
        @require_POST
        @wraps(act)
        def view(request: HttpRequest, challenge: str) -> HttpResponse:
            found = team_place(request.user, challenge).challenge if unseen else challenge_for(request.user, challenge)
            team = own_team(request.user, found, action)
            try:
                said = act(request, team)
            except Refused as refused:
                messages.error(request, refused.sentence)
            else:
                messages.success(request, said or words)
            has_page = Team.of(found, request.user) is not None or allowed(request.user, "challenge.see", found)
            return redirect("team", challenge) if has_page else redirect("account")

        return view

    return decorate


@login_required
@require_POST
def create(request: HttpRequest, challenge: str) -> HttpResponse:
    """A new team with the viewer as its leader."""
    place = challenge_place(request.user, challenge)
    require(request.user, "challenge.join", place.challenge)
    try:
        made = Team.create(place.challenge, request.user, request.POST.get("name", "").strip())
    except Refused as refused:
        messages.error(request, refused.sentence)
    else:
        messages.success(request, f"You lead {made} now.")
    return redirect("team", challenge)


@_act("The team has its new name.", "team.manage")
def rename(request: HttpRequest, team: Team) -> None:
    team.rename(request.POST.get("name", ""))


@_act("The invitation is on its way.", "team.manage")
def invite(request: HttpRequest, team: Team) -> str:
    throttling.limit_invites(request)
    made = team.invite(request.POST.get("email", ""), request.user)
    return f"The invitation to {made.email} is on its way."


@_act("The invitation is withdrawn.", unseen=True)
def withdraw_invite(request: HttpRequest, team: Team) -> None:
    get_object_or_404(team.invites, pk=row_number(request.POST.get("invite"))).withdraw()


@_act("The link leads nowhere now.", unseen=True)
def end_link(request: HttpRequest, team: Team) -> None:
    team.end_link()


@login_required
@require_POST
def make_link(request: HttpRequest, challenge: str) -> HttpResponse:
    """A new link, shown on this one page: only its hash is kept."""
    place = challenge_place(request.user, challenge)
    team = own_team(request.user, place.challenge, "team.manage")
    link = settings.SITE_URL + reverse("team_join", args=[team.make_link()])
    return _page(request, place, new_link=link)


@_act("You have left the team.", "team.see", unseen=True)
def leave(request: HttpRequest, team: Team) -> str:
    alone = team.leave(request.user)
    more = f" You are a team of one now, {alone}, which has used the tries that {team} has used." if alone is not None else ""
    return f"You have left {team}.{more}"


@_act("")
def merge(request: HttpRequest, team: Team) -> str:
    throttling.limit_invites(request)
    made = TeamMerge.ask(team, request.POST.get("name", ""), request.user)
    return f"{made.asked} is asked. Once a leader of that team agrees, your members and entries become that team's."


@_act("")
def answer_merge(request: HttpRequest, team: Team) -> str:
    """Agree to what another team asks, say no, or take one's own question back."""
    pk, how = row_number(request.POST.get("merge")), request.POST.get("how")
    if how == "withdraw":
        row = get_object_or_404(team.merges_asked, pk=pk)
        row.delete()
        return f"{row.asked} is asked no more."
    row = get_object_or_404(team.merges_wanted.select_related("asking"), pk=pk)
    if how == "agree":
        team.take_in(row.asking, request.user)
        return f"{row.asking} is a part of {team} now, with its members and entries."
    row.delete()
    return f"{row.asking} stays a team of its own."


@_act("", unseen=True)
def remove(request: HttpRequest, team: Team) -> str:
    them = _member(request, team)
    team.remove(them)
    return f"{them} is no longer a member. The link for joining has ended too; make a new one where you want one."


@_act("", unseen=True)
def lead(request: HttpRequest, team: Team) -> str:
    """Share the lead, hand it over, or give it back."""
    how = request.POST.get("how")
    if how == "step_down":
        team.set_leader(request.user, False)
        return f"You no longer lead {team}."
    them = _member(request, team)
    if how == "hand_over":
        team.hand_over(request.user, them)
        return f"{them} leads {team} now."
    require(request.user, "team.manage", team)
    team.set_leader(them)
    return f"{them} leads {team} too."


def _member(request: HttpRequest, team: Team) -> User:
    return get_object_or_404(team.members, pk=row_number(request.POST.get("member")))


@require_http_methods(["GET", "HEAD", "POST"])
def team_join(request: HttpRequest, token: str) -> HttpResponse:
    """An invitation: which team, and one button (with the rules, where they are not accepted yet)."""
    found = Invitation.find(token)
    if found is None:
        return render(request, "submissions/team_join.html", {"over": True}, status=404)
    challenge = found.team.challenge
    participation = Participation.of(challenge, request.user)
    context = {
        "invitation": found,
        "team": found.team,
        "challenge": challenge,
        "here": request.path,
        "members": found.team.memberships.select_related("user"),
        "must_accept": participation is None or participation.must_accept,
        "closed": request.user.is_authenticated and not allowed(request.user, "challenge.join", challenge),
        "why_not": found.team.why_not_admit(request.user) if request.user.is_authenticated else "",
        "own": Team.of(challenge, request.user),
    }
    if request.method != "POST" or not request.user.is_authenticated:
        return render(request, "submissions/team_join.html", context)
    require(request.user, "challenge.join", challenge)
    try:
        if context["must_accept"] and request.POST.get("accept") != "yes":
            raise Refused("Tick the box to say that you accept the rules.", "rules")
        with transaction.atomic():
            if context["must_accept"]:
                Participation.accept_rules(challenge, request.user, request.POST.get("version", ""))
            joined = found.accept(request.user)
    except Refused as refused:
        return render(request, "submissions/team_join.html", context | {"refused": refused.sentence}, status=409)
    said = f"You are a member of {found.team} now." if joined else f"You were a member of {found.team} before; the invitation stays open."
    messages.success(request, said)
    return redirect("team", challenge.slug)
