"""In which studies a metric was held against people: what its own page says of that."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.fields.json import KeyTransform
from django.utils import timezone

from evaluation.metrics import registry
from evaluation.models import EvaluationBatch, PhaseMetric
from leaderboard.models import Study, StudyAnalysis
from leaderboard.people import opinion_reading, reading, signed, trained_more, trained_words
from submissions.models import Challenge
from submissions.permissions import Viewer, visible_challenges

MOST_STUDIES = 20
PARTS = ("metrics", "kind", "of", "counted", "questions", "raters", "n_raters", "screened", "people")  # of an analysis, that are read here


@dataclass(frozen=True)
class Measured:
    """How far one column of a phase agrees with the people of one of the phase's studies."""

    study: Study
    column: str
    fingerprint: str
    title: str
    figure: str  # in short
    words: str
    basis: str
    trained: str
    at: datetime
    version: int | None  # of the metric; None where that is not known
    is_current: bool  # and whether it is the version that is computed now


def measured(user: Any, key: str, fingerprint: str = "") -> list[Measured]:
    """What the studies that `user` may see found of metric `key`, or of one definition of it alone: of its current version first,
    then of others, each newest first.

    So many queries at most as there are challenges with such studies, whatever their number of entries and votes.
    """
    now = timezone.now()
    viewers: dict[int, Viewer] = {}
    found = []
    for row in _main(user, key):
        phase = row.study.phase
        viewer = viewers.setdefault(phase.challenge_id, Viewer(user, phase.challenge, now))
        if viewer.may("phase.see_board", phase) and (row.study.is_public or viewer.organizes):
            found.append(row)
    parts = {part: KeyTransform(part, "content") for part in PARTS}
    contents = {
        pk: dict(zip(PARTS, values, strict=True))
        for pk, *values in StudyAnalysis.objects.filter(pk__in=[row.pk for row in found[:MOST_STUDIES]])
        .annotate(**{f"in_{part}": value for part, value in parts.items()})
        .values_list("pk", *(f"in_{part}" for part in PARTS))
    }
    versions = _versions({row.study.phase_id for row in found[:MOST_STUDIES]}, key)
    lines = [
        _measured(row, contents[row.pk], line, versions.get(line["fingerprint"]))
        for row in found[:MOST_STUDIES]
        for line in contents[row.pk]["metrics"]
        if line.get("metric") == key and fingerprint in ("", line["fingerprint"])
    ]
    return sorted(lines, key=lambda one: not one.is_current)


def _versions(phases: set[int], key: str) -> dict[str, int | None]:
    """The version of metric `key` that each fingerprint is of, as the batches of these phases have it."""
    batches = EvaluationBatch.objects.filter(phase__in=phases).values_list("metrics", flat=True) if phases else ()
    return {column["fingerprint"]: registry.version_of(column) for metrics in batches for column in metrics if column["key"] == key}


def _main(user: Any, key: str) -> list[StudyAnalysis]:
    """The leading analysis of each study that may be one to be shown, without its content."""
    phases = PhaseMetric.objects.filter(key=key, phase__challenge__in=visible_challenges(user)).values("phase")
    rows: QuerySet[StudyAnalysis] = StudyAnalysis.objects.filter(study__phase__in=phases, content__isnull=False)
    if not user.is_staff:
        own = Challenge.objects.filter(organizers=user).values("pk") if user.is_authenticated else ()
        rows = rows.filter(Q(study__is_public=True) | Q(study__phase__challenge__in=own))
    found: dict[int, dict[str, StudyAnalysis]] = {}
    for row in rows.select_related("study__phase__challenge").defer("content").order_by("-finished_at", "-id"):
        found.setdefault(row.study_id, {})[row.criterion] = row
    return [each[next(iter(each.values())).study.leading(each)] for each in found.values()]


def _measured(row: StudyAnalysis, content: dict[str, Any], line: dict[str, Any], version: int | None) -> Measured:
    opinions = content["kind"] == "opinions"
    order = line["order"]
    low, high = order.get("srocc_ci") or (None, None)
    ends = f" [{signed(low)}, {signed(high)}]" if low is not None else ""
    rho = "" if order["srocc"] is None else f"ρ {signed(order['srocc'])}{ends}"
    if opinions:
        words = opinion_reading(line["title"], {"value": order["srocc"], "low": low, "high": high, "n": order["n"]})
        figure = rho
    else:
        words = reading(line["title"], line["pairs"], content["people"]["pairs"])
        agreed = line["pairs"]["value"]
        figure = " · ".join(filter(None, ("" if agreed is None else f"{round(100 * agreed)} / 100 pairs", rho)))
    return Measured(
        row.study, line["key"], line["fingerprint"], line["title"], figure, words + trained_more(line, opinions),
        _basis(content, opinions), trained_words(line, opinions), row.finished_at, version,
        version == registry.get(line["metric"]).version,
    )  # fmt: skip


def _basis(content: dict[str, Any], opinions: bool) -> str:
    """How many people and judgements it is of, in words."""
    raters = content["n_raters"] if opinions else len(content["raters"])
    raters = None if raters is None else raters - len(content["screened"] or ())  # pairs know no screening
    who = "raters unknown" if raters is None else f"{raters} rater{'' if raters == 1 else 's'}"
    if content["of"] == "means":
        return f"published means, {who}"
    what = "scores" if opinions else f"answers on {content['questions']:,} pairs"
    return f"{content['counted']:,} {what} by {who}"
