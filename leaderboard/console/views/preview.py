"""A study's preview: its organizers walk through it as a rater does, and nothing is stored."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from leaderboard.lookup import organizer_of_phase, study_of
from leaderboard.models import Study
from leaderboard.studies.live import preview, views
from submissions.errors import Refused
from submissions.models import Phase


def previewed(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The view gets a live study of the phase, also a draft, and the address of its preview."""

    @never_cache
    @organizer_of_phase
    @wraps(view)
    def wrapped(request: HttpRequest, phase: Phase, study: str, **places: str) -> HttpResponse:
        found = study_of(phase, True, slug=study, key__isnull=False)
        return view(request, found, reverse("console_preview", args=[phase.challenge.slug, phase.slug, found.slug]), **places)

    return wrapped


@previewed
def intro(request: HttpRequest, study: Study, base: str) -> HttpResponse:
    """The page that raters join on; its button leads to the questions and lets nobody in."""
    context = {"study": study, "preview": base} | views.intro(study, "") | {"closed": ""}
    if request.method == "POST":
        try:
            views.said_at_join(study, "", request.POST)
        except Refused as refused:
            return render(request, "rating/join.html", context | {"refused": refused.sentence}, status=409)
        return redirect(f"{base}questions/")
    return render(request, "rating/join.html", context)


@previewed
@require_safe
def questions(request: HttpRequest, study: Study, base: str) -> HttpResponse:
    """The rating page."""
    addresses = {f"{name}_url": f"{base}{name}" for name in ("next", "answer", "undo")}
    return render(request, "rating/rate.html", {"study": study, "rater": preview.rater_of(study), "preview": base} | addresses)


@previewed
@require_safe
def next_question(request: HttpRequest, study: Study, base: str) -> HttpResponse:
    """State of the rating page at the first question."""
    return _state(lambda: preview.state(study, f"{base}scenes/"))


@previewed
@require_POST
def answer(request: HttpRequest, study: Study, base: str) -> HttpResponse:
    """State of the rating page after an answer, which is forgotten."""
    sent = views.sent_object(request) or {}
    return _state(lambda: preview.after_answer(study, f"{base}scenes/", sent.get("question", ""), sent.get("answers", {})))


@previewed
@require_POST
def undo(request: HttpRequest, study: Study, base: str) -> HttpResponse:
    """The question before."""
    return _state(lambda: preview.after_undo(study, f"{base}scenes/", (views.sent_object(request) or {}).get("question", "")))


def _state(make: Callable[[], views.State]) -> HttpResponse:
    try:
        return JsonResponse(make())
    except Refused as refused:
        return JsonResponse({"detail": refused.sentence}, status=409)


@previewed
@require_safe
def scene(request: HttpRequest, study: Study, base: str, token: str) -> HttpResponse:
    """The scene of a question of the preview."""
    return views.scene_response(_question(study, token))


@previewed
@require_safe
def scene_file(request: HttpRequest, study: Study, base: str, token: str, name: str) -> HttpResponse:
    """One mesh or image of it."""
    return views.file_response(_question(study, token), name)


def _question(study: Study, token: str) -> Any:
    question = preview.question_of(study, token)
    if question is None:
        raise Http404
    return question
