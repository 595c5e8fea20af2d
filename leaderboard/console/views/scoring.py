"""The scoring of a phase: what the board shows, what is being scored again, what failed."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from evaluation.models import Evaluation, EvaluationBatch, Score
from evaluation.models.batch import sentences
from evaluation.work import costs
from leaderboard.console import acts
from leaderboard.console.confirm_and_apply import scored_anew
from leaderboard.console.page import page, told
from leaderboard.lookup import organizer_of_measured_phase
from submissions.lookup import row_number
from submissions.models import Phase, Submission
from submissions.permissions import allowed

MAX_SHOWN = 100
HELD = (Evaluation.State.FAILED, Evaluation.State.EXCLUDED)  # members without scores


@organizer_of_measured_phase
def scoring(request: HttpRequest, phase: Phase) -> HttpResponse:
    if request.method == "POST":
        latest = EvaluationBatch.latest(phase)
        match request.POST.get("act"):
            case "reevaluate":
                batch = acts.reevaluate(phase, request.POST.get("reason", "").strip()[:240], request.user)
                words = scored_anew(batch.progress()["total"])
            case "cancel" if latest is not None:
                acts.cancel_batch(latest, request.user)
                words = "The re-evaluation is stopped. The leaderboard does not change."
            case "switch" if latest is not None:
                acts.switch_batch(latest, request.user)
                words = "The leaderboard shows the new values."
            case "retry":
                for evaluation in _chosen_members(request, phase):
                    acts.retry_member(evaluation, request.user)
                words = "Queued again."
            case "exclude":
                for evaluation in _chosen_members(request, phase):
                    acts.exclude_member(evaluation, request.user)
                words = "Left out of this re-evaluation."
            case _:
                raise Http404
        return told(request, words)
    return page(request, "scoring", phase.challenge, "scoring", phase, **_standing(request, phase))


@organizer_of_measured_phase
@require_safe
def progress(request: HttpRequest, phase: Phase) -> HttpResponse:
    """The part of the page that moves."""
    return page(request, "parts/scoring", phase.challenge, "scoring", phase, **_standing(request, phase))


def _standing(request: HttpRequest, phase: Phase) -> dict[str, object]:
    latest, current = EvaluationBatch.latest(phase), EvaluationBatch.current(phase)
    failed, counts, is_stale = Evaluation.objects.none(), latest.progress() if latest else None, False
    is_building = latest is not None and latest.state == EvaluationBatch.State.BUILDING
    # An entry may take an hour: its parts tell that something is done.
    parts = latest.parts_progress() if latest is not None and is_building else None
    if latest is not None:
        failed = latest.evaluations.filter(state__in=HELD).select_related("submission__team").order_by("submission__number")
        # The metrics have another meaning now than in the batch: edited and not scored again, or a newer version of their code.
        now, removed = {metric.slug: metric.fingerprint for metric in phase.metrics.all() if not metric.is_retired}, latest.retired()
        is_stale = now != {column.slug: column.fingerprint for column in latest.columns if column.slug not in removed}
    return {
        "latest": latest,
        "current": current,
        "is_building": is_building,
        "counts": counts,
        "parts": parts,
        "seconds_left": _seconds_left(latest, parts) if latest is not None and parts else None,
        "failed": failed[:MAX_SHOWN],
        "history": phase.batches.select_related("reference", "created_by")[:20],
        "outdated": sentences(latest.outdated()) if latest else [],
        "waits": bool(latest and latest.not_computed()),
        "is_stale": is_stale,
        "estimate": costs.estimate(phase),
        "changes": _changes(latest, current) if latest and current and latest.by_hand and is_building else None,
        "is_operator": allowed(request.user, "operator.see"),
    }


@dataclass(frozen=True)
class ChangedEntry:
    """An entry with its value in the primary column, before and after."""

    entry: Submission
    before: float | None
    after: float | None


@dataclass(frozen=True)
class Changes:
    """The `n` entries whose value in the primary column, called `title`, differs between two batches; `rows` are the first of them."""

    title: str
    rows: list[ChangedEntry]
    n: int


def _changes(new: EvaluationBatch, old: EvaluationBatch) -> Changes:
    column = next((column for column in new.columns if column.is_primary), new.columns[0])
    scores = Score.objects.filter(slug=column.slug, evaluation__batch__in=[new, old])
    values: dict[int, dict[int, float | None]] = {}
    for entry, batch, value in scores.values_list("evaluation__submission", "evaluation__batch", "value"):
        values.setdefault(entry, {})[batch] = value
    moved = {pk: both for pk, both in values.items() if len(both) == 2 and both[new.pk] != both[old.pk]}
    entries = Submission.objects.filter(pk__in=moved).select_related("team").order_by("number")
    rows = [ChangedEntry(entry, moved[entry.pk][old.pk], moved[entry.pk][new.pk]) for entry in entries[:MAX_SHOWN]]
    return Changes(column.title, rows, len(moved))


def _seconds_left(batch: EvaluationBatch, parts: dict[str, int]) -> float | None:
    """Seconds that the batch will take at the pace it has had so far; None before its first part is done."""
    if not parts["done"]:
        return None
    return (timezone.now() - batch.created_at).total_seconds() * (parts["total"] - parts["done"]) / parts["done"]


def _chosen_members(request: HttpRequest, phase: Phase) -> list[Evaluation]:
    """The member that the form names, or all that failed."""
    batch = EvaluationBatch.latest(phase)
    held = Evaluation.objects.filter(batch=batch, state__in=HELD).select_related("batch", "submission__phase__challenge")
    if request.POST.get("member") != "all":
        held = held.filter(pk=row_number(request.POST.get("member")))
    else:
        held = held.filter(state=Evaluation.State.FAILED)
    found = list(held)
    if batch is None or not found:
        raise Http404
    return found
