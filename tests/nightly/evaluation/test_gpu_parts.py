"""Parts for workers with a graphics card, whose real worker is killed."""

from __future__ import annotations

import pytest

from evaluation.models import Evaluation, Part, Score
from evaluation.work import worker
from evaluation.work.sweep import sweep
from submissions.models import Status
from tests.cluster.evaluation.test_gpu_parts import METRICS, entry, phase, state
from tests.support.evaluation.warm_child import warm_child
from tests.support.processes import Worker, wait_until

__all__ = ["entry", "phase", "warm_child"]  # the fixtures
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_worker_with_a_card_that_is_killed_in_the_middle_of_a_part_loses_nothing(entry, settings):
    there = {"PLUMBLINE_WEIGHTS": str(settings.WEIGHTS), "app": "tests.support.evaluation.processor_as_card"}
    worker.drain("cpu")
    at_work = Part.objects.filter(device="gpu", started_at__isnull=False, state=Part.State.WAITING)
    with Worker("gpu", **there) as first:
        sweep()
        first.catch(at_work)
        part = at_work.get()
        first.kill()
    with Worker("gpu", **there):
        wait_until(lambda: bool(sweep()) and state(entry) == Status.SCORED, what="the score")
    part.refresh_from_db()
    assert (part.attempts, part.losses) == (1, 1) and part.state == Part.State.DONE
    assert Evaluation.objects.count() == 1 and Score.objects.count() == len(METRICS)
