"""A study whose answers were brought in as one set: its page, its figures as JSON, and its tables for organizers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from leaderboard.evidence.record_file import as_plain
from leaderboard.evidence.shown import Set
from leaderboard.models import AnswerSet, Study
from leaderboard.service.responses import attachment
from leaderboard.stats.evidence.record import EvidenceRecord
from leaderboard.wording import evidence as wording
from submissions.lookup import PhasePlace
from submissions.visibility import hidden_from


def of_study(study: Study) -> AnswerSet | None:
    """The answers that were brought into a study as one set, without their archive; None for any other study."""
    return AnswerSet.objects.filter(study=study).defer("packed").first() if study.from_results else None


def page(request: HttpRequest, place: PhasePlace, study: Study, answers: AnswerSet) -> HttpResponse:
    """Figures of each criterion, and the source."""
    record = shown(place, study, answers)
    context = place.context("people") | {"study": study, "analysis": answers, "record": record}
    if record is not None:
        context |= {
            "criteria": [Set(record, name, figures) for name, figures in record.criteria.items()],
            "scale": wording.scale(record),
        }
    return render(request, "leaderboard/answer_set.html", context)


def figures(place: PhasePlace, study: Study, answers: AnswerSet) -> JsonResponse:
    """The record, as the API has records of published sets."""
    record = shown(place, study, answers)
    return JsonResponse(about(study) | {"record": None if record is None else as_plain(record)})


def about(study: Study) -> dict[str, Any]:
    """Head of a study's figures as JSON."""
    return {"study": study.slug, "title": study.title, "question": study.question, "source": study.source, "simulated": study.simulated}


def archive(study: Study) -> HttpResponse:
    """The canonical tables, with a number for each rater: for organizers."""
    packed = AnswerSet.objects.values_list("packed", flat=True).get(study=study)
    return attachment(HttpResponse(bytes(packed), content_type="application/zip"), f"{study.slug}.zip")


def shown(place: PhasePlace, study: Study, answers: AnswerSet) -> EvidenceRecord | None:
    """The record without entries that are hidden from the viewer; None before there is one."""
    if answers.record is None:
        return None
    hidden = study.hidden_labels(hidden_from(place.viewer, study.phase))
    criteria = {
        name: replace(one, entries=tuple(entry for entry in one.entries if entry.entry not in hidden))
        for name, one in answers.record.criteria.items()
    }
    return replace(answers.record, criteria=criteria)
