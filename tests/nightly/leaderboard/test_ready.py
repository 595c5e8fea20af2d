"""`/-/ready` with real processes. The promise: it is ready while somebody works, and says who is missing."""

from __future__ import annotations

import os
import signal

import pytest

from evaluation.models import Process
from tests.support.processes import Worker, sweeping, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_is_ready_while_somebody_works_and_says_who_is_missing(client, settings):
    settings.LEASE_SECONDS = 8

    def failed() -> set[str]:
        return set(client.get("/-/ready").json()["failed"])

    assert failed() == {"workers", "sweeper"}, "nothing runs"
    with Worker("cpu,gpu"), sweeping() as sweeper:
        wait_until(lambda: not failed(), what="worker and sweeper")
        answer = client.get("/-/ready")
        assert answer.status_code == 200 and answer.json() == {"status": "ok", "failed": {}, "notes": {}}
        wait_until(Process.objects.filter(kind=Process.Kind.SWEEPER, worked_at__isnull=False).exists, what="the end of a round")
        os.kill(sweeper.pid, signal.SIGSTOP)
        try:
            wait_until(lambda: failed() == {"sweeper"}, what="the stopped sweeper being missed")
            answer = client.get("/-/ready")
            assert answer.status_code == 503 and "the last round ended" in answer.json()["failed"]["sweeper"]
        finally:
            os.kill(sweeper.pid, signal.SIGCONT)
        wait_until(lambda: not failed(), what="the sweeper again")
    assert failed() == {"workers", "sweeper"}, "both have ended"
