"""Challenges, their phases, files and news, and taking part in them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Query, Router, Schema
from pydantic import Field

from submissions.api.common import (
    ACT_ERRORS,
    ANYBODY,
    DOWNLOAD,
    ERRORS,
    NAME,
    SIGNED_IN,
    Id,
    Page,
    PageQuery,
    Slug,
    newest_first,
)
from submissions.lookup import challenge_for, challenge_place, phase_for, phase_with_manifest, private_challenge
from submissions.models import Challenge, Participation, Phase, Team
from submissions.models.participation import opens
from submissions.models.quota import Quota, quota_of
from submissions.permissions import allowed, require
from submissions.views.files import download, manifest_for
from submissions.visibility import visible_challenges

router = Router(tags=["challenges"], auth=ANYBODY)


class ChallengeBrief(Schema):
    slug: str
    title: str
    summary: str
    family: str
    visibility: str
    simulated: bool = Field(description="True if the challenge's data and entries are simulated, for demonstration.")
    tags: list[str]
    page_url: str


class ChallengeFilter(Schema):
    """Filters of a list of challenges."""

    tag: str | None = Field(None, max_length=30, pattern=NAME, description="Challenges with this tag.")
    family: str | None = Field(
        None, max_length=20, pattern=NAME, description=("Challenges to which teams send this kind: wireframe, mesh or render.")
    )
    state: Literal["running", "upcoming", "past"] | None = Field(
        None, description="State of a challenge by its phases: one is open, one will open, or none."
    )


FilterQuery = Annotated[ChallengeFilter, Query()]


class PhaseBrief(Schema):
    slug: str
    title: str
    opens_at: datetime
    closes_at: datetime | None
    time_zone: str
    is_open: bool


class TextPage(Schema):
    slug: str
    title: str
    body: str = Field(description="Markdown.")


class ChallengeFull(ChallengeBrief):
    description: str = Field(description="Markdown.")
    rules_version: str
    needs_approval: bool
    team_size: int | None = Field(description="Largest number of members of a team; null without a limit.")
    licence: str = Field(
        description="Licence of the challenge's data, as the organizers state it: a web address or a name; empty if they state none."
    )
    item_noun: str = Field(description="An item's name, in the singular.")
    unit_noun: str = Field(description="A group's name, in the singular.")
    phases: list[PhaseBrief]
    pages: list[TextPage] = Field(description="Pages beside its overview and rules, such as FAQ or prizes.")


class QuotaOut(Schema):
    """Uploads that the team has left; null means no limit."""

    left_today: int | None
    left_total: int | None
    left_at_once: int | None
    next_at: datetime | None = Field(description="When the next upload is possible, if waiting helps.")
    reason: str
    code: str


class PhaseFull(PhaseBrief):
    description: str = Field(description="Markdown.")
    limit_per_day: int | None
    limit_total: int | None
    limit_at_once: int | None
    max_bytes: int
    parent: str | None = Field(description="The phase in which a team must have a scored entry first.")
    board: str
    board_at: datetime | None
    entries: str
    ranking: str
    missing: str = Field(description="What happens to an entry with missing items.")
    unit: str
    quota: QuotaOut | None = Field(description="Uploads of the caller's team; null without a team, and in a phase of imported results.")


class Rules(Schema):
    version: str
    text: str = Field(description="Markdown.")


class News(Schema):
    title: str
    body: str = Field(description="Markdown.")
    published_at: datetime


class FileOut(Schema):
    id: int
    phase: str | None
    kind: str
    name: str
    title: str
    size: int
    sha256: str
    url: str


class ParticipationOut(Schema):
    admission: str | None = Field(description="pending, admitted or declined; null before joining.")
    rules_version: str | None = Field(description="The version accepted.")
    must_accept: bool = Field(description="Whether you still have to accept the current rules.")
    team: str | None
    leads: bool


class JoinIn(Schema):
    rules_version: str = Field(max_length=20, description="The version you have read and accept.")
    access_key: str = Field("", max_length=64, description="The key of a private challenge's link.")


def _brief(request: HttpRequest, challenge: Challenge) -> ChallengeBrief:
    fields = ("slug", "title", "summary", "family", "visibility", "simulated", "tags")
    address = request.build_absolute_uri(f"/challenges/{challenge.slug}/")
    return ChallengeBrief(**{name: getattr(challenge, name) for name in fields}, page_url=address)


def _phase_brief(phase: Phase) -> PhaseBrief:
    fields = ("slug", "title", "opens_at", "closes_at", "time_zone")
    return PhaseBrief(**{name: getattr(phase, name) for name in fields}, is_open=phase.is_open())


@router.get("/challenges", response={200: Page[ChallengeBrief], **ERRORS}, summary="Challenges you may see")
def list_challenges(request: HttpRequest, paging: PageQuery, only: FilterQuery) -> Any:
    rows = visible_challenges(request.user)
    rows = rows.filter(family=only.family) if only.family else rows
    rows = rows.tagged(only.tag) if only.tag else rows
    rows = rows.in_state(only.state, timezone.now()) if only.state else rows
    found, following = newest_first(rows, request, paging)
    return {"items": [_brief(request, challenge) for challenge in found], "next": following}


@router.get("/challenges/{challenge}", response={200: ChallengeFull, **ERRORS}, summary="A challenge")
def get_challenge(request: HttpRequest, challenge: Slug) -> Any:
    found = challenge_for(request.user, challenge)
    fields = ("description", "rules_version", "needs_approval", "team_size", "licence", "item_noun", "unit_noun")
    phases = [_phase_brief(phase) for phase in found.phases.all()]
    pages = [TextPage(slug=page.slug, title=page.title, body=page.body) for page in found.pages.all()]
    return ChallengeFull(**dict(_brief(request, found)), **{name: getattr(found, name) for name in fields}, phases=phases, pages=pages)


@router.get("/challenges/{challenge}/rules", response={200: Rules, **ERRORS}, summary="Rules of a challenge")
def get_rules(request: HttpRequest, challenge: Slug) -> Any:
    found = challenge_for(request.user, challenge)
    return {"version": found.rules_version, "text": found.rules}


@router.get("/challenges/{challenge}/announcements", response={200: Page[News], **ERRORS}, summary="News of a challenge")
def list_announcements(request: HttpRequest, challenge: Slug, paging: PageQuery) -> Any:
    found = challenge_for(request.user, challenge)
    items, following = newest_first(found.announcements.filter(published_at__lte=timezone.now()), request, paging)
    return {"items": items, "next": following}


# --- phases ----------------------------------------------------------------------------------


@router.get("/challenges/{challenge}/phases/{phase}", response={200: PhaseFull, **ERRORS}, summary="A phase, and your remaining uploads")
def get_phase(request: HttpRequest, challenge: Slug, phase: Slug) -> Any:
    found = phase_for(request.user, challenge, phase)
    team = Team.of(found.challenge, request.user)
    fields = ("description", "limit_per_day", "limit_total", "limit_at_once", "board", "board_at", "entries", "ranking", "missing", "unit")
    quota: Quota | None = quota_of(found, team) if team and found.has_teams else None
    return PhaseFull(
        **dict(_phase_brief(found)),
        **{name: getattr(found, name) for name in fields},
        max_bytes=found.max_bytes(),
        parent=found.parent.slug if found.parent else None,
        quota=QuotaOut.from_orm(quota) if quota else None,
    )


@router.get(
    "/challenges/{challenge}/phases/{phase}/manifest",
    response={200: dict[str, Any], **ERRORS},
    summary="The manifest: what an upload must hold",
    description="Item ids, formats, limits and metrics. The client's `check` reads this file.",
)
def get_manifest(request: HttpRequest, challenge: Slug, phase: Slug) -> Any:
    return manifest_for(request.user, phase_with_manifest(request.user, challenge, phase))


# --- files -----------------------------------------------------------------------------------


@router.get("/challenges/{challenge}/files", response={200: Page[FileOut], **ERRORS}, summary="Files you may download")
def list_files(request: HttpRequest, challenge: Slug, paging: PageQuery) -> Any:
    place = challenge_place(request.user, challenge)
    found = place.challenge
    open_ids = [file.pk for file in found.files.select_related("phase__challenge") if place.viewer.may("file.see", file)]
    items, following = newest_first(found.files.filter(pk__in=open_ids).select_related("phase"), request, paging)
    rows = []
    for file in items:
        row = {name: getattr(file, name) for name in ("id", "kind", "name", "title", "size", "sha256")}
        address = f"/api/v1/challenges/{found.slug}/files/{file.pk}"
        rows.append(row | {"phase": file.phase.slug if file.phase else None, "url": address})
    return {"items": rows, "next": following}


@router.get(
    "/challenges/{challenge}/files/{file}",
    response=ERRORS,
    summary="Download a file",
    openapi_extra=DOWNLOAD,
)
def get_file(request: HttpRequest, challenge: Slug, file: Id) -> HttpResponse:
    found = challenge_for(request.user, challenge)
    wanted = found.files.select_related("phase__challenge").filter(pk=file).first()
    if wanted is None or not allowed(request.user, "file.see", wanted):
        raise Http404
    return download(wanted.key, wanted.name)


# --- taking part -----------------------------------------------------------------------------


def _participation(request: HttpRequest, challenge: Challenge) -> ParticipationOut:
    it = Participation.of(challenge, request.user)
    team = Team.of(challenge, request.user)
    return ParticipationOut(
        admission=it.admission if it else None,
        rules_version=it.rules_version or None if it else None,
        must_accept=it.must_accept if it else True,
        team=team.name if team else None,
        leads=bool(team and team.is_leader(request.user)),
    )


@router.get(
    "/challenges/{challenge}/participation", auth=SIGNED_IN, response={200: ParticipationOut, **ERRORS}, summary="How you take part"
)
def get_participation(request: HttpRequest, challenge: Slug) -> Any:
    return _participation(request, challenge_for(request.user, challenge))


@router.post(
    "/challenges/{challenge}/join",
    auth=SIGNED_IN,
    response={200: ParticipationOut, **ACT_ERRORS},
    summary="Accept the rules and take part",
    description="If you are in no team yet, you get a team of one. You can make or join another team at any time before the first upload.",
)
def join(request: HttpRequest, challenge: Slug, data: JoinIn) -> Any:
    if data.access_key and opens(private := private_challenge(challenge), data.access_key):
        Participation.enter(private, request.user, data.access_key)
    found = challenge_for(request.user, challenge)
    require(request.user, "challenge.join", found)
    with transaction.atomic():
        Participation.accept_rules(found, request.user, data.rules_version)
        Team.of_one(found, request.user)
    return _participation(request, found)
