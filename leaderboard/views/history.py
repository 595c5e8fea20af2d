"""The history of a board: what changed from one kept ranking to the next and why, and ranks over time."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.boards import history
from leaderboard.lookup import audience_of, not_shown_yet
from leaderboard.models import Snapshot, read_board
from leaderboard.records.history import Leaving, PeopleChanged, Step
from leaderboard.service.page_cache import PARTS
from leaderboard.wording import history as words
from submissions.lookup import PhasePlace, phase_place
from submissions.visibility import hidden_from

LATELY = 3  # changes that the board's page tells
MAX_RANKINGS = 40  # rankings, the newest; those that were passing ones are not kept anyway


def board_history(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """For viewers who may see the leaderboard, as it may be seen now: entries removed since are named in no old ranking either."""
    place = phase_place(request.user, challenge, phase)
    if not place.sees_board:
        return not_shown_yet(request, place, "history")
    audience = audience_of(place.viewer)
    is_brief = request.GET.get("part") == "lately"
    kept = Snapshot.objects.filter(phase=place.phase, audience=audience).defer("payload").order_by("-revision", "-pk")
    most = 4 * LATELY if is_brief else MAX_RANKINGS
    rows = list(kept[: most + 1])  # one more: the time before the oldest that is shown
    hidden = hidden_from(place.viewer, place.phase)
    studies = frozenset(place.phase.studies.shown_to(place.viewer.organizes).values_list("pk", flat=True))
    key = ("history", tuple((row.pk, row.digest, len(row.again_at)) for row in rows), hidden, studies, place.phase.board_revision)
    is_cut = len(rows) > most
    steps, chart = PARTS.of(key, lambda: _computed(place, rows, most, hidden, studies))
    if is_brief:  # what the board's page asks for when somebody has read so far
        told = [(step, words.change(step.changes[0])) for step in steps if step.changes and not step.changes[0].is_small]
        return render(request, "leaderboard/parts/lately.html", {"changes": told[:LATELY], "phase": place.phase})
    context = place.context("history") | {"steps": steps, "chart": chart, "is_cut": is_cut}
    return render(request, "leaderboard/history.html", context)


def _computed(
    place: PhasePlace, rows: list[Snapshot], most: int, hidden: frozenset[int], studies: frozenset[int]
) -> tuple[list[Step], history.RankChart | None]:
    moments = []
    # Of rankings that are left out the last time is before this one, so from then on nothing is missing.
    since = rows[most - 1].current_from[-1] if len(rows) > most else None
    for row in reversed(rows):
        people = read_board(row.pk, row.digest).people
        row.hidden_ids, row.hides_people = hidden, people is not None and people.study.id not in studies
        board, (made, *again) = row.board, (at.astimezone(place.phase.zone) for at in row.current_from)
        moments += [history.Moment(row.digest, made, board), *(history.Moment(row.digest, at, board, made) for at in again)]
    moments = history.dated(sorted(moments, key=lambda one: one.at), place.now)
    moments = [one for one in moments if since is None or one.at >= since]
    known = {entry.id for moment in moments for entry in moment.board.entries} - hidden
    entries = place.phase.submissions.filter(pk__in=known)
    withdrawn = entries.filter(withdrawn_at__isnull=False).values_list("pk", "withdrawn_at")
    kept_off = entries.kept_off(place.phase, place.now).values_list("pk", "kept_off_since")
    left = {pk: (at, Leaving.WITHDRAWN) for pk, at in withdrawn} | {pk: (at, Leaving.KEPT_OFF) for pk, at in kept_off}
    moments = history.folded(_by_day(history.folded(moments)))
    return history.steps(moments, left, since is not None), history.chart(moments)


def _by_day(moments: list[history.Moment]) -> list[history.Moment]:
    """The rankings without those that only brought answers of people and were followed by another such ranking on the same day: while a
    study runs, a day is one step."""
    answers_alone = [all(isinstance(change, PeopleChanged) for change in step.changes) for step in reversed(history.steps(moments))]
    pairs = zip(moments, moments[1:], answers_alone, answers_alone[1:], strict=False)
    passed = {n for n, (one, after, own, next_one) in enumerate(pairs) if own and next_one and one.at.date() == after.at.date()}
    return [one for n, one in enumerate(moments) if n not in passed]
