"""Studies whose answers were brought in as one set: stored, and analysed as published sets are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from django.db import transaction

from evaluation.work.attempts import attempt, beat, logged
from evaluation.work.heartbeat import process_name
from evaluation.work.sandbox import LeaseLost
from leaderboard.bundle.definition import AnswersDef
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

SLUG = "published-answers"


def bring(phase: Phase, actor: User | None, manifest: Manifest, found: Reading, **values: Any) -> Study:
    """A study of a set that was read, in one transaction. Raises ValueError, in a sentence, for a slug that is taken."""
    packed = canonical.pack(manifest, found.tables)
    return _keep(phase, actor, found.tables, packed, recording.reproduced(manifest, found.printed), False, **values)


def follow(phase: Phase, actor: User | None, answers: AnswersDef | None) -> None:
    """Make the phase's study what its figures say; no such study where they came without answers. Call it in the transaction that changes
    the figures."""
    known = AnswerSet.objects.filter(study__phase=phase, is_of_results=True).select_related("study").first()
    if known is not None and answers is not None and known.study.question == answers.question and bytes(known.packed) == answers.packed:
        return
    is_public = known.study.is_public if known is not None else True
    if known is not None:
        known.study.delete()
    if answers is None:
        return
    manifest, found = canonical.unpack(answers.packed)
    values = {
        "slug": Study.free_slug(phase, SLUG),
        "title": manifest.title[:120],
        "question": answers.question,
        "source": manifest.authors[:400],
        "is_public": is_public,
    }
    _keep(phase, actor, found.tables, answers.packed, answers.reproduction, True, **values)


def _keep(
    phase: Phase,
    actor: User | None,
    tables: EvidenceTables,
    packed: bytes,
    reproduction: Reproduction | None,
    is_of_results: bool,
    **values: Any,
) -> Study:
    kind = Study.Kind.PAIRS if tables.criteria[0].pairs is not None else Study.Kind.OPINIONS
    with transaction.atomic():
        study = Study.bring(phase, actor, "answers", n_answers(tables), kind=kind, from_results=True, **values)
        study.store_entries(tables.stimuli.entries, dict(zip(tables.stimuli.entries, map(str, tables.stimuli.labels), strict=True)))
        AnswerSet.objects.create(
            study=study,
            packed=packed,
            reproduction=None if reproduction is None else plain(reproduction),
            is_of_results=is_of_results,
            wanted=AnswerSet.stamp(study, bool(tables.metrics) or not phase.is_measured_here),
        )
    return study


def n_answers(tables: EvidenceTables) -> int:
    """The number of scores, means and answers on pairs."""
    found = [len(one) for criterion in tables.criteria for one in (criterion.scores, criterion.pairs) if one is not None]
    return sum(found) + sum(int(np.isfinite(one.means.mean).sum()) for one in tables.criteria if one.means is not None)


def analyse_due(between: Callable[[Leased], None] = lambda row: None) -> int:
    """Compute one record that was asked for; how many were computed. `between` is called every few seconds of it."""
    AnswerSet.request_outdated()
    row = AnswerSet.objects.waiting().claim(process_name())
    if row is None:
        return 0
    study = row.study
    with logged("answers of a study analysed", row, study.phase, study=study.slug), attempt(row):
        manifest, found = row.unpacked()
        # Columns of imported figures may be these very means.
        tables = _measured(study, found.tables) if not found.tables.metrics and study.phase.is_measured_here else found.tables
        today = datetime.now(UTC).date().isoformat()
        record = analysis.record_of(tables, recording.facts_of(manifest), row.reproduced, made=today, step=beat(row, between))
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
