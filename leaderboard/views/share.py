"""Cards of pasted links, badges, feeds, calendars, and answers to search engines: all that goes to other places.

All of it holds exactly what somebody without an account may see at that moment, whoever asks, so that it can be kept and passed on.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from csp.decorators import csp_replace
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.sitemaps import Sitemap
from django.contrib.syndication.views import Feed
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import format_html
from django.views.decorators.clickjacking import xframe_options_exempt
from PIL import Image, ImageDraw, ImageFont

from evaluation.metrics.registry import REGISTRY
from leaderboard.boards import human_agreement
from leaderboard.boards.front import Front
from leaderboard.boards.rows import Cell, cell, ordinal, rule_words, span
from leaderboard.lookup import current_ranking, shown_board
from leaderboard.models import Snapshot, Study
from leaderboard.service.responses import attachment, for_everybody
from leaderboard.views.docs import TITLES
from submissions.lookup import challenge_place, entry_place
from submissions.models import Challenge, Phase, RenderedText
from submissions.moments import day_in_words
from submissions.visibility import board_is_out, visible_challenges

NOBODY = AnonymousUser()
SIZE = (1200, 630)  # of a card, in pixels
INK, SOFT, ACCENT, WARN, GROUND, LINE = "#1b1d1f", "#62686d", "#1f5fbf", "#a35600", "#fbfbf9", "#e4e4df"
EMBEDDED = 10  # entries of a board on another page
EMBED_SIZE = (720, 560)  # of its frame, in pixels
DASHES = str.maketrans("–−", "--")  # which the font of cards has no shapes for
MOST_ENTRIES = 50  # of a feed


def _front(phase: Phase) -> tuple[Snapshot, Front] | tuple[None, None]:
    """The newest public ranking of a phase and what may be said of it now."""
    snapshot = Snapshot.current(phase, Snapshot.Audience.PUBLIC)
    front = snapshot.front if snapshot is not None else None
    return (snapshot, front) if snapshot is not None and front is not None else (None, None)


# --- cards


@dataclass(frozen=True)
class Row:
    """A line of a card: what stands before a name, the name, and what stands at the right, `is_warning` where people contradict it."""

    left: str
    name: str
    right: str
    is_warning: bool = False


@dataclass(frozen=True)
class Sheet:
    """All that a card says, from top to bottom."""

    title: str
    words: str
    rows: tuple[Row, ...] = ()
    foot: str = ""
    made_up: bool = False


def board_card(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """The picture that a pasted link of a board shows: its claim, or its first, and the first three with their places with people."""
    place = shown_board(NOBODY, challenge, phase)
    snapshot, front = _front(place.phase)
    rows = tuple(
        Row(str(one.rank), one.name, f"people: {one.place}" if one.place else "", one.against) for one in (front.top if front else ())
    )
    title = f"{place.challenge.title} · {place.phase.title}"
    foot = ""
    if snapshot is not None and front is not None:
        counts = [f"{front.judgements:,} judgements"] if front.judgements else []
        counts.append(f"{snapshot.n_teams:,} team{'' if snapshot.n_teams == 1 else 's'}")
        counts.append(f"{snapshot.n_entries:,} {'entry' if snapshot.n_entries == 1 else 'entries'}")
        made = day_in_words(snapshot.created_at, place.phase.time_zone)
        foot = f"{' · '.join(counts)} · snapshot {snapshot.digest[:4]}, {made}"
    return sent(Sheet(title, _claim(front), rows, foot, place.challenge.made_up))


def site_card(request: HttpRequest) -> HttpResponse:
    """The picture of a link that has none of its own."""
    return sent(Sheet("Plumbline", _claim(None)))


def _claim(front: Front | None) -> str:
    if front is None:
        return "See which 3D method is best, and whether the metric that says so agrees with people."
    parted = front.parted
    if parted is None:
        return f"First: {front.name}, {front.metric} {front.value}." if front.level == 1 else front.lead
    value, low, high = (0.0 if end is None else end for end in parted.ends)
    if parted.opinions:
        how = f"by {value:.2f} points [{low:.2f}, {high:.2f}]"
    else:
        how = f"in {round(100 * value)} of 100 duels [{round(100 * low)}, {round(100 * high)}]"
    return f"The metrics put {parted.metrics[0]} first. People prefer {parted.people[0]}, {how}."


def sent(sheet: Sheet) -> HttpResponse:
    """A card as the answer to who asks for it."""
    return for_everybody(HttpResponse(drawn(sheet), content_type="image/png"))


@lru_cache(maxsize=256)
def drawn(sheet: Sheet) -> bytes:
    """A card as PNG."""
    image = Image.new("RGB", SIZE, GROUND)
    draw = ImageDraw.Draw(image)

    def write(x: float, y: float, text: str, size: int, fill: str = INK, bold: bool = False, anchor: str = "la") -> None:
        draw.text((x, y), text, fill=fill, font=ImageFont.load_default(size), stroke_width=1 if bold else 0, anchor=anchor)

    draw.line([(64, 64), (64, 102)], fill=ACCENT, width=4)
    draw.polygon([(52, 102), (76, 102), (72, 120), (64, 138), (56, 120)], fill=ACCENT)
    write(96, 76, "Plumbline", 34, bold=True)
    if sheet.made_up:
        write(SIZE[0] - 64, 76, "made up", 28, WARN, anchor="ra")
    y = 176
    for line in textwrap.wrap(_plain(sheet.title), 46)[:2]:
        write(64, y, line, 44, bold=True)
        y += 56
    y += 14
    lines = textwrap.wrap(_plain(sheet.words), 58)
    room = 3 if sheet.rows else 5
    if len(lines) > room:
        lines = [*lines[: room - 1], textwrap.shorten(" ".join(lines[room - 1 :]), 58, placeholder=" …")]
    for line in lines:
        write(64, y, line, 36, INK if sheet.rows or sheet.foot else SOFT)
        y += 46
    y = max(y + 14, 410)
    for row in sheet.rows:
        write(64, y, row.left, 30, SOFT)
        write(
            110 if row.left else 64,
            y,
            textwrap.shorten(_plain(row.name), 34 if row.right else 70, placeholder=" …"),
            30,
            ACCENT if row.left else SOFT,
        )
        if row.right:
            write(SIZE[0] - 64, y, _plain(row.right), 30, WARN if row.is_warning else SOFT, anchor="ra")
        y += 42
    draw.line([(64, 560), (SIZE[0] - 64, 560)], fill=LINE, width=2)
    write(64, 576, textwrap.shorten(_plain(sheet.foot), 92, placeholder=" …"), 24, SOFT)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def _plain(text: str) -> str:
    """Without signs that turn the direction of writing round, or that a font has no shape for."""
    return "".join(letter for letter in text.translate(DASHES) if letter.isprintable())


# --- boards on other pages


@dataclass(frozen=True)
class EmbeddedRow:
    """An entry of a board on another page: its rank, where that may be, its value in the first metric, and its place with people."""

    rank: str
    may_be: str
    id: int
    name: str
    team: str
    value: Cell | None
    place: str


@xframe_options_exempt
@csp_replace({"frame-ancestors": ["*"]})  # type: ignore[arg-type]  # its types know views of a request alone
def embed(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """The first entries of a board for the frame of another page, without a script or anybody's account."""
    place = shown_board(NOBODY, challenge, phase)
    snapshot = current_ranking(place)
    context: dict[str, Any] = {"challenge": place.challenge, "phase": place.phase, "snapshot": snapshot, "rows": []}
    context["board_url"] = reverse("board", args=[challenge, phase])
    if snapshot is not None:
        board = snapshot.board
        people, metric = human_agreement.of_board(board), board.primary or next(iter(board.metrics), None)
        column = people.column(board) if people is not None else None
        for index in board.overall.order[:EMBEDDED]:
            entry, rank, at = board.entries[index], board.overall.rank[index], column.rank[index] if column is not None else None
            context["rows"].append(
                EmbeddedRow(
                    str(rank or "–"),
                    span(board.overall.rank_low[index], board.overall.rank_high[index]),
                    entry.id,
                    entry.name,
                    "" if board.imported else entry.team,
                    cell(metric, index) if metric is not None else None,
                    ordinal(at) if at else "",
                )
            )
        context |= {"metric": metric, "has_places": any(row.place for row in context["rows"]), "rule": rule_words(board)}
    return for_everybody(render(request, "leaderboard/embed.html", context))


def oembed(request: HttpRequest) -> HttpResponse:
    """Frame of a board for a page that embeds it and asks by its address (https://oembed.com). JSON alone is spoken."""
    if request.GET.get("format", "json") != "json":
        return HttpResponse("Only format=json is spoken here.", status=501, content_type="text/plain")
    try:
        match = resolve(urlsplit(request.GET.get("url", "")).path)
    except (Resolver404, ValueError):
        raise Http404 from None
    if match.url_name != "board" or match.namespaces:
        raise Http404
    place = shown_board(NOBODY, match.kwargs["challenge"], match.kwargs["phase"])
    width, height = EMBED_SIZE  # or less, where a smaller frame is asked for
    if (asked := request.GET.get("maxwidth", "")).isascii() and asked.isdigit() and len(asked) < 6:
        width = max(1, min(int(asked), width))
    if (asked := request.GET.get("maxheight", "")).isascii() and asked.isdigit() and len(asked) < 6:
        height = max(1, min(int(asked), height))
    title = f"{place.challenge.title} · {place.phase.title}"
    source = f"{settings.SITE_URL}{reverse('board_embed', args=[place.challenge.slug, place.phase.slug])}"
    frame = format_html(
        '<iframe src="{}" width="{}" height="{}" title="{}" loading="lazy" style="border:0"></iframe>', source, width, height, title
    )
    answer = {
        "version": "1.0",
        "type": "rich",
        "title": title,
        "provider_name": "Plumbline",
        "provider_url": settings.SITE_URL,
        "cache_age": 300,
        "width": width,
        "height": height,
        "html": frame,
        "thumbnail_url": f"{settings.SITE_URL}{reverse('board_card', args=[place.challenge.slug, place.phase.slug])}",
        "thumbnail_width": SIZE[0],
        "thumbnail_height": SIZE[1],
    }
    return for_everybody(JsonResponse(answer))


def _bounded(asked: str, most: int) -> int:
    """A number of pixels that is asked for, of at least 1; the most where none is."""
    return max(1, min(int(asked), most)) if asked.isascii() and asked.isdigit() and len(asked) < 6 else most


# --- badges


def badge(request: HttpRequest, pk: int) -> HttpResponse:
    """An entry's place as an SVG for a README: `#1 of 9 on Rooflines`, with the date and the snapshot in its title."""
    place = entry_place(NOBODY, pk)
    phase = place.submission.phase
    snapshot, front = _front(phase) if place.phase_place.sees_board else (None, None)
    index = snapshot.board.index_of(pk) if snapshot is not None else None
    if snapshot is None or front is None or index is None:
        raise Http404
    rank, board = snapshot.board.overall.rank[index], snapshot.board
    low, high = board.overall.rank_low[index], board.overall.rank_high[index]
    n = sum(one is not None for one in board.overall.rank)
    said = "not ranked" if rank is None else f"#{rank} of {n}"
    if rank is not None and low is not None and low != high:
        said += f" ({low}–{high})"
    label = f"{phase.challenge.title}{' (made up)' if phase.challenge.made_up else ''}"
    made = day_in_words(snapshot.created_at, phase.time_zone)
    title = f"{label}, {phase.title}: {said}; Plumbline, snapshot {snapshot.short}, {made}"
    left, right = 12 + 6.7 * len(label), 12 + 6.7 * len(said)
    context = {"label": label, "said": said, "title": title, "left": left, "right": right, "width": left + right}
    return for_everybody(render(request, "leaderboard/badge.svg", context, content_type="image/svg+xml"))


# --- feeds and calendars


class BoardFeed(Feed):
    """Changes of the first place of a board, newest first, as Atom."""

    feed_type = Atom1Feed

    def get_object(self, request: HttpRequest, challenge: str, phase: str) -> Phase:
        return shown_board(NOBODY, challenge, phase).phase

    def title(self, phase: Phase) -> str:
        return f"{phase.challenge.title} · {phase.title}: who is first"

    def link(self, phase: Phase) -> str:
        return reverse("board", args=[phase.challenge.slug, phase.slug])

    def items(self, phase: Phase) -> list[dict[str, Any]]:
        rows = Snapshot.objects.filter(phase=phase, audience=Snapshot.Audience.PUBLIC).defer("payload").order_by("created_at", "pk")
        found: list[dict[str, Any]] = []
        before = None
        for snapshot in rows:
            snapshot.redact_front(phase)
            front = snapshot.front
            if front is not None and front.id != before:
                found.append({"snapshot": snapshot, "front": front, "phase": phase})
                before = front.id
        return found[::-1][:MOST_ENTRIES]

    def item_title(self, item: dict[str, Any]) -> str:
        front = item["front"]
        if front.level > 1:
            return front.lead
        return f"{front.name} ({front.team}) is first, {front.metric} {front.value}" if front.team else front.lead

    def item_description(self, item: dict[str, Any]) -> str:
        snapshot = item["snapshot"]
        return f"{snapshot.n_entries:,} entries of {snapshot.n_teams:,} teams; snapshot {snapshot.short}."

    def item_link(self, item: dict[str, Any]) -> str:
        phase, snapshot = item["phase"], item["snapshot"]
        return reverse("snapshot", args=[phase.challenge.slug, phase.slug, snapshot.digest])

    def item_pubdate(self, item: dict[str, Any]) -> datetime:
        return item["snapshot"].created_at

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
        return challenge.announcements.filter(published_at__lte=timezone.now()).order_by("-published_at")[:MOST_ENTRIES]

    def item_title(self, item: Any) -> str:
        return item.title

    def item_description(self, item: Any) -> str:
        return RenderedText.of(item.body).html if item.body else ""

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
            if at is None or phase.is_imported:
                continue
            start = at.astimezone(UTC)
            # As RFC 5545 §3.3.11 writes text.
            summary = _plain(f"{place.challenge.title}: {phase.title} {name}").replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,")
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


# --- search engines


def robots(request: HttpRequest) -> HttpResponse:
    """Rules for robots: they may look at what is public, and not at forms."""
    closed = ("/console/", "/admin/", "/accounts/", "/rate/", "/search/")
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in closed), f"Sitemap: {settings.SITE_URL}{reverse('sitemap')}"]
    return for_everybody(HttpResponse("\n".join(lines) + "\n", content_type="text/plain"))


class Fixed(Sitemap):
    """Pages that are always there."""

    def items(self) -> list[str]:
        names = [reverse(name) for name in ("home", "challenge_list", "metric_list", "docs")]
        return [*names, *(reverse("metric", args=[key]) for key in REGISTRY), *(reverse("doc", args=[name]) for name in TITLES)]

    def location(self, item: str) -> str:
        return item


class Public(Sitemap):
    """Challenges, boards that are out, and studies that are shown on them."""

    def items(self) -> list[str]:
        challenges = visible_challenges(NOBODY)
        now, found = timezone.now(), [reverse("challenge", args=[slug]) for slug in challenges.values_list("slug", flat=True)]
        phases = Phase.objects.filter(challenge__in=challenges).select_related("challenge", "parent").order_by("pk")
        out = [phase for phase in phases if board_is_out(phase, now)]
        found += [reverse("board", args=[phase.challenge.slug, phase.slug]) for phase in out]
        studies = Study.objects.shown().filter(phase__in=[phase.pk for phase in out]).select_related("phase__challenge").order_by("pk")
        return found + [reverse("study", args=[one.phase.challenge.slug, one.phase.slug, one.slug]) for one in studies]

    def location(self, item: str) -> str:
        return item


SITEMAPS = {"pages": Fixed, "challenges": Public}
