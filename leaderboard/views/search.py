"""Search over challenges, entries, metrics and documents that the visitor may see."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from html import unescape

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from evaluation.metrics.registry import REGISTRY
from leaderboard.lookup import search_text
from leaderboard.views import docs
from submissions.models import Phase, Submission
from submissions.models.frozen_board import frozen_since
from submissions.visibility import board_is_out, entries_of_teams, on_board, visible_challenges

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

    visible, now = visible_challenges(request.user), timezone.now()
    rows = visible.filter(_with_all(words, "title", "summary", "slug")).order_by("-pk")[:MAX_FOUND]
    challenges = [
        Found(reverse("challenge", args=[one.slug]), one.title, one.summary, "simulated" if one.simulated else "") for one in rows
    ]

    # Entries by the name of their method or team: those on boards that are out, and those of the viewer's own teams in any state.
    phases = Phase.objects.filter(challenge__in=visible).select_related("challenge", "parent")
    shown = [phase for phase in phases if board_is_out(phase, now)]
    thawed = [phase for phase in shown if frozen_since(phase, now) is None]
    may_see = Q(pk__in=entries_of_teams(request.user).values("pk")) if request.user.is_authenticated else Q(pk__in=[])
    if thawed:
        may_see |= Q(phase__in=thawed) & on_board(thawed[0], now)
    for phase in shown:
        if phase not in thawed:
            may_see |= Q(phase=phase) & on_board(phase, now)
    found = Submission.objects.filter(may_see).filter(_with_all(words, "method_name", "team__name"))
    entries = [
        Found(
            reverse("entry", args=[row.pk]),
            row.method_name,
            f"{row.team.name} · {row.phase.challenge.title}, {row.phase.title}",
            "baseline" if row.is_baseline else "",
        )
        for row in found.select_related("team", "phase__challenge").order_by("-received_at", "-pk")[:MAX_FOUND]
    ]

    # Metrics and documents: first those that have the words in their name or heading.
    folded = [word.casefold() for word in words]
    metrics = []
    for key, spec in REGISTRY.items():
        if all(word in f"{key} {spec.title} {spec.doc} {spec.origin}".casefold() for word in folded):
            in_name = all(word in f"{key} {spec.title}".casefold() for word in folded)
            metrics.append((not in_name, spec.title, Found(reverse("metric", args=[key]), spec.title, spec.doc)))
    metrics.sort(key=lambda one: one[:2])
    documents = []
    for section in sections():
        if not all(word in f"{section.heading} {section.text}".casefold() for word in folded):
            continue
        at = section.text.casefold().find(folded[0])
        start, end = max(0, at - AROUND), max(0, at) + AROUND
        about = f"{'…' if start else ''}{section.text[start:end].strip()}{'…' if end < len(section.text) else ''}"
        title = docs.TITLES[section.name][0]
        name = f"{title}: {section.heading}" if section.heading else title
        url = reverse("doc", args=[section.name]) + (f"#{section.anchor}" if section.anchor else "")
        documents.append((not all(word in section.heading.casefold() for word in folded), Found(url, name, about)))
    documents.sort(key=lambda one: one[0])

    kinds = [
        ("Challenges", challenges),
        ("Entries", entries),
        ("Metrics", [one for *_, one in metrics][:MAX_FOUND]),
        ("Documents", [one for _, one in documents][:MAX_FOUND]),
    ]
    return render(request, "leaderboard/search.html", context | {"kinds": [kind for kind in kinds if kind[1]], "searched": True})


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
