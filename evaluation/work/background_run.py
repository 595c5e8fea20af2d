"""What all work has in common that is done a slice at a time: a run is claimed, its next slice is done in a folder of its
own, and the run is told how that went."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import structlog

from evaluation.models.runs import Run
from evaluation.work import missing_weights
from evaluation.work.ladder import attempt
from evaluation.work.log import logged
from evaluation.work.sandbox import job_folder
from submissions.leases import LeasedQuerySet

log = structlog.get_logger(__name__)


def claim_one(kind: type[Run], worker: str, do: Callable[[Any], None], rows: LeasedQuerySet | None = None) -> bool:
    """Claim one of the waiting runs of a kind, or of these `rows` of it, and `do` a slice of it; False if there is none that this
    worker can do."""
    run = (kind.objects.waiting() if rows is None else rows).exclude(pk__in=missing_weights.left_to_others(kind)).claim(worker)
    if run is None:
        return False
    with logged(f"slice of a {run._meta.verbose_name} done", run, **run.about()):
        do(run)
    return True


def do_slice(run: Run, obstacle: Callable[[], str], slice_in: Callable[[Path], bool]) -> None:
    """The next slice of a claimed run.

    `obstacle` says what this worker lacks for it, if anything. `slice_in` does it in the folder it is given and returns whether
    the run, still under this lease, took what was found.
    """
    with attempt(run):
        if found := obstacle():
            missing_weights.leave(run, found)
            return
        run.begin()
        with job_folder() as folder:
            if not slice_in(folder):
                log.info("late slice dropped", row=str(run))
