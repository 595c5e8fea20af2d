"""The front page and the list of challenges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.db.models import OuterRef, Prefetch, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from leaderboard.boards.rows import Lead
from leaderboard.lookup import page_number, search_text
from leaderboard.models import Snapshot
from leaderboard.views.board import page_numbers
from submissions.models import Challenge, Phase
from submissions.visibility import board_is_out, visible_challenges

MAX_SHOWN = 12  # cards of each kind on the front page
PER_PAGE = 50


@dataclass(frozen=True)
class Card:
    """A challenge as the front page shows it: the phase that matters now, and who leads it."""

    challenge: Challenge
    phase: Phase | None
    when: str  # running, upcoming or past
    others: list[Phase]
    lead: Lead | None
    n_teams: int
    n_entries: int


def home(request: HttpRequest) -> HttpResponse:
    """Challenges running, upcoming and past."""
    now = timezone.now()
    all_cards = cards(request, visible(request.user)[: 4 * MAX_SHOWN], now)
    sections = [
        {"title": title, "cards": [card for card in all_cards if card.when == when][:MAX_SHOWN]}
        for when, title in (("running", "Running"), ("upcoming", "Upcoming"), ("past", "Past"))
    ]
    return render(request, "leaderboard/home.html", {"sections": [s for s in sections if s["cards"]], "now": now})


def challenge_list(request: HttpRequest) -> HttpResponse:
    """All challenges the viewer may see, by name or words of it."""
    text = search_text(request)
    challenges = visible(request.user)
    if text:
        challenges = challenges.filter(Q(title__icontains=text) | Q(summary__icontains=text))
    pages = Paginator(challenges, PER_PAGE)
    page = pages.get_page(page_number(request))
    context = {
        "cards": cards(request, page.object_list, timezone.now()), "text": text, "total": pages.count,
        "pages": page_numbers(page.number, pages.num_pages), "page": page.number,
    }  # fmt: skip
    return render(request, "leaderboard/challenge_list.html", context)


def visible(user: Any) -> QuerySet[Challenge]:
    """Challenges `user` may see, newest first."""
    return visible_challenges(user).prefetch_related(Prefetch("phases", Phase.objects.order_by("position", "opens_at", "id")))


def cards(request: HttpRequest, challenges: Iterable[Challenge], now: datetime) -> list[Card]:
    """A card for each challenge, with the newest public ranking of its main phase."""
    phases = {challenge.pk: list(challenge.phases.all()) for challenge in challenges}
    visible_phases = [one_phase.pk for one in phases.values() for one_phase in one if board_is_out(one_phase, now)]
    newest = Snapshot.objects.filter(phase=OuterRef("phase"), audience=Snapshot.Audience.PUBLIC).order_by("-revision", "-id")
    newest_snapshots = Snapshot.objects.filter(phase__in=visible_phases, pk=Subquery(newest.values("pk")[:1])).defer("payload")
    snapshots = {snapshot.phase_id: snapshot for snapshot in newest_snapshots}
    made = []
    for challenge in challenges:
        ranked = {pk for pk, snapshot in snapshots.items() if snapshot.n_entries}
        phase, when = main_phase(phases[challenge.pk], now, ranked)
        made.append(_card(challenge, phase, when, snapshots.get(phase.pk) if phase else None))
    return made


def main_phase(phases: list[Phase], now: datetime, ranked: set[int]) -> tuple[Phase | None, str]:
    """The phase a visitor looks for, and whether it is running, upcoming or past: of several that
    run, the last one with a ranking (`ranked` holds the keys of such phases)."""
    running = [phase for phase in phases if phase.is_open(now)]
    if running:
        return [*running[:1], *(phase for phase in running if phase.pk in ranked)][-1], "running"
    upcoming = [phase for phase in phases if not phase.has_opened(now)]
    if upcoming:
        return upcoming[0], "upcoming"
    return ([*phases[-1:], *(phase for phase in phases if phase.pk in ranked)][-1], "past") if phases else (None, "upcoming")


def _card(challenge: Challenge, phase: Phase | None, when: str, snapshot: Snapshot | None) -> Card:
    lead = None
    if snapshot is not None:
        if phase is not None and snapshot.revision < phase.board_revision:
            snapshot.redact(phase)
        lead = snapshot.leader
    others = [it for it in challenge.phases.all() if phase is None or it.pk != phase.pk]
    n_teams, n_entries = (snapshot.n_teams, snapshot.n_entries) if snapshot else (0, 0)
    return Card(challenge, phase, when, others, lead, n_teams, n_entries)
