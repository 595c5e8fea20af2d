"""Redis is stopped while entries come in. The promise: uploads go on, and nothing is lost."""

from __future__ import annotations

import socket
import time

import pytest
from celery import Celery

from evaluation.models import Score
from submissions import worker_notify
from submissions.models import Status, Submission
from tests.environment import free_port
from tests.support.factories import archive, perturbed, received
from tests.support.processes import Worker, sweeping, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_entries_sent_while_redis_is_away_are_scored_when_it_is_back(phase, people, references, redis):
    with Worker(PLUMBLINE_BROKER_URL=redis.url), sweeping(PLUMBLINE_BROKER_URL=redis.url):
        before = received(phase, people.team, archive(references), method_name="before")
        wait_until(lambda: Submission.objects.get(pk=before.pk).status == Status.SCORED, what="the first score")
        redis.kill()
        during = received(phase, people.team, archive(perturbed(references, 0.1)), method_name="during")
        assert during.status == Status.RECEIVED
        time.sleep(2)
        redis.start()
        wait_until(lambda: Submission.objects.get(pk=during.pk).status == Status.SCORED, what="the second score")
    assert Score.objects.count() == 6


def test_a_nudge_to_a_broker_that_is_away_is_a_warning_and_not_tried_again(monkeypatch):
    """The person who uploads does not wait for a dead broker. The client itself knocks twice; with retries it is four times."""
    away = Celery("away", broker=f"redis://127.0.0.1:{free_port()}/0", set_as_current=False)
    away.conf.update(broker_connection_timeout=2, broker_transport_options={"socket_connect_timeout": 2})
    monkeypatch.setattr(worker_notify, "current_app", away)
    knocked, connect = [], socket.socket.connect
    monkeypatch.setattr(socket.socket, "connect", lambda self, address: knocked.append(address) or connect(self, address))
    assert worker_notify.send("work") is False
    assert 1 <= len(knocked) <= 2
