"""A real worker that has not the weights of a metric leaves the pictures or the property table to a real one that has them."""

from __future__ import annotations

import pytest

from evaluation.work.sweep import sweep
from submissions.wording import failed
from tests.service.evaluation.work.test_missing_weights import KINDS, got_on, run, shelf, state
from tests.support.evaluation.warm_child import warm_child
from tests.support.processes import Worker, wait_until

__all__ = ["run", "shelf", "warm_child"]  # the fixtures
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_worker_without_the_weights_leaves_the_run_to_one_that_has_them(run, shelf, tmp_path):
    with Worker(PLUMBLINE_WEIGHTS=str(tmp_path / "empty")):
        wait_until(lambda: bool(sweep()) and type(run).objects.exclude(failure="").exists(), what="the worker's no")
    assert state(run) == ("waiting", 0)
    assert (
        failed(run).startswith(f"No worker could begin {KINDS[type(run)]}. There are no weights 'mine' of backbone") and run.lacking_since
    )
    with Worker(PLUMBLINE_WEIGHTS=str(shelf)):
        wait_until(lambda: bool(sweep()) and got_on(run), what="a slice")
    assert (run.failure, run.lacking_since) == ("", None)
