"""Acts of a team on an entry: fetch its file, edit its texts, stop it, take it back."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from submissions import throttling
from submissions.errors import Refused
from submissions.forms import EntryForm
from submissions.lookup import submission_for
from submissions.models import Submission
from submissions.storage import uploads
from submissions.views.files import download


@require_safe
def entry_file(request: HttpRequest, pk: int) -> HttpResponse:
    """The file as it was uploaded."""
    return download(*uploads.stored_file(submission_for(request.user, pk, "submission.download")))


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    return _act(request, pk, "submission.manage", uploads.cancel, "The entry is cancelled and used no quota.")


@require_POST
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    return _act(request, pk, "submission.manage", Submission.withdraw, "The entry is withdrawn.")


@require_POST
def choose(request: HttpRequest, pk: int) -> HttpResponse:
    return _act(request, pk, "submission.send", Submission.choose, "This is now your team's entry on the leaderboard.")


@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    submission = submission_for(request.user, pk, "submission.retry")
    throttling.limit_uploads(request)  # it is as much work as a new upload, and uses up no quota where it fails again
    return _do(request, submission, lambda it: it.retry(request.user), "The entry is tried again.")


@require_POST
def confirm(request: HttpRequest, pk: int) -> HttpResponse:
    submission = submission_for(request.user, pk, "submission.send")
    throttling.limit_uploads(request)  # it counts as a new upload
    return _do(request, submission, Submission.confirm, "The entry is scored as it is.")


@require_POST
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    submission = submission_for(request.user, pk, "submission.manage")
    form = EntryForm(request.POST)
    if not form.is_valid():
        for name, errors in form.errors.items():
            messages.error(request, f"{form.fields[name].label or name}: {errors[0]}")
        return redirect("entry", pk)
    return _do(request, submission, lambda it: it.edit(**form.cleaned_data), "The texts are saved.")


def _act(request: HttpRequest, pk: int, action: str, act: Callable[[Submission], None], done: str) -> HttpResponse:
    return _do(request, submission_for(request.user, pk, action), act, done)


def _do(request: HttpRequest, submission: Submission, act: Callable[[Submission], None], done: str) -> HttpResponse:
    try:
        act(submission)
    except Refused as refused:
        messages.error(request, refused.sentence)
    else:
        messages.success(request, done)
    return redirect("entry", submission.pk)
