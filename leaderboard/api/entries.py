"""Entries in the API: their state and their scores.

These are in the router of `submissions/api/entries.py`, because an address with two methods is one address; they are here because only this
app knows scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

from django.db.models import Prefetch, Q
from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Schema
from pydantic import Field

from evaluation.models import Evaluation, Score
from evaluation.work import progress as work_progress
from evaluation.work.progress import Standing
from leaderboard.api.boards import Flags, Groups, Interval
from leaderboard.boards import flags
from leaderboard.boards.scorecard import current_evaluation
from leaderboard.entry_states import states
from leaderboard.lookup import current_boards
from leaderboard.records.board import Board
from leaderboard.wording.items import FLAGS
from submissions.api.common import (
    ANYBODY,
    ERRORS,
    NAME,
    SIGNED_IN,
    Id,
    Page,
    Paging,
    newest_first,
    one_of,
    piece_of,
)
from submissions.api.entries import SubmissionBrief, brief, duplicate_warnings, router
from submissions.entry_states import Reason
from submissions.lookup import entry_place, submission_for
from submissions.models import Status, Submission
from submissions.permissions import Viewer
from submissions.visibility import entries_of_teams
from submissions.wording import waiting


class Progress(Schema):
    done: int
    total: int


class ScoreOut(Schema):
    key: str
    title: str
    value: float | None
    ci: Interval
    n: Groups
    n_ok: int
    n_missing: int
    n_invalid: int
    higher_is_better: bool
    unit: str
    flags: Flags

    @classmethod
    def by_slug(cls, evaluation: Evaluation) -> dict[str, ScoreOut]:
        """The scores of an entry under a batch, by the metric's slug."""
        columns, found = {column.slug: column for column in evaluation.batch.columns}, {}
        for score in evaluation.scores.all():
            values = {name: getattr(score, name) for name in ("key", "value", "n", "n_ok", "n_missing", "n_invalid")}
            found[score.slug] = cls(
                **values,
                title=columns[score.slug].title if score.slug in columns else score.spec.title,
                higher_is_better=score.spec.higher_is_better,
                unit=score.spec.unit,
                ci=score.interval(),
                flags=flags.counts(score.flags),
            )
        return found


class WaitOut(Schema):
    what: str = Field(json_schema_extra=one_of(Reason))
    n: int | None = Field(description="Number of things that the entry waits for, if they can be counted.")
    sentence: str


class SubmissionFull(SubmissionBrief):
    queue_position: int | None = Field(description="The entry's place in the queue, from 1, until work on the entry begins.")
    waits_for: list[WaitOut] = Field(description="What the entry waits for, until work on the entry begins; empty later.")
    progress: Progress | None
    attempts: int | None  # that failed by its own doing, and the one under way
    losses: int | None  # workers that were lost while they had it; no fault of the entry
    scores: dict[str, ScoreOut] | None = Field(description="By the metric's slug; null if you may not see them, or there are none yet.")
    rank: int | None = Field(description="In the current ranking that you may see; null before the entry is ranked, and without a rank.")
    waiting: list[str] = Field(
        description="Slugs of metrics with a newer version, of which the entry has no score until the phase is re-evaluated."
    )

    @classmethod
    def of(
        cls, it: SubmissionBrief, standing: Standing | None, evaluation: Evaluation | None, lacking: list[str], rank: int | None
    ) -> Self:
        """The state of an entry with its progress, its scores if the caller may see them, and its rank."""
        waits = standing.waits_for if standing else ()
        return cls(
            **dict(it),
            queue_position=standing.position if standing else None,
            waits_for=[WaitOut(what=one.reason, n=one.numbers.get("n"), sentence=waiting(one)) for one in waits],
            progress=Progress(done=standing.done, total=standing.total) if standing and standing.total else None,
            attempts=standing.attempts if standing else None,
            losses=standing.losses if standing else None,
            scores=ScoreOut.by_slug(evaluation) if evaluation is not None else None,
            rank=rank,
            waiting=lacking,
        )


class ItemScore(Schema):
    item: str
    group: str
    value: float | None
    status: str
    flags: list[str] = Field(
        description="Flags of the value, such as copied_reference; flags about the reference only if you may see the reference."
    )
    failure: str = Field(description="Reason why an organizer's program failed on the item; kept for the first hundred items of an entry.")
    parts: dict[str, float]


class SubmissionFilter(Paging):
    """Your teams' entries, newest first."""

    challenge: str | None = Field(None, max_length=63, pattern=NAME)
    phase: str | None = Field(None, max_length=63, pattern=NAME)
    status: Status | None = None
    uploading: bool | None = Field(None, description="Only uploads that are not finished and can continue.")
    sha256: str | None = Field(None, pattern="^[0-9a-fA-F]{64}$")


@router.get("/submissions", auth=SIGNED_IN, response={200: Page[SubmissionFull], **ERRORS}, summary="Your teams' entries")
def list_submissions(request: HttpRequest, wanted: Query[SubmissionFilter]) -> Any:
    now = timezone.now()
    submissions = entries_of_teams(request.user).select_related("phase__challenge", "team")
    exact = {"phase__challenge__slug": wanted.challenge, "phase__slug": wanted.phase, "status": wanted.status}
    submissions = submissions.filter(**{name: value for name, value in exact.items() if value is not None})
    if wanted.sha256 is not None:
        submissions = submissions.filter(sha256=wanted.sha256.lower())
    if wanted.uploading is not None:
        still = Q(status=Status.UPLOADING, upload_expires_at__gt=now)
        submissions = submissions.filter(still if wanted.uploading else ~still)
    items, following = newest_first(submissions, request, wanted)
    return {"items": serialize_many(request, items, now), "next": following}


@router.get(
    "/submissions/{submission}",
    auth=ANYBODY,
    response={200: SubmissionFull, **ERRORS},
    summary="An entry: its state and its scores",
)
def get_submission(request: HttpRequest, submission: Id) -> Any:
    return full(request, submission_for(request.user, submission), timezone.now())


def full(request: HttpRequest, submission: Submission, now: datetime) -> SubmissionFull:
    """An entry as the caller may see it."""
    return serialize_many(request, [submission], now)[0]


def serialize_many(request: HttpRequest, submissions: Sequence[Submission], now: datetime) -> list[SubmissionFull]:
    """Several entries as the caller may see them; their data are fetched for all of them together."""
    viewers: dict[int, Viewer] = {}
    for submission in submissions:
        viewers.setdefault(submission.phase.challenge_id, Viewer(request.user, submission.phase.challenge, now))
    may = {submission.pk: viewers[submission.phase.challenge_id].may for submission in submissions}
    own = [submission for submission in submissions if may[submission.pk]("submission.see_problems", submission)]
    standings, again = work_progress.standings(own, now), duplicate_warnings(own)
    scored = [
        submission
        for submission in submissions
        if submission.status == Status.SCORED and may[submission.pk]("submission.see_scores", submission)
    ]
    scores = Prefetch("scores", Score.objects.defer("status_vector", "part_vectors"))
    current = (
        Evaluation.objects.filter(submission__in=scored, batch__state="current")
        .select_related("batch__reference", "batch__results")
        .prefetch_related(scores)
    )
    evaluations = {evaluation.submission_id: evaluation for evaluation in current}
    lacking = {pk: evaluation.waiting() for pk, evaluation in evaluations.items()}
    boards = current_boards(viewers, {submission.phase_id: submission.phase for submission in scored}.values())
    state_of = states(
        submissions,
        now,
        boards=boards,
        waits={pk: standing.waits_for for pk, standing in standings.items()},
        lacking={pk: [column.title for column in columns] for pk, columns in lacking.items()},
    )
    rows = []
    for submission in submissions:
        pk, evaluation = submission.pk, evaluations.get(submission.pk)
        it = brief(request, submission, viewers[submission.phase.challenge_id], again.get(pk), state_of[pk])
        rank = _rank(submission, boards.get(submission.phase_id)) if evaluation is not None else None
        waits = [column.slug for column in lacking.get(pk, ())]
        rows.append(SubmissionFull.of(it, standings.get(pk), evaluation, waits, rank))
    return rows


def _rank(submission: Submission, board: Board | None) -> int | None:
    """Rank in the newest ranking, which may still have an entry that was disqualified since."""
    return board.rank_of(submission.pk) if board is not None and submission.disqualified_at is None else None


class ItemQuery(Paging):
    """Metric whose values are requested, and page of the list."""

    metric: str = Field(max_length=63, pattern=NAME, description="The metric's slug in the phase.")
    limit: int = Field(100, ge=1, le=1000)


@router.get(
    "/submissions/{submission}/items",
    auth=ANYBODY,
    response={200: Page[ItemScore], **ERRORS},
    summary="One metric's value for every item",
    description=(
        "In the reference's order. Values and parts are null if the reference or the configuration leaves nothing to measure, or if "
        "they would reveal something of a reference you may not see."
    ),
)
def list_items(request: HttpRequest, submission: Id, wanted: Query[ItemQuery]) -> Any:
    place = entry_place(request.user, submission)
    place.viewer.require("submission.see_items", place.submission)
    entry = place.submission
    evaluation = current_evaluation(entry)
    score = evaluation.scores.filter(slug=wanted.metric).first() if evaluation and entry.status == Status.SCORED else None
    if evaluation is None or score is None:
        return {"items": [], "next": None}
    reference = evaluation.batch.reference
    sees_reference = place.viewer.may("phase.see_reference", entry.phase)
    values, statuses, rows = score.values_shown(sees_reference), score.statuses, []
    vectors = score.parts if sees_reference else {}  # they tell the size of the reference
    failures = score.failures_shown(sees_reference)
    here, following = piece_of(len(reference.item_ids), request, wanted)
    for index in here:
        value = float(values[index]) if index < len(values) else math.nan
        rows.append(
            {
                "item": reference.item_ids[index],
                "group": reference.groups[index],
                "value": None if math.isnan(value) else value,
                "status": str(statuses[index]),
                "parts": {name: float(vector[index]) for name, vector in vectors.items() if math.isfinite(vector[index])},
                "flags": [flag for flag, at in score.flags.items() if index in at and (sees_reference or flag in FLAGS)],
                "failure": failures.get(reference.item_ids[index], ""),
            }
        )
    return {"items": rows, "next": following}
