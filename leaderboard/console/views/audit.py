"""What organizers did, newest first."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from leaderboard.bundle.plan import NOTHING
from leaderboard.bundle.show import shown
from leaderboard.console.act_words import sentence
from leaderboard.console.page import page, paged
from leaderboard.lookup import organizer
from submissions.models import AuditEntry, Challenge


@organizer
@require_safe
def audit(request: HttpRequest, challenge: Challenge) -> HttpResponse:
    rows = challenge.audit.select_related("actor").order_by("-at", "-id")
    kind, text = request.GET.get("kind", ""), request.GET.get("q", "").strip()[:100]
    if kind:
        rows = rows.filter(action__startswith=f"{kind}.")
    if text:
        rows = rows.filter(target__icontains=text) | rows.filter(actor__username__icontains=text)
    numbers, at, entries = paged(request, rows)
    kinds = sorted({action.split(".")[0] for action in challenge.audit.order_by().values_list("action", flat=True).distinct()})
    context: dict[str, Any] = {
        "rows": [(entry, sentence(entry.action), details(entry)) for entry in entries],
        "pages": numbers,
        "page_number": at,
    }
    return page(request, "audit", challenge, "audit", **context, kinds=kinds, kind=kind, text=text)


def details(entry: AuditEntry) -> list[tuple[str, str, str]]:
    """(what, before, after) for each value that the act changed, and (what, "", value) for what it says besides."""
    before, after = entry.detail.get("before") or {}, entry.detail.get("after") or {}
    rows = [
        (name.replace("_", " "), shown(before[name]) if before.get(name) not in NOTHING else "", shown(after.get(name)))
        for name in sorted({**before, **after})
    ]
    besides = [(name, "", shown(entry.detail[name])) for name in ("reason", "note") if entry.detail.get(name)]
    return rows + besides
