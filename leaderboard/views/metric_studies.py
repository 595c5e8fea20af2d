"""In which studies a metric was held against people: what its own page says of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from evaluation.metrics import registry
from evaluation.models import EvaluationBatch, PhaseMetric, Reference
from leaderboard.boards.certainty import Unit
from leaderboard.boards.human_agreement import Line, lines_of, order_words, people_words, rho_words, trained_more
from leaderboard.kinds import KINDS
from leaderboard.models import Study, StudyAnalysis
from leaderboard.service.page_cache import PARTS
from leaderboard.studies.metric_ranking import MADE_UP, source_of
from leaderboard.studies.summary import Contradiction, Metric, Seen, Summary, named_samples
from leaderboard.viewer.svg import Drawing
from submissions.models import Submission
from submissions.permissions import Viewer
from submissions.visibility import hidden_ids

MAX_STUDIES = 20
MAX_CONTRADICTIONS = 3


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
    source: str  # where its judgements come from
    summary: Summary
    metric: Metric
    reference: Reference | None  # in force

    @property
    def judgements(self) -> int:
        """The number of decided judgements that the figure is of."""
        return self.metric.decided.n


@dataclass(frozen=True)
class Contradicted:
    """A duel that people decide and a metric turns round: the first is the people's. `link` is where the two stand side by side on an item
    in which it shows; the drawings, of both on that item over the reference, are there for who may see these, and the `pictures`, by the
    name of the entry, where a kind has no such drawing."""

    study: Study
    one: Contradiction
    item: str
    link: str
    drawings: tuple[tuple[str, Drawing], ...]
    opinions: bool
    noun: str
    pictures: tuple[tuple[str, str], ...] = ()


def measured(user: Any, key: str, fingerprint: str = "") -> list[Measured]:
    """Findings of the studies that `user` may see on metric `key`, or of one definition of it alone: of its current version first,
    then of others; of each real people before made-up ones, figures before what is too early, and newest first. The page opens with
    the first.

    A few queries, whatever the number of studies, entries and votes.
    """
    phases = PhaseMetric.objects.filter(key=key).values("phase")
    rows = StudyAnalysis.seen_by(user, study__phase__in=phases)
    contents = dict(StudyAnalysis.objects.filter(pk__in=[row.pk for row in rows[:MAX_STUDIES]]).values_list("pk", "content"))
    phases = {row.study.phase_id for row in rows[:MAX_STUDIES]}
    current = EvaluationBatch.objects.filter(phase__in=phases, state=EvaluationBatch.State.CURRENT).select_related("reference")
    batches = {batch.phase_id: batch for batch in current}
    nouns = {
        row.study.phase_id: Unit.of(
            batches[row.study.phase_id].groups if row.study.phase_id in batches else [], row.study.phase.challenge
        ).noun
        for row in rows[:MAX_STUDIES]
    }
    summaries = {
        row.pk: summary
        for row in rows[:MAX_STUDIES]
        if (summary := Summary.read(named_samples(contents.get(row.pk), partial(nouns.__getitem__, row.study.phase_id)))) is not None
    }
    versions = _versions({row.study.phase_id for row in rows[:MAX_STUDIES]}, key)
    lines = [
        _measured(row, summaries[row.pk], line, found_metric, versions.get(found_metric.fingerprint), nouns[row.study.phase_id], batches)
        for row in rows[:MAX_STUDIES]
        if row.pk in summaries
        for line, found_metric in zip(lines_of(summaries[row.pk], noun=nouns[row.study.phase_id]), summaries[row.pk].metrics, strict=True)
        if found_metric.metric == key and fingerprint in ("", found_metric.fingerprint)
    ]
    return sorted(lines, key=lambda one: (not one.is_current, one.source == MADE_UP, not (one.rho or one.line.shown)))


def _versions(phases: set[int], key: str) -> dict[str, int | None]:
    """The version of metric `key` that each fingerprint is of: of the defaults the current one, of others as the batches of these phases
    have it."""
    batches = EvaluationBatch.objects.filter(phase__in=phases).values_list("metrics", flat=True) if phases else ()
    known: dict[str, int | None] = {registry.fingerprint(key, {}): registry.get(key).version}
    return known | {column["fingerprint"]: registry.version_of(column) for metrics in batches for column in metrics if column["key"] == key}


def _measured(
    row: StudyAnalysis, summary: Summary, line: Line, metric: Metric, version: int | None, noun: str, batches: Mapping[int, EvaluationBatch]
) -> Measured:
    only_means = summary.of == "means"
    said = order_words(metric.title, metric.rho) if only_means else line.reading
    return Measured(
        row.study,
        metric.key,
        metric.fingerprint,
        metric.title,
        line,
        rho_words(metric.rho) if only_means else "",
        metric.seen if metric.seen and metric.seen.delta75 else None,
        said + trained_more(metric.trained, summary.opinions),
        _basis(summary),
        line.trained,
        noun,
        row.finished_at,
        version,
        version == registry.get(metric.metric).version,
        source_of(row.study),
        summary,
        metric,
        batches[row.study.phase_id].reference if row.study.phase_id in batches else None,
    )


def contradictions(user: Any, found: Sequence[Measured]) -> tuple[int, list[Contradicted]]:
    """The number of duels in which the metric, in its current version, contradicts people, and the clearest of them; of made-up people only
    where there are no others. Duels with entries that the reader is told nothing of are left out."""
    now, viewers, hidden = timezone.now(), dict[int, Viewer](), dict[int, frozenset[int]]()
    turned: list[tuple[Viewer, Measured, Contradiction]] = []
    for one in found:
        if not (one.is_current and one.metric.contradictions):
            continue
        phase = one.study.phase
        viewer = viewers.setdefault(phase.challenge_id, Viewer(user, phase.challenge, now))
        if phase.pk not in hidden:
            hidden[phase.pk] = frozenset() if viewer.organizes else hidden_ids(phase, now)
        names = {name for name, pk in one.summary.entries.items() if pk in hidden[phase.pk]}
        turned += [(viewer, one, duel) for duel in one.metric.contradictions if not duel.among(names)]
    real = [row for row in turned if row[1].source != MADE_UP]
    chosen = sorted(real or turned, key=lambda row: row[2].p_holm or 0.0)
    shown = chosen[:MAX_CONTRADICTIONS]
    keys = {one.summary.entries.get(name) for _, one, duel in shown for name in (duel.first, duel.second)} - {None}
    entries = Submission.objects.select_related("phase__challenge").in_bulk(keys) if keys else {}
    return len(chosen), [_contradicted(viewer, one, duel, entries) for viewer, one, duel in shown]


def _contradicted(viewer: Viewer, one: Measured, duel: Contradiction, entries: Mapping[int, Submission]) -> Contradicted:
    phase, item, reference = one.study.phase, next(iter(duel.samples), ""), one.reference
    both = [entry for name in (duel.first, duel.second) if (entry := entries.get(one.summary.entries.get(name, 0))) is not None]
    link, drawings, kind = "", [], KINDS[phase.challenge.family]
    pictures: list[tuple[str, str]] = []
    if len(both) == 2 and all(viewer.may("submission.see", entry) for entry in both):
        query = {"a": both[0].pk, "b": both[1].pk} | ({"item": item} if item else {})
        link = f"{reverse('compare', args=[phase.challenge.slug, phase.slug])}?{urlencode(query)}"
        seen = all(entry.artifact_key and viewer.may("submission.see_geometry", entry) for entry in both)
        if kind.drawing and seen and reference is not None and item in reference.item_ids:
            for entry in both:
                keys = reference.key, entry.artifact_key, item
                drawings.append((entry.method_name, PARTS.of(("drawing", *keys), partial(kind.draw, *keys))))
        drawn = all(entry.artifact_key and viewer.may("submission.see_render", entry) for entry in both)
        if not kind.drawing and drawn and reference is not None and item in reference.groups:
            first = reference.item_ids[reference.groups.index(item)]  # of a scene its first view
            pictures = [(entry.method_name, reverse("entry_poster", args=[entry.pk, first])) for entry in both]
    return Contradicted(one.study, duel, item, link, tuple(drawings), one.summary.opinions, one.noun, tuple(pictures))


def _basis(summary: Summary) -> str:
    """The number of people and judgements it is of, in words."""
    who = people_words(summary.n_people)
    if summary.of == "means":
        return f"published means, {who}"
    return f"{summary.counted:,} {'scores' if summary.opinions else 'judgements'} by {who}"
