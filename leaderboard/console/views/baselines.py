"""Baselines of a phase: those on its board, and one more from the organizers."""

from __future__ import annotations

from pathlib import Path

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from leaderboard.console.forms.challenge import BaselineForm
from leaderboard.console.page import page
from leaderboard.lookup import organizer_of_measured_phase
from submissions.errors import Refused
from submissions.models import Phase
from submissions.storage import uploads
from submissions.storage.store import StorageError
from submissions.views.upload import read_to_disk, with_refusal


@csrf_exempt  # checked below, once the body has been read to where it belongs
@organizer_of_measured_phase
def baselines(request: HttpRequest, phase: Phase) -> HttpResponse:
    """The baselines, and the form for another one, which needs no team and competes with nobody."""
    if request.method != "POST":
        return _page(request, phase, BaselineForm())
    try:
        read_to_disk(request, phase)
    except (Refused, StorageError) as refused:
        return _page(request, phase, with_refusal(BaselineForm(), refused), 409)
    return _receive(request, phase)


@csrf_protect
def _receive(request: HttpRequest, phase: Phase) -> HttpResponse:
    form = BaselineForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, phase, form, 422)
    about = dict(form.cleaned_data)
    file = about.pop("file")
    try:
        sent = uploads.send_baseline(request.user, phase, Path(file.temporary_file_path()), file_name=file.name, **about)
    except (Refused, StorageError) as refused:
        return _page(request, phase, with_refusal(form, refused), 409)
    messages.success(request, f"{sent.method_name} has arrived as entry #{sent.number}, a baseline.")
    return redirect("console_entry", phase.challenge.slug, sent.pk)


def _page(request: HttpRequest, phase: Phase, form: BaselineForm, status: int = 200) -> HttpResponse:
    rows = phase.submissions.sent().filter(is_baseline=True).select_related("team").order_by("-created_at", "-id")
    context = {"form": form, "rows": rows, "max_bytes": phase.max_bytes()}
    response = page(request, "baselines", phase.challenge, "baselines", phase, **context)
    response.status_code = status
    return response
