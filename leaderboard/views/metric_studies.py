"""The studies in which a metric was compared with people, for its own page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
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
from leaderboard.records.agreement import Line
from leaderboard.records.study import Summary
from leaderboard.records.unit import Unit
from leaderboard.service.page_cache import PARTS
from leaderboard.stats.meaning import Difference
from leaderboard.stats.records import Contradiction, Metric
from leaderboard.studies.metric_ranking import SIMULATED, Family, source_of
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
    """Agreement of one column of a phase with the people of one of the phase's studies: `metric` and its `line` of the `summary` of an
    analysis (`row`). `version` is the metric's, None if unknown; `reference` is the one in force."""

    row: StudyAnalysis
    summary: Summary
    metric: Metric
    line: Line
    version: int | None
    reference: Reference | None

    @property
    def study(self) -> Study:
        return self.row.study

    @property
    def is_current(self) -> bool:
        """True if the version is known and computed now."""
        return self.version == registry.get(self.metric.metric).version

    @property
    def source(self) -> str:
        """Source of its answers."""
        return source_of(self.study)

    @property
    def rho(self) -> str:
        """Likeness of the order of published means, where that is all there is."""
        return agreement.rho(self.metric.rho) if self.summary.of == "means" else ""

    @property
    def difference(self) -> Difference | None:
        """Meaning of differences of its values, where that is known."""
        found = self.metric.difference
        return found if found and found.reason is None else None

    @property
    def words(self) -> str:
        words = agreement.order(self.metric.title, self.metric.rho) if self.summary.of == "means" else agreement.reading(self.line)
        return f"{words} {agreement.trained_more(self.line)}".rstrip()

    @property
    def trained(self) -> str:
        return agreement.trained(self.line)

    @property
    def basis(self) -> str:
        return basis(self.summary.basis)


def measured(seen: Sequence[StudyAnalysis], key: str, fingerprint: str = "", found_in: Family | None = None) -> list[Measured]:
    """Findings of the studies that were `seen` on metric `key`, or of one definition of it alone. The current version comes first, then
    real people before simulated ones, figures before those that are too early, and newest first. The page opens with the first. Studies
    that `found_in` ranks it by are included even if their phase has it no more.

    A few queries, for any number of studies, entries and votes.
    """
    having = set(PhaseMetric.objects.filter(key=key).values_list("phase", flat=True)) if seen else set()
    ranked = {one.id for one in found_in.all if any(line.metric == key for line in one.metrics.values())} if found_in else set()
    rows = [row for row in seen if row.study.phase_id in having or row.study_id in ranked][:MAX_STUDIES]
    contents = dict(StudyAnalysis.objects.filter(pk__in=[row.pk for row in rows]).values_list("pk", "content"))
    phases = {row.study.phase_id for row in rows}
    current = EvaluationBatch.objects.filter(phase__in=phases, state=EvaluationBatch.State.CURRENT).select_related("reference")
    batches = {batch.phase_id: batch for batch in current}
    versions, found = _versions(key, phases), []
    for row in rows:
        batch, summary = batches.get(row.study.phase_id), Summary.read(contents.get(row.pk))
        if summary is None:
            continue
        noun = Unit.of(batch.groups if batch is not None else [], row.study.phase.challenge).noun
        found += [
            Measured(row, summary, metric, line, versions.get(metric.fingerprint), batch.reference if batch is not None else None)
            for line, metric in zip(lines_of(summary, noun=noun), summary.metrics, strict=True)
            if metric.metric == key and fingerprint in ("", metric.fingerprint)
        ]
    return sorted(found, key=lambda one: (not one.is_current, one.source == SIMULATED, not (one.rho or one.line.shown)))


def _versions(key: str, phases: Collection[int]) -> dict[str, int | None]:
    """Version of each fingerprint of a metric: of the defaults the current one, of others as the batches of these phases have it."""
    versions: dict[str, int | None] = {registry.fingerprint(key, {}): registry.get(key).version}
    for metrics in EvaluationBatch.objects.filter(phase__in=phases).values_list("metrics", flat=True) if phases else ():
        versions |= {column.fingerprint: column.version for column in map(Column.of, metrics) if column.key == key}
    return versions


@dataclass(frozen=True)
class Contradicted:
    """A pair on which people prefer one entry and a metric the other: the first is people's. `entries` are both entries, if they are still
    there."""

    viewer: Viewer
    by: Measured
    pair: Contradiction
    entries: list[Submission]

    @property
    def item(self) -> str:
        """An item that shows it; empty where none does."""
        return next(iter(self.pair.samples), "")

    def _may(self, action: str) -> bool:
        return len(self.entries) == 2 and all(self.viewer.may(f"submission.{action}", entry) for entry in self.entries)

    def _may_draw(self, action: str) -> bool:
        return self._may("see") and self._may(action) and all(entry.artifact_key for entry in self.entries)

    @property
    def link(self) -> str:
        """Address of the two side by side, on the item; empty where the viewer may not see both."""
        if not self._may("see"):
            return ""
        query = {"a": self.entries[0].pk, "b": self.entries[1].pk} | ({"item": self.item} if self.item else {})
        phase = self.by.study.phase
        return f"{reverse('compare', args=[phase.challenge.slug, phase.slug])}?{urlencode(query)}"

    @cached_property
    def drawings(self) -> list[tuple[str, Drawing]]:
        """Both over the reference on the item, with their names, for those who may see these."""
        kind, reference = KINDS[self.by.study.phase.challenge.family], self.by.reference
        if not kind.drawing or reference is None or self.item not in reference.item_ids or not self._may_draw("see_geometry"):
            return []
        files = [(entry.method_name, (reference.key, entry.artifact_key, self.item)) for entry in self.entries]
        return [(name, PARTS.of(("drawing", *keys), partial(kind.draw, *keys))) for name, keys in files]

    @property
    def pictures(self) -> list[tuple[str, str]]:
        """Addresses of both in the first view of the scene, with their names, if the kind has no drawing."""
        kind, reference = KINDS[self.by.study.phase.challenge.family], self.by.reference
        if kind.drawing or reference is None or self.item not in reference.groups or not self._may_draw("see_render"):
            return []
        first = reference.item_ids[reference.groups.index(self.item)]
        return [(entry.method_name, reverse("entry_poster", args=[entry.pk, first])) for entry in self.entries]


def contradictions(user: Any, found: Sequence[Measured]) -> tuple[int, list[Contradicted]]:
    """The number of pairs on which the metric, in its current version, contradicts people, and the clearest of them; of simulated people
    only if no others give a figure. Pairs with entries that are hidden from the reader are left out."""
    found = [one for one in found if one.is_current]
    if any(one.line.shown and one.source != SIMULATED for one in found):
        found = [one for one in found if one.source != SIMULATED]
    turned = sorted(_turned(user, found), key=lambda row: row[2].p_holm or 0.0)
    shown = turned[:MAX_CONTRADICTIONS]
    ids = [[one.summary.entries.get(name) for name in (pair.first, pair.second)] for _, one, pair in shown]
    entries = Submission.objects.select_related("phase__challenge").in_bulk({pk for both in ids for pk in both if pk})
    return len(turned), [Contradicted(*row, [entries[pk] for pk in both if pk in entries]) for row, both in zip(shown, ids, strict=True)]


def _turned(user: Any, found: Sequence[Measured]) -> Iterator[tuple[Viewer, Measured, Contradiction]]:
    """Each pair on which one of these contradicts people, if neither entry is hidden from the reader."""
    now, viewers, hidden = timezone.now(), dict[int, Viewer](), dict[int, frozenset[int]]()
    for one in found:
        if not one.metric.contradictions:
            continue
        phase = one.study.phase
        viewer = viewers.setdefault(phase.challenge_id, Viewer(user, phase.challenge, now))
        if phase.pk not in hidden:
            hidden[phase.pk] = hidden_from(viewer, phase)
        names = {name for name, pk in one.summary.entries.items() if pk in hidden[phase.pk]}
        yield from ((viewer, one, pair) for pair in one.metric.contradictions if not pair.among(names))
