"""Acts of organizers that span several models. Each is one transaction and leaves a line in the audit log."""

from __future__ import annotations

import atexit
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import structlog
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from evaluation.models import Evaluation, EvaluationBatch, Reference
from evaluation.rendering.objects import Drawing
from evaluation.work.reference_import import Unreadable, items_of
from evaluation.work.sandbox import JobFailed, Sandbox, job_folder
from leaderboard.bundle.apply import drop_bytes, remove_phase
from leaderboard.bundle.definition import FileDef
from leaderboard.bundle.folder import picture_file, reference_faults
from leaderboard.bundle.state import reference_in_force
from submissions.errors import Refused
from submissions.formats.render.page_picture import MAX_FILE_BYTES
from submissions.formats.render.views import Roi
from submissions.kinds import Family
from submissions.models import AuditEntry, Challenge, ChallengeFile, Phase, Submission, User
from submissions.models.entry_texts import checked_file_name
from submissions.storage import stored_files

DOUBTING = 6  # looking for objects in a reference may take this part of the time of reading it

log = structlog.get_logger(__name__)


def reevaluate(phase: Phase, reason: str, actor: User | None) -> EvaluationBatch:
    """Score all entries again under the current reference and metrics; the batch keeps the log's line."""
    return EvaluationBatch.start(phase, reference=reference_in_force(phase), reason=reason, actor=actor)


def reevaluate_outdated(actor: User | None, reason: str = "") -> tuple[list[EvaluationBatch], list[tuple[Phase, str]]]:
    """Score again, a batch each, every phase whose latest batch has values of other versions than the current ones; the batches begun, and
    the phases that cannot be scored, with the reason. Each phase is an act of its own: one that is refused holds up no other."""
    begun, refused = [], []
    for batch in EvaluationBatch.all_outdated():
        versions = dict.fromkeys(f"{column.key} version {column.current}" for column in batch.outdated())
        try:
            begun.append(reevaluate(batch.phase, reason or f"New: {', '.join(versions)}", actor))
        except Refused as error:
            refused.append((batch.phase, error.sentence))
    return begun, refused


def cancel_batch(batch: EvaluationBatch, actor: User | None) -> None:
    """Stop a re-evaluation; the board stays as it is."""
    with transaction.atomic():
        before = {"state": batch.state}
        batch.cancel()
        after = {"state": batch.state}
        AuditEntry.record(batch.phase.challenge, actor, "batch.cancel", batch.phase, before=before, after=after, batch=batch.pk)


def switch_batch(batch: EvaluationBatch, actor: User | None) -> None:
    """Let the board show a re-evaluation that waits for organizers. Raises `Refused` while an entry of it is not scored."""
    with transaction.atomic():
        before = {"state": batch.state}
        if not batch.switch_if_complete(by_hand=True):
            raise Refused(
                "Some entries are not scored yet, so the leaderboard cannot switch. Wait for them, or leave them out.", "not_complete"
            )
        AuditEntry.record(
            batch.phase.challenge, actor, "batch.switch", batch.phase, before=before, after={"state": batch.state}, batch=batch.pk
        )


def retry_member(evaluation: Evaluation, actor: User | None) -> None:
    """Score a member of a re-evaluation again that failed or was left out."""
    _require_state(evaluation, Evaluation.State.FAILED, Evaluation.State.EXCLUDED)
    with transaction.atomic():
        _record_member(evaluation, actor, "batch.retry", "running")
        evaluation.retry()


def exclude_member(evaluation: Evaluation, actor: User | None) -> None:
    """Leave a failed member out, so that the re-evaluation can end. Its entry has no values on the new board."""
    _require_state(evaluation, Evaluation.State.FAILED)
    with transaction.atomic():
        _record_member(evaluation, actor, "batch.exclude", "excluded")
        evaluation.exclude()


def _require_state(evaluation: Evaluation, *states: str) -> None:
    if evaluation.state not in states:
        raise Refused("This entry has not failed in that re-evaluation; look at the page again.", "not_failed")


def _record_member(evaluation: Evaluation, actor: User | None, action: str, state: str) -> None:
    entry = evaluation.submission
    why = {"reason": evaluation.reason, "numbers": evaluation.numbers, "failure": evaluation.failure}
    before = {"state": str(evaluation.state)} | why
    AuditEntry.record(
        entry.phase.challenge, actor, action, entry, before=before, after={"state": state}, batch=evaluation.batch_id, submission=entry.pk
    )


@contextmanager
def _own_child() -> Iterator[Sandbox]:
    """A limited child process for one file; a web process waits for it."""
    child = Sandbox()
    try:
        yield child
    finally:
        child.stop()
        atexit.unregister(child.stop)


def read_inputs(phase: Phase, file: ChallengeFile) -> str:
    """The table of input boxes in a file, parsed in a limited child process while a web process waits. Raises `Refused`
    where it cannot be read, or holds nothing named after an item of the phase."""
    if phase.manifest is None:
        raise Refused("The phase has no reference yet, so nothing says which items it has; give it first.", "no_reference")
    name = checked_file_name(file.name)
    try:
        with _own_child() as child, job_folder() as folder:
            (folder / "upload").mkdir()
            shutil.copyfile(stored_files.store().local_path(file.key), folder / "upload" / name)
            job = {"kind": "inputs", "file": f"upload/{name}", "item_ids": phase.manifest.item_ids}
            found = child.run(folder, job, lambda: True, settings.READ_SECONDS)
    except JobFailed as failed:
        log.warning("inputs could not be read", detail=failed.detail)
        words = f"{file.name} could not be read. {failed.sentence} State the boxes in the phase's form instead."
        raise Refused(words, "unreadable") from None
    if found["faults"]:
        raise Refused(" · ".join(found["faults"][:20]), "bad_inputs")
    if not found["n"]:
        sample = phase.manifest.item_ids[0]
        raise Refused(
            f"{file.name} holds no file of points or of a mesh that is named after an item, such as {sample}.ply; rename them, or state "
            "the boxes in the phase's form.",
            "no_inputs",
        )
    return str(found["table"])


def read_picture(file: UploadedFile, title: str) -> FileDef:
    """An uploaded picture for pages, re-encoded in a limited child process while a web process waits. Raises `Refused`."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", file.name or "picture")  # so that Markdown can name it without marks around it
    if file.size is None or file.size > MAX_FILE_BYTES:
        raise Refused(f"{name} has more than {MAX_FILE_BYTES:,} bytes; make the picture smaller.", "too_large")
    try:
        with _own_child() as child:
            return picture_file(file.read(), name, title, child)
    except Unreadable as error:
        raise Refused(f"{' · '.join(error.faults)}.", "bad_picture") from None


def read_reference(
    name: str,
    chunks: Iterable[bytes],
    family: Family,
    background: str = "#ffffff",
    drawing: Drawing | None = None,
    columns: Iterable[tuple[str, Mapping[str, Any]]] = (),
    doubted: Callable[[str], None] = lambda warning: None,
) -> dict[str, Any]:
    """The items of an uploaded file (images laid on `background`; views of its meshes, with `drawing`), read soon or not at all, for a
    web process waits. `doubted` gets what speaks against them for these `columns`
    (metrics and their parameters). Raises `Refused` with every fault."""
    name = checked_file_name(name)
    try:
        with _own_child() as child, job_folder() as folder:
            file = folder / name
            with file.open("wb") as target:
                target.writelines(chunks)
            items, warnings = items_of(
                file,
                family,
                background,
                drawing,
                child=child,
                seconds=settings.READ_SECONDS,
                columns=list(columns),
                doubting=settings.READ_SECONDS / DOUBTING,
            )
        faults: Sequence[str] = reference_faults(items, family)
    except Unreadable as error:
        faults = error.faults
    if faults:
        raise Refused(" · ".join(faults[:20]), "bad_reference")
    for warning in warnings:
        doubted(warning)
    return items


def store_reference(phase: Phase, items: Mapping[str, Any], groups: Mapping[str, str], note: str, actor: User | None) -> Reference:
    """Keep a new version; no entry is scored under it before the switch."""
    unknown = sorted(groups.keys() - items.keys())
    if unknown:
        raise Refused(f"There is no item {unknown[0]} in the file, but a group names it; mend the groups.", "unknown_item")
    prompted = any(getattr(item, "prompt", "") for item in items.values())
    for metric in phase.metrics.all():
        if missing := metric.spec.missing_prompts(prompted):
            raise Refused(f"{missing} Or take the metric out of the phase first.", "no_prompts")
    with transaction.atomic():
        before = phase.references.count()
        reference = Reference.add(phase, items, groups=groups, actor=actor, note=note)
        AuditEntry.record(
            phase.challenge,
            actor,
            "reference.store",
            reference,
            before={"versions": before},
            after={"version": reference.version, "items": len(items), "sha256": reference.sha256, "note": note},
        )
    return reference


def store_regions(opened: Reference, regions: Mapping[str, tuple[Roi, ...]], scene: str, actor: User | None) -> Reference:
    """Keep a new version with these regions in views of a scene, made from the version `opened`; no entry is scored under it before the
    switch. Raises `Refused` where there is a newer version."""
    with transaction.atomic():
        note = f"Regions marked in {scene}"
        reference = opened.with_regions(regions, actor=actor, note=note)
        AuditEntry.record(
            opened.phase.challenge,
            actor,
            "reference.regions",
            reference,
            before={"version": opened.version},
            after={"version": reference.version, "scene": scene, "regions": sum(map(len, regions.values()))},
        )
    return reference


def delete_challenge(challenge: Challenge) -> None:
    """Remove a draft that nobody has entered, with everything in it, its audit log too."""
    with transaction.atomic():
        Challenge.objects.select_for_update().get(pk=challenge.pk)
        if challenge.visibility != Challenge.Visibility.DRAFT:
            raise Refused("Only a draft can be deleted; make the challenge a draft first.", "not_draft")
        if Submission.objects.filter(phase__challenge=challenge).exists():
            raise Refused(
                "This challenge has entries, so it stays; as a draft only its organizers and the service’s staff see it.", "has_entries"
            )
        for key in challenge.files.filter(phase=None).values_list("key", flat=True):
            drop_bytes(key)
        challenge.phases.update(parent=None)
        for phase in challenge.phases.all():
            remove_phase(phase)
        challenge.delete()
