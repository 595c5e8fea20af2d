"""The work of a worker: claim a row, do the work in the limited child, write the facts back.

Every function here can be killed at any line: the row's lease runs out, and another worker begins
again. Nothing is written but under the lease.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

import structlog

from evaluation.models import Evaluation, MetricProgram, Part, part_plan
from evaluation.work import missing_weights, programs, reference_cache, shares, suites, view_images
from evaluation.work.attempts import MissingHere, attempt, logged, storage_is_away
from evaluation.work.child import SCORED
from evaluation.work.graphics_card import card
from evaluation.work.heartbeat import process_name
from evaluation.work.limited import PROGRAM_SHARE
from evaluation.work.sandbox import PATIENCE, LeaseLost, job_folder, sandbox
from evaluation.work.shares import TURN_SECONDS
from submissions import database_clock, worker_notify
from submissions.entry_states import Reason
from submissions.models import Status, Submission
from submissions.storage import stored_files

log = structlog.get_logger(__name__)

# Kept, because claims from one query need not compile it again.
UPLOADS = Submission.objects.to_validate()
PARTS = {device: Part.objects.waiting(device) for device in ("cpu", "gpu")}


def work(device: str) -> int:
    """Do what is claimable on `device` for a turn; returns how many rows were worked on. If more is left it nudges again, so that others
    get their turn, and many entries do not delay other work."""
    done, start = 0, shares.clock()
    while work_once(device):
        done += 1
        if shares.clock() - start > TURN_SECONDS:
            worker_notify.send("work" if device == "cpu" else "gpu")
            break
    return done


def drain(device: str = "cpu") -> int:
    """Do everything claimable on `device`; returns how many rows were worked on."""
    done = 0
    while work_once(device):
        done += 1
    return done


def work_once(device: str) -> bool:
    """Claim one row and work on it; False if there is none. Entries come first, except for a due slice of a metric program's check, and for
    an overdue acceptance test that keeps a column from ranking. Idle work comes last."""

    def check_program() -> int:
        return shares.CHECKS.give(device, lambda: programs.check_once(process_name(), device))

    if shares.CHECKS.is_due and check_program():
        return True
    if device == "cpu" and suites.acceptance_test_once(process_name(), overdue=True):
        return True
    return entry_once(device) or bool(check_program()) or idle_once(device)


def entry_once(device: str) -> bool:
    """Validate an upload, because that is short, or score a part; False if there is none, and while the storage is away."""
    if storage_is_away():
        return False
    if device == "cpu":
        submission = UPLOADS.claim(process_name(), status=Status.CLAIMED)
        if submission is not None:
            with shares.for_entries(), logged("entry checked", submission, submission.phase, entry=submission.pk):
                check(submission)
            return True
    if card.is_needed(device) and not (shares.entries_wait(device) and card.is_usable()):
        return False
    parts, left = PARTS[device].affordable(), missing_weights.deferred_rows(Part)
    part = (parts.exclude(pk__in=left) if left else parts).claim(process_name())
    if part is None:
        return False
    submission = part.evaluation.submission
    about = {"entry": submission.pk, "metric": part.slugs, "items": part.stop - part.start}
    with shares.for_entries(), logged("part scored", part, submission.phase, **about):
        score(part)
    return True


def idle_once(device: str) -> bool:
    """A slice of what nobody waits for. Somebody may be looking for pictures, so these pause for entries alone."""
    is_quiet = not shares.others_wait(device)
    if device == "cpu" and ((is_quiet and suites.acceptance_test_once(process_name())) or view_images.make_once(process_name())):
        return True
    return is_quiet and suites.sanity_tests_once(process_name(), device)


def check(submission: Submission) -> None:
    """Validate a claimed upload and, if it is acceptable, cut its evaluation into parts."""
    # One that was on hold kept the moment of its upload, and took its place when its team confirmed it.
    with attempt(submission, max(submission.received_at, submission.created_at)):
        if not submission.begin_validation():
            raise LeaseLost
        with job_folder() as folder:
            # The child reads a file of the upload's own name, because names decide formats.
            archive = folder / "upload" / submission.file_name
            archive.parent.mkdir()
            shutil.copyfile(stored_files.store().local_path(submission.file_key), archive)
            job = {
                "kind": "validate",
                "archive": f"upload/{submission.file_name}",
                "manifest": submission.phase.manifest_with_inputs(),
            }
            verdict = sandbox.run(folder, job, submission.heartbeat)
            for fault in verdict["faults"]:
                log.error("a reader broke down", submission=submission.pk, file=fault["file"], detail=fault["traceback"])
            if not verdict["accepted"]:
                detail = "\n".join(fault["traceback"] for fault in verdict["faults"])
                if not submission.reject(verdict["problems"], verdict["n_problems"], verdict["warnings"], detail):
                    raise LeaseLost
                return
            if verdict["to_confirm"] and not submission.is_confirmed:
                asked = verdict["to_confirm"]
                if not submission.reject(asked, len(asked), verdict["warnings"], reason=Reason(verdict["hold"])):
                    raise LeaseLost
                return
            verdict["warnings"] += verdict["to_confirm"]
            key = f"artifacts/{submission.pk}-{submission.lease_token.hex}.{submission.phase.challenge.kind.stored}"
            stored_files.store().save_file(key, folder / "artifact")
            if not Evaluation.begin(submission, key, verdict["missing"], verdict["warnings"]):
                stored_files.store().delete(key)
                raise LeaseLost


def score(part: Part) -> None:
    """Score a claimed part."""
    evaluation = Evaluation.objects.select_related("submission__phase", "batch__reference__phase__challenge").get(pk=part.evaluation_id)
    if evaluation.state != Evaluation.State.RUNNING or evaluation.submission.status == Status.CANCELLED:
        evaluation.drop()
        part.without_result = "nobody wants it any more"
        return
    lost = [column for column in evaluation.batch.not_computed() if column.slug in part.slugs]
    waiting = {column.slug for column in lost} | set(evaluation.batch.retired()).intersection(part.slugs)
    with attempt(part, evaluation.created_at):
        if not evaluation.batch.scores_without(lost):
            if evaluation.batch.is_live:
                raise MissingHere(f"{lost[0].sentence} Re-evaluate the phase.")
            evaluation.drop()
            part.without_result = "nobody wants it any more"
            return
        if obstacle := missing_weights.obstacle(
            one for one in evaluation.batch.columns if one.slug in part.slugs and one.slug not in waiting
        ):
            raise MissingHere(obstacle)
        now = database_clock.now()
        part.begin(started_at=now, scored=0)
        Evaluation.objects.filter(pk=evaluation.pk, started_at__isnull=True).update(started_at=now)
        if waiting.issuperset(part.slugs):
            found: dict[str, Any] = {"scores": {}, "seconds": {}}
        else:
            with job_folder() as folder:
                found = _scored_in(folder, part, evaluation, waiting)
        cost = {name: found.get(name, 0.0) for name in ("core_seconds", "gpu_seconds")}
        if not part.finish({**found["scores"], **dict.fromkeys(waiting)}, found["seconds"], found.get("fits"), **cost):
            raise LeaseLost


def _scored_in(folder: Path, part: Part, evaluation: Evaluation, waiting: Collection[str]) -> dict:
    job = _scoring_job(part, evaluation, waiting)
    seconds = part_plan.seconds_allowed(evaluation.batch, part.slugs, part.start, part.stop)
    job["program_seconds"] = PROGRAM_SHARE * seconds * PATIENCE

    def heartbeat() -> bool:
        cancelled = Submission.objects.filter(pk=evaluation.submission_id, status=Status.CANCELLED).exists()
        return not cancelled and part.heartbeat(scored=_scored(folder, part.stop - part.start))

    key, path = reference_cache.local_path(part, evaluation.batch, job, heartbeat, seconds)
    job["prepared"] = str(path or "")
    found = sandbox.run(folder, job, heartbeat, seconds, PATIENCE)
    if found["unreadable"]:
        log.warning("what is prepared of the reference could not be read", key=key)
        stored_files.try_delete(key)
    return found


def _scoring_job(part: Part, evaluation: Evaluation, waiting: Collection[str] = ()) -> dict:
    reference = evaluation.batch.reference
    wanted = set(part.slugs) - set(waiting)
    columns = [column for column in evaluation.batch.columns if column.slug in wanted]
    item_ids, groups = (values[part.start : part.stop] for values in (reference.item_ids, reference.groups))
    return {
        "kind": "score",
        "family": reference.family.key,
        "artifact": str(stored_files.store().local_path(evaluation.artifact)),
        "reference": str(stored_files.store().local_path(reference.key)),
        "item_ids": item_ids,
        "groups": dict(zip(item_ids, groups, strict=True)),
        "unit_scale": evaluation.batch.unit_scale,
        "requests": [column.definition() for column in columns],
        "programs": MetricProgram.orders(columns),
        "card": card.is_needed(part.device),
    }


def _scored(folder: Path, most: int) -> int:
    """Number of items, at most `most`, that the job in the folder has done; 0 where it has not said yet, or is just writing it."""
    try:
        with (folder / SCORED).open("rb") as file:
            said = file.read(9)  # hostile bytes are parsed where this comes from
    except FileNotFoundError:
        return 0
    return min(int(said), most) if said.isdigit() else 0
