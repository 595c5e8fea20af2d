"""For operators: is it alive, is it ready, and what is it doing."""

from __future__ import annotations

import hmac

from django.conf import settings
from django.db import connection
from django.db.models import Count, Min
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from evaluation.models import Evaluation, Part, PropertyRun
from submissions import storage
from submissions.models import Status, Submission


@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Database and storage answer too; 503 names the one that does not."""
    failed = {}
    for name, probe in {"database": _probe_database, "storage": _probe_storage}.items():
        try:
            probe()
        except Exception as error:  # whatever the driver raises, the answer is "not ready"
            failed[name] = type(error).__name__
    return JsonResponse({"status": "unready" if failed else "ok", "failed": failed}, status=503 if failed else 200)


def _probe_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _probe_storage() -> None:
    storage.store().exists("health/probe")


def _may_scrape(request: HttpRequest) -> bool:
    if settings.METRICS_TOKEN:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(given.encode(), settings.METRICS_TOKEN.encode())
    return request.META.get("REMOTE_ADDR") in ("127.0.0.1", "::1") and "HTTP_X_FORWARDED_FOR" not in request.META


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text: entries by status, parts by state, age of the oldest waiting work."""
    if not _may_scrape(request):
        return HttpResponse("Send the metrics token as a bearer token.\n", status=403, content_type="text/plain")
    registry = CollectorRegistry()
    now = timezone.now()
    entries = Gauge("plumbline_submissions", "Submissions by status.", ["status"], registry=registry)
    counts = dict(Submission.objects.order_by().values_list("status").annotate(Count("id")))
    for status in Status:
        entries.labels(status.value).set(counts.get(status.value, 0))
    parts = Gauge("plumbline_parts", "Parts not done, by device and state.", ["device", "state"], registry=registry)
    open_parts = Part.objects.filter(state=Part.State.WAITING).order_by()
    for device, n in open_parts.filter(lease_until__gt=now).values_list("device").annotate(Count("id")):
        parts.labels(device, "leased").set(n)
    for device, n in open_parts.unleased(now).values_list("device").annotate(Count("id")):
        parts.labels(device, "waiting").set(n)
    runs = Gauge("plumbline_property_runs", "Property tables made in the background, by state.", ["state"], registry=registry)
    states = dict(PropertyRun.objects.order_by().values_list("state").annotate(Count("id")))
    for state in PropertyRun.State:
        runs.labels(state.value).set(states.get(state.value, 0))
    oldest = Gauge("plumbline_oldest_waiting_seconds", "Age of the oldest work nobody has begun.", ["kind"], registry=registry)
    received = Submission.objects.filter(status=Status.RECEIVED).aggregate(at=Min("received_at"))["at"]
    oldest.labels("validation").set((now - received).total_seconds() if received else 0)
    running = Evaluation.objects.filter(state=Evaluation.State.RUNNING).aggregate(at=Min("created_at"))["at"]
    oldest.labels("scoring").set((now - running).total_seconds() if running else 0)
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
