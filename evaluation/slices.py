"""What all work has in common that is done a slice at a time: a run is claimed, its next slice is done in a folder of its
own, and the run is told how that went."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings

from evaluation import lacking
from evaluation.models.runs import Run
from evaluation.sandbox import JobFailed, LeaseLost, job_folder
from submissions import storage

log = structlog.get_logger(__name__)

AWAY_SECONDS = 15.0  # how long a run waits where the storage does not answer


def claim_one(kind: type[Run], worker: str, do: Callable[[Any], None]) -> bool:
    """Claim one of the waiting runs of a kind and `do` a slice of it; False if there is none that this worker can do."""
    run = kind.objects.waiting().exclude(pk__in=lacking.left_to_others(kind)).claim(worker)
    if run is None:
        return False
    do(run)
    return True


def do_slice(run: Run, doing: str, obstacle: Callable[[], str], slice_in: Callable[[Path], bool]) -> None:
    """The next slice of a claimed run, unless it was begun too often without getting on.

    `obstacle` says what this worker lacks for it, if anything. `slice_in` does it in the folder it is given and returns whether
    the run, still under this lease, took what was found. `doing` is what sentences call it: "making these pictures".
    """
    if run.attempts > settings.MAX_ATTEMPTS:
        sentence = f"{doing.capitalize()} was begun {settings.MAX_ATTEMPTS} times and never got on."
        run.give_up_or_retry(sentence, run.failure_detail, final=True)
        return
    try:
        if found := obstacle():
            _leave(run, doing, found)
            return
        run.begin()
        with job_folder() as folder:
            if not slice_in(folder):
                log.info("late slice dropped", doing=doing, run=run.pk)
    except LeaseLost:
        log.info("slice dropped", doing=doing, run=run.pk)
    except storage.StorageError as error:
        log.warning("the storage does not answer", error=str(error))
        run.put_off(AWAY_SECONDS)
    except JobFailed as error:
        if error.end == "weights":
            _leave(run, doing, error.sentence)
        else:
            _failed(run, doing, error.sentence, error.detail, error.end == "memory")
    except Exception:
        _failed(run, doing, "An error in the service stopped it.", traceback.format_exc(), False)


def _leave(run: Run, doing: str, found: str) -> None:
    lacking.leave(run, f"No worker could begin {doing}. {found}")


def _failed(run: Run, doing: str, sentence: str, detail: str, final: bool) -> None:
    log.error("slice failed", doing=doing, run=run.pk, attempt=run.attempts, detail=detail)
    run.give_up_or_retry(f"{doing.capitalize()} failed. {sentence}", detail, final)
