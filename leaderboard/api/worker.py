"""Remote workers, which only call out: they claim a part, renew their lease, and bring its result. See
`evaluation.work.remote_worker_server`."""

from __future__ import annotations

import time
import uuid
from datetime import datetime
from typing import Annotated, Any

from django.http import FileResponse, HttpRequest, HttpResponse
from ninja import Path, Router, Schema
from ninja.errors import AuthenticationError, HttpError
from ninja.security import HttpBearer
from pydantic import Field

from evaluation import library_versions
from evaluation.models import Part, WorkerToken
from evaluation.networks import weights
from evaluation.work import remote_worker_server
from evaluation.work.remote_worker_server import held_part
from submissions import throttling
from submissions.api.common import ACT_ERRORS, DOWNLOAD, ERRORS, LARGEST_ID, Id
from submissions.errors import Refused
from submissions.storage import stored_files

BAD_TOKEN = "This is not the token of a worker, or it was revoked or has expired; ask the organizer for one."  # noqa: S105 - a sentence


IDLE_SECONDS = 1.0  # hundreds of workers ask again and again: for so long, what nothing waited for is not looked up again

_idle: dict[str, tuple[float, frozenset[str]]] = {}  # by the hash of a key: until when, and for whom: queues and sandboxes


class WorkerBearer(HttpBearer):
    """A worker's token of a challenge, made in its console, sent as `Authorization: Bearer plumbw_…`."""

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        found = WorkerToken.holder(token.strip())
        if found is None:
            throttling.limit_api(request)
            raise AuthenticationError(message=BAD_TOKEN)
        return found


router = Router(tags=["workers"], auth=WorkerBearer())

Signed = Annotated[str, Path(max_length=2000, pattern=r"^[\w:.=-]+$")]
Short = Annotated[str, Field(max_length=240)]


class Claim(Schema):
    queues: list[Annotated[str, Field(pattern="^(cpu|gpu)$")]] = Field(["cpu"], max_length=2)
    worker: Annotated[str, Field(min_length=1, max_length=120)] = Field("worker", description="The worker's own name.")
    machine: Short = Field("", description="The worker's machine, by name and boot.")
    capabilities: dict[Annotated[str, Field(max_length=40)], Short | int | float | bool | None] = Field(
        {},
        max_length=20,
        description="The worker's versions of the package and of libraries, its cores, memory and graphics card. Organizers see these.",
    )
    sandboxes: list[Annotated[str, Field(max_length=40)]] = Field(
        [],
        max_length=10,
        description="Metric programs that the worker can isolate: python, script, image, python with a card, script with a card.",
    )
    without: list[Annotated[int, Field(ge=1, le=LARGEST_ID)]] = Field([], max_length=100, description="Parts that the worker cannot do.")


class TokenOut(Schema):
    name: str = Field(description="The organizer's name for the token.")
    challenge: str
    title: str = Field(description="The challenge's title.")
    queues: list[str]
    expires_at: datetime
    trusted: bool = Field(
        description="Whether the token's workers get parts: false while one of their results is in doubt, and after one was found wrong."
    )
    at_once: int = Field(description="Parts that the token's workers may have together at a time; each worker has one.")
    held: int = Field(description="Parts that the token's workers have now.")
    other_versions: bool = Field(description="Whether the token's workers may have other versions of the libraries than the service.")
    versions: dict[str, str] = Field(
        description="Versions of the libraries that the service computes with. A worker with other versions gets no part, unless "
        "`other_versions` is true."
    )
    waits_until: datetime | None = Field(
        description="The token gets no part before this time, because leases of its workers ended without a result."
    )
    waiting: dict[str, int] = Field(description="Parts that the token's workers may do, by queue; `at_once` of them at a time.")


class Input(Schema):
    url: str = Field(description="A signed link, valid for an hour. Do not send the token when you open the link.")
    size: int
    sha256: str


class WeightsFile(Input):
    path: str = Field(description="Below the folder of weights.")
    note_path: str
    note: str = Field(description="The file beside it, as JSON.")


class ProgramFile(Input):
    scope: str = Field(description="The prefix of its key in the columns.")
    contents: str = Field(description="sha256 over the names and contents of its files.")


class ColumnOut(Schema):
    slug: str
    key: str
    params: dict[str, Any]
    fingerprint: str
    weights_sha256: str | None


class PartOut(Schema):
    id: int
    fence: str = Field(description="Sent with everything about this part; valid until the lease ends.")
    lease_seconds: float
    heartbeat_seconds: float
    family: str
    device: str
    item_ids: list[str]
    groups: list[str] = Field(description="One per item.")
    unit_scale: float
    columns: list[ColumnOut]
    seconds: int = Field(description="Processor seconds that the part may take.")
    patience: float = Field(description="The lease ends after `seconds` times this factor of elapsed time, whatever the worker reports.")
    item_seconds: float = Field(description="Elapsed seconds for one item. The lease also ends if `done` has not grown for this time.")
    begin_seconds: float = Field(description="Extra seconds for the first item, to fetch the inputs and prepare the reference.")
    memory: int = Field(description="Memory that the part may use, in bytes.")
    inputs: dict[str, Input]
    weights: list[WeightsFile]
    programs: list[ProgramFile] = Field(description="Metric programs, by digest.")


class Fenced(Schema):
    fence: uuid.UUID


class Beat(Fenced):
    done: int = Field(0, ge=0, le=10_000_000, description="Items that are done.")


class Lease(Schema):
    lease_seconds: float


class Result(Fenced):
    results: dict[str, Any] = Field(description="scores by slug, seconds by slug, core_seconds, gpu_seconds, environment.")


class Taken(Schema):
    kept: bool


class GiveUp(Fenced):
    kind: Annotated[str, Field(pattern="^(stopped|missing|failed)$")] = "stopped"
    reason: Annotated[str, Field(max_length=2000)] = ""


@router.get("/worker", response={200: TokenOut, **ERRORS}, summary="Read what your token is for, and what waits for it", url_name="worker")
def token(request: HttpRequest) -> Any:
    """State of the token, without claiming a part. An autoscaler can start as many workers as `waiting` says."""
    found: WorkerToken = request.auth
    return {
        "name": found.name,
        "challenge": found.challenge.slug,
        "title": found.challenge.title,
        "queues": found.queues,
        "expires_at": found.expires_at,
        "trusted": found.is_trusted,
        "at_once": found.at_once,
        "held": Part.objects.held().filter(token=found).count(),
        "other_versions": found.other_versions,
        "versions": library_versions.exact(),
        "waits_until": found.waits_until if found.is_waiting() else None,
        "waiting": remote_worker_server.waiting(found),
    }


@router.post("/worker/claim", response={200: PartOut, 204: None, **ERRORS}, summary="Get a part to do", url_name="worker_claim")
def claim(request: HttpRequest, data: Claim, response: HttpResponse) -> Any:
    token: WorkerToken = request.auth
    remote_worker_server.hear(token, data.worker, data.machine, data.capabilities)
    if not token.other_versions and library_versions.differences(data.capabilities):
        response["Retry-After"] = str(remote_worker_server.retry_after(token))
        return 204, None
    queues, now = frozenset([*data.queues, *(f"sandbox {name}" for name in data.sandboxes)]), time.monotonic()
    until, idle_queues = _idle.get(token.token_hash, (-1.0, frozenset[str]()))
    is_idle = until > now and queues <= idle_queues
    part = None if is_idle else remote_worker_server.claim(token, data.queues, data.worker, data.machine, data.without, data.sandboxes)
    if part is None:
        if not is_idle and not data.without:
            _idle[token.token_hash] = now + IDLE_SECONDS, queues
        response["Retry-After"] = str(remote_worker_server.retry_after(token))
        return 204, None
    return 200, remote_worker_server.described(part, token, request.build_absolute_uri("/"))


@router.post("/worker/parts/{part}/beat", response={200: Lease, **ACT_ERRORS}, summary="Report that you are working on it")
def beat(request: HttpRequest, part: Id, data: Beat) -> Any:
    return {"lease_seconds": remote_worker_server.beat(held_part(request.auth, part, data.fence), data.done)}


@router.post("/worker/parts/{part}/result", response={200: Taken, **ACT_ERRORS}, summary="Bring the result of a part")
def result(request: HttpRequest, part: Id, data: Result) -> Any:
    if remote_worker_server.was_taken(request.auth, part, data.fence):
        return {"kept": False}  # the answer to it was lost; nothing is written twice
    try:
        remote_worker_server.take(held_part(request.auth, part, data.fence), data.results)
    except remote_worker_server.BadResult as error:
        raise HttpError(422, str(error)) from None
    return {"kept": True}


@router.post("/worker/parts/{part}/giveup", response={204: None, **ACT_ERRORS}, summary="Leave a part to others")
def giveup(request: HttpRequest, part: Id, data: GiveUp) -> Any:
    remote_worker_server.give_up(held_part(request.auth, part, data.fence), data.kind, data.reason)
    return 204, None


@router.get("/worker/inputs/{signed}", auth=None, response=ERRORS, summary="A file that a part needs", openapi_extra=DOWNLOAD)
def inputs(request: HttpRequest, signed: Signed) -> Any:
    """Uses a signed link of a claimed part; it needs no token."""
    throttling.limit_api(request)
    try:
        return FileResponse(stored_files.store().open(remote_worker_server.linked(signed, "key")), content_type="application/octet-stream")
    except FileNotFoundError:
        raise Refused("This file no longer exists; claim the part again.", "gone") from None


@router.get("/worker/weights/{signed}", auth=None, response=ERRORS, summary="Weights that a part needs", openapi_extra=DOWNLOAD)
def network_weights(request: HttpRequest, signed: Signed) -> Any:
    """Uses a signed link of a claimed part; it needs no token."""
    throttling.limit_api(request)
    folder = weights.cache_folder().resolve()
    path = (folder / remote_worker_server.linked(signed, "weights")).resolve()
    if not path.is_relative_to(folder) or not path.is_file():
        raise Refused("These weights no longer exist; claim the part again.", "gone")
    return FileResponse(path.open("rb"), content_type="application/octet-stream")
