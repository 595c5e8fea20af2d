"""Answers that several pages give in the same way: a file to keep, a picture that is asked for again, what everybody may keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotModified
from django.utils.cache import get_conditional_response

Response = TypeVar("Response", bound=HttpResponseBase)


def attachment(response: Response, name: str) -> Response:
    """The answer as a file of that name, which a browser stores instead of showing it."""
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def for_everybody(response: HttpResponse) -> HttpResponse:
    """The answer, for any cache on the way to keep for five minutes: it holds what somebody without an account may see."""
    response["Cache-Control"] = "public, max-age=300"
    return response


def revalidated(request: HttpRequest, etag: str, answer: Callable[[], HttpResponse]) -> HttpResponse:
    """The response of `answer`, which a browser keeps and asks about each time, since who may see it is asked each time; 304 where its copy
    still holds. `etag` names all that the answer depends on."""
    response = get_conditional_response(request, etag=etag)
    if response is None:
        response = answer()
    if response.status_code in (200, HttpResponseNotModified.status_code):
        response["ETag"], response["Cache-Control"] = etag, "private, no-cache"
    return response
