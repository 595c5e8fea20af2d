"""The caller's team in a challenge, and the caller's tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from ninja import Router, Schema
from pydantic import Field

from submissions import throttling
from submissions.api.common import (
    ACT_ERRORS,
    ERRORS,
    SIGNED_IN,
    Id,
    Page,
    PageQuery,
    Slug,
    newest_first,
)
from submissions.lookup import challenge_for, own_team, team_place
from submissions.models import ApiToken, Challenge, Scope, Team, TeamMerge, User
from submissions.models.team import Invitation
from submissions.permissions import require

router = Router(tags=["teams"], auth=SIGNED_IN)
account = Router(tags=["account"], auth=SIGNED_IN)


class Member(Schema):
    username: str
    leads: bool
    joined_at: datetime


class TeamOut(Schema):
    id: int
    name: str
    challenge: str
    members: list[Member]
    created_at: datetime


class TeamName(Schema):
    name: str = Field(max_length=80)


class NewTeam(Schema):
    name: str = Field("", max_length=80, description="Empty: your user name.")


class InviteIn(Schema):
    email: str = Field(max_length=254)


class LinkOut(Schema):
    url: str = Field(description="Anybody who opens the link can join. The link is shown only this once; an earlier link ends.")


class TokenIn(Schema):
    token: str = Field(max_length=200, description="The last part of an invitation's address.")


class MemberName(Schema):
    username: str = Field(max_length=150)


def _team(team: Team) -> TeamOut:
    members = [
        Member(username=m.user.get_username(), leads=m.is_leader, joined_at=m.joined_at) for m in team.memberships.select_related("user")
    ]
    return TeamOut(id=team.pk, name=team.name, challenge=team.challenge.slug, members=members, created_at=team.created_at)


@router.get("/challenges/{challenge}/team", response={200: TeamOut, **ERRORS}, summary="Your team")
def get_team(request: HttpRequest, challenge: Slug) -> Any:
    return _team(own_team(request.user, team_place(request.user, challenge).challenge))


@router.post("/challenges/{challenge}/team", response={201: TeamOut, **ACT_ERRORS}, summary="Make a team")
def make_team(request: HttpRequest, challenge: Slug, data: NewTeam) -> Any:
    found = challenge_for(request.user, challenge)
    require(request.user, "challenge.join", found)
    return 201, _team(Team.create(found, request.user, data.name))


@router.patch("/challenges/{challenge}/team", response={200: TeamOut, **ACT_ERRORS}, summary="Rename your team")
def rename_team(request: HttpRequest, challenge: Slug, data: TeamName) -> Any:
    team = _led(request, challenge, "team.manage")
    team.rename(data.name)
    return _team(team)


@router.post("/challenges/{challenge}/team/invites", response={204: None, **ACT_ERRORS}, summary="Invite somebody by e-mail")
def invite(request: HttpRequest, challenge: Slug, data: InviteIn) -> Any:
    team = _led(request, challenge, "team.manage")
    throttling.limit_invites(request)
    team.invite(data.email, request.user)
    return 204, None


@router.post("/challenges/{challenge}/team/link", response={201: LinkOut, **ACT_ERRORS}, summary="A link that lets people join")
def make_link(request: HttpRequest, challenge: Slug) -> Any:
    token = _led(request, challenge, "team.manage").make_link()
    return 201, {"url": request.build_absolute_uri(f"/teams/join/{token}/")}


@router.delete("/challenges/{challenge}/team/link", response={204: None, **ACT_ERRORS}, summary="End that link")
def end_link(request: HttpRequest, challenge: Slug) -> Any:
    own_team(request.user, team_place(request.user, challenge).challenge, "team.lead").end_link()
    return 204, None


@router.post("/challenges/{challenge}/team/leave", response={204: None, **ACT_ERRORS}, summary="Leave your team")
def leave(request: HttpRequest, challenge: Slug) -> Any:
    own_team(request.user, team_place(request.user, challenge).challenge).leave(request.user)
    return 204, None


@router.post("/challenges/{challenge}/team/remove", response={200: TeamOut, **ACT_ERRORS}, summary="Remove a member")
def remove(request: HttpRequest, challenge: Slug, data: MemberName) -> Any:
    team = own_team(request.user, team_place(request.user, challenge).challenge, "team.lead")
    member = team.memberships.select_related("user").filter(user__username=data.username).first()
    if member is None:
        raise Http404
    team.remove(member.user)
    return _team(team)


class MergeOut(Schema):
    id: int
    asking: str = Field(description="The team that asks; its members and entries become the other's.")
    asked: str
    created_at: datetime
    refused: str = Field(description="Why the two cannot merge now; otherwise empty.")


def _merge(merge: TeamMerge) -> MergeOut:
    names = {"asking": merge.asking.name, "asked": merge.asked.name}
    return MergeOut(id=merge.pk, created_at=merge.created_at, refused=merge.why_not, **names)


@router.get("/challenges/{challenge}/team/merges", response={200: list[MergeOut], **ERRORS}, summary="Teams that ask to merge")
def list_merges(request: HttpRequest, challenge: Slug) -> Any:
    team = _led(request, challenge)
    return [
        _merge(merge) for rows in (team.merges_wanted, team.merges_asked) for merge in rows.select_related("asking", "asked__challenge")
    ]


@router.post("/challenges/{challenge}/team/merges", response={201: MergeOut, **ACT_ERRORS}, summary="Ask another team to merge")
def ask_merge(request: HttpRequest, challenge: Slug, data: TeamName) -> Any:
    team = _led(request, challenge)
    throttling.limit_invites(request)
    return 201, _merge(TeamMerge.ask(team, data.name, request.user))


@router.post(
    "/challenges/{challenge}/team/merges/{merge}/agree", response={200: TeamOut, **ACT_ERRORS}, summary="Agree to merge with a team"
)
def agree_merge(request: HttpRequest, challenge: Slug, merge: Id) -> Any:
    team = _led(request, challenge)
    found = team.merges_wanted.select_related("asking").filter(pk=merge).first()
    if found is None:
        raise Http404
    team.take_in(found.asking, request.user)
    return _team(team)


@router.delete(
    "/challenges/{challenge}/team/merges/{merge}", response={204: None, **ACT_ERRORS}, summary="Decline, or take your request back"
)
def end_merge(request: HttpRequest, challenge: Slug, merge: Id) -> Any:
    team = _led(request, challenge)
    found = team.merges_wanted.filter(pk=merge).first() or team.merges_asked.filter(pk=merge).first()
    if found is None:
        raise Http404
    found.delete()
    return 204, None


@router.post("/teams/join", response={200: TeamOut, **ACT_ERRORS}, summary="Join the team that invited you")
def join_team(request: HttpRequest, data: TokenIn) -> Any:
    invitation = Invitation.find(data.token)
    if invitation is None:
        raise Http404
    require(request.user, "challenge.join", invitation.team.challenge)
    invitation.accept(request.user)
    return _team(invitation.team)


def _led(request: HttpRequest, challenge: str, action: str = "team.lead") -> Team:
    found: Challenge = challenge_for(request.user, challenge)
    return own_team(request.user, found, action)


# --- account ---------------------------------------------------------------------------------


class Me(Schema):
    username: str
    email: str
    teams: dict[str, str] = Field(description="Your team's name by challenge.")


class ApiTokenOut(Schema):
    id: int
    name: str
    hint: str = Field(description="The key's first characters.")
    scopes: list[str] = Field(alias="scope_names", description="What a program may do with the token: read, submit, organize, operate.")
    challenges: list[str] = Field(description="Names of the challenges to which the token is restricted; empty: all of your challenges.")
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None

    @staticmethod
    def resolve_challenges(token: ApiToken) -> list[str]:
        return [challenge.slug for challenge in token.challenges.all()]


@account.get("/me", response={200: Me, **ERRORS}, summary="Who you are")
def me(request: HttpRequest) -> Any:
    found, reach = request.user.memberships.all(), request.user.reach
    if reach is not None and reach.challenges:
        found = found.filter(challenge__in=reach.challenges)
    teams = dict(found.values_list("challenge__slug", "team__name"))
    return {"username": request.user.get_username(), "email": request.user.email, "teams": teams}


@account.get(
    "/tokens",
    response={200: Page[ApiTokenOut], **ERRORS},
    summary="Your API tokens",
    description="Tokens are made on the account page only, so that nobody can make further tokens with a leaked token.",
)
def list_tokens(request: HttpRequest, paging: PageQuery) -> Any:
    items, following = newest_first(_tokens(request.user).prefetch_related("challenges"), request, paging)
    return {"items": items, "next": following}


@account.delete("/tokens/{token}", response={204: None, **ACT_ERRORS}, summary="Revoke a token")
def revoke_token(request: HttpRequest, token: Id) -> Any:
    found = _tokens(request.user).filter(pk=token).first()
    if found is None:
        raise Http404
    found.revoke()
    return 204, None


def _tokens(user: User) -> QuerySet[ApiToken]:
    """Tokens of the whole account. Raises PermissionDenied for a program that is bound to some challenges."""
    if user.reach is not None and not user.reach.covers(Scope.READ, None):
        raise PermissionDenied("This API token is restricted to some challenges, so it cannot list or revoke the account's tokens.")
    return user.api_tokens.all()
