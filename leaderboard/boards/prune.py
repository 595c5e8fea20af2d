"""Removes what nothing refers to any more: rankings that were passing ones, and stored files that can be made again.

Every ranking is kept for KEEP_SNAPSHOT_DAYS. A ranking is kept for good if it is the newest of its audience, the last of a day (UTC), was
current for an hour, or was opened by its address and so may have been cited.

Files below `geometry/`, `pictures/` and `prepared/` are worked out from entries and references. They are removed with the thing they were
made for; files of 3D views also after KEEP_DRAWN_DAYS. A file that is needed again is made again, so removing one while somebody asks for
it only makes them wait. Nothing else in the storage is looked at.

Everything here may be killed at any line and done twice at once: what was not removed is found by the next round.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise, product

import structlog
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from evaluation.models import EvaluationBatch, PictureRun, SuiteRun
from leaderboard.models import EarlierForm, Snapshot
from submissions.models import Phase, Submission
from submissions.storage import stored_files
from submissions.storage.store import StorageError

log = structlog.get_logger(__name__)

EVERY_SECONDS = 3600  # at most one round in this time
STOOD = timedelta(hours=1)  # a ranking that was the newest for so long stays
GRACE = timedelta(days=1)  # files younger than this are left alone: their row may not be written yet
BUNDLE = 500  # rankings removed at once


def prune_due(now: datetime | None = None) -> int:
    """A round, if none was begun lately; how many rankings and files it removed."""
    if not cache.add("pruned", 1, EVERY_SECONDS):
        return 0
    now = now or timezone.now()
    removed = prune_snapshots(now)
    try:
        removed += prune_files(now)
    except StorageError as error:
        log.warning("stored files are pruned in the next round", error=str(error))
    return removed


def prune_snapshots(now: datetime) -> int:
    """Remove the rankings that were passing ones; returns how many."""
    until = now - timedelta(days=settings.KEEP_SNAPSHOT_DAYS)
    phases = Phase.objects.filter(snapshots__created_at__lt=until, snapshots__opened_at=None).distinct()
    total = 0
    for phase, audience in product(phases, Snapshot.Audience.values):
        rows = Snapshot.objects.filter(phase=phase, audience=audience)
        snapshots = list(rows.only("created_at", "again_at", "opened_at"))
        times = sorted((at, one.pk) for one in snapshots for at in one.current_from)
        # A ranking that was the current one several times stays for the sake of any of them.
        stays = {pk for at, pk in times[-1:]} | {one.pk for one in snapshots if one.opened_at is not None}
        for (at, pk), (followed, _) in pairwise(times):
            is_last_of_day = followed.astimezone(UTC).date() != at.astimezone(UTC).date()
            if at >= until or followed - at >= STOOD or is_last_of_day:
                stays.add(pk)
        passing = sorted({pk for _, pk in times} - stays)
        removed = 0
        for start in range(0, len(passing), BUNDLE):
            # Asked again as they go: one that was opened, or became the newest again meanwhile, stays.
            with transaction.atomic():
                newest = Snapshot.current(phase, audience)
                if newest is None:  # the phase is gone
                    break
                gone = rows.filter(pk__in=passing[start : start + BUNDLE], opened_at=None, revision__lt=newest.revision)
                removed += gone.order_by().delete()[0]
        if removed:
            log.info("passing rankings removed", phase=str(phase), audience=audience, n=removed)
        total += removed
    # A list of keys, because no query joins a row that is gone.
    if orphans := list(EarlierForm.objects.exclude(snapshot__in=Snapshot.objects.values("pk")).values_list("pk", flat=True)):
        EarlierForm.objects.filter(pk__in=orphans).delete()
    return total


def prune_files(now: datetime) -> int:
    """Remove stored files that nothing refers to; returns how many. Raises StorageError."""
    removed = 0
    for unwanted in (_drawn, _pictures, _acceptance_tests, _prepared):
        for key in unwanted(now):
            stored_files.store().delete(key)
            removed += 1
    return removed


def _old(folder: str, since: datetime) -> list[tuple[str, datetime]]:
    """The keys below a folder that are there since before then, sorted."""
    return sorted((key, made) for key, made in stored_files.store().keys(folder) if made < since)


def _drawn(now: datetime) -> Iterator[str]:
    """Files that 3D views were sent: of entries that are gone, and what is old."""
    long_ago = now - timedelta(days=settings.KEEP_DRAWN_DAYS)
    for owner, keys in groupby(_old("geometry", now - GRACE), key=lambda found: found[0].split("/")[1]):
        of_nobody = owner.isdigit() and not Submission.objects.filter(pk=int(owner)).exclude(artifact_key="").exists()
        yield from (key for key, made in keys if of_nobody or made < long_ago)


def _pictures(now: datetime) -> Iterator[str]:
    """Pictures that no run names: of entries that are gone, and of what has been made again."""
    for (owner, digest), keys in groupby(_old("pictures", now - GRACE), key=lambda found: tuple(found[0].split("/")[1:3])):
        if owner.isdigit() and not PictureRun.objects.filter(evaluation__submission=int(owner), digest=digest).exists():
            yield from (key for key, _ in keys)


def _acceptance_tests(now: datetime) -> Iterator[str]:
    """Pictures of acceptance tests on references that no acceptance test is of any more."""
    for reference, keys in groupby(_old("trials", now - GRACE), key=lambda found: found[0].split("/")[1]):
        if reference.isdigit() and not SuiteRun.objects.filter(reference=int(reference)).exists():
            yield from (key for key, _ in keys)


def _prepared(now: datetime) -> Iterator[str]:
    """Caches of references for batches that score nothing any more, or by code that is no more."""
    for phase, keys in groupby(_old("prepared", now - GRACE), key=lambda found: found[0].split("/")[1]):
        if phase.isdigit():
            live = EvaluationBatch.objects.filter(phase=int(phase), state__in=["current", "building"]).select_related("reference__phase")
            needed = {key for batch in live for key in batch.cache_keys()}
            yield from (key for key, _ in keys if key not in needed)
