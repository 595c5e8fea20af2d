"""The things a request points to that only this app knows: a study, a ranking, a board not shown yet, a console of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.models import Snapshot, Study
from leaderboard.records.board import Board
from submissions.errors import Refused
from submissions.lookup import PhasePlace, challenge_for, phase_of, phase_place
from submissions.models import Challenge, Phase
from submissions.permissions import Viewer
from submissions.storage.store import StorageError
from submissions.visibility import Person, board_is_out, sees_board

# --- boards and studies ----------------------------------------------------------------------


def audience_of(viewer: Person) -> Snapshot.Audience:
    """Whose rankings somebody is shown."""
    return Snapshot.Audience.ORGANIZERS if viewer.organizes else Snapshot.Audience.PUBLIC


def snapshot_of(phase: Phase, viewer: Viewer, digest: str) -> Snapshot:
    """The ranking at that address."""
    snapshot = Snapshot.open(phase, digest)
    if snapshot is None or (snapshot.audience == Snapshot.Audience.ORGANIZERS and not viewer.organizes):
        raise Http404
    return snapshot


def current_ranking(place: PhasePlace) -> Snapshot | None:
    """The newest ranking as the viewer is shown it; None where they see no board, or there is none yet."""
    return Snapshot.current(place.phase, audience_of(place.viewer)) if place.sees_board else None


def current_boards(viewers: Mapping[int, Person], phases: Iterable[Phase]) -> dict[int, Board]:
    """The newest rankings of several phases as somebody is shown them, by phase; none of a board that they do not see. `viewers` is who
    they are in each challenge. The queries are the same, however many phases there are."""
    shown = {phase.pk: phase for phase in phases if sees_board(viewers[phase.challenge_id], phase)}
    audiences = {pk: audience_of(viewers[phase.challenge_id]) for pk, phase in shown.items()}
    found = Snapshot.newest(audiences) if audiences else {}
    for pk, snapshot in found.items():
        snapshot.redact_since(shown[pk])
    return {pk: snapshot.board for pk, snapshot in found.items()}


def study_of(phase: Phase, organizes: bool, **which: Any) -> Study:
    """The phase's study of that slug or number, if somebody who organizes, or does not, may know of it."""
    study = get_object_or_404(phase.studies.shown_to(organizes), **which)
    study.phase = phase
    return study


def study_to_rate(key: str) -> Study:
    """The study with that opaque key that is not a draft."""
    return get_object_or_404(Study.objects.select_related("phase__challenge").exclude(state=Study.State.DRAFT), key=key)


def shown_board(user: Any, challenge: str, phase: str) -> PhasePlace:
    """The phase at that address, if the viewer sees its leaderboard; else Http404."""
    place = phase_place(user, challenge, phase)
    if not place.sees_board:
        raise Http404
    return place


def not_shown_yet(request: HttpRequest, place: PhasePlace, here: str) -> HttpResponse:
    """The page instead of a board that is not shown to this viewer now: when it will be."""
    return render(request, "leaderboard/not_shown.html", place.context(here))


def with_board_out(phases: QuerySet[Phase], now: datetime) -> list[Phase]:
    """The phases whose board all who see their challenge may see."""
    return [phase for phase in phases.select_related("challenge", "parent") if board_is_out(phase, now)]


# --- the console -----------------------------------------------------------------------------


def organizer(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The view gets the challenge instead of its slug, and only from those who organize it. It is asked with GET, HEAD or POST.

    Refusals of a model or the storage are shown on the page of the form.
    """
    answer = require_http_methods(["GET", "HEAD", "POST"])(view)

    @login_required
    @wraps(view)
    def wrapped(request: HttpRequest, challenge: str, **places: object) -> HttpResponse:
        row = challenge_for(request.user, challenge, "challenge.organize")
        try:
            return answer(request, row, **places)
        except (Refused, StorageError) as error:
            if request.method != "POST":
                raise
            messages.error(request, str(error), getattr(error, "code", ""))
            return redirect(request.path)

    return wrapped


def organizer_of_phase(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """As `organizer`, for a view of one of the challenge's phases."""

    @organizer
    @wraps(view)
    def wrapped(request: HttpRequest, challenge: Challenge, phase: str, **places: object) -> HttpResponse:
        return view(request, phase_of(challenge, phase), **places)

    return wrapped


def organizer_of_measured_phase(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """As `organizer_of_phase`; a phase of imported figures has no metrics, no reference and nothing to score."""

    @organizer_of_phase
    @wraps(view)
    def wrapped(request: HttpRequest, phase: Phase, **places: object) -> HttpResponse:
        if not phase.is_measured_here:
            raise Http404
        return view(request, phase, **places)

    return wrapped


# --- texts of an address, and long lists a piece at a time -----------------------------------


def page_number(request: HttpRequest) -> int:
    """The page of a long list that is asked for; the first for anything that is no number."""
    text = request.GET.get("page", "")
    return min(max(1, int(text)), 10**6) if text.isascii() and text.isdigit() and len(text) < 10 else 1


def page_of(request: HttpRequest, rows: Any, size: int) -> Page:
    """The piece of `rows` (a query, a list or a range) of the page that is asked for; the last one beyond the end."""
    return Paginator(rows, size).get_page(page_number(request))


def page_numbers(page: int, n_pages: int) -> list[int | None]:
    """Numbers for the foot of a table: both ends and around the current one; None is a gap."""
    near = sorted({1, n_pages, *range(max(1, page - 2), min(n_pages, page + 2) + 1)})
    numbers: list[int | None] = []
    for number in near:
        if numbers and number - (numbers[-1] or 0) > 1:
            numbers.append(None)
        numbers.append(number)
    return numbers if n_pages > 1 else []


def search_text(request: HttpRequest, name: str = "q") -> str:
    """Text to look for: at most 100 characters, without those no database takes."""
    return request.GET.get(name, "")[:100].replace("\x00", "").strip()
