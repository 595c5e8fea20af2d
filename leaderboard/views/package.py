"""The download of the participants' package."""

from __future__ import annotations

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse

from leaderboard import wheel


def package(request: HttpRequest, name: str) -> HttpResponse:
    """A wheel by its name, which says by a digest what it holds: this server's own, or one that it served before."""
    path = settings.PACKAGE / name
    if not wheel.NAME.fullmatch(name) or not path.is_file():
        raise Http404
    response = FileResponse(path.open("rb"), content_type="application/octet-stream")
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    return response
