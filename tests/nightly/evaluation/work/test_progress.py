"""Progress of an entry, as a real worker reports it that is killed in the middle of a part."""

from __future__ import annotations

import pytest

from evaluation.models import EvaluationBatch, Part, PhaseMetric
from evaluation.work.progress import standing
from submissions.models import Status, Submission
from tests.cluster.evaluation.work.test_progress import checked, phase
from tests.support.processes import Worker, end_leases, wait_until

__all__ = ["phase"]  # the fixture
pytestmark = pytest.mark.django_db(transaction=True)


def test_a_worker_says_how_far_it_is_within_a_part_and_begins_again_where_it_was_killed(phase, people):
    """Promise: long work shows progress, and shows none that was lost."""
    params = {"n_samples": 1_000_000, "primitive": "capsule"}  # about a second an item
    PhaseMetric.objects.create(phase=phase, slug="slow", key="jaccard_distance", position=9, params=params)
    EvaluationBatch.start(phase, reference=phase.references.get())
    entry = checked(phase, people)
    halfway = Part.objects.filter(evaluation__submission=entry, state=Part.State.WAITING, scored=1)
    with Worker(PLUMBLINE_HEARTBEAT_SECONDS="0.1") as first:
        first.catch(halfway)
        part = halfway.get()
        done = Part.objects.filter(state=Part.State.DONE).count()
        assert standing(entry).done == 2 * done + 1
        first.kill()
    assert end_leases(Part.objects.filter(pk=part.pk)) == 1
    part = Part.objects.filter(pk=part.pk).claim("another")
    part.begin(scored=0)
    assert standing(entry).done == 2 * done
    part.defer(0.0)
    with Worker():
        wait_until(lambda: Submission.objects.get(pk=entry.pk).status == Status.SCORED, what="the score")
