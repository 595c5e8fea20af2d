"""A real worker that has not the weights of a metric leaves the part to a real one that has them."""

from __future__ import annotations

import pytest

from evaluation.models import Evaluation, Part
from evaluation.work.sweep import sweep
from submissions.models import Status
from tests.service.evaluation.test_missing_weights import entry, shelf, state
from tests.support.evaluation.warm_child import warm_child
from tests.support.processes import Worker, wait_until

__all__ = ["entry", "shelf", "warm_child"]  # the fixtures
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_worker_without_the_weights_leaves_the_part_to_one_that_has_them(entry, shelf, tmp_path):
    part = Part.objects.get()
    with Worker(PLUMBLINE_WEIGHTS=str(tmp_path / "empty")):
        wait_until(lambda: bool(sweep()) and Part.objects.exclude(failure="").exists(), what="the worker's no")
    part.refresh_from_db()
    assert (part.state, part.attempts, part.result, state(entry)) == (Part.State.WAITING, 0, None, Status.SCORING)
    assert (
        "The weights “yolox-nano” of OSIM are not on this server; get them with: python manage.py fetch_weights yolox-nano" in part.failure
    )
    with Worker(PLUMBLINE_WEIGHTS=str(shelf)):
        wait_until(lambda: bool(sweep()) and state(entry) == Status.SCORED, what="the score")
    part.refresh_from_db()
    assert part.attempts == 1 and Evaluation.objects.get().scores.get().key == "osim"
