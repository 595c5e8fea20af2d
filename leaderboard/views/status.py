"""Current work of the service, as counts that tell nothing of anybody."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evaluation.models import MetricProgram, Part, PartRecord, Process, RemoteWorker
from submissions import database_clock
from submissions.models import Status, Submission


def status(request: HttpRequest) -> HttpResponse:
    """Workers of the service's own by queue, workers that only call out, and what waits and is done."""
    now = database_clock.read()
    since = now - timedelta(days=1)
    listeners, troubles = Process.objects.listeners(now), Process.objects.card_troubles(now)
    waiting, held = Part.objects.filter(state=Part.State.WAITING), Part.objects.held(now).filter(state=Part.State.WAITING)
    done = PartRecord.objects.filter(finished_at__gt=since)
    sweeper = Process.objects.live(now).filter(kind=Process.Kind.SWEEPER).order_by(F("wrote_at").desc(nulls_last=True)).first()
    wrong_clocks = Process.objects.with_wrong_clock(now).count()
    tables = [
        (
            "Workers of the service",
            [
                ("Listening for entries (queue cpu)", listeners["cpu"]),
                ("Listening for metrics that need a graphics card (queue gpu)", listeners["gpu"]),
                *([("With a graphics card that cannot be used now", len(troubles))] if troubles else []),
                ("At work now", held.filter(token__isnull=True).count()),
            ],
        ),
        (
            "Remote workers",
            [
                ("In contact within the last few minutes", RemoteWorker.live(now).count()),
                ("At work now", held.filter(token__isnull=False).count()),
            ],
        ),
        (
            "Work",
            [
                ("Entries waiting to be checked", Submission.objects.filter(status=Status.RECEIVED).count()),
                ("Entries being scored", Submission.objects.filter(status=Status.SCORING).count()),
                ("Scoring jobs waiting", waiting.unleased(now).count()),
                ("Scoring jobs done by the service in the last day", done.filter(token__isnull=True).count()),
                ("Scoring jobs done by remote workers in the last day", done.filter(token__isnull=False).count()),
                ("Metric programs waiting to be checked", MetricProgram.objects.waiting().count()),
            ],
        ),
    ]
    context = {"tables": tables, "now": now, "sweeper": sweeper, "wrong_clocks": wrong_clocks, "troubles": dict.fromkeys(troubles)}
    return render(request, "leaderboard/status.html", context)
