"""A worker's side of prepared references: made when the first entry needs them, kept in the storage, made again if they cannot be read.
Everything here may fail; an entry is then scored without, with the same values.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import structlog

from evaluation.metrics import prepared
from evaluation.models import EvaluationBatch, Part
from evaluation.work.sandbox import PATIENCE, JobFailed, job_folder, sandbox
from submissions.storage import stored_files
from submissions.storage.store import StorageError

log = structlog.get_logger(__name__)


def local_path(part: Part, batch: EvaluationBatch, job: dict, heartbeat: Callable[[], bool], seconds: int) -> tuple[str, Path | None]:
    """Key and file of the data prepared for the scoring `job` of `part`. The file is made within `seconds` if there is none.

    It is made by a job that sees the reference only: a process that has read an entry must not write what others are
    scored with. Two workers may make it at the same time; both write the same bytes in one step. Raises `LeaseLost`, and `JobFailed`
    where weights are not here.
    """
    key = batch.cache_key(part.slugs, part.start, part.stop)
    job = {**job, "requests": [column for column in job["requests"] if "/" not in column["key"]]}
    if not job["requests"]:  # programs of organizers prepare what they need themselves
        return key, None
    try:
        store = stored_files.store()
        if not store.exists(key):
            try:
                with job_folder() as folder:
                    wanted = ("family", "reference", "item_ids", "unit_scale", "requests", "card")
                    sandbox.run(folder, {"kind": "prepare", **{name: job[name] for name in wanted}}, heartbeat, seconds, PATIENCE)
                    content = (folder / "prepared").read_bytes()
            except JobFailed as failed:
                if failed.is_missing_here or failed.end in ("killed", "room", "card", "accelerator"):  # which says nothing of the reference
                    raise
                log.warning("a reference could not be prepared", reference=job["reference"], end=failed.end, detail=failed.detail)
                content = prepared.pack({})  # so that it is not tried for every entry
            store.save_bytes(key, content)
        return key, store.local_path(key)
    except (StorageError, OSError) as error:
        log.warning("scored without what is prepared of the reference", part=part.pk, error=str(error))
        return key, None


def save(key: str, path: Path) -> None:
    """Keep one file that another process made; without it the next user makes it again."""
    try:
        stored_files.store().save_file(key, path)
    except StorageError as error:
        log.warning("what is prepared of a reference was not kept", key=key, error=str(error))
