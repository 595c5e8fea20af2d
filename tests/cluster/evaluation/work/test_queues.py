"""The queues of nudges. The promise: no kind of work waits behind all that was announced of another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from celery import current_app
from kombu import Connection, Consumer

from evaluation.celery import BESIDE
from submissions import worker_notify
from tests import environment
from tests.conftest import need
from tests.support.processes import forget_nudges


@pytest.fixture
def broker() -> Iterator[Connection]:
    if environment.CLUSTER:
        need("redis")
    forget_nudges()
    with current_app.connection_for_write() as connection:
        yield connection
    forget_nudges()


def taken(connection: Connection, names: tuple[str, ...], most: int) -> list[str]:
    """The tasks of the first messages that a worker of these queues is given, one after the other."""
    found: list[str] = []
    channel = connection.channel()
    queues = [queue for queue in current_app.conf.task_queues if queue.name in names]

    def take(body: object, message: object) -> None:
        found.append(message.headers["task"])
        message.ack()

    with Consumer(channel, queues, callbacks=[take], accept=["json"], prefetch_count=1):
        while len(found) < most:
            connection.drain_events(timeout=10)
    return found


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["boards", "mail", "studies", "judges"])
def test_others_wait_for_a_turn_of_many_entries(broker, name):
    worker_notify.send("work", times=20)
    worker_notify.send(name)
    assert worker_notify.TASKS[name][0] in taken(broker, ("cpu", *BESIDE), 2)


def waiting(connection: Connection, queue: str) -> int:
    with connection.channel() as channel:
        return int(channel.queue_declare(queue=queue, durable=True).message_count)


@pytest.mark.django_db
@pytest.mark.parametrize("name", worker_notify.TASKS)
def test_no_queue_fills_with_nudges_that_nobody_reads(broker, name):
    queue = worker_notify.TASKS[name][1]
    for _ in range(20):
        assert worker_notify.send(name, times=4)
    assert waiting(broker, queue) == worker_notify.MOST_WAITING
    taken(broker, (queue,), 8)
    assert worker_notify.send(name, times=4)
    assert waiting(broker, queue) == worker_notify.MOST_WAITING - 4


@pytest.mark.django_db
def test_a_nudge_does_not_run_out_by_the_clocks_of_two_machines(broker):
    worker_notify.send("work")
    with broker.SimpleQueue("cpu") as queue:
        message = queue.get(timeout=10)
        assert message.headers["expires"] is None
        message.ack()
