"""What a worker does when nothing else is to be done: the property suite, a slice at a time.

A slice is short, so that an upload that arrives meanwhile waits a moment at most; one that turns
out long (a metric that takes seconds a value) is dropped as soon as somebody waits.
"""

from __future__ import annotations

import time
import traceback

import structlog
from django.conf import settings

from evaluation.models import Part, PropertyRun
from evaluation.properties.suite import Table
from evaluation.sandbox import JobFailed, LeaseLost, job_folder, sandbox
from submissions.models import Submission

log = structlog.get_logger(__name__)

SLICE_SECONDS = 1.5  # what a slice aims at; a single value of a slow metric may take longer


def measure_once(worker: str) -> bool:
    """Claim a run and measure one slice of it; False if there is none."""
    run = PropertyRun.objects.waiting().claim(worker)
    if run is None:
        return False
    measure(run)
    return True


def measure(run: PropertyRun) -> None:
    """The next slice of a claimed run."""
    if run.attempts > settings.MAX_ATTEMPTS:
        run.give_up_or_retry(
            f"Measuring this metric was begun {settings.MAX_ATTEMPTS} times and never got on.", run.failure_detail, final=True
        )
        return
    start, yielded = time.monotonic(), False

    def go_on() -> bool:
        nonlocal yielded
        yielded = someone_waits()
        return not yielded and run.heartbeat()

    try:
        with job_folder() as folder:
            found = sandbox.run(folder, _job(run), go_on)
        if not _kept(run, found, time.monotonic() - start):
            log.info("late slice dropped", run=run.pk)
    except LeaseLost:
        if yielded:
            run.put_off(0)
        log.info("slice dropped", run=run.pk, yielded=yielded)
    except JobFailed as error:
        _failed(run, error.sentence, error.detail, error.end == "memory")
    except Exception:
        _failed(run, "An error in the service stopped it.", traceback.format_exc(), False)


def _kept(run: PropertyRun, found: dict, seconds: float) -> bool:
    if found["table"] is not None:
        return run.finish(Table.from_dict(found["table"]))
    return run.keep(found["outcomes"], found["pending"], found["models"], seconds)


def _job(run: PropertyRun) -> dict:
    given = {name: getattr(run, name) for name in ("key", "params", "outcomes", "pending", "total")}
    return {"kind": "properties", **given, "seconds": SLICE_SECONDS}


def someone_waits() -> bool:
    """Whether there is an upload to check or a part to score that nobody works on."""
    return Submission.objects.to_validate().unleased().exists() or Part.objects.waiting("cpu").unleased().exists()


def _failed(run: PropertyRun, sentence: str, detail: str, final: bool) -> None:
    log.error("measuring failed", run=run.pk, attempt=run.attempts, detail=detail)
    run.give_up_or_retry(f"Measuring this metric failed. {sentence}", detail, final)
