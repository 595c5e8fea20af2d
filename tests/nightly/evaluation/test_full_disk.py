"""A worker and a sweeper on a disk that fills: they live on, and what waits is scored when there is room again."""

from __future__ import annotations

import time

import pytest

from evaluation.models import Part
from submissions.models import Status, Submission
from tests.cluster.evaluation.test_full_disk import no_attempt_is_used, phase, sent
from tests.support.processes import Worker, sweeping, wait_until
from tests.support.small_disk import fill

__all__ = ["phase"]  # the fixture
pytestmark = pytest.mark.django_db(transaction=True)


def waits_for_room() -> bool:
    """True if an upload or a part was put off."""
    defer = {"lease_token__isnull": True, "lease_until__isnull": False}
    return Submission.objects.filter(**defer).exists() or Part.objects.filter(**defer).exists()


def test_workers_and_sweeper_on_a_full_disk_live_on_and_score_when_there_is_room(phase, people, small_disk):
    home = {"PLUMBLINE_HOME": str(small_disk)}
    done = Submission.objects.filter(status=Status.SCORED)
    with Worker(**home), sweeping(**home):  # an installation that has run before
        sent(phase, people, 1)
        wait_until(lambda: done.count() == 1, what="a first score")
    sent(phase, people)
    fill(small_disk, 3)  # for a message, not for the folder of a job
    with Worker(**home) as one, sweeping(**home) as sweeper:
        wait_until(waits_for_room, what="work that was begun and put off")
        fill(small_disk)  # now there is none for messages either
        time.sleep(3)  # some rounds of the sweeper, none of whose messages can be written
        assert no_attempt_is_used() and done.count() == 1
        assert (one.process.poll(), sweeper.poll()) == (None, None)
        (small_disk / "filler").unlink()
        wait_until(lambda: done.count() == 3, what="the scores")
        assert (one.process.poll(), sweeper.poll()) == (None, None)
    assert no_attempt_is_used()
