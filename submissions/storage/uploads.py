"""The one way in for uploads. The page, the API and through it the client all use it.

An upload is reserved (`start`), sent in parts (`save_part`, or straight to S3) and finished (`finish`), or sent whole in one request
(`send_whole`). Every step can be repeated after a lost connection. Size and hash in the row are compared with the stored bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import structlog
from django.db import transaction
from django.utils import timezone

from submissions.errors import Refused
from submissions.formats.file_digest import file_digest
from submissions.models import AuditEntry, Membership, Phase, Status, Submission, Team
from submissions.models.entry_texts import checked_sha256
from submissions.permissions import require
from submissions.storage.store import Arrived, PartsMissing, StorageError, UploadNotes, part_plan
from submissions.storage.stored_files import drop_file, store

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Offer:
    """Way to send the bytes of a reserved upload. `urls` holds the signed addresses of the parts that have not come yet; empty where parts
    come through this service."""

    kind: str
    part_size: int
    parts_done: list[int]
    urls: dict[int, str]
    expires_at: datetime


def team_of(user: Any, phase: Phase) -> Team:
    """The team `user` uploads for. Raises what `require` raises where they may not upload."""
    require(user, "phase.upload", phase)
    return Membership.objects.select_related("team").get(challenge=phase.challenge, user=user).team


def start(
    user: Any,
    phase: Phase,
    *,
    file_name: str,
    size: int,
    sha256: str = "",
    as_it_is: bool = False,
    now: datetime | None = None,
    **about: Any,
) -> Submission:
    """Reserve an upload and make room for its bytes. `about` describes the entry, see `entry_fields`, and `as_it_is` says that it is
    to be scored even if it would be put on hold. Bytes that the team has just sent are answered with their entry. Raises `Refused`,
    StorageError and what `require` raises."""
    team = team_of(user, phase)
    with transaction.atomic():
        Team.objects.select_for_update().get(pk=team.pk)
        if first := Submission.sent_just_now(phase, team, checked_sha256(sha256), as_it_is, now or timezone.now()):
            return first
        about |= {"file_name": file_name, "size": size, "sha256": sha256, "as_it_is": as_it_is}
        submission = Submission.reserve(phase, team, user, now=now, **about)
    try:
        _notes(submission)
    except StorageError:
        _unreserve(submission)
        raise
    return submission


def _unreserve(submission: Submission) -> None:
    """The storage took nothing of an upload that was just reserved: as if nobody had tried."""
    Submission.objects.filter(pk=submission.pk, status=Status.UPLOADING, upload_data={}).delete()


def _notes(submission: Submission) -> UploadNotes:
    """The storage's notes on an open upload, made where the first attempt did not come that far."""
    if not submission.upload_data:
        where = store()
        notes = where.start_upload(f"submissions/{submission.pk}", submission.file_name, submission.size)
        if not Submission.objects.filter(pk=submission.pk, upload_data={}).update(upload_data=notes):
            submission.refresh_from_db()
            if submission.upload_data.get("upload_id") != notes.get("upload_id"):
                where.drop_upload(notes)
            return submission.upload_data
        submission.upload_data = notes
    return submission.upload_data


def _require_open(submission: Submission, now: datetime | None) -> None:
    open_until = submission.upload_expires_at
    if submission.status != Status.UPLOADING or open_until is None or open_until <= (now or timezone.now()):
        raise Refused("This upload is no longer open: it was finished, cancelled or ran out of time; start it again.", "upload_over")


def offer(submission: Submission, now: datetime | None = None) -> Offer:
    """Addresses for the parts that are still missing; call it again to resume an upload."""
    _require_open(submission, now)
    where, notes = store(), _notes(submission)
    seconds = max(1, int((submission.upload_expires_at - (now or timezone.now())).total_seconds()))
    done = where.parts_done(notes)
    numbers = range(1, len(part_plan(notes["size"], notes["part_size"])) + 1)
    signed = {number: where.part_url(notes, number, seconds) for number in numbers if number not in done}
    return Offer(
        kind=notes["kind"],
        part_size=notes["part_size"],
        parts_done=done,
        urls={number: url for number, url in signed.items() if url},
        expires_at=submission.upload_expires_at,
    )


def resume(submission: Submission, now: datetime | None = None) -> None:
    """Continue an upload, or report that it is alive if its parts do not pass through this service. Raises `Refused`."""
    _require_open(submission, now)
    submission.hold_place(now)


def pause(submission: Submission, now: datetime | None = None) -> None:
    """Pause an upload; the received bytes are kept until it expires."""
    _require_open(submission, now)
    submission.leave_place()


def save_part(submission: Submission, number: int, stream: BinaryIO, now: datetime | None = None) -> list[int]:
    """Keep one part that comes through this service; returns the numbers that are there."""
    resume(submission, now)
    where, notes = store(), _notes(submission)
    if where.kind != "chunks":
        raise Refused("Send the parts to the addresses given with the upload, not here.", "parts_elsewhere")
    plan = part_plan(notes["size"], notes["part_size"])
    try:
        where.save_part(notes, number, stream)
    except PartsMissing:
        expected = f"part {number} has {plan[number - 1]:,} bytes" if 1 <= number <= len(plan) else f"there are {len(plan)} parts"
        raise Refused(f"Part {number} of {submission.file_name} does not fit: {expected}; send it again.", "part_size") from None
    return where.parts_done(notes)


def finish(submission: Submission, now: datetime | None = None) -> Submission:
    """All parts were sent: join them, check what arrived, queue the entry. Doing it again after
    it worked changes nothing."""
    if submission.status != Status.UPLOADING and submission.received_at is not None:
        return submission
    resume(submission, now)  # joining takes a while, and would be in vain
    notes = _notes(submission)
    try:
        arrived = store().finish_upload(notes)
    except PartsMissing as error:
        shown = ", ".join(str(number) for number in error.numbers[:10])
        more = f" and {len(error.numbers) - 10} more" if len(error.numbers) > 10 else ""
        what = f"part {shown} is missing; send it" if len(error.numbers) == 1 else f"parts {shown}{more} are missing; send them"
        raise Refused(f"{submission.file_name} is not complete: {what}.", "parts_missing") from None
    received = _receive(submission, arrived, now)
    _forget(notes)
    return received


def send_whole(user: Any, phase: Phase, path: Path, *, file_name: str, **about: Any) -> Submission:
    """The entry of an upload that came in one request, with its file at `path`; or the existing entry, if the team has just sent the same
    bytes."""
    team = team_of(user, phase)
    about |= {"file_name": file_name, "size": path.stat().st_size, "sha256": file_digest(path)}
    return _store(Submission.reserve(phase, team, user, **about), path)


def send_baseline(organizer: Any, phase: Phase, path: Path, *, file_name: str, **about: Any) -> Submission:
    """A baseline of the organizers that lies at `path`, for a board where it competes with nobody. They need no team for it."""
    require(organizer, "challenge.organize", phase.challenge)
    about |= {"file_name": file_name, "size": path.stat().st_size, "sha256": file_digest(path)}
    with transaction.atomic():  # a team without entries would be counted among those that take part
        submission = Submission.reserve(phase, Team.of_baselines(phase.challenge), organizer, is_baseline=True, **about)
        AuditEntry.record(phase.challenge, organizer, "submission.baseline", submission, submission=submission.pk)
    return _store(submission, path)


def _store(submission: Submission, path: Path) -> Submission:
    """Keep the file of a reserved upload and queue the entry."""
    key = f"submissions/{submission.pk}/{submission.sha256[:16]}/{submission.file_name}"
    try:
        store().save_file(key, path)
        return _receive(submission, Arrived(key, store().size(key), submission.sha256))
    except StorageError:
        _unreserve(submission)
        raise


def _receive(submission: Submission, arrived: Arrived, now: datetime | None = None) -> Submission:
    """Hand what arrived to the model; the entry, which is an earlier one where the team has just sent the same bytes. Refused bytes and
    another entry's bytes are removed. If no other attempt can succeed, the reservation is given back."""
    now = now or timezone.now()
    try:
        with transaction.atomic():
            Team.objects.select_for_update().get(pk=submission.team_id)
            same = (submission.phase, submission.team, arrived.sha256, submission.is_confirmed)
            first = Submission.sent_just_now(*same, now, but=submission.pk)
            if first is None:
                submission.receive(arrived.key, arrived.size, arrived.sha256, now=now)
                return submission
    except Refused as refused:
        submission.refresh_from_db()
        if submission.file_key == arrived.key:
            return submission  # another request finished this very upload just before
        store().delete(arrived.key)
        if refused.code != "upload_over":
            cancel(submission)
        raise
    store().delete(arrived.key)
    submission.cancel()
    Submission.objects.filter(pk=submission.pk).update(upload_data={})
    return first


def cancel(submission: Submission) -> None:
    """Cancel an entry and delete the bytes that were sent."""
    notes = submission.upload_data
    submission.cancel()
    if submission.file_key and not submission.artifact_key:  # else it may be in work: the sweep does it
        drop_file(submission)
    if notes:
        _forget(notes)
        Submission.objects.filter(pk=submission.pk).update(upload_data={})


def stored_file(submission: Submission) -> tuple[str, str]:
    """The key of what was uploaded and the name it came under; `Refused` where there is nothing."""
    if not submission.file_key and submission.received_at:
        raise Refused(submission.file_note, "file_dropped")
    if not submission.file_key:
        raise Refused("Nothing was received for this entry, so there is nothing to download.", "no_file")
    return submission.file_key, submission.file_name


def _forget(notes: UploadNotes) -> None:
    try:
        store().drop_upload(notes)
    except StorageError as error:
        log.warning("parts of an upload stay until the next sweep", error=str(error))
