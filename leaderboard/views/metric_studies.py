"""In which studies a metric was held against people: what its own page says of that."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from evaluation.metrics import registry
from evaluation.models import EvaluationBatch, PhaseMetric
from leaderboard.boards.certainty import Unit
from leaderboard.boards.human_agreement import Line, lines_of, order_words, people_words, rho_words, trained_more
from leaderboard.models import Study, StudyAnalysis
from leaderboard.studies.summary import Metric, Seen, Summary, named_samples
from submissions.models import Challenge

MAX_STUDIES = 20


@dataclass(frozen=True)
class Measured:
    """Agreement of one column of a phase with the people of one of the phase's studies."""

    study: Study
    column: str
    fingerprint: str
    title: str
    line: Line
    rho: str  # of published means, where that is all there is
    seen: Seen | None  # where it is known which gap 75 % see
    words: str
    basis: str
    trained: str
    noun: str  # of what people were asked about
    at: datetime
    version: int | None  # of the metric; None where that is not known
    is_current: bool  # and whether it is the version that is computed now


def measured(user: Any, key: str, fingerprint: str = "") -> list[Measured]:
    """Findings of the studies that `user` may see on metric `key`, or of one definition of it alone: of its current version first,
    then of others; of each real people before made-up ones, figures before what is too early, and newest first. The page opens with
    the first.

    So many queries at most as there are challenges with such studies, whatever their number of entries and votes.
    """
    phases = PhaseMetric.objects.filter(key=key).values("phase")
    rows = StudyAnalysis.seen_by(user, study__phase__in=phases)
    contents = dict(StudyAnalysis.objects.filter(pk__in=[row.pk for row in rows[:MAX_STUDIES]]).values_list("pk", "content"))
    nouns = _nouns({row.study.phase_id: row.study.phase.challenge for row in rows[:MAX_STUDIES]})
    summaries = {
        row.pk: summary
        for row in rows[:MAX_STUDIES]
        if (summary := Summary.read(named_samples(contents.get(row.pk), partial(nouns.__getitem__, row.study.phase_id)))) is not None
    }
    versions = _versions({row.study.phase_id for row in rows[:MAX_STUDIES]}, key)
    lines = [
        _measured(row, summaries[row.pk], line, found_metric, versions.get(found_metric.fingerprint), nouns[row.study.phase_id])
        for row in rows[:MAX_STUDIES]
        if row.pk in summaries
        for line, found_metric in zip(lines_of(summaries[row.pk], noun=nouns[row.study.phase_id]), summaries[row.pk].metrics, strict=True)
        if found_metric.metric == key and fingerprint in ("", found_metric.fingerprint)
    ]
    return sorted(lines, key=lambda one: (not one.is_current, one.study.made_up, not (one.rho or one.line.shown)))


def _nouns(phases: dict[int, Challenge]) -> dict[int, str]:
    """By phase, what its challenge calls what people are asked about."""
    current = EvaluationBatch.objects.filter(phase__in=phases, state=EvaluationBatch.State.CURRENT).select_related("reference")
    groups = {batch.phase_id: batch.groups for batch in current}
    return {phase: Unit.of(groups.get(phase, []), challenge).noun for phase, challenge in phases.items()}


def _versions(phases: set[int], key: str) -> dict[str, int | None]:
    """The version of metric `key` that each fingerprint is of, as the batches of these phases have it."""
    batches = EvaluationBatch.objects.filter(phase__in=phases).values_list("metrics", flat=True) if phases else ()
    return {column["fingerprint"]: registry.version_of(column) for metrics in batches for column in metrics if column["key"] == key}


def _measured(row: StudyAnalysis, summary: Summary, line: Line, metric: Metric, version: int | None, noun: str) -> Measured:
    only_means = summary.of == "means"
    said = order_words(metric.title, metric.rho) if only_means else line.reading
    return Measured(
        row.study, metric.key, metric.fingerprint, metric.title, line, rho_words(metric.rho) if only_means else "",
        metric.seen if metric.seen and metric.seen.delta75 else None,
        said + trained_more(metric.trained, summary.opinions), _basis(summary), line.trained, noun,
        row.finished_at, version, version == registry.get(metric.metric).version,
    )  # fmt: skip


def _basis(summary: Summary) -> str:
    """The number of people and judgements it is of, in words."""
    who = people_words(summary.n_people)
    if summary.of == "means":
        return f"published means, {who}"
    return f"{summary.counted:,} {'scores' if summary.opinions else 'judgements'} by {who}"
