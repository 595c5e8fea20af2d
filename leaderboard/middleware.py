"""Two rules that hold for every page."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from submissions.errors import Refused
from submissions.limits import TooOften


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
    """Where the setting asks for it, staff without a second factor get no further than its set-up."""

    def __init__(self, get_response) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.STAFF_SECOND_FACTOR and request.user.is_authenticated and request.user.is_staff:
            from allauth.mfa.models import Authenticator

            open_paths = ("/accounts/", settings.STATIC_URL, "/-/")
            if not request.path.startswith(open_paths) and not Authenticator.objects.filter(user=request.user).exists():
                messages.info(request, "Staff need a second factor here: set one up to go on.")
                return redirect(reverse("mfa_activate_totp"))
        return self.get_response(request)
