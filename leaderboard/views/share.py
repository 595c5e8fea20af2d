"""Boards in frames of other pages, badges, and answers to search engines: what goes to other places beside cards and feeds.

All of it holds exactly what a visitor without an account may see at that moment, for any reader, so that it can be kept and passed on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from csp.decorators import csp_replace
from django.conf import settings
from django.contrib.sitemaps import Sitemap
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.clickjacking import xframe_options_exempt

from evaluation.metrics.registry import REGISTRY
from leaderboard.boards.people import of_board
from leaderboard.charts.cards import SIZE
from leaderboard.lookup import current_ranking, shown_board, with_board_out
from leaderboard.models import Study
from leaderboard.records.cell import Cell
from leaderboard.records.chart import shortened
from leaderboard.service.responses import for_everybody
from leaderboard.views.docs import TITLES
from leaderboard.views.share_cards import NOBODY, public_front
from leaderboard.wording.board import rule as rule_words
from leaderboard.wording.ranks import place as place_words
from leaderboard.wording.ranks import rank_range
from submissions.format_time import day_in_words
from submissions.lookup import entry_place
from submissions.models import Phase
from submissions.visibility import visible_challenges

EMBEDDED = 10  # entries of a board on another page
EMBED_SIZE = (720, 560)  # of its frame, in pixels


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
        people, metric = of_board(board), board.primary or next(iter(board.metrics), None)
        for index in board.overall.order[:EMBEDDED]:
            entry, rank, place_ = board.entries[index], board.overall.rank[index], people.place(index) if people is not None else None
            context["rows"].append(
                EmbeddedRow(
                    str(rank or "–"),
                    rank_range(board.overall.rank_range(index)),
                    entry.id,
                    entry.name,
                    board.team_of(entry),
                    Cell(metric, index) if metric is not None else None,
                    place_words(place_),
                )
            )
        context |= {"metric": metric, "has_places": any(row.place for row in context["rows"]), "rule": rule_words(board.rule)}
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


# --- badges


def badge(request: HttpRequest, pk: int) -> HttpResponse:
    """An entry's place as an SVG for a README: `#1 of 9 on Rooflines`, with the date and the snapshot in its title."""
    place = entry_place(NOBODY, pk)
    phase = place.submission.phase
    snapshot, front = public_front(phase) if place.phase_place.sees_board else (None, None)
    index = snapshot.board.index_of(pk) if snapshot is not None else None
    if snapshot is None or front is None or index is None:
        raise Http404
    overall = snapshot.board.overall
    rank, ends = overall.rank[index], overall.rank_range(index)
    said = "not ranked" if rank is None else f"#{rank} of {overall.n_ranked}"
    if rank is not None and ends is not None and ends[0] != ends[1]:
        said += f" ({rank_range(ends)})"
    ending = " (simulated)" if phase.challenge.simulated else ""
    label = f"{shortened(phase.challenge.title)}{ending}"
    made = day_in_words(snapshot.created_at, phase.time_zone)
    title = f"{phase.challenge.title}{ending}, {phase.title}: {said}; Plumbline, snapshot {snapshot.short}, {made}"
    left, right = 12 + 6.7 * len(label), 12 + 6.7 * len(said)
    context = {"label": label, "said": said, "title": title, "left": left, "right": right, "width": left + right}
    return for_everybody(render(request, "leaderboard/badge.svg", context, content_type="image/svg+xml"))


# --- search engines


def icon(request: HttpRequest) -> HttpResponse:
    """The icon of answers that are no pages, such as a picture opened by itself: browsers ask for it by this address."""
    return for_everybody(redirect(static("plumbline.svg")))


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
        out = with_board_out(Phase.objects.filter(challenge__in=challenges).order_by("pk"), now)
        found += [reverse("board", args=[phase.challenge.slug, phase.slug]) for phase in out]
        studies = Study.objects.shown().filter(phase__in=out).select_related("phase__challenge").order_by("pk")
        return found + [reverse("study", args=[one.phase.challenge.slug, one.phase.slug, one.slug]) for one in studies]

    def location(self, item: str) -> str:
        return item


SITEMAPS = {"pages": Fixed, "challenges": Public}
