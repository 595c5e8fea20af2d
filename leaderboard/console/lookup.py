"""Who sits at the console, and at which challenge: every view of it begins here."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from submissions.errors import Refused
from submissions.models import Challenge, Phase
from submissions.permissions import require
from submissions.storage.stored_files import StorageError


def organizer(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The view gets the challenge instead of its slug, and only from those who organize it.

    What a model or the storage refuses to a form is shown on the page that the form came from.
    """

    @login_required
    @wraps(view)
    def wrapped(request: HttpRequest, challenge: str, **places: object) -> HttpResponse:
        found = Challenge.objects.filter(slug=challenge).first()
        if found is None:
            raise Http404
        require(request.user, "challenge.organize", found)
        try:
            return view(request, found, **places)
        except (Refused, StorageError) as error:
            if request.method != "POST":
                raise
            messages.error(request, str(error))
            return redirect(request.path)

    return wrapped


def organizer_of_phase(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """As `organizer`, for a view of one of the challenge's phases."""

    @organizer
    @wraps(view)
    def wrapped(request: HttpRequest, challenge: Challenge, phase: str, **places: object) -> HttpResponse:
        found = challenge.phases.filter(slug=phase).first()
        if found is None:
            raise Http404
        found.challenge = challenge
        return view(request, found, **places)

    return wrapped


def organizer_of_measured_phase(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """As `organizer_of_phase`; a phase of imported figures has no metrics, no reference and nothing to score."""

    @organizer_of_phase
    @wraps(view)
    def wrapped(request: HttpRequest, phase: Phase, **places: object) -> HttpResponse:
        if phase.is_imported:
            raise Http404
        return view(request, phase, **places)

    return wrapped


def page(
    request: HttpRequest, template: str, challenge: Challenge, here: str, phase: Phase | None = None, **context: object
) -> HttpResponse:
    """A page of the console: its frame (challenge, phase, the tab `here`) and its own context."""
    frame = {"challenge": challenge, "phase": phase, "here": here, "now": timezone.now()}
    return render(request, f"console/{template}.html", frame | context)


def chosen_act(request: HttpRequest, acts: dict[str, Callable[..., HttpResponse]]) -> Callable[..., HttpResponse]:
    """The act that a form of the page asks for; Http404 for one that the page does not have."""
    act = acts.get(request.POST.get("act", ""))
    if act is None:
        raise Http404
    return act


def number(text: str | None) -> int:
    """The row number that a form or an address names; 0, which no row has, for anything else."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else 0
