"""The entries of a phase, in every state the viewer may know of."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.db.models import OuterRef, Q, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evaluation.models import EvaluationBatch, Score
from leaderboard.boards.build import primary_slug
from leaderboard.lookup import page_number, search_text
from leaderboard.views.board import page_numbers
from submissions.lookup import phase_place
from submissions.models import Status
from submissions.visibility import visible_entries

PER_PAGE = 100


def entries(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """Newest first: what the board may show, and the viewer's own in any state."""
    place = phase_place(request.user, challenge, phase)
    text, mine = search_text(request), request.GET.get("mine") == "yes"
    state = request.GET.get("state", "")
    submissions = visible_entries(place.viewer, place.phase).sent()
    if text:
        submissions = submissions.filter(Q(method_name__icontains=text) | Q(team__name__icontains=text))
    if mine and place.viewer.team_id is not None:
        submissions = submissions.filter(team=place.viewer.team_id)
    if state in Status.values:
        submissions = submissions.filter(status=state)
    batch = EvaluationBatch.current(place.phase)
    primary = primary_slug(batch.metrics) if batch else None
    scores = Score.objects.filter(evaluation__submission=OuterRef("pk"), evaluation__batch=batch, slug=primary)
    submissions = submissions.annotate(primary_value=Subquery(scores.values("value")[:1])).select_related("team")
    pages = Paginator(submissions.order_by("-created_at", "-id"), PER_PAGE)
    page = pages.get_page(page_number(request))
    own = place.viewer.team_id
    hides_scores = place.phase.withhold_scores and not place.sees_board
    context = place.context("entries") | {
        "rows": [
            {"entry": entry, "mine": entry.team_id == own, "value": None if hides_scores else entry.primary_value}
            for entry in page.object_list
        ],
        "primary": next((m for m in batch.metrics if m["slug"] == primary), None) if batch else None,
        "total": pages.count, "pages": page_numbers(page.number, pages.num_pages), "page": page.number,
        "text": text, "mine": mine, "state": state, "states": Status.choices, "team_id": own,
    }  # fmt: skip
    return render(request, "leaderboard/entries.html", context)
