"""Entries and references that an earlier reader read as other numbers: found in what is stored, and a re-evaluation prepared."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog
from django.conf import settings
from django.db import models, transaction

from evaluation.models import EvaluationBatch, Reference
from evaluation.work.sandbox import JobFailed, job_folder, sandbox
from submissions.errors import Refused
from submissions.kinds import FAMILIES, same
from submissions.models import Phase, Status, Submission
from submissions.storage import stored_files

log = structlog.get_logger(__name__)
REASON = "Files that an earlier version misread were read again: {}"


@dataclass
class Found:
    """Entries of a phase by the result of reading their files again. `refused` are those that cannot be read any more, each with why; their
    values stay. `misread` are the references that seem to have been read wrongly, and `untold` those whose stored items do not tell; the
    files of references are not kept."""

    same: int = 0
    changed: list[Submission] = field(default_factory=list)
    without_file: list[Submission] = field(default_factory=list)
    refused: list[tuple[Submission, str]] = field(default_factory=list)
    misread: list[Reference] = field(default_factory=list)
    untold: list[Reference] = field(default_factory=list)
    batch: EvaluationBatch | None = None


def stale_entries() -> models.QuerySet:
    """Scored entries whose files an earlier reader of their family has read."""
    known = Submission.objects.sent().filter(status__in=[Status.SCORED, Status.SCORING]).exclude(artifact_key="")
    return known.filter(_older())


def stale_references() -> models.QuerySet:
    """References whose files an earlier reader of their family has read, and that nobody has looked through since."""
    return Reference.objects.filter(_older())


def _older() -> models.Q:
    wanted = [models.Q(phase__challenge__family=one.key, reader__lt=one.reader) for one in FAMILIES.values() if one.reader > 1]
    return models.Q(*wanted, _connector=models.Q.OR) if wanted else models.Q(pk__in=[])


def stale_phases() -> list[Phase]:
    """Phases that have any of both."""
    with_any = models.Q(pk__in=stale_entries().values("phase")) | models.Q(pk__in=stale_references().values("phase"))
    return list(Phase.objects.filter(with_any).select_related("challenge").order_by("challenge__slug", "position", "pk"))


def read_anew(phase: Phase, progress: Callable[[], object] = lambda: None) -> Found:
    """Read the files of the phase's stale entries again, and look through its stale references. Where items of an entry changed, a batch
    under the same reference is begun that waits for organizers to switch to it. Calls `progress` after each entry.

    Raises `Refused` while the phase is being scored again, or if nothing can be scored; then nothing has changed.
    """
    latest = EvaluationBatch.latest(phase)
    if latest is not None and latest.state == EvaluationBatch.State.BUILDING:
        words = f"{phase} is being scored again, so its entries are not read again yet; repeat this when its leaderboard has switched."
        raise Refused(words, "building")
    found, read = Found(), []
    keys: dict[int, tuple[str, str]] = {}  # of changed entries: the key of what was read first, and of what was read now
    try:
        for entry in stale_entries().filter(phase=phase).order_by("pk"):
            key = _read_entry(entry, found)
            read.append(entry.pk)
            if key:
                keys[entry.pk] = entry.artifact_key, key
            progress()
        with transaction.atomic():
            phase.lock()
            # One that failed and was sent on meanwhile has been read by today's reader.
            left = {entry.pk: entry for entry in stale_entries().filter(phase=phase, pk__in=read)}
            changed = {pk: new for pk, (old, new) in keys.items() if pk in left and left[pk].artifact_key == old}
            Submission.objects.filter(pk__in=left).update(reader=phase.challenge.kind.reader)
            for reference in stale_references().filter(phase=phase):
                _look_through(reference, found)
            if changed:
                numbers = ", ".join(f"entry {entry.number}" for entry in found.changed if entry.pk in changed)
                found.batch = EvaluationBatch.start(
                    phase, reference=latest and latest.reference, reason=REASON.format(numbers), read_anew=changed
                )
    except BaseException:
        changed = {}
        raise
    finally:
        for pk, (_, key) in keys.items():
            if pk not in changed:
                stored_files.try_delete(key)
    return found


def _look_through(reference: Reference, found: Found) -> None:
    """Store which of the reference's items look misread."""
    looks = {name: reference.family.looks_misread(item) for name, item in reference.items().items()}
    names = [name for name, is_misread in looks.items() if is_misread]
    Reference.objects.filter(pk=reference.pk).update(misread=names, reader=reference.family.reader)
    reference.misread = names
    found.misread += [reference] if names else []
    found.untold += [reference] if None in looks.values() else []


def _read_entry(entry: Submission, found: Found) -> str:
    """The storage key of the entry's items as they are read now, where these differ from what was stored; else empty."""
    family = entry.phase.challenge.kind
    if not entry.file_key:
        found.without_file.append(entry)
        return ""
    store = stored_files.store()
    try:
        with job_folder() as folder:
            archive = folder / "upload" / entry.file_name
            archive.parent.mkdir()
            shutil.copyfile(store.local_path(entry.file_key), archive)
            job = {"kind": "validate", "archive": f"upload/{entry.file_name}", "manifest": entry.phase.manifest_with_inputs()}
            verdict = sandbox.run(folder, job, lambda: True, settings.CHILD_SECONDS)
            if not verdict["accepted"]:
                found.refused.append((entry, verdict["problems"][0]))
                return ""
            before, now = family.load(store.local_path(entry.artifact_key)), family.load(folder / "artifact")
            if before.keys() == now.keys() and all(same(before[name], now[name]) for name in before):
                found.same += 1
                return ""
            found.changed.append(entry)
            key = f"artifacts/{entry.pk}-{uuid.uuid4().hex}.{family.stored}"
            store.save_file(key, folder / "artifact")
            return key
    except JobFailed as failed:
        log.warning("an entry could not be read again", entry=entry.pk, detail=failed.detail)
        found.refused.append((entry, failed.sentence))
        return ""
