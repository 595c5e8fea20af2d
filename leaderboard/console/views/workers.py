"""Workers that only call out: their tokens, who they are and what they did, where two differ; and what scoring took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Count, Q, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache

from evaluation.metrics import registry
from evaluation.metrics.shared import TOGETHER
from evaluation.models import ComputeBudget, Part, PartRecord, PhaseMetric, Process, RemoteWorker, WorkerToken
from evaluation.models.crosscheck import TRUSTED_FROM
from evaluation.work import costs as spent
from leaderboard.console.forms.workers import BudgetForm, TokenForm
from leaderboard.console.page import chosen_act, page, paged, told
from leaderboard.lookup import organizer
from submissions import database_clock, throttling
from submissions.lookup import row_number
from submissions.models import Challenge, Submission, User

Verdict = PartRecord.Verdict
MAX_SHOWN = 20  # differences
# Act of a button on a token, and the message about the token then.
TOKEN_ACTS: dict[str, tuple[Callable[[WorkerToken, User], object], str]] = {
    "revoke": (WorkerToken.revoke, "{} is revoked; its workers are refused from now on, and what they had goes to others."),
    "trust": (WorkerToken.trust_again, f"{{}} gets parts again; the first {TRUSTED_FROM} are all done by a second worker, too."),
    "versions": (
        WorkerToken.allow_other_versions,
        "Workers of {} may have other versions of the libraries; last digits of their values may differ.",
    ),
}


@organizer
@never_cache
def workers(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """Tokens, workers, differences. The key of a new token is in this one answer only."""
    if request.method == "POST":
        return chosen_act(request, {"make": _make, "decide": _decide} | dict.fromkeys(TOKEN_ACTS, _of_token))(request, challenge)
    return _shown(request, challenge, TokenForm())


def _shown(request: HttpRequest, challenge: Challenge, form: TokenForm, status: int = 200, **more: Any) -> HttpResponse:
    now = database_clock.read()
    tokens = (
        WorkerToken.objects.filter(challenge=challenge)
        .select_related("created_by")
        .annotate(
            n_parts=Count("records", filter=~Q(records__verdict=Verdict.FAILED)),
            n_pending=Count("records", filter=Q(records__verdict=Verdict.PENDING, records__part__isnull=False)),
            n_wrong=Count("records", filter=Q(records__verdict__in=[Verdict.WRONG, Verdict.VOID])),
        )
    )
    held = Part.objects.held(now).filter(token__in=tokens, state=Part.State.WAITING).order_by("started_at")
    in_hand = list(held.select_related("token", "evaluation__submission"))
    n_held = Counter(part.token_id for part in in_hand)
    heard = RemoteWorker.live(now).filter(token__in=tokens, token__other_versions=False)
    refused = {worker.token_id for worker in heard if worker.differences}
    rows = [
        {
            "token": token,
            "live": token.is_live(now),
            "waits": token.is_waiting(now),
            "n_held": n_held[token.pk],
            "has_other_versions": token.pk in refused,
        }
        for token in tokens
    ]
    stalled = {part.pk for part in Part.objects.stalled(now)}
    shown, foot = paged(request, RemoteWorker.objects.filter(token__challenge=challenge).select_related("token"))
    response = page(
        request,
        "workers",
        challenge,
        "workers",
        form=form,
        rows=rows,
        in_hand=[{"part": part, "seconds": part.seconds_held(now), "stalled": part.pk in stalled} for part in in_hand],
        workers=_workers(shown, now),
        **foot,
        differences=_differences(challenge),
        own=Process.objects.listeners(),
        trusted_from=TRUSTED_FROM,
        n_live=RemoteWorker.live(now).filter(token__challenge=challenge).count(),
        server=request.build_absolute_uri("/").rstrip("/"),
        **more,
    )
    response.status_code = status
    return response


@dataclass(frozen=True)
class WorkerRow:
    """A worker, `live` where it was heard of lately, and the sums of what it did."""

    worker: RemoteWorker
    live: bool
    done: Mapping[str, float | None]


def _workers(shown: list[RemoteWorker], now: datetime) -> list[WorkerRow]:
    """The workers with their past work, in two queries."""
    names, tokens = {it.name for it in shown}, {it.token_id for it in shown}
    live = set(RemoteWorker.live(now).filter(pk__in=[it.pk for it in shown]).values_list("pk", flat=True))
    records = PartRecord.objects.filter(token__in=tokens, worker__in=names).exclude(verdict=Verdict.FAILED).order_by()
    sums = records.values("token", "worker").annotate(n=Count("pk"), core=Sum("core_seconds"), gpu=Sum("gpu_seconds"))
    done = {(row["token"], row["worker"]): row for row in sums}
    none = {"n": 0, "core": None, "gpu": None}
    return [WorkerRow(it, it.pk in live, done.get((it.token_id, it.name), none)) for it in shown]


@dataclass(frozen=True)
class Difference:
    """A part on which two workers differ, and what each of them sent."""

    part: Part
    submission: Submission
    records: list[PartRecord]


def _titled(keys: str) -> str:
    """The title of a metric, or the titles of metrics that share a cost, whose keys are joined by +."""
    titles = [spec.title if (spec := registry.find(key)) else key for key in keys.split(TOGETHER)]
    return titles[0] if len(titles) == 1 else f"Shared by {', '.join(titles[:-1])} and {titles[-1]}"


def _differences(challenge: Challenge) -> list[Difference]:
    open_ones = PartRecord.objects.filter(batch__phase__challenge=challenge, verdict=Verdict.DISPUTED, part__isnull=False)
    parts: dict[int, Difference] = {}
    for one in open_ones.select_related("token", "submission", "part")[: 2 * MAX_SHOWN]:
        parts.setdefault(one.part_id, Difference(one.part, one.submission, [])).records.append(one)
    return list(parts.values())


def _make(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _shown(request, challenge, form, 422)
    throttling.limit_tokens(request)
    said = form.cleaned_data
    token, key = WorkerToken.make(challenge, request.user, said["name"], said["queues"], said["days"], said["share"] / 100, said["at_once"])
    # Parts with networks come by the queue gpu where the service leaves them to cards, else by cpu.
    columns = PhaseMetric.objects.filter(phase__challenge=challenge)
    has_networks = (
        any(registry.runs_networks(one.key, one.params) for one in columns) and ("gpu" if settings.GPU_WORKERS else "cpu") in token.queues
    )
    return _shown(request, challenge, TokenForm(), 201, new=token, key=key, extra="worker-networks" if has_networks else "worker")


def _of_token(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    token = get_object_or_404(WorkerToken, pk=row_number(request.POST.get("token", "")), challenge=challenge)
    do, words = TOKEN_ACTS[request.POST["act"]]
    do(token, request.user)
    return told(request, words.format(token.name))


def _decide(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    part = get_object_or_404(Part, pk=row_number(request.POST.get("part", "")), evaluation__batch__phase__challenge=challenge)
    right = None
    if request.POST.get("right"):
        right = part.records.filter(pk=row_number(request.POST["right"]), verdict=Verdict.DISPUTED).first()
        if right is None:
            raise Http404
    part.decide(right, request.user)
    return told(request, "That is decided; other workers repeat what was wrong.")


@organizer
def costs(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    """Costs of scoring, by metric, entry and team, and the budget for it."""
    budget = ComputeBudget.objects.filter(challenge=challenge).first()
    form = BudgetForm(budget, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        ComputeBudget.set_for(challenge, form.cleaned_data["core_hours"], form.cleaned_data["gpu_hours"], request.user)
        return told(request, "The budget is set.")
    metrics = spent.by_metric(challenge)
    tables = [
        ("Metrics", "Metric", [replace(cost, name=_titled(cost.name)) for cost in metrics]),
        ("Entries", "Entry", spent.by_entry(challenge)),
        ("Teams", "Team", spent.by_team(challenge)),
    ]
    total, is_exhausted = spent.total(challenge), challenge.pk in ComputeBudget.exhausted()
    response = page(request, "costs", challenge, "costs", form=form, tables=tables, total=total, is_exhausted=is_exhausted)
    response.status_code = 422 if form.errors else 200
    return response
