"""Search over challenges, entries, metrics and documents that the visitor may see."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from html import unescape

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from evaluation.metrics.registry import REGISTRY
from leaderboard.lookup import search_text, with_board_out
from leaderboard.views import docs
from submissions.models import Challenge, Phase, Submission, User
from submissions.models.frozen_board import frozen_since
from submissions.visibility import entries_of_teams, on_board, visible_challenges

MAX_FOUND = 20  # found of each kind
MIN_LETTERS = 2  # letters
AROUND = 90  # characters shown before and behind a word of a document


@dataclass(frozen=True)
class Found:
    """A search result: its address, its name, and the text beside it."""

    url: str
    name: str
    about: str
    tag: str = ""


@dataclass(frozen=True)
class Section:
    """A section of a document: where it is, its heading and its words."""

    name: str
    anchor: str
    heading: str
    text: str


def search(request: HttpRequest) -> HttpResponse:
    """Results of a search, by kind; `?q=` are the words, all of which must be there."""
    text = search_text(request)
    words = text.split()
    context = {"text": text, "least": MIN_LETTERS, "most": MAX_FOUND}
    if len(text) < MIN_LETTERS or not words:
        return render(request, "leaderboard/search.html", context | {"kinds": [], "searched": False})

    visible = visible_challenges(request.user)
    kinds = [
        ("Challenges", _challenges(visible, words)),
        ("Entries", _entries(request.user, visible, words)),
        ("Metrics", _metrics(words)),
        ("Documents", _documents(words)),
    ]
    return render(request, "leaderboard/search.html", context | {"kinds": [kind for kind in kinds if kind[1]], "searched": True})


def _challenges(visible: QuerySet[Challenge], words: list[str]) -> list[Found]:
    rows = visible.filter(_with_all(words, "title", "summary", "slug")).order_by("-pk")[:MAX_FOUND]
    return [Found(reverse("challenge", args=[one.slug]), one.title, one.summary, "simulated" if one.simulated else "") for one in rows]


def _entries(user: User | AnonymousUser, visible: QuerySet[Challenge], words: list[str]) -> list[Found]:
    """Entries by the name of their method or team: entries on published leaderboards, and the viewer's own teams' entries in any state."""
    now = timezone.now()
    shown = with_board_out(Phase.objects.filter(challenge__in=visible), now)
    thawed = [phase for phase in shown if frozen_since(phase, now) is None]
    may_see = Q(pk__in=entries_of_teams(user).values("pk")) if user.is_authenticated else Q(pk__in=[])
    if thawed:
        may_see |= Q(phase__in=thawed) & on_board(thawed[0], now)
    for phase in shown:
        if phase not in thawed:
            may_see |= Q(phase=phase) & on_board(phase, now)
    found = Submission.objects.filter(may_see).filter(_with_all(words, "method_name", "team__name"))
    return [
        Found(
            reverse("entry", args=[row.pk]),
            row.method_name,
            f"{f'{row.team.name} · ' if row.phase.has_teams else ''}{row.phase.challenge.title}, {row.phase.title}",
            "baseline" if row.is_baseline else "",
        )
        for row in found.select_related("team", "phase__challenge").order_by("-received_at", "-pk")[:MAX_FOUND]
    ]


def _metrics(words: list[str]) -> list[Found]:
    """Metrics, first those that have the words in their name."""
    found = []
    for key, spec in REGISTRY.items():
        if _has_all(f"{key} {spec.title} {spec.doc} {spec.origin}", words):
            is_elsewhere = not _has_all(f"{key} {spec.title}", words)
            found.append((is_elsewhere, spec.title, Found(reverse("metric", args=[key]), spec.title, spec.brief)))
    return [one for *_, one in sorted(found, key=lambda one: one[:2])][:MAX_FOUND]


def _documents(words: list[str]) -> list[Found]:
    """Sections of documents, first those that have the words in their heading."""
    found = []
    for section in sections():
        if not _has_all(f"{section.heading} {section.text}", words):
            continue
        at = section.text.casefold().find(words[0].casefold())
        start, end = max(0, at - AROUND), max(0, at) + AROUND
        about = f"{'…' if start else ''}{section.text[start:end].strip()}{'…' if end < len(section.text) else ''}"
        title = docs.TITLES[section.name][0]
        name = f"{title}: {section.heading}" if section.heading else title
        url = reverse("doc", args=[section.name]) + (f"#{section.anchor}" if section.anchor else "")
        found.append((not _has_all(section.heading, words), Found(url, name, about)))
    return [one for _, one in sorted(found, key=lambda one: one[0])][:MAX_FOUND]


def _has_all(text: str, words: list[str]) -> bool:
    """True if every word is in the text, in any case."""
    folded = text.casefold()
    return all(word.casefold() in folded for word in words)


def _with_all(words: list[str], *columns: str) -> Q:
    """Every word is in one of the columns, in any case."""
    found = Q()
    for word in words:
        anywhere = Q()
        for column in columns:
            anywhere |= Q(**{f"{column}__icontains": word})
        found &= anywhere
    return found


@lru_cache(maxsize=1)
def sections() -> tuple[Section, ...]:
    """All documents, cut at their headings."""
    found = []
    for name in docs.TITLES:
        parts = re.split(r'<h[2-4](?: id="([^"]*)")?>(.*?)</h[2-4]>', docs.html_of(name))
        found.append(Section(name, "", "", _words(parts[0])))
        for anchor, heading, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            found.append(Section(name, anchor or "", _words(heading), _words(text)))
    return tuple(found)


def _words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(strip_tags(html))).strip()
