"""Boards, their snapshots and the metrics, as the API tells them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from django.http import Http404, HttpRequest
from django.urls import reverse
from ninja import Path, Query, Router, Schema
from pydantic import Field

from evaluation.metrics import registry
from evaluation.metrics.spec import Source
from evaluation.models import EvaluationBatch, Score
from leaderboard.boards import metric_evidence
from leaderboard.boards.build import finite_bounds
from leaderboard.lookup import audience_of, current_ranking, snapshot_of
from leaderboard.models import Snapshot
from leaderboard.records.board import Board, ColumnHead, PublicEntry, Ranks, StudyFacts, StudyName
from leaderboard.records.record import Record
from leaderboard.stats.another_rater import Person, Standing
from leaderboard.stats.meaning import Difference
from leaderboard.stats.minimums import GROUPS_FOR_BOARD_INTERVAL
from leaderboard.stats.states import State
from leaderboard.stats.two_way_intervals import Figure
from leaderboard.wording.board import no_order
from leaderboard.wording.reasons import sentence
from leaderboard.wording.worded import worded
from submissions.api.common import (
    ANYBODY,
    ERRORS,
    NAME,
    Page,
    PageQuery,
    Paging,
    Slug,
    newest_first,
    piece_of,
)
from submissions.lookup import PhasePlace, phase_place
from submissions.models import Phase
from submissions.visibility import visible_challenges

router = Router(tags=["boards"], auth=ANYBODY)

Digest = Annotated[str, Path(pattern=r"^[0-9a-f]{8,64}$")]
MetricKey = Annotated[str, Path(max_length=105, pattern=NAME)]


class SnapshotBrief(Schema):
    digest: str = Field(description="The permanent name of this ranking.")
    audience: str
    n_entries: int
    n_teams: int = Field(description="0 where the values were imported.")
    created_at: datetime
    page_url: str


class PropertyCount(Schema):
    """The number of sanity tests that a metric passes with exactly these parameters."""

    state: str = Field(description="measured, measuring, failed or none.")
    passed: int | None
    of: int | None = Field(description="The sanity tests that apply to the metric's kind.")
    failed: list[str] = Field(
        description="The sanity tests that the metric fails, by id. Each is another mistake, so their number says little."
    )


class PeopleOut(Schema):
    """Agreement of a column with the people of the board's study."""

    decided: Figure | None = Field(
        description=(
            "Decided agreement: of the answers that name a winner, how often the column puts it first, half if it ties; 0.5 is chance. "
            "Of entries of teams and baselines, with an interval over raters and samples. Null if only means are known."
        )
    )
    damaged: Figure | None = Field(description="Decided agreement with damaged, empty and reference entries.")
    standing: Standing | None = Field(description="The metric's state between chance and another rater; null if no answer names a winner.")
    person: Person | None = Field(
        description="The metric's agreement minus another rater's (apart), and minus the midpoint of chance and a rater "
        "(half), on the same answers."
    )
    places: tuple[int, int] | None = Field(description="Range of the metric's place among the metrics, at 95 % for each.")
    may_be_best: bool | None = Field(description="Whether the metric's places begin at 1.")
    difference: Difference | None = Field(description="What differences of the metric's values mean to people.")
    above_size: bool | None = Field(
        description="Whether the metric agrees with people significantly better than the entry's size alone; null if unknown."
    )
    srocc: Figure = Field(description="Spearman's rho with the people's order of the entries, or with their mean opinion scores.")
    krocc: Figure = Field(description="Kendall's tau-b.")
    plcc: Figure = Field(description="Pearson's r.")
    groups: dict[str, Figure] = Field(description="Decided agreement by rater group.")
    trained: str = Field(
        "",
        description=(
            "Training data of a learned metric. 'these': the answers of this study, so its agreement is no evidence. 'entries': other "
            "answers about entries of this phase. 'unknown': its weights do not say. 'refused': its weights may not rank. Empty: none of "
            "these."
        ),
    )


class StudyOut(StudyFacts, StudyName):
    """The study behind a ranking's agreement with people, as it was when the ranking was made."""

    withdrawn: int = Field(description="Answers in these figures that raters have withdrawn since.")
    rules: int = Field(
        description=(
            "4: today's rules; 2: rules that compared no metric with another rater; 1: earlier ones, "
            "where `decided` is the share of equal answers, ties half."
        )
    )


class Column(ColumnHead):
    """A metric of a ranking."""

    weight: float
    outdated: str = Field("", description="Reason why the values are not of the metric's current version; otherwise empty.")
    properties: PropertyCount
    people: PeopleOut | None = Field(None, description="Null if the ranking has no study, or the study has no figure for this column.")


class SnapshotFull(SnapshotBrief):
    challenge: str
    phase: str
    simulated: bool
    reference: int = Field(description="The version of the reference, or of the table of imported figures.")
    imported_from: str = Field(description="Where the figures were published; empty if they were measured here.")
    imported_url: str
    rule: str = Field(description="The metric or rule of the overall rank.")
    uncertainty: int = Field(
        description="The rule of intervals, brackets and rank intervals: 3; 2 for rankings tested by 999 patterns of signs in the order of "
        "items, 1 for percentile bootstraps.",
    )
    problem: str = Field(description="Why there is no overall rank; otherwise empty.")
    frozen_at: datetime | None
    reevaluation_prepared: bool = Field(
        description=(
            "True if an earlier version misread files of entries. All entries of the phase are scored again beside the board, and the "
            "organizers have yet to switch to the new values or drop them."
        )
    )
    reference_misread: bool = Field(
        description=(
            "True if an earlier version probably misread the files of this ranking's reference, so that the organizers are asked to "
            "upload them again."
        )
    )
    study: StudyOut | None
    columns: list[Column]
    rows_url: str


Interval = Annotated[
    tuple[float, float] | None,
    Field(
        description=f"95 % interval of the value; null under {GROUPS_FOR_BOARD_INTERVAL} groups, where all are equal, and for a metric of "
        "the whole set."
    ),
]
Groups = Annotated[int, Field(description="Number of groups of items that the value is the mean of; of items if all share one group.")]
Flags = Annotated[dict[str, int], Field(description="Number of items that copied a clean view, or scored above all clean views, by flag.")]


class CellOut(Schema):
    value: float | None
    ci: Interval
    n: Groups
    rank: int | None
    ranks: tuple[int, int] | None = Field(
        description="95 % range of the entry's rank, for all entries at once. Null if the entry is not tested."
    )
    group: int | None = Field(
        description="The entry's bracket, from 1. The entry is tied with the first entry of the bracket, corrected for all pairs."
    )
    loose: bool = Field(False, description="Whether the entry is also tied with the first entry of a higher bracket.")
    tied: list[int] | None = Field(
        None,
        description="Ids of the entries that this entry is tied with, corrected for all pairs of the board. Null if not tested.",
    )
    flags: Flags


class Row(PublicEntry):
    """One entry. Ranks are over the whole leaderboard, wherever the piece begins."""

    rank: int | None = Field(description="Null: not ranked.")
    value: float | None
    ranks: tuple[int, int] | None = Field(description="95 % range of its rank by the board's rule, for all entries at once.")
    group: int | None = Field(description="The entry's bracket, from 1.")
    loose: bool = Field(False, description="Whether the entry may belong to a higher bracket.")
    people: Figure | None = Field(
        None,
        description=(
            "People's figure: how often they would pick it against the others, by its `n` answers, or its mean of `n` scores; 0 if "
            "that number is not known. The interval of a mean may extend beyond the scale."
        ),
    )
    scores: dict[str, CellOut]


class ParamOut(Schema):
    name: str
    kind: str
    default: float | int | bool | str | None
    low: float | None
    high: float | None
    choices: list[str]
    unit: str
    doc: str
    source: Source = Field(
        description=(
            "Source of the default: the metric's paper, the code of its authors, the code of others, our own choice, or the organizer "
            "who brought the metric."
        )
    )


class MetricOut(Schema):
    key: str
    title: str
    family: str
    higher_is_better: bool
    bounds: tuple[float | None, float | None] = Field(description="The least and the greatest value; null without a limit.")
    unit: str
    params: list[ParamOut]
    weights: str | None
    version: int
    doc: str
    formula: str
    paper: str = Field(description="Sources of its definition: authors, title and place of papers, and notes.")
    fingerprint: str = Field(description="Fingerprint of the metric with its default parameters.")
    properties: PropertyCount = Field(description="With the default parameters.")
    cost_ms: float | None = Field(
        description="Milliseconds per item when this service scored entries; before it timed one, when the metric ran its sanity tests."
    )


class RowQuery(Paging):
    limit: int = Field(100, ge=1, le=1000)
    sort: str | None = Field(None, max_length=63, pattern=NAME, description="A metric's slug; by default the overall rank.")


# --- snapshots -------------------------------------------------------------------------------


def _brief(request: HttpRequest, snapshot: Snapshot, phase: Phase) -> SnapshotBrief:
    address = reverse("snapshot", args=[phase.challenge.slug, phase.slug, snapshot.digest])
    known = {name: getattr(snapshot, name) for name in ("digest", "audience", "n_entries", "created_at")}
    teams = snapshot.n_teams if phase.has_teams else 0
    return SnapshotBrief(**known, n_teams=teams, page_url=request.build_absolute_uri(address))


def _full(request: HttpRequest, snapshot: Snapshot, phase: Phase) -> SnapshotFull:
    board = snapshot.board
    counts = metric_evidence.counts(metric.fingerprint for metric in board.metrics)
    outdated = {column.slug: column.sentence for column in snapshot.batch.outdated()}
    rows = f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/snapshots/{snapshot.digest}/rows"
    people = worded(board.people, board.resampled)
    agreement: dict[str, PeopleOut] = {}
    only_means = people is not None and people.of == "means"
    for line in people.metrics if people is not None else ():
        names = ("damaged", "standing", "person", "places", "may_be_best", "difference", "above_size", "groups", "trained")
        known = {name: getattr(line, name) for name in names}
        decided = None if only_means or line.decided.value is None else line.decided
        agreement.setdefault(line.slug, PeopleOut(**known, decided=decided, srocc=line.rho, krocc=line.tau, plcc=line.r))
    return SnapshotFull(
        **dict(_brief(request, snapshot, phase)),
        challenge=phase.challenge.slug,
        phase=phase.slug,
        simulated=board.challenge.simulated,
        reference=board.reference,
        imported_from=board.imported.source if board.imported else "",
        imported_url=board.imported.url if board.imported else "",
        rule=board.overall.rule,
        problem=no_order(board.overall.problem),
        uncertainty=board.uncertainty,
        frozen_at=board.frozen_at,
        reevaluation_prepared=EvaluationBatch.is_prepared(phase),
        reference_misread=snapshot.batch.reference is not None and bool(snapshot.batch.reference.misread),
        study=None
        if people is None
        else StudyOut(**_part(StudyFacts, people), **_part(StudyName, people.study), withdrawn=snapshot.withdrawn, rules=people.people),
        columns=[
            Column(
                **_part(ColumnHead, metric),
                properties=PropertyCount.from_orm(counts[metric.fingerprint]),
                people=agreement.get(metric.slug),
                outdated=outdated.get(metric.slug, ""),
            )
            for metric in board.metrics
        ],
        rows_url=rows,
    )


def _part(record: type[Record], whole: Record) -> dict[str, Any]:
    """The fields that a larger record shares with the one it is made from."""
    return {name: getattr(whole, name) for name in record.model_fields}


def board_place(request: HttpRequest, challenge: str, phase: str) -> PhasePlace:
    return phase_place(request.user, challenge, phase, "phase.see_board")


@router.get("/challenges/{challenge}/phases/{phase}/board", response={200: SnapshotFull, **ERRORS}, summary="The newest ranking of a phase")
def get_board(request: HttpRequest, challenge: Slug, phase: Slug) -> Any:
    place = board_place(request, challenge, phase)
    snapshot = current_ranking(place)
    if snapshot is None:
        raise Http404
    return _full(request, snapshot, place.phase)


@router.get(
    "/challenges/{challenge}/phases/{phase}/snapshots",
    response={200: Page[SnapshotBrief], **ERRORS},
    summary="All rankings kept of a phase",
)
def list_snapshots(request: HttpRequest, challenge: Slug, phase: Slug, paging: PageQuery) -> Any:
    place = board_place(request, challenge, phase)
    rows = Snapshot.objects.defer("payload").filter(phase=place.phase, audience=audience_of(place.viewer))
    items, following = newest_first(rows, request, paging)
    return {"items": [_brief(request, snapshot, place.phase) for snapshot in items], "next": following}


@router.get("/challenges/{challenge}/phases/{phase}/snapshots/{digest}", response={200: SnapshotFull, **ERRORS}, summary="One ranking")
def get_snapshot(request: HttpRequest, challenge: Slug, phase: Slug, digest: Digest) -> Any:
    place = board_place(request, challenge, phase)
    return _full(request, snapshot_of(place.phase, place.viewer, digest), place.phase)


@router.get(
    "/challenges/{challenge}/phases/{phase}/snapshots/{digest}/rows",
    response={200: Page[Row], **ERRORS},
    summary="The rows of a ranking, best first",
)
def list_rows(request: HttpRequest, challenge: Slug, phase: Slug, digest: Digest, wanted: Query[RowQuery]) -> Any:
    place = board_place(request, challenge, phase)
    board = snapshot_of(place.phase, place.viewer, digest).board
    ranks = board.overall if wanted.sort is None else board.column(wanted.sort)
    if ranks is None:
        raise Http404
    here, following = piece_of(len(ranks.order), request, wanted)
    return {"items": [_row(board, ranks.order[place]) for place in here], "next": following}


def _row(board: Board, index: int) -> Row:
    people, figure = board.people, None
    if people is not None and people.value[index] is not None:
        value, low, high = people.value[index], people.low[index], people.high[index]
        figure = Figure(value, low, high, people.n[index], State.ROUGH if people.is_rough else State.KNOWN)
        if low is None:
            reason = people.reason or (people.few or {}).get(str(board.entries[index].id))
            state = State.NO_INTERVAL if reason is None or people.of == "means" else reason.state
            figure = replace(figure, state=state, reason=reason, why=sentence(reason, board.resampled))
    return Row(
        **_part(PublicEntry, board.entries[index]) | {"team": board.team_of(board.entries[index])},
        **_standing(board.overall, index),
        value=board.overall.value[index],
        scores={
            metric.slug: CellOut(
                **_standing(metric, index),
                value=metric.value[index],
                ci=_both(metric.interval(index)),
                n=metric.n[index],
                tied=None if (tied := metric.tied(index)) is None else [board.entries[other].id for other in tied],
                flags=metric.flags(index),
            )
            for metric in board.metrics
        },
        people=figure,
    )


def _standing(ranks: Ranks, index: int) -> dict[str, Any]:
    loose = bool(ranks.loose) and ranks.loose[index]
    return {"rank": ranks.rank[index], "ranks": ranks.rank_range(index), "group": ranks.group[index], "loose": loose}


def _both(ends: tuple) -> tuple | None:
    return None if None in ends else ends


# --- metrics ---------------------------------------------------------------------------------


@router.get("/metrics", response={200: Page[MetricOut], **ERRORS}, summary="All metrics")
def list_metrics(request: HttpRequest, paging: PageQuery) -> Any:
    keys = sorted(registry.REGISTRY)
    here, following = piece_of(len(keys), request, paging)
    return {"items": _metrics([registry.REGISTRY[keys[place]] for place in here]), "next": following}


@router.get("/metrics/{key}", response={200: MetricOut, **ERRORS}, summary="A metric")
def get_metric(request: HttpRequest, key: MetricKey) -> Any:
    if key not in registry.REGISTRY:
        raise Http404
    return _metrics([registry.REGISTRY[key]])[0]


@router.get("/metrics/{challenge}/{name}", response={200: MetricOut, **ERRORS}, summary="A metric that an organizer brought")
def get_program_metric(request: HttpRequest, challenge: Slug, name: MetricKey) -> Any:
    spec = registry.find(f"{challenge}/{name}")
    if spec is None or not visible_challenges(request.user).filter(slug=challenge, programs__scope=challenge, programs__key=name).exists():
        raise Http404
    return _metrics([spec])[0]


def _metrics(specs: list[registry.MetricSpec]) -> list[MetricOut]:
    """Specs with what is known of them for their default parameters."""
    fingerprints = {spec.key: registry.fingerprint(spec.key, {}) for spec in specs}
    counts, here = metric_evidence.counts(fingerprints.values()), Score.typical_costs(fingerprints.values())
    rows = []
    for spec in specs:
        fingerprint = fingerprints[spec.key]
        cost = metric_evidence.cost_of(fingerprint, here.get(fingerprint))
        fields = {name: getattr(spec, name) for name in MetricOut.model_fields if hasattr(spec, name)}
        fields["paper"] = str(spec.origin)
        fields["weights"] = " + ".join(network for network, _ in spec.networks) or None
        fields["bounds"] = finite_bounds(spec)
        fields["properties"] = PropertyCount.from_orm(counts[fingerprint])
        rows.append(MetricOut(**fields, fingerprint=fingerprint, cost_ms=cost.ms if cost else None))
    return rows
