"""The sweeper: finds what no nudge announced and what a dead worker left behind.

Claiming is the workers' affair; a row whose lease ran out is claimable by itself, after a pause for its lost worker. The
sweeper only says so, and closes what nobody else will.
"""

from __future__ import annotations

from collections.abc import Callable

import structlog
from django.apps import apps
from django.db.models import Exists, OuterRef

from evaluation.models import Evaluation, EvaluationBatch, MetricProgram, Part, PictureRun, Process, SuiteRun, acceptance_test, sanity_tests
from evaluation.models.runs import give_up_without_card
from evaluation.work.heartbeat import process_name
from submissions import worker_notify
from submissions.leases import Leased
from submissions.models import Status, Submission
from submissions.storage import stored_files

log = structlog.get_logger(__name__)


def sweep() -> dict[str, int]:
    """Run one round of the sweeper; return what it found, for the log and the tests."""
    expired, ended = Submission.expire_uploads(), Submission.expire_holds()
    # Entries in scoring that have no evaluation under the current batch are given one.
    own = Evaluation.objects.filter(submission=OuterRef("pk"), batch__state=EvaluationBatch.State.CURRENT)
    orphans = Submission.objects.filter(~Exists(own), status=Status.SCORING, phase__batches__state=EvaluationBatch.State.CURRENT)
    adopted = sum(_tried(Evaluation.make, submission, EvaluationBatch.current(submission.phase)) for submission in orphans)
    # Evaluations whose parts are all done, and batches whose members are, but which still run, are closed.
    open_parts = Part.objects.filter(evaluation=OuterRef("pk")).exclude(state=Part.State.DONE)
    unclosed = Evaluation.objects.filter(~Exists(open_parts), state=Evaluation.State.RUNNING)
    closed = sum(_tried(evaluation.close_if_complete) for evaluation in unclosed)
    closed += sum(_tried(batch.switch_if_complete) for batch in EvaluationBatch.objects.filter(state=EvaluationBatch.State.BUILDING))
    found = {
        "expired_uploads": expired,
        "expired_holds": ended,
        "orphans": adopted,
        "unclosed": closed,
        "unmeasured": _tried(sanity_tests.request_missing),
        "untried": _tried(acceptance_test.request_missing),
        "lost": sum(kind._default_manager.all().note_losses() for kind in apps.get_models() if issubclass(kind, Leased)),
    }
    if not Process.objects.listeners()["gpu"]:
        found["without_card"] = sum(
            _tried(give_up_without_card, rows.waiting("gpu"), process_name())
            for rows in (MetricProgram.objects.all(), SuiteRun.objects.sanity_tests())
        )
    cpu = Submission.objects.to_validate().unleased().count() + Part.objects.waiting("cpu").unleased().count()
    programs = {device: MetricProgram.objects.waiting(device).unleased().count() for device in ("cpu", "gpu")}
    sane = {device: SuiteRun.objects.sanity_tests().waiting(device).unleased().count() for device in ("cpu", "gpu")}
    gpu = Part.objects.waiting("gpu").unleased().count() + programs["gpu"] + sane["gpu"]
    found |= {"cpu": cpu, "gpu": gpu}
    found["pictures"] = PictureRun.objects.waiting().unleased().count()
    found["sanity_tests"] = sane["cpu"]
    found["acceptance_tests"] = SuiteRun.objects.acceptance_tests().waiting().unleased().count()
    found["programs"] = programs["cpu"]
    wanted = cpu + found["programs"] + found["pictures"] + found["sanity_tests"] + found["acceptance_tests"]
    if wanted:
        worker_notify.send("work", times=min(wanted, 4))
    if gpu:
        worker_notify.send("gpu", times=min(gpu, 4))
    stored_files.clean_uploads()  # last, because the storage may be away
    return found


def _tried(act: Callable, *arguments: object) -> bool:
    """Return whether it did something. One row that cannot be mended must not keep the others from being found."""
    try:
        return bool(act(*arguments))
    except Exception:
        log.exception("a row could not be swept", act=act.__qualname__, row=str(getattr(act, "__self__", arguments)))
        return False
