"""The database -> a definition: what a challenge is now."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import fields
from typing import Any, TypeVar

from django.db import models

from evaluation.models import EvaluationBatch, MetricProgram, PhaseMetric, Reference, ResultTable
from evaluation.programs import files as program_files
from evaluation.programs.files import ProgramFiles
from leaderboard.bundle.definition import (
    AnswersDef,
    ChallengeDef,
    FileDef,
    MetricDef,
    NewsDef,
    OpinionsDef,
    PageDef,
    PhaseDef,
    ProgramDef,
    ReferenceDef,
    ResultsDef,
)
from leaderboard.models import AnswerSet
from submissions.models import Challenge, ChallengeFile, Phase
from submissions.storage import stored_files

Record = TypeVar("Record")


def of_row(record: type[Record], row: models.Model, **others: Any) -> Record:
    """The record of a row: its fields are called as the row's columns, and `others` are those that are not."""
    columns = {column.name for column in row._meta.concrete_fields}
    return record(**{one.name: getattr(row, one.name) for one in fields(record) if one.name in columns} | others)  # type: ignore[arg-type]


def read(challenge: Challenge) -> ChallengeDef:
    """Everything of `challenge` that its organizers decide, in its current state."""
    files: dict[int | None, list[FileDef]] = defaultdict(list)
    for row in challenge.files.order_by("kind", "name"):
        files[row.phase_id].append(file_definition(row))
    return of_row(
        ChallengeDef,
        challenge,
        admitted_emails=tuple(challenge.admitted_emails),
        tags=tuple(challenge.tags),
        organizers=tuple(sorted(user.get_username() for user in challenge.organizers.all())),
        announcements=tuple(of_row(NewsDef, row, pk=row.pk) for row in challenge.announcements.order_by("published_at", "pk")),
        pages=tuple(of_row(PageDef, row) for row in challenge.pages.all()),
        files=in_order(files[None]),
        programs=tuple(program_definition(row) for row in MetricProgram.newest_of(challenge)),
        phases=tuple(
            phase_definition(phase, in_order(files[phase.pk]))
            for phase in challenge.phases.select_related("parent").prefetch_related("metrics")
        ),
    )


def phase_definition(phase: Phase, files: tuple[FileDef, ...]) -> PhaseDef:
    reference = reference_in_force(phase)
    return of_row(
        PhaseDef,
        phase,
        parent=phase.parent.slug if phase.parent else None,
        metrics=tuple(metric_definition(metric) for metric in phase.metrics.all()),
        reference=reference_definition(reference) if reference else None,
        results=results_definition(phase),
        files=files,
    )


def metric_definition(metric: PhaseMetric) -> MetricDef:
    resolved = metric.spec.every_param(metric.resolved)
    return of_row(MetricDef, metric, params={name: value for name, value in resolved.items() if name in metric.params})


def reference_in_force(phase: Phase) -> Reference | None:
    """The reference of the current batch; without a batch, the newest version of the reference."""
    batch = EvaluationBatch.latest(phase)
    return batch.reference if batch else phase.references.order_by("-version").first()


def results_definition(phase: Phase) -> ResultsDef | None:
    row = None if phase.is_measured_here else ResultTable.of(phase)
    if row is None:
        return None
    opinions = OpinionsDef.from_dict(row.opinions) if row.opinions else None
    answers = None
    if (found := AnswerSet.objects.filter(study__phase=phase, is_of_results=True).select_related("study").first()) is not None:
        packed = bytes(found.packed)
        answers = AnswersDef(found.study.question, hashlib.sha256(packed).hexdigest(), packed, found.reproduced)
    return ResultsDef(phase.results_source, phase.results_url, row.file_name, row.sha256, row.read_layout, opinions, answers, row.text)


def reference_definition(row: Reference) -> ReferenceDef:
    own, family = sorted(zip(row.item_ids, row.groups, strict=True)), row.family
    return ReferenceDef(
        sha256=row.sha256,
        item_ids=tuple(item for item, _ in own),
        groups=tuple((item, group) for item, group in own if group != family.group_of(item)),
        note=row.note,
        load=row.items,
        version=row.version,
        prompted=lambda: row.has_prompts,
    )


def file_definition(row: ChallengeFile) -> FileDef:
    return of_row(FileDef, row, pk=row.pk, content=lambda: stored_files.store().local_path(row.key))


def program_definition(row: MetricProgram) -> ProgramDef:
    def files() -> ProgramFiles:
        return program_files.read(stored_files.store().local_path(row.file_key), "program.zip", here=False)

    return of_row(ProgramDef, row, sha256=row.contents, files=files)


def in_order(files: list[FileDef]) -> tuple[FileDef, ...]:
    """Inputs before examples, each by name: the order of a parsed bundle."""
    order = list(ChallengeFile.Kind)
    return tuple(sorted(files, key=lambda file: (order.index(ChallengeFile.Kind(file.kind)), file.name)))
