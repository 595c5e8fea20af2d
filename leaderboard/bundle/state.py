"""The database -> a definition: what a challenge is now."""

from __future__ import annotations

import hashlib
from collections import defaultdict

from evaluation.models import EvaluationBatch, MetricProgram, PhaseMetric, Reference, ResultTable
from evaluation.programs import files as program_files
from leaderboard.bundle.definition import (
    CHALLENGE_FIELDS,
    PHASE_FIELDS,
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


def read(challenge: Challenge) -> ChallengeDef:
    """Everything of `challenge` that its organizers decide, in its current state."""
    files: dict[int | None, list[FileDef]] = defaultdict(list)
    for row in challenge.files.order_by("kind", "name"):
        files[row.phase_id].append(file_definition(row))
    columns = {name: getattr(challenge, name) for name in CHALLENGE_FIELDS}
    return ChallengeDef(
        slug=challenge.slug,
        **{**columns, "admitted_emails": tuple(challenge.admitted_emails), "tags": tuple(challenge.tags)},
        organizers=tuple(sorted(user.get_username() for user in challenge.organizers.all())),
        announcements=tuple(
            NewsDef(title=row.title, body=row.body, published_at=row.published_at, pk=row.pk)
            for row in challenge.announcements.order_by("published_at", "pk")
        ),
        pages=tuple(PageDef(slug=row.slug, title=row.title, body=row.body) for row in challenge.pages.all()),
        files=in_order(files[None]),
        programs=tuple(program_definition(row) for row in MetricProgram.newest_of(challenge)),
        phases=tuple(
            phase_definition(phase, in_order(files[phase.pk]))
            for phase in challenge.phases.select_related("parent").prefetch_related("metrics")
        ),
    )


def phase_definition(phase: Phase, files: tuple[FileDef, ...]) -> PhaseDef:
    columns = {name: getattr(phase, name) for name in PHASE_FIELDS}
    reference = reference_in_force(phase)
    return PhaseDef(
        slug=phase.slug,
        **{**columns, "parent": phase.parent.slug if phase.parent else None},
        metrics=tuple(metric_definition(metric) for metric in phase.metrics.all()),
        reference=reference_definition(reference) if reference else None,
        results=results_definition(phase),
        files=files,
    )


def metric_definition(metric: PhaseMetric) -> MetricDef:
    resolved = metric.spec.every_param(metric.resolved)
    return MetricDef(
        slug=metric.slug,
        key=metric.key,
        title=metric.title,
        weight=metric.weight,
        is_primary=metric.is_primary,
        in_ranking=metric.in_ranking,
        params={name: value for name, value in resolved.items() if name in metric.params},
    )


def reference_in_force(phase: Phase) -> Reference | None:
    """The reference of the current batch; without a batch, the newest version of the reference."""
    batch = EvaluationBatch.latest(phase)
    return batch.reference if batch else phase.references.order_by("-version").first()


def results_definition(phase: Phase) -> ResultsDef | None:
    row = ResultTable.of(phase) if phase.is_imported else None
    if row is None:
        return None
    opinions = OpinionsDef.from_dict(row.opinions) if row.opinions else None
    answers = None
    if (found := AnswerSet.objects.filter(study__phase=phase, is_of_results=True).select_related("study").first()) is not None:
        packed = bytes(found.packed)
        answers = AnswersDef(found.study.question, hashlib.sha256(packed).hexdigest(), packed, found.reproduction)
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
    return FileDef(
        kind=row.kind,
        name=row.name,
        title=row.title,
        size=row.size,
        sha256=row.sha256,
        pk=row.pk,
        content=lambda: stored_files.store().local_path(row.key),
    )


def program_definition(row: MetricProgram) -> ProgramDef:
    return ProgramDef(
        key=row.key,
        version=row.version,
        sha256=row.contents,
        is_public=row.is_public,
        files=lambda: program_files.read(stored_files.store().local_path(row.file_key), "program.zip", here=False),
    )


def in_order(files: list[FileDef]) -> tuple[FileDef, ...]:
    """Inputs before examples, each by name: the order of a parsed bundle."""
    order = list(ChallengeFile.Kind)
    return tuple(sorted(files, key=lambda file: (order.index(ChallengeFile.Kind(file.kind)), file.name)))
