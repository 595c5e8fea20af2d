"""Entries as organizers see them: all of them, whatever their state, and what may be done with one."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard.console.forms.challenge import ReasonForm
from leaderboard.console.page import chosen_act, page, paged
from leaderboard.lookup import organizer
from submissions.errors import Refused
from submissions.lookup import submission_of
from submissions.models import AuditEntry, Challenge, Status, Submission
from submissions.permissions import allowed, require

FLAGS = {
    "shown": "On the board",
    "hidden": "Hidden",
    "disqualified": "Disqualified",
    "withdrawn": "Withdrawn",
    "baseline": "Baseline",
    "verified": "Verified",
}


@organizer
@require_safe
def entry_list(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    entries = Submission.objects.filter(phase__challenge=challenge).select_related("phase", "team").order_by("-created_at", "-id")
    chosen = {name: request.GET.get(name, "").strip()[:100] for name in ("q", "phase", "status", "flag")}
    rows = _filtered(entries, chosen)
    total = rows.count()
    numbers, at, page_rows = paged(request, rows)
    context = {
        "rows": page_rows,
        "pages": numbers,
        "page_number": at,
        "total": total,
        "chosen": chosen,
        "is_filtered": any(chosen.values()),
    }
    options = {"phases": challenge.phases.all(), "statuses": Status.choices, "flags": FLAGS.items()}
    return page(request, "entries", challenge, "entries", **context, **options)


def _filtered(entries: QuerySet, chosen: dict[str, str]) -> QuerySet:
    if chosen["q"]:
        entries = entries.filter(method_name__icontains=chosen["q"]) | entries.filter(team__name__icontains=chosen["q"])
    if chosen["phase"]:
        entries = entries.filter(phase__slug=chosen["phase"])
    if chosen["status"] in Status.values:
        entries = entries.filter(status=chosen["status"])
    columns = {"hidden": "hidden_at", "disqualified": "disqualified_at", "withdrawn": "withdrawn_at"}
    if chosen["flag"] in columns:
        entries = entries.filter(**{f"{columns[chosen['flag']]}__isnull": False})
    elif chosen["flag"] in ("baseline", "verified"):
        entries = entries.filter(**{f"is_{chosen['flag']}": True})
    elif chosen["flag"] == "shown":
        entries = entries.eligible()
    return entries


@organizer
@require_http_methods(["GET", "HEAD", "POST"])
def entry(request: HttpRequest, challenge: Challenge, pk: int) -> HttpResponse:
    """One entry: why it is where it is, its badges, and whether the board shows it."""
    submission = submission_of(challenge, pk)
    require(request.user, "submission.moderate", submission)
    if request.method == "POST":
        kinds = {
            "hide": _hide,
            "unhide": _unhide,
            "disqualify": _disqualify,
            "requalify": _requalify,
            "mark": _mark,
            "retry": _retry,
            "cancel": _cancel,
        }
        chosen_act(request, kinds)(request, submission)
        return redirect(request.path)
    context = {
        "it": submission,
        "may_see_traceback": allowed(request.user, "operator.see"),
        "log": AuditEntry.objects.filter(challenge=challenge, detail__submission=submission.pk).select_related("actor"),
        "evaluations": submission.evaluations.select_related("batch__reference").order_by("-created_at")[:10],
    }
    return page(request, "entry", challenge, "entries", submission.phase, **context)


def _reason(request: HttpRequest) -> str:
    form = ReasonForm(request.POST)
    if not form.is_valid():
        raise Refused("Say why, in at most 240 characters: the team and other organizers read it.", "no_reason")
    return form.cleaned_data["reason"]


def _hide(request: HttpRequest, entry: Submission) -> None:
    entry.hide(request.user, _reason(request))
    messages.success(request, "Hidden: only its team and organizers see it.")


def _unhide(request: HttpRequest, entry: Submission) -> None:
    entry.unhide(request.user)
    messages.success(request, "Shown again.")


def _disqualify(request: HttpRequest, entry: Submission) -> None:
    entry.disqualify(request.user, _reason(request))
    messages.success(request, "Disqualified: it is off the board.")


def _requalify(request: HttpRequest, entry: Submission) -> None:
    entry.requalify(request.user)
    messages.success(request, "It counts again.")


def _mark(request: HttpRequest, entry: Submission) -> None:
    entry.mark(request.user, is_baseline="is_baseline" in request.POST, is_verified="is_verified" in request.POST)
    messages.success(request, "Badges saved.")


def _retry(request: HttpRequest, entry: Submission) -> None:
    require(request.user, "submission.retry", entry)
    entry.retry(request.user)
    messages.success(request, "Queued again, from the check of its files on.")


def _cancel(request: HttpRequest, entry: Submission) -> None:
    entry.cancel(request.user)
    messages.success(request, "Cancelled; it uses up no quota.")
