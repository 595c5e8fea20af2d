"""A page of the console: its frame, the act that a form of it asks for, and long lists a piece at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from leaderboard.console.forms.challenge import ReasonForm
from leaderboard.lookup import page_numbers, page_of
from submissions.errors import Refused
from submissions.models import Challenge, Phase

ROWS = 50


def page(
    request: HttpRequest, template: str, challenge: Challenge, here: str, phase: Phase | None = None, **context: object
) -> HttpResponse:
    """The page with its frame (challenge, phase, the tab `here`) and its own context."""
    frame = {"challenge": challenge, "phase": phase, "here": here, "now": timezone.now()}
    return render(request, f"console/{template}.html", frame | context)


def told(request: HttpRequest, words: str, *to: Any) -> HttpResponse:
    """Tell that an act is done, and go on to the page `to`, as `redirect` takes it, or back to this one."""
    messages.success(request, words)
    return redirect(*to or (request.path,))


def chosen_act(request: HttpRequest, acts: dict[str, Callable[..., HttpResponse]]) -> Callable[..., HttpResponse]:
    """The act that a form of the page asks for; Http404 for one that the page does not have."""
    act = acts.get(request.POST.get("act", ""))
    if act is None:
        raise Http404
    return act


def reason(request: HttpRequest, readers: str) -> str:
    """Reason why an organizer does something to somebody's entry or answers, which `readers` will read; `Refused` without any."""
    form = ReasonForm(request.POST)
    if not form.is_valid():
        raise Refused(f"Say why, in at most 240 characters: {readers} read it.", "no_reason")
    return form.cleaned_data["reason"]


class Foot(TypedDict):
    """Foot of a list a piece at a time: the page numbers to offer, None for a gap, and the page's own."""

    pages: list[int | None]
    page_number: int


def paged(request: HttpRequest, rows: QuerySet | list, size: int = ROWS) -> tuple[list[Any], Foot]:
    """The rows of the page that is asked for, and its foot."""
    shown = page_of(request, rows, size)
    return list(shown), {"pages": page_numbers(shown.number, shown.paginator.num_pages), "page_number": shown.number}
