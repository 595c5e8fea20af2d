"""The REST API, /api/v1/: the one instance, its errors, and its documentation.

Routers live with their nouns: taking part and uploading in `submissions/api/`, the rest beside this file.
"""

from __future__ import annotations

import json
import sys
from http import HTTPStatus
from typing import Any

import structlog
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import patch_cache_control
from django.views import defaults
from django.views.decorators.http import require_safe
from ninja import NinjaAPI, Router
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.parser import Parser
from ninja.responses import Response
from structlog.contextvars import get_contextvars

from leaderboard.api import agreement, boards, entries, evidence, programs, studies, worker
from submissions.api import challenges, teams
from submissions.errors import Refused
from submissions.formats.text import UnkeptText, check_texts
from submissions.outages import Outage, outage
from submissions.throttling import TooOften

log = structlog.get_logger(__name__)

ROOT = "/api/"  # of every address whose errors are problem details
STATUS = {"too_large": 413, "too_many_requests": 429, "storage": 503, "busy": 503}  # of a refusal by its code; else 409
PROBLEM = "application/problem+json"


class Body(Parser):
    """Bodies of requests: JSON whose texts can be kept, so that no field needs to ask."""

    def parse_body(self, request: HttpRequest) -> Any:
        said = json.loads(request.body)
        check_texts(said)
        return said


class Api(NinjaAPI):
    """Answers belong to the caller: no shared cache may keep them."""

    _schema: Any = None

    def create_response(self, request: HttpRequest, data: Any, **kwargs: Any) -> HttpResponse:
        response = super().create_response(request, data, **kwargs)
        patch_cache_control(response, private=True, no_cache=True)
        return response

    def get_openapi_schema(self, **kwargs: Any) -> Any:
        """The schema, with errors under the media type they are really sent as. It is made once: it takes long, and no request
        changes it."""
        if self._schema is not None:
            return self._schema
        schema = super().get_openapi_schema(**kwargs)
        for operations in schema["paths"].values():
            for operation in operations.values():
                for status, response in operation["responses"].items():
                    content = response.get("content", {})
                    if int(status) >= 400 and "application/json" in content:
                        content[PROBLEM] = content.pop("application/json")
        self._schema = schema
        return schema


api = Api(
    title="Plumbline",
    version="1",
    description=(
        "Most of what participants and visitors can do. Send an API token (made on your account page) as `Authorization: Bearer "
        "plumb_…`; public data need none. Errors are problem details (application/problem+json) with a sentence in `detail` and a "
        "stable name in `code`. Lists have pages: follow `next` until it is null."
    ),
    parser=Body(),
    docs_decorator=require_safe,
    docs_url=None,  # it has a page of the house: leaderboard.views.api_docs
)
api.add_router("", challenges.router)
api.add_router("", teams.router)
api.add_router("", teams.account)
api.add_router("", entries.router)  # with those of submissions/api/entries.py
api.add_router("", boards.router)
api.add_router("", agreement.router)
api.add_router("", evidence.router)
api.add_router("", studies.router)
api.add_router("", programs.router)
api.add_router("", worker.router)


def problem(status: int, detail: str, code: str, **more: Any) -> HttpResponse:
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, "code": code, **more}
    body |= {"request_id": request_id} if (request_id := get_contextvars().get("request_id")) else {}
    response = Response(body, status=status)
    response["Content-Type"] = PROBLEM
    response["Cache-Control"] = "no-store"
    return response


@api.exception_handler(Refused)
def refused(request: HttpRequest, error: Refused) -> HttpResponse:
    more = {"retry_at": error.retry_at} if error.retry_at else {}
    response = problem(STATUS.get(error.code, 409), error.sentence, error.code, **more)
    if isinstance(error, TooOften):
        response["Retry-After"] = str(error.seconds)
    return response


def unavailable(request: HttpRequest, found: Outage, error: BaseException) -> HttpResponse:
    """The answer during an outage: problem details for programs, scripts of pages among them, and a page for people."""
    log.warning("a request met an outage", code=found.code, error=" ".join(str(error).split()))
    is_page = not request.path.startswith(ROOT) and request.accepts("text/html")
    if is_page:  # without the context processors, which would ask the database who this is
        page = render_to_string("503.html", {"request": request, "outage": found, "again": request.method == "GET"})
        response = HttpResponse(page, status=503, headers={"Cache-Control": "no-store"})
        if request.method == "GET":
            response["Refresh"] = str(found.seconds)
    else:
        response = problem(503, found.sentence, found.code)
    response["Retry-After"] = str(found.seconds)
    return response


@api.exception_handler(Http404)
def not_found(request: HttpRequest, error: Exception) -> HttpResponse:
    return problem(404, "There is nothing here, or nothing that you may see; check the address, or log in.", "not_found")


@api.exception_handler(PermissionDenied)
def denied(request: HttpRequest, error: PermissionDenied) -> HttpResponse:
    detail = str(error) or "You may not do this; log in as somebody who may."
    return problem(403, detail, "forbidden")


@api.exception_handler(AuthenticationError)
def not_authenticated(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    detail = str(error)
    sentence = detail if detail != "Unauthorized" else "Log in, or send an API token as a bearer token."
    response = problem(401, sentence, "unauthenticated")
    response["WWW-Authenticate"] = 'Bearer realm="Plumbline"'
    return response


@api.exception_handler(HttpError)
def http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    if isinstance(error.__cause__, UnkeptText):
        return problem(422, str(error.__cause__), "invalid")
    said = str(error)
    sentence = said if said.endswith(".") else "The request's body is not the JSON it must be; see the documentation."
    return problem(error.status_code, sentence, HTTPStatus(error.status_code).name.lower())


@api.exception_handler(RequestDataTooBig)
def body_too_big(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
    return problem(413, "This request is too large; send files in parts.", "too_large")


@api.exception_handler(ValidationError)
def not_valid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    # The first step of a place names query, path or body.
    errors = [{"field": ".".join(map(str, one["loc"][1:])) or str(one["loc"][0]), "message": one["msg"]} for one in error.errors]
    first = f"{errors[0]['field'].split('.')[-1]}: {errors[0]['message']}" if errors else "the request"
    return problem(422, f"The request is not as it must be ({first}); see the documentation.", "invalid", errors=errors)


_rest = Router()
api.add_router("", _rest)  # the last one: what no other address matched


@_rest.api_operation(["GET", "POST", "PUT", "PATCH", "DELETE"], "/{path:rest}", include_in_schema=False, auth=None, url_name="api_nothing")
def nothing_here(request: HttpRequest, rest: str) -> Any:
    raise Http404


# --- what no handler above has answered: Django has logged it with its traceback, and asks here for the answer (see `leaderboard.urls`)


def handle_server_error(request: HttpRequest) -> HttpResponse:
    """The answer to an unforeseen exception, raised anywhere in the API or its middleware; a page for other addresses."""
    if (error := sys.exception()) and (found := outage(error)):  # met by a middleware
        return unavailable(request, found, error)
    if not request.path.startswith(ROOT):
        return defaults.server_error(request)
    return problem(500, "Something broke on our side, and the operators have been told; try again in a minute.", "internal_error")


def handle_bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The answer to a request that Django itself refuses to read. It also refuses one whose session it could not store."""
    if found := outage(exception):
        return unavailable(request, found, exception)
    if not request.path.startswith(ROOT):
        return defaults.bad_request(request, exception)
    return problem(400, "This request cannot be read; check its address, its host and its headers.", "bad_request")


def handle_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The answer to an address that is not there at all."""
    return not_found(request, exception) if request.path.startswith(ROOT) else defaults.page_not_found(request, exception)
