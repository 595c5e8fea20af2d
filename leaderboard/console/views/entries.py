"""Entries as organizers see them: all of them, in any state, with the possible acts."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from leaderboard.console.page import page, paged, reason, told
from leaderboard.console.views.audit import sentence
from leaderboard.lookup import organizer, search_text
from submissions.lookup import submission_of
from submissions.models import AuditEntry, Challenge, Submission
from submissions.models.submission import STATE_CHOICES
from submissions.permissions import allowed, require

READERS = "the team and other organizers"  # of a reason
FLAGS = {
    "shown": "On the leaderboard",
    "hidden": "Hidden",
    "disqualified": "Disqualified",
    "withdrawn": "Withdrawn",
    "baseline": "Baseline",
    "verified": "Verified",
}


@organizer
@require_safe
def entry_list(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    rows = Submission.objects.filter(phase__challenge=challenge).select_related("phase", "team").order_by("-created_at", "-id")
    chosen = {name: search_text(request, name) for name in ("q", "phase", "status", "flag")}
    if chosen["q"]:
        rows = rows.filter(method_name__icontains=chosen["q"]) | rows.filter(team__name__icontains=chosen["q"])
    if chosen["phase"]:
        rows = rows.filter(phase__slug=chosen["phase"])
    rows = rows.in_state(chosen["status"])
    match chosen["flag"]:
        case "hidden" | "disqualified" | "withdrawn" as state:
            rows = rows.filter(**{f"{state}_at__isnull": False})
        case "baseline" | "verified" as badge:
            rows = rows.filter(**{f"is_{badge}": True})
        case "shown":
            rows = rows.eligible()
    page_rows, foot = paged(request, rows)
    context = {"rows": page_rows, **foot, "total": rows.count(), "chosen": chosen, "is_filtered": any(chosen.values())}
    options = {"phases": challenge.phases.all(), "statuses": STATE_CHOICES, "flags": FLAGS.items()}
    return page(request, "entries", challenge, "entries", **context, **options)


@organizer
def entry(request: HttpRequest, challenge: Challenge, pk: int) -> HttpResponse:
    """One entry: why it is where it is, its badges, and whether the board shows it."""
    submission = submission_of(challenge, pk)
    require(request.user, "submission.moderate", submission)
    if request.method == "POST":
        match request.POST.get("act"):
            case "let_stand":
                submission.let_stand(request.user, reason(request, READERS))
                words = "The entry may represent its team again."
            case "hide":
                submission.hide(request.user, reason(request, READERS))
                words = "The entry is hidden: only its team and organizers see it."
            case "unhide":
                submission.unhide(request.user)
                words = "Shown again."
            case "disqualify":
                submission.disqualify(request.user, reason(request, "all who see the leaderboard"))
                words = "Disqualified. The leaderboard no longer shows it."
            case "requalify":
                submission.requalify(request.user)
                words = "It counts again."
            case "mark":
                submission.mark(request.user, is_baseline="is_baseline" in request.POST, is_verified="is_verified" in request.POST)
                words = "Badges saved."
            case "retry":
                submission.requeue(request.user)
                words = "The entry is queued again, from the check of its files on."
            case "cancel":
                submission.cancel(request.user)
                words = "The entry is cancelled and uses no quota."
            case _:
                raise Http404
        return told(request, words)
    context = {
        "it": submission,
        "is_kept_off": Submission.objects.filter(pk=submission.pk).kept_off(submission.phase).exists(),
        "may_see_traceback": allowed(request.user, "operator.see"),
        "log": [
            (one, sentence(one.action))
            for one in AuditEntry.objects.filter(challenge=challenge, detail__submission=submission.pk).select_related("actor")
        ],
        "evaluations": submission.evaluations.select_related("batch__reference").order_by("-created_at")[:10],
    }
    return page(request, "entry", challenge, "entries", submission.phase, **context)
