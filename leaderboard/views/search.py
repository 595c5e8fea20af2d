"""Search over challenges, entries, metrics and documents that whoever searches may see."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Any

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
from submissions.visibility import board_is_out, entries_of_teams, on_board, visible_challenges

MOST = 20  # found of each kind
LEAST = 2  # letters
AROUND = 90  # characters shown before and behind a word of a document


@dataclass(frozen=True)
class Found:
    """Something that was found: its address, its name, and what is said beside it."""

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
    """What was found, by kind; `?q=` are the words, all of which must be there."""
    text = search_text(request)
    words = text.split()
    kinds: list[tuple[str, list[Found]]] = []
    if len(text) >= LEAST and words:
        kinds = [
            ("Challenges", _challenges(request.user, words)),
            ("Entries", _entries(request.user, words)),
            ("Metrics", _metrics(words)),
            ("Documents", _documents(words)),
        ]
    context = {"text": text, "kinds": [kind for kind in kinds if kind[1]], "least": LEAST, "most": MOST, "searched": bool(kinds)}
    return render(request, "leaderboard/search.html", context)


def _with_all(words: list[str], *columns: str) -> Q:
    """Every word is in one of the columns, in any case."""
    found = Q()
    for word in words:
        anywhere = Q()
        for column in columns:
            anywhere |= Q(**{f"{column}__icontains": word})
        found &= anywhere
    return found


def _challenges(user: Any, words: list[str]) -> list[Found]:
    rows = visible_challenges(user).filter(_with_all(words, "title", "summary", "slug")).order_by("-pk")[:MOST]
    return [Found(reverse("challenge", args=[one.slug]), one.title, one.summary, "made up" if one.made_up else "") for one in rows]


def _entries(user: Any, words: list[str]) -> list[Found]:
    """Entries by the name of their method or team: those on boards that are out, and those of the viewer's own teams in any state."""
    now = timezone.now()
    phases = Phase.objects.filter(challenge__in=visible_challenges(user)).select_related("challenge", "parent")
    shown = [phase for phase in phases if board_is_out(phase, now)]
    thawed = [phase.pk for phase in shown if phase.frozen_since(now) is None]
    may_see = Q(pk__in=entries_of_teams(user).values("pk")) if user.is_authenticated else Q(pk__in=[])
    if thawed:
        may_see |= Q(phase__in=thawed) & on_board(next(phase for phase in shown if phase.pk == thawed[0]), now)
    for phase in shown:
        if phase.pk not in thawed:
            may_see |= Q(phase=phase) & on_board(phase, now)
    rows = Submission.objects.filter(may_see).filter(_with_all(words, "method_name", "team__name"))
    rows = rows.select_related("team", "phase__challenge").order_by("-received_at", "-pk")[:MOST]
    return [
        Found(
            reverse("entry", args=[row.pk]),
            row.method_name,
            f"{row.team.name} · {row.phase.challenge.title}, {row.phase.title}",
            "baseline" if row.is_baseline else "",
        )
        for row in rows
    ]


def _metrics(words: list[str]) -> list[Found]:
    found = []
    for key, spec in REGISTRY.items():
        text = f"{key} {spec.title} {spec.doc} {spec.paper}".casefold()
        if all(word.casefold() in text for word in words):
            in_name = all(word.casefold() in f"{key} {spec.title}".casefold() for word in words)
            found.append((not in_name, spec.title, Found(reverse("metric", args=[key]), spec.title, spec.doc)))
    return [one for *_, one in sorted(found, key=lambda one: one[:2])][:MOST]


def _documents(words: list[str]) -> list[Found]:
    found = []
    for section in sections():
        folded = f"{section.heading} {section.text}".casefold()
        if not all(word.casefold() in folded for word in words):
            continue
        at = section.text.casefold().find(words[0].casefold())
        start, end = max(0, at - AROUND), max(0, at) + AROUND
        around = section.text[start:end].strip()
        about = f"{'…' if start else ''}{around}{'…' if end < len(section.text) else ''}"
        title = docs.TITLES[section.name][0]
        name = f"{title}: {section.heading}" if section.heading else title
        in_heading = all(word.casefold() in section.heading.casefold() for word in words)
        url = reverse("doc", args=[section.name]) + (f"#{section.anchor}" if section.anchor else "")
        found.append((not in_heading, Found(url, name, about)))
    return [one for _, one in sorted(found, key=lambda one: one[0])][:MOST]


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
