"""Rules that hold for every page, and one for the API."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from leaderboard.api import problem
from submissions.errors import Refused
from submissions.limits import TooOften
from submissions.permissions import lacks_second_factor


class RefusalMiddleware:
    """A page whose model method refused shows the sentence instead of an error page.

    The API has its own handler (problem details) and never gets here with a `Refused`.
    """

    def __init__(self, get_response) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, Refused):
            return None
        response = render(request, "refused.html", {"sentence": error.sentence, "retry_at": error.retry_at}, status=409)
        if isinstance(error, TooOften):
            response.status_code, response["Retry-After"] = 429, str(error.seconds)
        return response


class StaffSecondFactorMiddleware:
    """Where the setting asks for it, staff without a second factor get no further than its set-up.

    Programs send a token instead of a session: the API asks the same of its holder, see `submissions.api.common.Token`.
    """

    def __init__(self, get_response) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        open_paths = ("/accounts/", settings.STATIC_URL, "/-/")
        if not request.path.startswith(open_paths) and lacks_second_factor(request.user):
            messages.info(request, "Staff need a second factor here: set one up to go on.")
            return redirect(reverse("mfa_activate_totp"))
        return self.get_response(request)


class ApiMethodMiddleware:
    """The API refuses a method in its own words: the library that finds the method knows no handler for that."""

    def __init__(self, get_response) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != 405 or not request.path.startswith("/api/"):
            return response
        allowed = response["Allow"]
        told = problem(405, f"This address does not take {request.method}; use {allowed}.", "method_not_allowed")
        told["Allow"] = allowed
        return told
