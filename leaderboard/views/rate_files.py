"""The files of the question that a rater looks at, and of the one after it; of no others."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from leaderboard import kept
from leaderboard.api import problem
from leaderboard.rating import materials
from leaderboard.rating.access import shown_question

# The address is of one question and no other, so a browser may keep what it got for as long as a rater may look at it.
CACHING = "private, max-age=3600"


@require_safe
def scene(request: HttpRequest, key: str, token: str) -> HttpResponse:
    """What the question shows, and the names of its other files."""
    question = shown_question(request, key, token)
    return _private(JsonResponse(materials.scene(question)))


@require_safe
def scene_file(request: HttpRequest, key: str, token: str, name: str) -> HttpResponse:
    """One mesh or image of the question."""
    question = shown_question(request, key, token)
    try:
        data, content_type = materials.file(question, name)
    except materials.NoSuchFile:
        raise Http404 from None
    if data is None:
        busy = problem(503, "Other meshes are being prepared; this one comes in a minute.", "busy")
        busy["Retry-After"] = str(kept.BUSY_SECONDS)
        return busy
    return _private(HttpResponse(data, content_type=content_type))


def _private(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = CACHING
    return response
