"""The entries of a phase, in every state the viewer may know of, and filters of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evaluation.models import EvaluationBatch, Score
from leaderboard.boards.build import primary_slug
from leaderboard.lookup import page_numbers, page_of, search_text
from submissions.lookup import phase_place, row_number
from submissions.models import Team
from submissions.models.submission import STATE_CHOICES
from submissions.visibility import visible_entries

PER_PAGE = 100
# Columns of an entry that a row shows; texts and notes of its validation, which may be long, are left in the database.
SHOWN = (
    *("number", "method_name", "description", "status", "is_baseline", "is_verified", "is_chosen"),
    *("created_at", "received_at", "finished_at", "withdrawn_at", "disqualified_at", "hidden_at", "team__name"),
    *("reason", "numbers", "n_problems", "failure", "hidden_reason", "disqualified_reason"),
)
# What an entry may be asked to have: its key in the address, in words, and as a condition.
HAS = {
    "code": ("with code", Q(code_url__gt="")),
    "paper": ("with a paper", Q(paper_url__gt="")),
    "weights": ("with weights", Q(weights_url__gt="")),
    "verified": ("verified", Q(is_verified=True)),
    "no-baseline": ("without baselines", Q(is_baseline=False)),
}


def entries(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """Newest first: what the board may show, and the viewer's own in any state. There is a branch for each filter of the list."""
    place = phase_place(request.user, challenge, phase)
    text, mine = search_text(request), request.GET.get("mine") == "yes"
    state = request.GET.get("state", "")
    has = [key for key in request.GET.getlist("has") if key in HAS]
    of_team = Team.objects.filter(challenge=place.challenge, pk=row_number(request.GET.get("team"))).first()
    own = place.viewer.team_id
    wanted = _wanted(text, has, of_team, own if mine else None)
    submissions = visible_entries(place.viewer, place.phase).sent().filter(*wanted).in_state(state)
    batch = EvaluationBatch.current(place.phase)
    primary = next((one for one in batch.columns if one.slug == primary_slug(batch.columns)), None) if batch else None
    page = page_of(request, submissions.select_related("team").only(*SHOWN).order_by("-created_at", "-id"), PER_PAGE)
    values: dict[int, float | None] = {}
    if primary is not None and (place.sees_board or not place.phase.withhold_scores):
        # Of the page's entries alone: within the query of all of them the database would look for the value of each.
        scores = Score.objects.filter(evaluation__submission__in=[entry.pk for entry in page], evaluation__batch=batch, slug=primary.slug)
        values = dict(scores.values_list("evaluation__submission", "value"))
    for entry in page:
        entry.phase = place.phase
    n_baselines = submissions.filter(is_baseline=True).count()  # beside the entries of teams, on every page that counts them
    if of_team is not None and not page.object_list and not place.viewer.may("team.see", of_team):
        of_team = None  # its name is told with its entries alone
    context = place.context("entries") | {
        "rows": [{"entry": entry, "mine": entry.team_id == own, "value": values.get(entry.pk)} for entry in page.object_list],
        "primary": primary,
        "total": page.paginator.count - n_baselines,
        "n_baselines": n_baselines,
        "pages": page_numbers(page.number, page.paginator.num_pages),
        "page": page.number,
        "text": text,
        "mine": mine,
        "state": state,
        "states": STATE_CHOICES,
        "team_id": own,
        "of_team": of_team,
        "has": has,
        "choices": [(key, words) for key, (words, _) in HAS.items()],
        "filtered": bool(text or mine or state or has or request.GET.get("team")),
    }
    return render(request, "leaderboard/entries.html", context)


def _wanted(text: str, has: Iterable[str], of_team: Team | None, own: int | None) -> Iterator[Q]:
    """Conditions on entries: words of the name or the team, what they have, and whose they are."""
    if text:
        yield Q(method_name__icontains=text) | Q(team__name__icontains=text)
    yield from (HAS[key][1] for key in has)
    if of_team is not None:
        yield Q(team=of_team)
    if own is not None:
        yield Q(team=own)
