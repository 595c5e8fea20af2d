"""Rules that hold for every page, and one for the API."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable

import structlog
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import redirect, render
from django.urls import reverse

from leaderboard.api.service import ROOT, problem, unavailable
from leaderboard.service import traffic
from submissions.errors import Refused
from submissions.outages import outage
from submissions.permissions import lacks_second_factor
from submissions.throttling import TooOften

log = structlog.get_logger(__name__)

REFRESH_SECONDS = 5  # a page that was refused for no longer than this is asked for again by the browser itself
COMPRESSED_TYPES = ("text/", "application/json", "application/problem+json", "application/atom+xml", "application/xml", "image/svg+xml")
APART = re.compile(rb"(<(script|pre|textarea)\b.*?</\2>)", re.S)  # text of programs, or to be copied
PERCENT = re.compile(rb"\s+%")  # a template's line may end before it
INTERVAL = re.compile(rb"\[([^][<>,]{1,16}),\s+([^][<>,]{1,16})\]")
NO_BREAK = "\xa0".encode()
IDLE = "worker_claim"  # a worker asks whether there is something to do
REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")


class RequestMiddleware:
    """Gives every request an id, counts requests by status and time, and logs one line for each that changed something or failed.

    The id is in every log line of the request, in the header X-Request-ID and on error pages. The proxy's id is used if there is a proxy
    and its id has the right form, because any client could send something else.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "") if settings.BEHIND_PROXY else ""
        request_id = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        # Until the thread's next request: Django logs what it refused after all middleware.
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        started = time.monotonic()
        response = self.get_response(request)
        seconds = time.monotonic() - started
        if not request.path.startswith("/-/"):
            traffic.count(response.status_code, seconds)
        match = request.resolver_match  # the route, because addresses hold tokens of invitations and raters
        is_idle = response.status_code == 204 and match is not None and match.url_name == IDLE  # hundreds of workers ask again and again
        if (request.method not in ("GET", "HEAD", "OPTIONS") and not is_idle) or response.status_code >= 500:
            route = match.route if match else ""
            log.info("request", method=request.method, route=route, status=response.status_code, seconds=round(seconds, 3))
        response["X-Request-ID"] = request_id
        return response


class CompressionMiddleware(GZipMiddleware):
    """Pages, JSON, tables and the meshes of the 3D view are sent compressed to clients that accept it; pictures and archives are compressed
    already, and uploaded files are sent as they are.

    Compression and a secret on one page can give the secret away, byte by byte. An attacker makes a browser ask often and sees how long the
    answers are (BREACH). Django adds up to 100 random bytes to each answer, and the CSRF token gets a new mask on each page.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_mesh = response.get("Content-Type") == "application/octet-stream" and not response.streaming
        if not is_mesh and not response.get("Content-Type", "").startswith(COMPRESSED_TYPES):
            return response
        return super().process_response(request, response)


class FiguresMiddleware:
    """On pages a figure and its % stay in one line, and so do both ends of an interval: hundreds of places have one, in templates and in
    sentences that other formats use as they are."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not response.streaming and response.get("Content-Type", "").startswith("text/html") and "Content-Encoding" not in response:
            parts = APART.split(response.content)  # by threes: a text, the separated part, and its tag
            parts[::3] = [INTERVAL.sub(_together, PERCENT.sub(NO_BREAK + b"%", part)) for part in parts[::3]]
            response.content = b"".join(part for n, part in enumerate(parts) if n % 3 < 2)
        return response


def _together(interval: re.Match[bytes]) -> bytes:
    """Both ends, after a word, a figure or a tag: a list in an attribute is for a program."""
    before = interval.string[max(0, interval.start() - 80) : interval.start()].rstrip()[-1:]
    return b"[%b,%b%b]" % (interval[1], NO_BREAK, interval[2]) if before.isalnum() or before in b">%)" else interval[0]


class RefusalMiddleware:
    """A page whose model method refused shows the sentence instead of an error page, and so do pages and API during an outage.

    The API has its own handler (problem details) and never gets here with a `Refused`. An address with NUL is no page: PostgreSQL takes
    NUL in no text.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path_info:
            raise Http404
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, Refused):
            return unavailable(request, found, error) if (found := outage(error)) else None
        response = render(request, "refused.html", {"sentence": error.sentence, "code": error.code, "retry_at": error.retry_at}, status=409)
        if isinstance(error, TooOften):
            response.status_code, response["Retry-After"] = error.status, str(error.seconds)
            if request.method == "GET" and error.seconds <= REFRESH_SECONDS:
                response["Refresh"] = str(error.seconds)
        return response


class PrivatePagesMiddleware:
    """Keep what somebody who is logged in is shown out of every cache: neither a shared one nor the browser's, which the next
    person at the machine goes back in. Files and figures that say themselves how they may be kept are left alone."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        # A request without a session is nobody's, and nobody is looked up.
        has_session = settings.SESSION_COOKIE_NAME in request.COOKIES or settings.SESSION_COOKIE_NAME in response.cookies
        if has_session and "Cache-Control" not in response and request.user.is_authenticated:
            response["Cache-Control"] = "private, no-store"
        return response


class StaffSecondFactorMiddleware:
    """Hold staff without a second factor at its set-up, where the setting asks for it.

    Programs send a token instead of a session: the API asks the same of its holder, see `submissions.api.common.Token`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        open_paths = ("/accounts/", settings.STATIC_URL, "/-/")
        if not request.path.startswith(open_paths) and lacks_second_factor(request.user):
            messages.info(request, "Staff need a second factor here: set one up to continue.")
            return redirect(reverse("mfa_activate_totp"))
        return self.get_response(request)


class ApiMethodMiddleware:
    """The API refuses a method in its own words: the library that finds the method knows no handler for that."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != 405 or not request.path.startswith(ROOT):
            return response
        allowed = response["Allow"]
        told = problem(405, f"This address does not take {request.method}; use {allowed}.", "method_not_allowed")
        told["Allow"] = allowed
        return told
