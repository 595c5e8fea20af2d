"""A worker's side of what is prepared of references: made when the first entry needs it, kept in the storage, made again
when it cannot be read. Everything here may fail; an entry is then scored without, with the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import structlog
from django.db import transaction

from evaluation.metrics import prepared
from evaluation.models import EvaluationBatch, Part
from evaluation.models.cutting import pieces
from evaluation.models.definition import Reference
from evaluation.work.sandbox import PATIENCE, JobFailed, job_folder, sandbox
from submissions.storage import stored_files

log = structlog.get_logger(__name__)


def key_of(batch: EvaluationBatch, slugs: list[str], start: int, stop: int) -> str:
    """Where the storage has what is prepared for those of these columns that are not outdated, over items [start, stop) of the
    batch's reference."""
    reference, outdated = batch.reference, {column.slug for column in batch.outdated()} | set(batch.retired())
    fingerprints = [metric["fingerprint"] for metric in batch.metrics if metric["slug"] in slugs and metric["slug"] not in outdated]
    return key_of_items(reference, batch.unit_scale, fingerprints, reference.item_ids[start:stop])


def key_of_items(reference: Reference, unit_scale: float, fingerprints: list[str], item_ids: list[str]) -> str:
    """Where the storage has what metrics of these fingerprints keep of these items of a reference."""
    return f"prepared/{reference.phase_id}/{prepared.digest(reference.family.key, reference.sha256, unit_scale, fingerprints, item_ids)}"


def local_path(part: Part, batch: EvaluationBatch, job: dict, heartbeat: Callable[[], bool], seconds: int) -> tuple[str, Path | None]:
    """Key and file of what is prepared for the scoring `job` of `part`; the file is made, within `seconds`, where there is none.

    It is made by a job that sees the reference only: a process that has read an entry must not write what others are
    scored with. Two workers may make it at once; both write the same bytes in one step. Raises `LeaseLost`, and `JobFailed`
    where weights are not here.
    """
    key = key_of(batch, part.slugs, part.start, part.stop)
    try:
        store = stored_files.store()
        if not store.exists(key):
            store.save_bytes(key, _made(job, heartbeat, seconds))
        return key, store.local_path(key)
    except (stored_files.StorageError, OSError) as error:
        log.warning("scored without what is prepared of the reference", part=part.pk, error=str(error))
        return key, None


def _made(job: dict, heartbeat: Callable[[], bool], seconds: int) -> bytes:
    """The content; that of an empty file where it cannot be computed, so that it is not tried for every entry."""
    try:
        with job_folder() as folder:
            wanted = ("family", "reference", "item_ids", "unit_scale", "requests")
            sandbox.run(folder, {"kind": "prepare", **{name: job[name] for name in wanted}}, heartbeat, seconds, PATIENCE)
            return (folder / "prepared").read_bytes()
    except JobFailed as failed:
        if failed.is_lacking or failed.end in ("killed", "room"):  # which says nothing of the reference
            raise
        log.warning("a reference could not be prepared", reference=job["reference"], end=failed.end, detail=failed.detail)
        return prepared.pack({})


def save(key: str, path: Path) -> None:
    """Keep one file that was made elsewhere; without it whoever needs it makes it again."""
    try:
        stored_files.store().save_file(key, path)
    except stored_files.StorageError as error:
        log.warning("what is prepared of a reference was not kept", key=key, error=str(error))


def drop(key: str) -> None:
    """Delete one file, because it cannot be read or nobody will; whoever needs it makes it again."""
    try:
        stored_files.store().delete(key)
    except stored_files.StorageError as error:
        log.warning("a file prepared of a reference stays", key=key, error=str(error))


def forget(batches: Iterable[EvaluationBatch], needed: Iterable[EvaluationBatch] = ()) -> None:
    """Delete what was prepared for `batches`, but for what the `needed` ones use too, when the transaction is done."""
    unused = {key for batch in batches for key in keys_of(batch)}
    if not unused:
        return
    keys = sorted(unused - {key for batch in needed for key in keys_of(batch)})

    def delete() -> None:
        for key in keys:
            drop(key)

    transaction.on_commit(delete)


def keys_of(batch: EvaluationBatch) -> Iterable[str]:
    """The keys of all parts that an entry of the batch is cut into; imported figures have none."""
    if batch.is_imported:
        return ()
    return (key_of(batch, slugs, start, stop) for _, slugs, start, stop in pieces(batch))
