"""Storage of bytes: the store that the settings name, and the files that nobody needs any more."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from functools import lru_cache

import structlog
from django.conf import settings
from django.utils import timezone

from submissions.models import Status, Submission
from submissions.models.status import ON_HOLD
from submissions.storage.local import LocalStore
from submissions.storage.store import StorageError, Store

log = structlog.get_logger(__name__)


def store() -> Store:
    """The store the settings name."""
    if settings.S3_BUCKET:
        return _s3_store(
            settings.S3_BUCKET,
            settings.S3_ENDPOINT,
            settings.S3_PUBLIC_ENDPOINT,
            settings.S3_REGION,
            settings.S3_ACCESS_KEY,
            settings.S3_SECRET_KEY,
            settings.HOME / "cache",
            settings.CACHE_BYTES,
        )
    return LocalStore(settings.HOME / "files", settings.HOME / "uploads")


@lru_cache(maxsize=4)
def _s3_store(*where) -> Store:
    from submissions.storage.s3 import S3Store  # boto3 is slow to load and not needed with local files

    return S3Store(*where)


def clean_uploads(now: datetime | None = None) -> int:
    """Remove what expired, cancelled and finished uploads left behind, and the files of entries that
    came to nothing; returns how many. Safe at any time and from several processes."""
    now = now or timezone.now()
    # The files of cancelled entries, and of rejected ones that wait for nobody and are old or more than their team may have here: these
    # use up no quota, so nothing else bounds them. A worker on a cancelled entry notices with the next heartbeat; until then it may read.
    at_rest = now - timedelta(seconds=2 * settings.LEASE_SECONDS)
    ended = Submission.objects.exclude(file_key="", artifact_key="").order_by("-finished_at", "-pk")
    unwanted = list(ended.filter(status=Status.CANCELLED, finished_at__lte=at_rest))
    held: Counter[int] = Counter()
    for entry in ended.filter(~ON_HOLD, status=Status.REJECTED).defer("problems", "warnings", "missing_items", "description"):
        held[entry.team_id] += entry.size
        if entry.finished_at <= now - timedelta(days=settings.KEEP_REJECTED_DAYS) or held[entry.team_id] > settings.KEEP_REJECTED_BYTES:
            unwanted.append(entry)
    where, removed = store(), sum(drop_file(entry) for entry in unwanted)
    left = Submission.objects.filter(status=Status.CANCELLED).exclude(upload_data={})
    for pk, notes, file_key in left.values_list("pk", "upload_data", "file_key"):
        try:
            if notes.get("kind") == where.kind:  # else the settings changed since: leave it
                where.drop_upload(notes)
                if not file_key and "key" in notes:
                    where.delete(notes["key"])
        except StorageError as error:
            log.warning("remains of an upload stay until the next sweep", entry=pk, error=str(error))
            continue
        Submission.objects.filter(pk=pk).update(upload_data={})
        removed += 1
    uploading = Submission.objects.filter(status=Status.UPLOADING).values_list("upload_data", flat=True)
    return removed + where.clean({notes["parts"] for notes in uploading if "parts" in notes})


def drop_file(submission: Submission) -> bool:
    """Remove what was received for an entry and what was made of it. False where the storage does
    not answer: then the row still names the files, and the next sweep finds them."""
    try:
        for key in filter(None, (submission.file_key, submission.artifact_key)):
            store().delete(key)
    except StorageError as error:
        log.warning("the file of an entry stays until the next sweep", entry=submission.pk, error=str(error))
        return False
    submission.file_key = submission.artifact_key = ""
    type(submission).objects.filter(pk=submission.pk).update(file_key="", artifact_key="")
    return True


def try_delete(key: str) -> None:
    """Delete a file that nobody needs; where the storage does not answer it stays, and the log says so."""
    try:
        store().delete(key)
    except StorageError as error:
        log.warning("a file that nobody needs stays", key=key, error=str(error))
