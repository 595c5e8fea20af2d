"""A real worker that nothing told of an entry but the sweep; `tests/cluster/submissions/test_broker_down.py` has it without one."""

from __future__ import annotations

import pytest

from evaluation.work.sweep import sweep
from submissions.models import Status, Submission
from tests.cluster.evaluation.test_broken_on_purpose import one_set_of_scores
from tests.support.factories import archive, received
from tests.support.processes import Worker, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_lost_nudge_loses_nothing(phase, people, references, monkeypatch):
    monkeypatch.setattr("submissions.worker_notify.send", lambda *a, **k: False)
    entry = received(phase, people.team, archive(references))
    monkeypatch.undo()
    with Worker():
        wait_until(lambda: bool(sweep()) and Submission.objects.get(pk=entry.pk).status == Status.SCORED, what="the score")
    one_set_of_scores(entry, 3)
