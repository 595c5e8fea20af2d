"""The upload page: drop zone and progress with a script, one plain form without."""

from __future__ import annotations

from pathlib import Path

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from submissions import throttling
from submissions.checklist import steps
from submissions.entry_fields import Door, through
from submissions.errors import Refused
from submissions.forms import UploadForm
from submissions.lookup import phase_for
from submissions.models import Phase, Status, Team
from submissions.models.quota import quota_of
from submissions.permissions import Viewer, require
from submissions.storage import uploads
from submissions.storage.store import StorageError, disk_errors

FORM_BYTES = 1_000_000  # what the other fields of the form may take


@csrf_exempt  # checked below, once the body has been read to where it belongs
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """Return what is still to be done before uploading, what may be uploaded, and the form."""
    found = phase_for(request.user, challenge, phase)
    if not found.has_teams:
        found.require_open(timezone.now())  # refuses, and says why
    if request.method != "POST":
        return _page(request, found, UploadForm())
    require(request.user, "phase.upload", found)  # before anything is read
    try:
        throttling.limit_uploads(request)
        found.require_open(timezone.now())
        read_to_disk(request, found)
    except (Refused, StorageError) as refused:
        return _page(request, found, with_refusal(UploadForm(), refused), 409)
    return _receive(request, found)


def read_to_disk(request: HttpRequest, phase: Phase) -> None:
    """Read a form with an entry of `phase` whose view is exempt from the check for forged requests, for that would read it before. Raises
    `Refused` and StorageError."""
    most = phase.max_bytes()
    if int(request.META.get("CONTENT_LENGTH") or 0) > most + FORM_BYTES:
        raise Refused(f"This file is larger than the {most:,} bytes this phase takes; make it smaller.", "too_large")
    request.upload_handlers = [TemporaryFileUploadHandler(request)]
    with disk_errors():
        request.POST  # noqa: B018  reading it is what fills the disk


@csrf_protect
def _receive(request: HttpRequest, phase: Phase) -> HttpResponse:
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, phase, form, 422)
    about = {field.name: form.cleaned_data[field.name] for field in through(Door.FORM)}
    file = form.cleaned_data["file"]
    try:
        path = Path(file.temporary_file_path())
        submission = uploads.send_whole(request.user, phase, path, file_name=file.name, **about)
    except (Refused, StorageError) as refused:
        return _page(request, phase, with_refusal(form, refused), 409)
    said = "These are the same bytes as a moment ago, in" if submission.is_repeated else f"{file.name} has arrived as"
    messages.success(request, f"{said} entry #{submission.number}.")
    return redirect("entry", submission.pk)


def with_refusal(form: UploadForm, refused: Exception) -> UploadForm:
    """The form with the sentence that says why its entry is refused, beside the field that it is about."""
    if not form.is_bound:  # nothing of the body was read
        form = type(form)({}, {})
        form.errors.clear()
    field = getattr(refused, "code", "")
    form.add_error(field if field in form.fields else None, ValidationError(str(refused), field))
    return form


def _page(request: HttpRequest, phase: Phase, form: UploadForm, status: int = 200) -> HttpResponse:
    now = timezone.now()
    viewer = Viewer(request.user, phase.challenge, now)
    team = Team.of(phase.challenge, request.user)
    allowed = viewer.may("phase.upload", phase)
    closed = ""
    try:
        phase.require_open(now)
    except Refused as refused:
        closed = refused.sentence
    quota = quota_of(phase, team, now) if team else None
    # Uploads whose bytes have not all come, also those that hold no place at present.
    unfinished = phase.submissions.filter(team=team if allowed else None, status=Status.UPLOADING, upload_expires_at__gt=now)
    unfinished = unfinished.order_by("upload_expires_at")
    # One that is not finished can be gone on with, also when nothing new could be begun.
    admitted = phase.admits(team.pk if team else None)
    may_send = allowed and (unfinished.exists() or (not closed and admitted and quota is not None and quota.allowed))
    manifest = phase.manifest
    context = {
        "challenge": phase.challenge,
        "phase": phase,
        "here": "upload",
        "now": now,
        "form": form,
        "team": team,
        "allowed": allowed,
        "closed": closed,
        "quota": quota,
        "max_bytes": phase.max_bytes(),
        "unfinished": unfinished,
        "may_send": may_send,
        "admitted": admitted,
        "n_inputs": len(phase.inputs),
        "n_items": len(manifest.items) if manifest else 0,
        "missing": [step for step in steps(viewer, phase)[:-1] if not step.done],
    }
    return render(request, "submissions/upload.html", context, status=status)
