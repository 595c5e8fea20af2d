"""What a worker does: claim a row, do the work in the limited child, write the facts back.

Every function here can be killed at any line: the row's lease runs out, and another worker begins
again. Nothing is written but under the lease.
"""

from __future__ import annotations

import os
import shutil
import socket
import time
import traceback
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

import structlog
from django.conf import settings
from django.utils import timezone

from evaluation import background, lacking, picturing, preparing
from evaluation.child import SCORED
from evaluation.models import Evaluation, Part, cutting
from evaluation.sandbox import PATIENCE, JobFailed, LeaseLost, job_folder, sandbox
from submissions import storage, wake
from submissions.models import Status, Submission

log = structlog.get_logger(__name__)

TURN_SECONDS = 2.0  # then other tasks of the queue get their turn
AWAY_SECONDS = 15.0  # how long work waits where the storage does not answer
AWAY_AT_MOST = timedelta(days=1)  # then an entry fails like any other


@cache
def _host() -> str:
    return socket.gethostname()


def name() -> str:
    """Which process this is, for operators."""
    return f"{_host()}:{os.getpid()}"


def work(device: str) -> int:
    """Do what is claimable on `device` for a turn; returns how many rows were worked on. If more
    is left it nudges again, so that mail and boards are not kept waiting by a long queue."""
    done, start = 0, time.monotonic()
    while work_once(device):
        done += 1
        if time.monotonic() - start > TURN_SECONDS:
            wake.send("work" if device == "cpu" else "gpu")
            break
    return done


def drain(device: str = "cpu") -> int:
    """Do everything claimable on `device`; returns how many rows were worked on."""
    done = 0
    while work_once(device):
        done += 1
    return done


def work_once(device: str) -> bool:
    """Claim one row and work on it: validation first, because it is short, and what nobody waits for
    last; False if there is none."""
    if device == "cpu":
        submission = Submission.objects.to_validate().claim(name(), status=Status.CLAIMED)
        if submission is not None:
            check(submission)
            return True
    part = Part.objects.waiting(device).exclude(pk__in=lacking.left_to_others(Part)).claim(name())
    if part is None:
        return device == "cpu" and (picturing.make_once(name()) or background.measure_once(name()))
    score(part)
    return True


def check(submission: Submission) -> None:
    """Validate a claimed upload and, if it is acceptable, cut its evaluation into parts."""
    if submission.attempts > settings.MAX_ATTEMPTS:
        submission.fail(
            f"Checking this entry was begun {settings.MAX_ATTEMPTS} times and never finished; it used up no quota, "
            "retry it or ask the operator.",
            submission.failure_detail,
            fenced=True,
        )
        return
    if not submission.begin_validation():
        return
    try:
        with job_folder() as folder:
            _check_in(folder, submission)
    except LeaseLost:
        log.info("lease lost while checking", submission=submission.pk)
    except storage.StorageError as error:
        if _storage_is_away(submission.received_at, error):
            submission.put_off(AWAY_SECONDS, status=Status.RECEIVED)
        else:
            _check_failed(submission, f"Checking this entry failed. {error}", traceback.format_exc(), False)
    except JobFailed as error:
        _check_failed(submission, f"Checking this entry failed. {error.sentence}", error.detail, error.end == "memory")
    except Exception:
        _check_failed(
            submission,
            "Checking this entry failed. An error in the service stopped it.",
            traceback.format_exc(),
            False,
        )


def _check_in(folder, submission: Submission) -> None:
    # The child reads a file of the upload's own name, because names decide formats.
    archive = folder / "upload" / submission.file_name
    archive.parent.mkdir()
    shutil.copyfile(storage.store().local_path(submission.file_key), archive)
    job = {
        "kind": "validate",
        "archive": f"upload/{submission.file_name}",
        "manifest": submission.phase.manifest_data,
    }
    verdict = sandbox.run(folder, job, submission.heartbeat)
    if not verdict["accepted"]:
        submission.reject(verdict["problems"], verdict["n_problems"], verdict["warnings"])
        return
    key = f"artifacts/{submission.pk}-{submission.lease_token.hex}.{submission.phase.challenge.kind.stored}"
    storage.store().save_file(key, folder / "artifact")
    if not Evaluation.begin(submission, key, verdict["missing"], verdict["warnings"]):
        storage.store().delete(key)


def _storage_is_away(since: datetime | None, error: storage.StorageError) -> bool:
    """Whether work that waits `since` then is to wait for the storage: an outage is no attempt, or
    one of seconds would fail every entry in the queue."""
    log.warning("the storage does not answer", error=str(error))
    return since is not None and timezone.now() - since < AWAY_AT_MOST


def _check_failed(submission: Submission, sentence: str, detail: str, final: bool) -> None:
    log.error("checking failed", submission=submission.pk, attempt=submission.attempts, detail=detail)
    if final or submission.attempts >= settings.MAX_ATTEMPTS:
        submission.fail(f"{sentence} It used up no quota; retry it or ask the operator.", detail, fenced=True)
    else:
        submission.give_back(seconds=submission.attempts)


def score(part: Part) -> None:
    """Score a claimed part."""
    evaluation = Evaluation.objects.select_related("submission__phase", "batch__reference__phase__challenge").get(pk=part.evaluation_id)
    if evaluation.state != Evaluation.State.RUNNING or evaluation.submission.status == Status.CANCELLED:
        evaluation.drop()
        return
    if part.attempts > settings.MAX_ATTEMPTS:
        part.give_up_or_retry(
            f"Scoring items {part.start + 1} to {part.stop} was begun {settings.MAX_ATTEMPTS} times and never finished.",
            part.failure_detail, final=True,
        )  # fmt: skip
        return
    try:
        if obstacle := lacking.obstacle(metric for metric in evaluation.batch.metrics if metric["slug"] in part.slugs):
            _leave(part, obstacle)
            return
        now = timezone.now()
        part.begin(started_at=now, scored=0)
        Evaluation.objects.filter(pk=evaluation.pk, started_at__isnull=True).update(started_at=now)
        with job_folder() as folder:
            found = _scored_in(folder, part, evaluation)
        if not part.finish(found["scores"], found["seconds"]):
            log.info("late result dropped", part=part.pk)
    except LeaseLost:
        log.info("lease lost while scoring", part=part.pk)
    except storage.StorageError as error:
        if _storage_is_away(evaluation.created_at, error):
            part.put_off(AWAY_SECONDS)
        else:
            _score_failed(part, str(error), traceback.format_exc(), False)
    except JobFailed as error:
        if error.end == "weights":
            _leave(part, error.sentence)
        else:
            _score_failed(part, error.sentence, error.detail, error.end == "memory")
    except Exception:
        _score_failed(part, "An error in the service stopped it.", traceback.format_exc(), False)


def _leave(part: Part, obstacle: str) -> None:
    lacking.leave(part, f"No worker could score items {part.start + 1} to {part.stop}. {obstacle}")


def _scored_in(folder: Path, part: Part, evaluation: Evaluation) -> dict:
    job = _scoring_job(part, evaluation)
    seconds = cutting.seconds_allowed(evaluation.batch, part.slugs, part.start, part.stop)

    def heartbeat() -> bool:
        return _still_wanted(part, evaluation, _scored(folder, part.stop - part.start))

    key, path = preparing.local_path(part, evaluation.batch, job, heartbeat, seconds)
    job["prepared"] = str(path or "")
    found = sandbox.run(folder, job, heartbeat, seconds, PATIENCE)
    if found["unreadable"]:
        log.warning("what is prepared of the reference could not be read", key=key)
        preparing.drop(key)
    return found


def _scoring_job(part: Part, evaluation: Evaluation) -> dict:
    reference = evaluation.batch.reference
    wanted = set(part.slugs)
    return {
        "kind": "score",
        "family": reference.family.key,
        "artifact": str(storage.store().local_path(evaluation.submission.artifact_key)),
        "reference": str(storage.store().local_path(reference.key)),
        "item_ids": reference.item_ids[part.start : part.stop],
        "unit_scale": evaluation.batch.unit_scale,
        "requests": [{"slug": r.slug, "key": r.key, "params": dict(r.params)} for r in evaluation.batch.requests() if r.slug in wanted],
    }


def _scored(folder: Path, most: int) -> int:
    """How many of at most so many items the job in the folder has done; 0 where it has not said yet, or is just writing it."""
    try:
        with (folder / SCORED).open("rb") as file:
            said = file.read(9)  # hostile bytes are parsed where this comes from
    except FileNotFoundError:
        return 0
    return min(int(said), most) if said.isdigit() else 0


def _still_wanted(part: Part, evaluation: Evaluation, scored: int) -> bool:
    cancelled = Submission.objects.filter(pk=evaluation.submission_id, status=Status.CANCELLED).exists()
    return not cancelled and part.heartbeat(scored=scored)


def _score_failed(part: Part, sentence: str, detail: str, final: bool) -> None:
    log.error("scoring failed", part=part.pk, attempt=part.attempts, detail=detail)
    part.give_up_or_retry(f"Scoring items {part.start + 1} to {part.stop} failed. {sentence}", detail, final)
