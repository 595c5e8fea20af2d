"""One entry whose real worker is killed again and again."""

from __future__ import annotations

import pytest

from evaluation.models import Evaluation, Part
from evaluation.work.sweep import sweep
from submissions.models import Status, Submission
from tests.cluster.evaluation.test_losses import slow_phase
from tests.support.factories import archive, perturbed, received
from tests.support.processes import Worker, end_leases, wait_until

__all__ = ["slow_phase"]  # the fixture
pytestmark = pytest.mark.django_db(transaction=True)


def test_four_kills_of_its_worker_in_a_row_fail_no_entry(slow_phase, people, references):
    """Three kills used to fail an entry, though nothing was wrong with it."""
    entry = received(slow_phase, people.team, archive(perturbed(references, 0.1)))
    at_work = Part.objects.filter(evaluation__submission=entry, lease_token__isnull=False, started_at__isnull=False)
    for _ in range(4):
        with Worker() as killed:
            wait_until(lambda: bool(sweep()) and at_work.exists(), what="a part at work")
            killed.catch(at_work)
            killed.kill()
        assert end_leases(Part.objects.all()) == 1
    assert max(Part.objects.values_list("losses", flat=True)) >= 2
    with Worker():
        wait_until(lambda: bool(sweep()) and Submission.objects.get(pk=entry.pk).status == Status.SCORED, what="the score")
    assert set(Part.objects.values_list("attempts", flat=True)) == {1}
    assert Evaluation.objects.filter(submission=entry).count() == 1
