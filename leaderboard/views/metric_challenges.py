"""Challenges of metrics: what they are, their boards, and where a program is sent."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard.boards.human_agreement import caveats, rough_words
from leaderboard.console.forms.programs import ProgramForm
from leaderboard.models import MetricChallenge, MetricEntry
from leaderboard.stats.votes import FEW
from submissions.errors import Refused
from submissions.visibility import visible_challenges


@dataclass(frozen=True)
class Line:
    """One row of a board: an entry, or a guard without one; its decided agreement with what it rests on, and its tier."""

    title: str
    by: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    why: str
    notes: list[str]
    tier: int | None
    guard: bool
    above: bool | None
    opens: bool
    own: bool
    key: str  # of its page, where it is shown


def seen(request: HttpRequest) -> QuerySet[MetricChallenge]:
    """Those of challenges that somebody may see, once they have begun."""
    rows = MetricChallenge.objects.filter(study__phase__challenge__in=visible_challenges(request.user), opens_at__lte=timezone.now())
    return rows.select_related("study__phase__challenge")


@require_safe
def challenges(request: HttpRequest) -> HttpResponse:
    """All there are."""
    return render(request, "leaderboard/metric_challenges.html", {"rows": list(seen(request)), "now": timezone.now()})


@require_http_methods(["GET", "HEAD", "POST"])
def challenge(request: HttpRequest, pk: int) -> HttpResponse:
    """The board of one, and the form for an entry."""
    row = get_object_or_404(seen(request), pk=pk)
    form = ProgramForm()
    del form.fields["is_public"]
    if request.method == "POST":
        if not request.user.is_authenticated:
            return redirect_to_login(request.path)
        form = ProgramForm(request.POST, request.FILES)
        del form.fields["is_public"]
        if form.is_valid() and _entered(request, row, form):
            return redirect(request.path)
    now = timezone.now()
    mine = list(row.entries.filter(user=request.user).select_related("program")) if request.user.is_authenticated else []
    which = "final" if row.is_over(now) else "public"
    lines = _lines(row, which, request.user)
    context = {
        "row": row,
        "form": form,
        "mine": mine,
        "lines": lines,
        "which": which,
        "open": row.is_open(now),
        "over": row.is_over(now),
        "tiers": len({line.tier for line in lines if line.tier}),
        "left": row.left(request.user) if request.user.is_authenticated else None,
        "organizes": row.challenge.organizers.filter(pk=request.user.pk).exists(),
        "waiting": any(entry.program.state == "waiting" for entry in mine),
    }
    return render(request, "leaderboard/metric_challenge.html", context)


def _entered(request: HttpRequest, row: MetricChallenge, form: ProgramForm) -> bool:
    sent = form.cleaned_data["file"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.zip"
        with path.open("wb") as target:
            target.writelines(sent.chunks())
        try:
            entry = row.enter(request.user, path, sent.name)
        except Refused as refused:
            form.add_error("file", refused.sentence)
            return False
    messages.success(request, f"{entry.program.read.title} version {entry.program.version} is in; it is checked, then held against people.")
    return True


def _lines(row: MetricChallenge, which: str, user: Any) -> list[Line]:
    standings = (row.standings or {}).get(which, [])
    entries = {
        str(entry.pk): entry
        for entry in MetricEntry.objects.filter(contest=row).select_related("program", "user", "contest__study__phase__challenge")
    }
    lines: list[Line] = []
    for one in standings:
        entry, figure = entries.get(one["key"]), one["decided"]
        if entry is None and not one["guard"]:
            continue
        # Below the stated minimum the sentence stands alone. A constant orders nothing, so that its half is no estimate.
        shown, known = figure["low"] is not None, one["key"] == "constant" and figure["n"]
        few = figure["why"].startswith(FEW) and not known
        lines.append(
            Line(
                title=GUARD_TITLES[one["key"]] if entry is None else entry.program.read.title,
                by=GUARD_WORDS[one["key"]] if entry is None else entry.user.username,
                value=None if few else figure["value"],
                low=figure["low"],
                high=figure["high"],
                n=figure["n"],
                why="" if shown else "Half of every duel." if known else figure["why"],
                notes=caveats(figure.get("coverage"), one.get("above_size")) + ([rough_words("items")] if figure.get("rough") else []),
                tier=one["tier"],
                guard=one["guard"],
                above=one["above"],
                opens=one["tier"] is not None and (not lines or lines[-1].tier != one["tier"]),
                own=entry is not None and user.is_authenticated and entry.user_id == user.pk,
                key=entry.program.full_key if entry is not None and entry.program_is_shown_to(user) else "",
            )
        )
    return lines


GUARD_TITLES = {"size": "Size alone", "coin": "A coin", "constant": "A constant"}
GUARD_WORDS = {"size": "the larger entry first", "coin": "knows nothing", "constant": "knows nothing"}
