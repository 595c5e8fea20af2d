"""Uploading entries, and what a team does with them. Their scores are told by leaderboard/api/entries.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from ninja import Router, Schema
from pydantic import Field, create_model

from submissions import throttling
from submissions.api.common import (
    ACT_ERRORS,
    BINARY,
    DOWNLOAD,
    ERRORS,
    LARGEST_ID,
    NAME,
    SIGNED_IN,
    Id,
    PartNumber,
    no_body_beyond,
    one_of,
)
from submissions.entry_fields import Door, EntryField, FieldKind, through
from submissions.entry_states import EntryState, Reason, State
from submissions.lookup import phase_for, submission_for
from submissions.models import Status, Submission
from submissions.permissions import Viewer
from submissions.storage import uploads
from submissions.views.files import download
from submissions.wording import duplicate, sentence

router = Router(tags=["submissions"], auth=SIGNED_IN)


# A text stays one, so that it is read as people write numbers.
Amount = Annotated[Annotated[float, Field(strict=True)] | Annotated[str, Field(max_length=40)], Field(union_mode="left_to_right")]


def stated(base: type[Schema], typed: Callable[[EntryField], tuple[Any, Any]]) -> Any:
    """`base` with the fields that the API takes of `entry_fields`, each with the type and the default that `typed` gives it."""
    definitions: dict[str, Any] = {field.name: typed(field) for field in through(Door.API)}
    return create_model(base.__name__, __base__=base, **definitions)


def _given(field: EntryField) -> tuple[Any, Any]:
    if field.kind.is_number:
        return Amount | None, Field(None, description=field.described)
    return str, Field(... if field.required else "", max_length=int(field.limit), description=field.described)


def _changed(field: EntryField) -> tuple[Any, Any]:
    if field.kind.is_number:
        return _given(field)
    return str | None, Field(None, max_length=int(field.limit), description=field.described)


def _told(field: EntryField) -> tuple[Any, Any]:
    return {FieldKind.COUNT: int | None, FieldKind.AMOUNT: float | None}.get(field.kind, str), ...


class EntryPlace(Schema):
    challenge: str = Field(max_length=63, pattern=NAME)
    phase: str = Field(max_length=63, pattern=NAME)


Given: Any = stated(EntryPlace, _given)


class SubmissionIn(Given):
    as_it_is: bool = Field(False, description="Score the entry even if it would be put on hold, see `on_hold`.")
    file_name: str = Field(max_length=500)
    size: int = Field(ge=0, le=LARGEST_ID, description="Bytes.")
    sha256: str = Field(
        "",
        max_length=64,
        description="SHA-256 of the whole file. The digest fixes the content, so the upload may be finished after the phase has closed.",
    )


Changed: Any = stated(Schema, _changed)


class SubmissionEdit(Changed):
    """Changes to an entry; what is left out, or null, stays as it is."""


class SignedPart(Schema):
    number: int
    url: str


class UploadOut(Schema):
    """Addresses to send the bytes to. kind "chunks": PUT part n to `url`/n. kind "multipart": PUT each of `parts` to its own address,
    without further headers. POST to `/resume` every minute meanwhile: an upload that is silent for three minutes gives up its place among
    the team's uploads, and is refused if it continues while none is left. A part that came through this server is a sign of life too.
    Addresses without a host are on this server. Parts are numbered from 1 and have `part_size` bytes, the last one what is left. Then POST
    to `complete_url`."""

    kind: str
    part_size: int
    parts_done: list[int]
    url: str | None
    parts: list[SignedPart] | None
    complete_url: str
    expires_at: datetime


class EntryName(Schema):
    id: int
    number: int
    challenge: str
    phase: str
    team: str


Told: Any = stated(EntryName, _told)


class SubmissionBrief(Told):
    status: str
    state: str = Field(
        description="State of the entry, including why it is not on the board; `withheld` if you may not see it.",
        json_schema_extra=one_of(State),
    )
    reason_code: str | None = Field(
        description="The reason for the entry's state, if there is one; `sentence` has the reason in words.",
        json_schema_extra=one_of(Reason, None),
    )
    reason_numbers: dict[str, Any] = Field(description="The numbers and names of that reason.")
    fault: str = Field(description="The cause of a failed entry: `service` or `entry`; otherwise empty.")
    is_baseline: bool
    is_verified: bool
    is_chosen: bool
    is_withdrawn: bool
    created_at: datetime
    received_at: datetime | None
    finished_at: datetime | None
    page_url: str
    # for the team and the organizers only:
    sentence: str | None = Field(description="The entry's state as a sentence; null except for the team and the organizers.")
    file_name: str | None
    size: int | None
    sha256: str | None
    problems: list[str] | None = Field(description="Problems for which the entry was rejected: the first hundred.")
    n_problems: int | None
    awaits_confirmation: bool | None = Field(
        description="True if the entry is on hold. POST to `/confirm` to have the entry scored as it is."
    )
    on_hold: str | None = Field(
        description=(
            "Reason why the entry is on hold; empty if the entry is not on hold. `kind`: many of its files hold nothing that can be "
            "scored. `inputs`: the entry does not fit the inputs. `folders`: its files are in several folders. `problems` has details."
        )
    )
    confirm_until: datetime | None = Field(description="Moment before which an entry on hold can be confirmed.")
    warnings: list[str] | None
    missing_items: list[str] | None
    reason: str | None = Field(description="Reason why the entry is hidden or disqualified.")
    upload: UploadOut | None = Field(description="While the upload is not finished, for members who may continue it.")


class PartsOut(Schema):
    parts_done: list[int]


OPEN = (
    "id",
    "number",
    *(field.name for field in through(Door.API)),
    "status",
    "fault",
    "is_baseline",
    "is_verified",
    "is_chosen",
    "created_at",
    "received_at",
    "finished_at",
)
OWN = (*("file_name", "size", "sha256", "problems", "n_problems", "confirm_until", "missing_items"),)


def duplicate_warnings(entries: Sequence[Submission]) -> dict[int, str]:
    """By entry, a sentence if its team has sent the same bytes before; otherwise empty."""
    found = Submission.sent_before(entries)
    said = {pk: duplicate(other.number, other.phase.title, other.state.state) for pk, other in found.items()}
    return {entry.pk: said.get(entry.pk, "") for entry in entries}


def brief(
    request: HttpRequest, submission: Submission, viewer: Viewer, again: str | None = None, state: EntryState | None = None
) -> SubmissionBrief:
    """An entry as `viewer` may see it. `again` is its duplicate warning and `state` its state, where the caller has these."""
    own, reader = viewer.may("submission.see_problems", submission), viewer.reader(submission)
    state = (state or submission.state).as_told(reader)
    columns = {name: getattr(submission, name) for name in OPEN}
    columns |= {name: getattr(submission, name) if own else None for name in OWN}
    warnings = reason = upload = said = on_hold = None
    if own:
        again = duplicate_warnings([submission])[submission.pk] if again is None else again
        warnings = [*([again] if again else []), *submission.warnings]
        reason = submission.disqualified_reason or submission.hidden_reason
        said, on_hold = sentence(state, reader), submission.reason if submission.is_on_hold else ""
        still_open = submission.status == Status.UPLOADING and submission.upload_expires_at > viewer.now
        upload = _upload(submission) if still_open and viewer.may("submission.send", submission) else None
    return SubmissionBrief(
        **columns,
        challenge=submission.phase.challenge.slug,
        phase=submission.phase.slug,
        team=submission.team.name,
        is_withdrawn=submission.withdrawn_at is not None,
        page_url=request.build_absolute_uri(reverse("entry", args=[submission.pk])),
        state=state.state,
        reason_code=state.reason,
        reason_numbers=dict(state.numbers),
        sentence=said,
        awaits_confirmation=submission.is_on_hold if own else None,
        on_hold=on_hold,
        warnings=warnings,
        reason=reason,
        upload=upload,
    )


def _upload(submission: Submission) -> UploadOut:
    offer = uploads.offer(submission)
    base = f"/api/v1/submissions/{submission.pk}"  # a path: behind a proxy the service may not know its own name
    multipart = offer.kind == "multipart"
    return UploadOut(
        kind=offer.kind,
        part_size=offer.part_size,
        parts_done=offer.parts_done,
        url=None if multipart else f"{base}/parts",
        parts=[SignedPart(number=number, url=url) for number, url in sorted(offer.urls.items())] if multipart else None,
        complete_url=f"{base}/complete",
        expires_at=offer.expires_at,
    )


def _answer(request: HttpRequest, submission: Submission) -> SubmissionBrief:
    submission.refresh_from_db()
    return brief(request, submission, Viewer(request.user, submission.phase.challenge, timezone.now()))


# --- upload ----------------------------------------------------------------------------------


@router.post(
    "/submissions",
    response={200: SubmissionBrief, 201: SubmissionBrief, **ACT_ERRORS},
    summary="Reserve an upload",
    description=(
        "Checks the phase's limits and says how to send the bytes. Unfinished uploads do not count. If your team has sent the same bytes "
        "to the phase within the last minute, the answer is 200 and that entry, and you send nothing."
    ),
)
def create_submission(request: HttpRequest, data: SubmissionIn) -> Any:
    phase = phase_for(request.user, data.challenge, data.phase)
    throttling.limit_uploads(request)
    about = {field.name: getattr(data, field.name) for field in through(Door.API)}
    file = {name: getattr(data, name) for name in ("file_name", "size", "sha256", "as_it_is")}
    submission = uploads.start(request.user, phase, **file, **about)
    return 200 if submission.is_repeated else 201, _answer(request, submission)


@router.put(
    "/submissions/{submission}/parts/{number}",
    response={200: PartsOut, 411: ACT_ERRORS[400], **ACT_ERRORS},
    summary="Send one part",
    openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": BINARY}}}},
)
def put_part(request: HttpRequest, submission: Id, number: PartNumber) -> Any:
    found = submission_for(request.user, submission, "submission.send")
    no_body_beyond(request, found.phase.max_bytes())
    return {"parts_done": uploads.save_part(found, number, request)}


@router.post(
    "/submissions/{submission}/complete",
    response={200: SubmissionBrief, **ACT_ERRORS},
    summary="Finish an upload: check and queue the entry",
)
def complete(request: HttpRequest, submission: Id) -> Any:
    return _answer(request, uploads.finish(submission_for(request.user, submission, "submission.send")))


@router.post(
    "/submissions/{submission}/resume",
    response={200: SubmissionBrief, **ACT_ERRORS},
    summary="Continue an upload",
    description=(
        "An upload that had stopped counts again: as an upload of today, or, after the phase has closed, of the day for which it counted "
        "last."
    ),
)
def resume(request: HttpRequest, submission: Id) -> Any:
    found = submission_for(request.user, submission, "submission.send")
    uploads.resume(found)
    return _answer(request, found)


@router.post(
    "/submissions/{submission}/pause",
    response={200: SubmissionBrief, **ACT_ERRORS},
    summary="Stop an upload for now",
    description="The upload counts against no limit until it continues. Sent parts are kept until the upload expires.",
)
def pause(request: HttpRequest, submission: Id) -> Any:
    found = submission_for(request.user, submission, "submission.manage")
    uploads.pause(found)
    return _answer(request, found)


# --- afterwards ------------------------------------------------------------------------------


@router.patch("/submissions/{submission}", response={200: SubmissionBrief, **ACT_ERRORS}, summary="Change the description of an entry")
def edit(request: HttpRequest, submission: Id, data: SubmissionEdit) -> Any:
    found = submission_for(request.user, submission, "submission.manage")
    found.edit(**{name: value for name, value in data.dict().items() if value is not None})
    return _answer(request, found)


@router.post("/submissions/{submission}/cancel", response={200: SubmissionBrief, **ACT_ERRORS}, summary="Stop an entry that is not done")
def cancel(request: HttpRequest, submission: Id) -> Any:
    found = submission_for(request.user, submission, "submission.manage")
    uploads.cancel(found)
    return _answer(request, found)


@router.post(
    "/submissions/{submission}/withdraw",
    response={200: SubmissionBrief, **ACT_ERRORS},
    summary="Withdraw an entry that is scored or on hold, for good",
    description=(
        "A withdrawn entry that was on hold can no longer be confirmed, and no longer counts among your team's three. Once "
        "the phase has closed, its board is frozen or a hidden one was revealed, no earlier entry of your team takes the place of a "
        "withdrawn one on the board."
    ),
)
def withdraw(request: HttpRequest, submission: Id) -> Any:
    found = submission_for(request.user, submission, "submission.manage")
    found.withdraw()
    return _answer(request, found)


@router.post(
    "/submissions/{submission}/choose", response={200: SubmissionBrief, **ACT_ERRORS}, summary="Make it your team's entry on the board"
)
def choose(request: HttpRequest, submission: Id) -> Any:
    found = submission_for(request.user, submission, "submission.send")
    found.choose()
    return _answer(request, found)


@router.post(
    "/submissions/{submission}/confirm",
    response={200: SubmissionBrief, **ACT_ERRORS},
    summary="Have an entry on hold scored as it is",
    description=(
        "The entry keeps the date of its upload and counts as an upload of today. After the end of the phase this is possible "
        "for 24 hours, for entries from before the end; the entry then counts as an upload of the day for which it counted last. It is "
        "not possible once the board has been frozen or revealed."
    ),
)
def confirm(request: HttpRequest, submission: Id) -> Any:
    found = submission_for(request.user, submission, "submission.send")
    throttling.limit_uploads(request)
    found.confirm()
    return _answer(request, found)


@router.post(
    "/submissions/{submission}/retry",
    response={200: SubmissionBrief, **ACT_ERRORS},
    summary="Try a failed entry again",
    description=(
        "While the phase is open, a retry counts as an upload of today. For a week after the end, you can retry an entry "
        "that the service failed to score. This counts as an upload of the day for which the entry counted last. Organizers' retries "
        "need no upload left."
    ),
)
def retry(request: HttpRequest, submission: Id) -> Any:
    found = submission_for(request.user, submission, "submission.retry")
    throttling.limit_uploads(request)
    found.retry(request.user)
    return _answer(request, found)


@router.get(
    "/submissions/{submission}/file",
    response=ERRORS,
    summary="Download what was uploaded",
    openapi_extra=DOWNLOAD,
)
def get_file(request: HttpRequest, submission: Id) -> HttpResponse:
    found = submission_for(request.user, submission, "submission.download")
    return download(*uploads.stored_file(found))
