"""Tables for other parameters, made by real workers: one that is killed, and two that are told of the same."""

from __future__ import annotations

import pytest
from django.utils import timezone

from evaluation.models import PhaseMetric, SuiteRun
from evaluation.work.sweep import sweep
from tests.cluster.evaluation.work.test_suites import run
from tests.support.processes import Worker, wait_until

__all__ = ["run"]  # the fixture
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def column(phase):
    """A metric that takes any machine longer than two slices."""
    phase.metrics.all().delete()
    params = {"n_samples": 10_000, "radius": 0.41}
    return PhaseMetric.objects.create(phase=phase, slug="slow", key="jaccard_distance", position=9, params=params)


def test_a_worker_killed_in_the_middle_of_a_slice_loses_that_slice_only(run):
    with Worker() as first:
        sweep()
        wait_until(lambda: SuiteRun.objects.get().done > 0, what="a first slice")
        wait_until(lambda: SuiteRun.objects.get().lease_token is not None, what="a slice at work")
        first.kill()
    run.refresh_from_db()
    kept, rows = run.done, run.rows
    assert kept and run.state == SuiteRun.State.WAITING
    SuiteRun.objects.filter(lease_token__isnull=False).update(lease_until=timezone.now())
    with Worker():
        wait_until(lambda: bool(sweep()) and SuiteRun.objects.get().done > kept, what="the next slice")
        run.refresh_from_db()  # before it is finished, when rows give way to the table
    assert run.rows[: len(rows) - 1] == rows[:-1]


def test_the_same_run_announced_to_two_workers_is_measured_by_one_at_a_time(run):
    with Worker(), Worker():
        for _ in range(6):
            sweep()
        wait_until(lambda: SuiteRun.objects.get().done > 20, what="a few slices")
        run.refresh_from_db()
    assert run.done == sum(map(len, run.rows)) and [one for one in run.rows[:-1] if len(one) != 17] == []
