"""One entry: its state, its scores, its items."""

from __future__ import annotations

import math
from functools import lru_cache

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evaluation.metrics.aggregation import LEAST
from evaluation.models import Evaluation
from evaluation.work.progress import standing
from leaderboard.boards import build, certainty
from leaderboard.boards.payload import Board
from leaderboard.boards.scorecard import ItemTable, Result, current_evaluation, results
from leaderboard.lookup import audience_of, page_number
from leaderboard.models import Snapshot, read_board
from leaderboard.viewer import render_scene
from leaderboard.views.board import page_numbers
from submissions.lookup import EntryPlace, entry_place
from submissions.models import Status

ITEMS_PER_PAGE = 100
IMPORTED = "Its figures were imported as they were published; there are no files and no items."
ASKED = ("see_scores", "see_items", "see_geometry", "see_render", "download", "manage", "retry")
SENTENCES = {
    Status.UPLOADING: "Its file is still on the way.",
    Status.RECEIVED: "Its file has arrived and waits for a worker.",
    Status.CLAIMED: "A worker has begun to check its file.",
    Status.VALIDATING: "A worker is checking its file.",
    Status.REJECTED: "Its file was rejected; nothing was scored, and it used up no quota.",
    Status.SCORING: "It is being scored.",
    Status.SCORED: "All its items are scored.",
    Status.FAILED: "It could not be scored; that used up no quota.",
    Status.CANCELLED: "It was cancelled; that used up no quota.",
}


def entry(request: HttpRequest, pk: int) -> HttpResponse:
    """Everything about one entry that this viewer may see."""
    place = entry_place(request.user, pk)
    context = base_context(place) | progress_context(place)
    evaluation = current_evaluation(place.submission)
    if place.submission.status == Status.SCORED and evaluation and place.may("see_scores"):
        context |= _scores_context(request, place, evaluation)
    return render(request, "leaderboard/entry.html", context)


def entry_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """The state alone, for polling; once the entry is done the whole page is fetched anew."""
    place = entry_place(request.user, pk)
    response = render(request, "leaderboard/parts/progress.html", base_context(place) | progress_context(place))
    if place.submission.is_done:
        response["HX-Refresh"] = "true"
    return response


def base_context(place: EntryPlace) -> dict:
    """Context of every page of an entry."""
    submission = place.submission
    own = place.may("see_problems")
    return place.phase_place.context("entries") | {
        "it": submission, "may": {name: place.may(name) for name in ASKED},
        "own": own, "is_staff": place.viewer.is_staff,
        "duplicates": list(submission.duplicates()[:5]) if own else [],
    }  # fmt: skip


def progress_context(place: EntryPlace) -> dict:
    """One sentence on the state, and how far it is."""
    submission = place.submission
    failure = submission.failure
    if submission.status == Status.FAILED and not failure:
        last = Evaluation.objects.filter(submission=submission).exclude(failure="").first()
        failure = last.failure if last else ""
    return {
        "sentence": IMPORTED if submission.phase.is_imported else SENTENCES[Status(submission.status)], "failure": failure,
        "status": Status(submission.status).label,
        "standing": None if submission.is_done else standing(submission),
    }  # fmt: skip


def _scores_context(request: HttpRequest, place: EntryPlace, evaluation: Evaluation) -> dict:
    snapshot = Snapshot.current(place.submission.phase, audience_of(place.viewer)) if place.phase_place.sees_board else None
    board = snapshot.board if snapshot else None
    scored, without = results(evaluation, board), evaluation.waiting()
    index = board.index_of(place.submission.pk) if board else None
    context = {
        "results": scored, "waiting": without, "evaluation": evaluation, "has_micro": any(result.score.extra for result in scored),
        "overall": _overall(board, index), "certainty": _certainty(evaluation, scored, snapshot, index),
        "n_ranked": len(board.entries) if board else 0,
    }  # fmt: skip
    if without:
        titles = ", ".join(metric["title"] for metric in without)
        context["sentence"] = f"Its items are scored, but for {titles}: that waits until the phase is re-evaluated with a newer version."
    if place.may("see_items"):
        sees_reference = place.viewer.may("phase.see_reference", place.submission.phase)
        table = ItemTable(evaluation, scored, request.GET.get("sort", ""), request.GET.get("order") == "best", sees_reference)
        context |= _items_context(request, table)
        if place.submission.phase.challenge.kind.images:
            context["scenes"] = render_scene.scenes(evaluation)
    return context


def _overall(board: Board | None, index: int | None) -> dict | None:
    if board is None or index is None:
        return None
    names = ("rank", "rank_low", "rank_high", "explanation")
    return {name: getattr(board.overall, name)[index] for name in names} | {"counted": board.entries[index].counted}


def _certainty(evaluation: Evaluation, metric_results: list[Result], snapshot: Snapshot | None, index: int | None) -> list[str]:
    """Statements on the entry's intervals and of where it may stand, in sentences."""
    if evaluation.batch.is_imported:
        return []
    equal = [(result.metric.title, result.score.n) for result in metric_results if result.score.n >= LEAST and not result.ends]
    sentences = certainty.of_values(certainty.Unit.of(evaluation.batch.groups, evaluation.batch.phase.challenge), equal)
    if snapshot is None or index is None:
        return sentences
    board = snapshot.board
    column = board.primary or board.metrics[0]
    alone = _alone(snapshot.pk, snapshot.digest, column.slug, index)
    low, high = column.rank_low[index], column.rank_high[index]
    if alone and low is not None and high is not None and alone != (low, high):
        sentences.append(f"{column.title}: {certainty.alone(alone, low, high)}")
    untested = certainty.untested(board, board.overall, index)
    by_rule_of_before = certainty.SENTENCES["ranks_before"] if certainty.before(board) else ""
    return [*sentences, *filter(None, [untested, by_rule_of_before])]


@lru_cache(maxsize=1024)
def _alone(snapshot: int, digest: str, slug: str, index: int) -> tuple[int, int] | None:
    """Kept, as neither a ranking nor the scores that it was made of change."""
    board = read_board(snapshot, digest)
    return build.alone(board, next(metric for metric in board.metrics if metric.slug == slug), index)


def _items_context(request: HttpRequest, table: ItemTable) -> dict:
    n_pages = max(1, math.ceil(len(table.ids) / ITEMS_PER_PAGE))
    page = min(page_number(request), n_pages)
    start = (page - 1) * ITEMS_PER_PAGE
    return {
        "table": table, "items": table.rows(start, start + ITEMS_PER_PAGE), "n_items": len(table.ids),
        "pages": page_numbers(page, n_pages), "page": page,
    }  # fmt: skip
