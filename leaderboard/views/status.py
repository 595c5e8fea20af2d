"""What the service is doing now, as counts that tell nothing of anybody."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from evaluation.models import MetricProgram, OutsideWorker, Part, PartRecord, Process
from submissions.models import Status, Submission


def status(request: HttpRequest) -> HttpResponse:
    """Workers of the service's own by queue, workers that only call out, and what waits and is done."""
    now = timezone.now()
    since = now - timedelta(days=1)
    listeners = Process.objects.listeners(now)
    waiting, held = Part.objects.filter(state=Part.State.WAITING), Part.objects.held(now).filter(state=Part.State.WAITING)
    done = PartRecord.objects.filter(finished_at__gt=since)
    swept = Process.objects.live(now).filter(kind=Process.Kind.SWEEPER).exists()
    tables = [
        ("Workers of the service", [
            ("listen for entries (queue cpu)", listeners["cpu"]),
            ("listen for metrics that need a graphics card (queue gpu)", listeners["gpu"]),
            ("at work", held.filter(token__isnull=True).count()),
        ]),
        ("Workers elsewhere, which only call out", [
            ("heard of within minutes", OutsideWorker.live(now).count()),
            ("at work", held.filter(token__isnull=False).count()),
        ]),
        ("Work", [
            ("entries wait to be checked", Submission.objects.filter(status=Status.RECEIVED).count()),
            ("entries are being scored", Submission.objects.filter(status=Status.SCORING).count()),
            ("parts of entries wait", waiting.unleased(now).count()),
            ("parts were done by the service in a day", done.filter(token__isnull=True).count()),
            ("parts were done by workers elsewhere in a day", done.filter(token__isnull=False).count()),
            ("metric programs wait to be checked", MetricProgram.objects.waiting().count()),
        ]),
    ]  # fmt: skip
    return render(request, "leaderboard/status.html", {"tables": tables, "now": now, "swept": swept})
