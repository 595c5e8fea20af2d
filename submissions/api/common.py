"""The common part of every endpoint: who is asking, errors, and pieces of a list."""

from __future__ import annotations

import base64
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Generic, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Path, Query, Schema
from ninja.errors import AuthenticationError, HttpError
from ninja.security import HttpBearer
from ninja.security.base import AuthBase
from ninja.utils import check_csrf
from pydantic import Field

from submissions import throttling
from submissions.models import ApiToken, Scope
from submissions.permissions import lacks_second_factor

MAX_PER_PAGE = 100
LARGEST_ID = 2**63 - 1  # what a database column holds

NAME = r"^[-\w@.]+$"  # of anything an address names; what a body may hold, see `submissions.formats.text`
Slug = Annotated[str, Path(max_length=63, pattern=NAME)]
Id = Annotated[int, Path(ge=1, le=LARGEST_ID)]
PartNumber = Annotated[int, Path(ge=1, le=10_000)]
Item = TypeVar("Item")


BAD_TOKEN = "This token is not valid: it is unknown, revoked or expired; make a new one on your account page."  # noqa: S105 - a sentence
SAFE = ("GET", "HEAD")
NO_SECOND_FACTOR = "Staff need a second factor here, also for their programs: log in on the site and set one up."

# --- who is asking ---------------------------------------------------------------------------


class Token(HttpBearer):
    """An API token, made on the account page, sent as `Authorization: Bearer plumb_…`. Its scopes say what it is for."""

    def __init__(self, acts: Scope = Scope.SUBMIT) -> None:
        """`acts` is the scope that a token needs for whatever changes something."""
        super().__init__()
        self.acts = acts

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        user = ApiToken.holder(token.strip())
        # A wrong token is never taken for nobody: the caller thinks to be somebody.
        request.user = user or AnonymousUser()
        throttling.limit_api(request)
        if user is None:
            raise AuthenticationError(message=BAD_TOKEN)
        if lacks_second_factor(user):
            raise HttpError(403, NO_SECOND_FACTOR)
        if request.method not in SAFE and user.reach is not None and self.acts not in user.reach.scopes:
            raise HttpError(403, f"This API token lacks the scope “{self.acts}”; make one that has it on your account page.")
        return user


class Session(AuthBase):
    """The browser's log-in; acts need the CSRF token in `X-CSRFToken`."""

    openapi_type = "apiKey"
    openapi_in = "cookie"
    openapi_name = "sessionid"

    def __call__(self, request: HttpRequest) -> Any:
        if not request.user.is_authenticated:
            return None
        throttling.limit_api(request)
        if check_csrf(request) is not None:
            raise HttpError(403, "The page is out of date: load it again and repeat what you did.")
        return request.user


def anyone(request: HttpRequest) -> Any:
    """Visitors who have not logged in."""
    throttling.limit_api(request)
    return request.user


SIGNED_IN = [Token(), Session()]
ORGANIZING = [Token(Scope.ORGANIZE), Session()]
ANYBODY = [*SIGNED_IN, anyone]


# --- errors ----------------------------------------------------------------------------------


class Problem(Schema):
    """An error as problem details (RFC 9457), sent as application/problem+json."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = Field(description="One sentence: what is wrong, and what to do.")
    code: str = Field(description="A short name of the error for programs; the name does not change.")
    request_id: str | None = Field(None, description="The request's name in the operator's log; also in X-Request-ID.")
    retry_at: datetime | None = Field(None, description="When the same request may succeed.")
    errors: list[dict[str, Any]] | None = Field(None, description="Mistakes in the request itself, by field.")


# What can go wrong with any request, and with those that name a thing or change one.
ERRORS = {401: Problem, 403: Problem, 404: Problem, 422: Problem, 429: Problem, 500: Problem, 503: Problem}
ACT_ERRORS = {400: Problem, 409: Problem, 413: Problem, **ERRORS}


BINARY = {"type": "string", "format": "binary"}
DOWNLOAD = {
    "responses": {
        200: {"description": "The file.", "content": {"application/octet-stream": {"schema": BINARY}}},
        302: {"description": "Address of the file, for a few minutes."},
    }
}

# --- pages -----------------------------------------------------------------------------------


class Page(Schema, Generic[Item]):
    """A piece of a list; `next` is the address of the following piece on this server, null at the end."""

    items: list[Item]
    next: str | None


class Paging(Schema):
    """Page of a list."""

    cursor: str | None = Field(None, max_length=80, description="Taken from `next`; do not make one up.")
    limit: int = Field(20, ge=1, le=MAX_PER_PAGE)


PageQuery = Annotated[Paging, Query()]


def encode_cursor(pk: int) -> str:
    return base64.urlsafe_b64encode(str(pk).encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> int:
    """The number in a cursor; HttpError 422 for anything that is none."""
    try:
        pk = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode("ascii")
        if pk.isdigit() and 0 <= int(pk) <= LARGEST_ID and encode_cursor(int(pk)) == cursor:
            return int(pk)
    except ValueError:
        pass
    raise HttpError(422, "The cursor is not one this service gave; start again without it.")


def newest_first(rows: QuerySet, request: HttpRequest, paging: Paging) -> tuple[list, str | None]:
    """A piece of `rows`, newest first. Rows that are added meanwhile neither repeat nor hide any."""
    if paging.cursor is not None:
        rows = rows.filter(pk__lt=decode_cursor(paging.cursor))
    found = list(rows.order_by("-pk")[: paging.limit + 1])
    more = len(found) > paging.limit
    found = found[: paging.limit]
    return found, next_address(request, encode_cursor(found[-1].pk)) if more else None


def piece_of(n: int, request: HttpRequest, paging: Paging) -> tuple[range, str | None]:
    """The places of a piece of `n` things whose order never changes, and the address of the next piece."""
    start = decode_cursor(paging.cursor) if paging.cursor is not None else 0
    stop = min(start + paging.limit, n)
    return range(start, stop), next_address(request, encode_cursor(stop)) if stop < n else None


def next_address(request: HttpRequest, cursor: str) -> str:
    query = request.GET.copy()
    query["cursor"] = cursor
    return f"{request.path}?{query.urlencode()}"


# --- bodies ----------------------------------------------------------------------------------


def no_body_beyond(request: HttpRequest, most: int) -> int:
    """The announced length of a request's body, which must be there."""
    length = request.headers.get("Content-Length", "")
    if not length.isdigit():
        raise HttpError(411, "Say with Content-Length how large the part is.")
    if int(length) > most:
        raise HttpError(413, f"A part has at most {most:,} bytes here; send the sizes the upload asks for.")
    return int(length)


def one_of(names: type[StrEnum], *more: None) -> dict[str, Any]:
    """Entry in the API's document for a text that is one of these. A type of its own would appear there under its name alone, so that
    states and reasons of entries and of figures would have the same name."""
    return {"enum": [*(one.value for one in names), *more]}
