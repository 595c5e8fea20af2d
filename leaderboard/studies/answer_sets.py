"""Studies whose answers were brought in as one set: stored, and analysed as published sets are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from django.db import transaction
from pydantic import TypeAdapter

from evaluation.work.attempts import attempt, logged
from evaluation.work.heartbeat import process_name
from evaluation.work.sandbox import LeaseLost
from leaderboard.evidence import canonical, recording
from leaderboard.evidence.manifest import Manifest
from leaderboard.evidence.reading import Reading
from leaderboard.evidence.record_file import as_plain
from leaderboard.evidence.tables import EvidenceTables, PublishedMetric, RatersAre
from leaderboard.models import AnswerSet, Study
from leaderboard.stats.evidence import analysis
from leaderboard.stats.evidence.reproduction import Reproduction
from leaderboard.stats.records import plain
from leaderboard.studies.analysis import metric_scores
from submissions.leases import Leased
from submissions.models import Phase, User

REPRODUCTION: TypeAdapter[Reproduction] = TypeAdapter(Reproduction)


def bring(phase: Phase, actor: User | None, manifest: Manifest, found: Reading, **values: Any) -> Study:
    """A study of a set that was read, in one transaction. Raises ValueError, in a sentence, for a slug that is taken."""
    tables, reproduction = found.tables, recording.reproduced(manifest, found.printed)
    kind = Study.Kind.PAIRS if tables.criteria[0].pairs is not None else Study.Kind.OPINIONS
    with transaction.atomic():
        study = Study.bring(phase, actor, "answers", n_answers(tables), kind=kind, from_results=True, **values)
        study.store_entries(tables.stimuli.entries, dict(zip(tables.stimuli.entries, map(str, tables.stimuli.labels), strict=True)))
        AnswerSet.objects.create(
            study=study,
            packed=canonical.pack(manifest, tables),
            reproduction=None if reproduction is None else plain(reproduction),
            wanted=AnswerSet.stamp(study, bool(tables.metrics)),
        )
    return study


def n_answers(tables: EvidenceTables) -> int:
    """The number of scores, means and answers on pairs."""
    found = [len(one) for criterion in tables.criteria for one in (criterion.scores, criterion.pairs) if one is not None]
    return sum(found) + sum(int(np.isfinite(one.means.mean).sum()) for one in tables.criteria if one.means is not None)


def analyse_due(between: Callable[[Leased], None] = lambda row: None) -> int:
    """Compute one record that was asked for; how many were computed. `between` is called every few seconds of it."""
    row = AnswerSet.objects.waiting().claim(process_name())
    if row is None:
        return 0

    def go_on() -> None:
        if not row.heartbeat():
            raise LeaseLost
        between(row)

    study = row.study
    with logged("answers of a study analysed", row, study.phase, study=study.slug), attempt(row):
        manifest, found = row.unpacked()
        tables = found.tables if found.tables.metrics else _measured(study, found.tables)
        reproduction = None if row.reproduction is None else REPRODUCTION.validate_python(row.reproduction)
        today = datetime.now(UTC).date().isoformat()
        record = analysis.record_of(tables, recording.facts_of(manifest), reproduction, made=today, step=go_on)
        if not row.finish(as_plain(record)):
            raise LeaseLost
    return 1


def _measured(study: Study, tables: EvidenceTables) -> EvidenceTables:
    """The set with the values of the phase's own metrics on its stimuli; a metric of whole entries has none."""
    stimuli = tables.stimuli
    measured = [one for one in metric_scores(study, study.batch, stimuli.items, stimuli.entries) if one.overall is None]
    if not measured:
        return tables
    titles = [one.title for one in measured]
    metrics = tuple(
        PublishedMetric(one.title if titles.count(one.title) == 1 else f"{one.title} ({one.key})", "", one.higher_is_better)
        for one in measured
    )
    values = np.stack([one.values[stimuli.item, stimuli.entry] for one in measured], axis=1)
    return replace(tables, metrics=metrics, values=np.where(np.isfinite(values), values, math.nan))


def counts(found: Reading) -> list[str]:
    """Sentences on what a set holds, and what was left out of it."""
    tables = found.tables
    stimuli = tables.stimuli
    lines = [
        f"{len(stimuli):,} stimuli: {len(stimuli.entries):,} entries of {len(stimuli.families):,} families on "
        f"{len(stimuli.items):,} items of {len(stimuli.groups):,} groups; {len(tables.metrics)} metrics."
    ]
    for one in tables.criteria:
        if one.scores is not None:
            of = {
                RatersAre.PERSONS: f"of {one.scores.n_raters} raters",
                RatersAre.COLUMNS: f"of {one.scores.n_raters} raters, unless the check of columns says that they are no people",
            }
            said = f"{len(one.scores):,} scores {of.get(tables.raters_are, 'without persons')}"
        elif one.pairs is not None:
            said = f"{len(one.pairs):,} answers on pairs"
        else:
            assert one.means is not None
            errors = "with their standard errors" if (one.means.se > 0).any() else "without errors"
            said = f"{int((one.means.mean == one.means.mean).sum()):,} means, {errors}"
        lines.append(f"Criterion {one.name}: {said}.")
    if found.printed:
        lines.append(f"The source prints {len(found.printed):,} numbers that are computed from these data.")
    return [*lines, *tables.remarks]
