"""Studies as the API tells them: what people were asked, and everything that follows from their answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Sum
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from ninja import Router, Schema
from pydantic import Field

from leaderboard.api.boards import board_place
from leaderboard.evidence.record_file import as_plain
from leaderboard.lookup import study_of
from leaderboard.models import Study
from leaderboard.models.analysis import StudyAnalysis
from leaderboard.records.study import PlannedLook, Summary
from leaderboard.views import answer_sets
from leaderboard.wording.worded import worded
from submissions.api.common import ANYBODY, ERRORS, Page, PageQuery, Slug, newest_first
from submissions.models import Phase
from submissions.visibility import hidden_from

router = Router(tags=["studies"], auth=ANYBODY)


class StudyBrief(Schema):
    slug: str
    title: str
    question: str = Field(description="The question to raters.")
    source: str = Field(description="Who collected the answers, if not this service.")
    kind: str = Field(description="pairs, or opinions (scores on a scale).")
    state: str = Field(description="draft, open or closed.")
    rater_skill: str = Field(
        description=(
            "crowd, skilled or expert: how much worse than such a rater a judge model may be (.1, .15, .2) to be shown beside people; "
            "named before the study opened."
        )
    )
    covariates: list[str] = Field(description="Covariates of the preference model: size, texture; named before the study opened.")
    simulated: bool = Field(description="The study's raters are invented.")
    created_at: datetime
    criteria: list[str] = Field(description="The criteria that are analysed; an empty name holds all answers.")
    raters: int | None = Field(description="People whose answers are analysed; null if unknown, or if nothing is analysed yet.")
    answers: int | None = Field(description="Answers analysed on the main criterion; 0 if only means were published.")
    withdrawn: int = Field(description="Answers of raters who left; no figure uses them any more.")
    screened: int | None = Field(
        description="How many raters the study's screening rules left out of the analysis on the main criterion; null without rules."
    )
    analysed_at: datetime | None
    page_url: str


class StudyFull(StudyBrief):
    planned_looks: int = Field(description="Number of planned tests of first place, fixed before the study opened.")
    planned_answers: int | None = Field(description="Number of counting answers at which the last look is taken and the study ends.")
    looks: list[PlannedLook] = Field(description="The looks taken so far; the study ends at the first that settles first place.")
    analyses: dict[str, Summary] = Field(
        description=(
            "By criterion, the output of `python -m leaderboard.stats --json`. It holds each metric's agreement with people, with "
            "intervals over raters and samples, states, places and reference points. It also holds what people prefer, with ranges of "
            "places, another rater, contradictions, reliability, and whether there are enough answers. Intervals of mean scores may extend "
            "beyond `scale`, the two ends of the scale of ratings. The top level covers entries of teams and baselines; `all` covers "
            "damaged entries too. Raters are "
            "numbered; only organizers see how consistent each is."
        )
    )
    record: dict[str, Any] | None = Field(
        description="Figures of answers that were imported as one set, in the form of /evidence/NAME/; null for other studies."
    )


def _brief(request: HttpRequest, study: Study, phase: Phase, withdrawn: int) -> StudyBrief:
    done = {row.criterion: row for row in study.analyses.all() if row.summary is not None}
    main = StudyAnalysis.main(study)
    summary = main.summary if main else None
    address = reverse("study", args=[phase.challenge.slug, phase.slug, study.slug])
    fields = ("slug", "title", "question", "source", "kind", "state", "rater_skill", "covariates", "simulated", "created_at")
    return StudyBrief(
        **{name: getattr(study, name) for name in fields},
        criteria=study.in_order(done),
        raters=summary.n_people if summary else None,
        answers=summary.counted if summary else None,
        withdrawn=withdrawn,
        screened=len(summary.screened) if summary and summary.screening else None,
        analysed_at=main.finished_at if main else None,
        page_url=request.build_absolute_uri(address),
    )


@router.get(
    "/challenges/{challenge}/phases/{phase}/studies",
    response={200: Page[StudyBrief], **ERRORS},
    summary="The studies of a phase",
)
def list_studies(request: HttpRequest, challenge: Slug, phase: Slug, paging: PageQuery) -> Any:
    place = board_place(request, challenge, phase)
    rows = place.phase.studies.shown_to(place.viewer.organizes).prefetch_related("analyses")
    rows = rows.annotate(n_withdrawn=Coalesce(Sum("raters__withdrawn"), 0))
    items, following = newest_first(rows, request, paging)
    return {"items": [_brief(request, study, place.phase, study.n_withdrawn) for study in items], "next": following}


@router.get(
    "/challenges/{challenge}/phases/{phase}/studies/{study}",
    response={200: StudyFull, **ERRORS},
    summary="One study with its analysis",
)
def get_study(request: HttpRequest, challenge: Slug, phase: Slug, study: Slug) -> Any:
    place = board_place(request, challenge, phase)
    row = study_of(place.phase, place.viewer.organizes, slug=study)
    hidden = row.hidden_labels(hidden_from(place.viewer, place.phase))
    summaries = StudyAnalysis.summaries(row.analyses.all(), row, hidden)
    analyses = {name: worded(one.numbered(place.viewer.organizes), row.noun) for name, one in summaries.items()}
    looks = {"planned_looks": row.planned_looks, "planned_answers": row.planned_answers}
    looks["looks"] = [look.record(hidden) for look in row.looks.all()]
    answers = answer_sets.of_study(row)
    record = answer_sets.shown(place, row, answers) if answers is not None else None
    about = {"analyses": analyses, "record": None if record is None else as_plain(record)}
    return dict(_brief(request, row, place.phase, row.withdrawn())) | looks | about
