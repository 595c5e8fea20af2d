"""Feeds of a leaderboard and of a challenge's announcements, and its dates as a calendar. Every reader gets only what a visitor without an
account may see."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.syndication.views import Feed
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed

from leaderboard.lookup import shown_board
from leaderboard.models import Snapshot
from leaderboard.records.front import Front
from leaderboard.service.page_cache import PARTS
from leaderboard.service.responses import attachment, for_everybody
from leaderboard.views.share_cards import NOBODY
from leaderboard.wording import contradiction
from leaderboard.wording.board import size
from submissions.lookup import challenge_place
from submissions.markdown import laid_out
from submissions.models import Challenge, Phase
from submissions.visibility import hidden_ids

MAX_ENTRIES_OF_FEED = 50


class Change(NamedTuple):
    """A ranking whose first place differs from the ranking before, and the time from which it was the current one."""

    snapshot: Snapshot
    front: Front
    phase: Phase
    at: datetime


def _changes(kept: QuerySet[Snapshot], passed_over: frozenset[int]) -> list[tuple[int, datetime]]:
    """Keys of the rankings whose first entry differs from the ranking before, and since when, newest first; hidden entries and baselines
    are passed over. A ranking that became the current one again counts each time."""
    found: list[tuple[int, datetime]] = []
    before = None
    rows = kept.only("created_at", "again_at").annotate(first=F("lead__id")).order_by("pk")
    times = [(at, row.pk, row.first) for row in rows for at in row.current_from]
    for at, pk, first in sorted(times, key=lambda one: one[:2]):
        if first is not None and first not in passed_over and first != before:
            found.append((pk, at))
            before = first
    return found[::-1][:MAX_ENTRIES_OF_FEED]


class BoardFeed(Feed):
    """Changes of the first place of a board, newest first, as Atom."""

    feed_type = Atom1Feed

    def get_object(self, request: HttpRequest, challenge: str, phase: str) -> Phase:
        return shown_board(NOBODY, challenge, phase).phase

    def title(self, phase: Phase) -> str:
        return f"{phase.challenge.title} · {phase.title}: changes of first place{' (simulated)' if phase.challenge.simulated else ''}"

    def link(self, phase: Phase) -> str:
        return reverse("board", args=[phase.challenge.slug, phase.slug])

    def items(self, phase: Phase) -> list[Change]:
        hidden, hides_people = hidden_ids(phase), not phase.studies.filter(is_public=True).exists()
        kept = Snapshot.objects.filter(phase=phase, audience=Snapshot.Audience.PUBLIC)
        newest = kept.order_by("-revision", "-pk").values_list("pk", "revision").first()
        passed_over = hidden | frozenset(phase.submissions.filter(is_baseline=True).values_list("pk", flat=True))
        changes = PARTS.of(("feed", phase.pk, newest, passed_over), lambda: _changes(kept, passed_over))
        found = kept.defer("payload").in_bulk(pk for pk, _ in changes)
        for snapshot in found.values():
            snapshot.hidden_ids, snapshot.hides_people = hidden, hides_people
        return [Change(found[pk], found[pk].front, phase, at) for pk, at in changes if pk in found]

    def item_title(self, item: Change) -> str:
        return contradiction.first(item.front).text

    def item_description(self, item: Change) -> str:
        snapshot = item.snapshot
        by = f"By {item.front.team}. " if item.phase.has_teams and item.front.team and item.front.level == 1 else ""
        return f"{by}{size(snapshot.n_entries, snapshot.n_teams if item.phase.has_teams else None)}; snapshot {snapshot.short}."

    def item_link(self, item: Change) -> str:
        address = reverse("snapshot", args=[item.phase.challenge.slug, item.phase.slug, item.snapshot.digest])
        # A reader of feeds tells one item from another by its address.
        return address if item.at == item.snapshot.created_at else f"{address}#{item.at:%Y-%m-%dT%H:%M:%SZ}"

    def item_pubdate(self, item: Change) -> datetime:
        return item.at

    item_updateddate = item_pubdate


class NewsFeed(Feed):
    """A challenge's announcements as Atom."""

    feed_type = Atom1Feed

    def get_object(self, request: HttpRequest, challenge: str) -> Challenge:
        return challenge_place(NOBODY, challenge).challenge

    def title(self, challenge: Challenge) -> str:
        return f"{challenge.title}: announcements"

    def link(self, challenge: Challenge) -> str:
        return reverse("challenge", args=[challenge.slug])

    def items(self, challenge: Challenge) -> Iterable[Any]:
        return challenge.announcements.filter(published_at__lte=timezone.now()).order_by("-published_at")[:MAX_ENTRIES_OF_FEED]

    def item_title(self, item: Any) -> str:
        return item.title

    def item_description(self, item: Any) -> str:
        return laid_out(item.body, f"{settings.SITE_URL}{item.challenge.pictures_url}").html if item.body else ""

    def item_link(self, item: Any) -> str:
        return f"{reverse('challenge', args=[item.challenge.slug])}#news-{item.pk}"

    def item_pubdate(self, item: Any) -> datetime:
        return item.published_at

    item_updateddate = item_pubdate


def calendar(request: HttpRequest, challenge: str) -> HttpResponse:
    """A challenge's dates as an iCalendar file: when each phase opens and closes."""
    place = challenge_place(NOBODY, challenge)
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Plumbline//dates//EN", "CALSCALE:GREGORIAN"]
    for phase in place.phases:
        for name, at in (("opens", phase.opens_at), ("closes", phase.closes_at)):
            if at is None or not phase.has_teams:
                continue
            start = at.astimezone(UTC)
            # As RFC 5545 §3.3.11 writes text.
            title = "".join(letter for letter in f"{place.challenge.title}: {phase.title} {name}" if letter.isprintable())
            summary = title.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
            lines += [
                "BEGIN:VEVENT",
                f"UID:{place.challenge.slug}-{phase.slug}-{name}@{request.get_host()}",
                f"DTSTAMP:{timezone.now():%Y%m%dT%H%M%SZ}",
                f"DTSTART:{start:%Y%m%dT%H%M%SZ}",
                f"DTEND:{start + timedelta(minutes=1):%Y%m%dT%H%M%SZ}",
                f"SUMMARY:{summary}",
                f"URL:{settings.SITE_URL}{reverse('board', args=[place.challenge.slug, phase.slug])}",
                "END:VEVENT",
            ]
    lines.append("END:VCALENDAR")
    response = HttpResponse(
        "\r\n".join(part for line in lines for part in _folded(line)) + "\r\n", content_type="text/calendar; charset=utf-8"
    )
    return for_everybody(attachment(response, f"{place.challenge.slug}.ics"))


def _folded(line: str) -> list[str]:
    """A line in pieces of at most 75 bytes, those after the first behind a blank (RFC 5545 §3.1)."""
    pieces, piece = [], ""
    for letter in line:
        if len(f"{piece}{letter}".encode()) > 74:
            pieces.append(piece)
            piece = " "
        piece += letter
    return [*pieces, piece]
