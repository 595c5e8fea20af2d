"""The studies in which a metric was compared with people, for its own page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from evaluation.metrics import registry
from evaluation.metrics.column import Column
from evaluation.models import EvaluationBatch, PhaseMetric, Reference
from leaderboard.boards.people import lines_of
from leaderboard.kinds import KINDS
from leaderboard.models import Study, StudyAnalysis
from leaderboard.records.agreement import Line, Verdict
from leaderboard.records.study import Summary
from leaderboard.records.unit import Unit
from leaderboard.service.page_cache import PARTS
from leaderboard.stats.meaning import Difference
from leaderboard.stats.records import Contradiction, Metric
from leaderboard.studies.metric_ranking import SIMULATED, Family, Standing, source_of, verdict
from leaderboard.viewer.svg import Drawing
from leaderboard.wording import agreement
from leaderboard.wording.people import basis
from submissions.models import Submission
from submissions.permissions import Viewer
from submissions.visibility import hidden_from

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
    difference: Difference | None  # what differences of its values mean, where that is known
    words: str
    basis: str
    trained: str
    noun: str  # of what people were asked about
    at: datetime
    version: int | None  # of the metric; None where that is not known
    is_current: bool  # and whether it is the version that is computed now
    source: str  # the source of its answers
    summary: Summary
    metric: Metric
    reference: Reference | None  # in force

    @property
    def answers(self) -> int:
        """The number of decided answers behind the figure."""
        return self.metric.decided.n


@dataclass(frozen=True)
class Contradicted:
    """A pair on which people prefer one entry and a metric the other: the first is people's. `link` leads to the two side by side on an
    item that shows it; the drawings, of both on that item over the reference, are there for those who may see these, and the `pictures`, by
    the name of the entry, if a kind has no such drawing."""

    study: Study
    one: Contradiction
    item: str
    link: str
    drawings: tuple[tuple[str, Drawing], ...]
    opinions: bool
    noun: str
    pictures: tuple[tuple[str, str], ...] = ()


def measured(seen: Sequence[StudyAnalysis], key: str, fingerprint: str = "", found_in: Family | None = None) -> list[Measured]:
    """Findings of the studies that were `seen` on metric `key`, or of one definition of it alone: its current version first; real people
    before simulated ones, figures before those that are too early, and newest first. The page opens with the first. Those that `found_in`
    ranks it by are among them though their phase has it no more.

    A few queries, for any number of studies, entries and votes.
    """
    having = set(PhaseMetric.objects.filter(key=key).values_list("phase", flat=True)) if seen else set()
    ranked = {one.id for one in found_in.all if any(line.metric == key for line in one.metrics.values())} if found_in else set()
    rows = [row for row in seen if row.study.phase_id in having or row.study_id in ranked][:MAX_STUDIES]
    contents = dict(StudyAnalysis.objects.filter(pk__in=[row.pk for row in rows]).values_list("pk", "content"))
    phases = {row.study.phase_id for row in rows}
    current = EvaluationBatch.objects.filter(phase__in=phases, state=EvaluationBatch.State.CURRENT).select_related("reference")
    batches = {batch.phase_id: batch for batch in current}

    # The version that each fingerprint is of: of the defaults the current one, of others as the batches of these phases have it.
    versions: dict[str, int | None] = {registry.fingerprint(key, {}): registry.get(key).version}
    for metrics in EvaluationBatch.objects.filter(phase__in=phases).values_list("metrics", flat=True) if phases else ():
        versions |= {column.fingerprint: column.version for column in map(Column.of, metrics) if column.key == key}

    found = []
    for row in rows:
        batch = batches.get(row.study.phase_id)
        noun = Unit.of(batch.groups if batch is not None else [], row.study.phase.challenge).noun
        summary = Summary.read(contents.get(row.pk))
        if summary is None:
            continue
        only_means = summary.of == "means"
        for line, metric in zip(lines_of(summary, noun=noun), summary.metrics, strict=True):
            if metric.metric != key or fingerprint not in ("", metric.fingerprint):
                continue
            words = agreement.order(metric.title, metric.rho) if only_means else agreement.reading(line)
            version = versions.get(metric.fingerprint)
            found.append(
                Measured(
                    study=row.study,
                    column=metric.key,
                    fingerprint=metric.fingerprint,
                    title=metric.title,
                    line=line,
                    rho=agreement.rho(metric.rho) if only_means else "",
                    difference=metric.difference if metric.difference and metric.difference.reason is None else None,
                    words=f"{words} {agreement.trained_more(line)}".rstrip(),
                    basis=basis(summary.basis),
                    trained=agreement.trained(line),
                    noun=noun,
                    at=row.finished_at,
                    version=version,
                    is_current=version == registry.get(metric.metric).version,
                    source=source_of(row.study),
                    summary=summary,
                    metric=metric,
                    reference=batch.reference if batch is not None else None,
                )
            )
    return sorted(found, key=lambda one: (not one.is_current, one.source == SIMULATED, not (one.rho or one.line.shown)))


def verdict_on(family: Family, standing: Standing | None, studies: Sequence[Measured]) -> Verdict:
    """The sentence on a metric by its place in the ranking of its family, or by what its studies lack where it has none."""
    early = next((one.line for one in studies if one.is_current and not one.line.shown and not one.rho), None)
    is_outdated = bool(studies) and not any(one.is_current for one in studies)
    real = (one.line for one in studies if one.is_current and one.source != SIMULATED and one.line.shown and not one.line.trained)
    alike = next((line for line in real if line.low is None), None)
    return verdict(family, standing, early, is_outdated, alike)


def contradictions(user: Any, found: Sequence[Measured]) -> tuple[int, list[Contradicted]]:
    """The number of pairs on which the metric, in its current version, contradicts people, and the clearest of them; of simulated people
    only if no others give a figure. Pairs with entries that are hidden from the reader are left out."""
    now, viewers, hidden = timezone.now(), dict[int, Viewer](), dict[int, frozenset[int]]()
    turned: list[tuple[Viewer, Measured, Contradiction]] = []
    for one in found:
        if not (one.is_current and one.metric.contradictions):
            continue
        phase = one.study.phase
        viewer = viewers.setdefault(phase.challenge_id, Viewer(user, phase.challenge, now))
        if phase.pk not in hidden:
            hidden[phase.pk] = hidden_from(viewer, phase)
        names = {name for name, pk in one.summary.entries.items() if pk in hidden[phase.pk]}
        turned += [(viewer, one, pair) for pair in one.metric.contradictions if not pair.among(names)]
    if any(one.is_current and one.line.shown and one.source != SIMULATED for one in found):
        turned = [row for row in turned if row[1].source != SIMULATED]
    chosen = sorted(turned, key=lambda row: row[2].p_holm or 0.0)
    shown = chosen[:MAX_CONTRADICTIONS]
    keys = {one.summary.entries.get(name) for _, one, pair in shown for name in (pair.first, pair.second)} - {None}
    entries = Submission.objects.select_related("phase__challenge").in_bulk(keys) if keys else {}
    rows = []
    for viewer, one, pair in shown:
        phase, item, reference = one.study.phase, next(iter(pair.samples), ""), one.reference
        both = [entry for name in (pair.first, pair.second) if (entry := entries.get(one.summary.entries.get(name, 0))) is not None]
        link, drawings, pictures = "", [], []
        if len(both) == 2 and all(viewer.may("submission.see", entry) for entry in both):
            query = {"a": both[0].pk, "b": both[1].pk} | ({"item": item} if item else {})
            link = f"{reverse('compare', args=[phase.challenge.slug, phase.slug])}?{urlencode(query)}"
            kind = KINDS[phase.challenge.family]
            seen = all(entry.artifact_key and viewer.may("submission.see_geometry", entry) for entry in both)
            if kind.drawing and seen and reference is not None and item in reference.item_ids:
                for entry in both:
                    files = reference.key, entry.artifact_key, item
                    drawings.append((entry.method_name, PARTS.of(("drawing", *files), partial(kind.draw, *files))))
            drawn = all(entry.artifact_key and viewer.may("submission.see_render", entry) for entry in both)
            if not kind.drawing and drawn and reference is not None and item in reference.groups:
                first = reference.item_ids[reference.groups.index(item)]  # of a scene its first view
                pictures = [(entry.method_name, reverse("entry_poster", args=[entry.pk, first])) for entry in both]
        rows.append(Contradicted(one.study, pair, item, link, tuple(drawings), one.summary.opinions, one.noun, tuple(pictures)))
    return len(chosen), rows
