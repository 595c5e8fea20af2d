"""The queues of nudges. The promise: no kind of work waits behind all that was announced of another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from celery import current_app
from kombu import Connection, Consumer

from evaluation.celery import BESIDE
from submissions import wake
from tests import environment
from tests.conftest import need


@pytest.fixture
def broker() -> Iterator[Connection]:
    if environment.CLUSTER:
        need("redis")
    with current_app.connection_for_write() as connection:
        for queue in current_app.conf.task_queues:
            queue(connection.channel()).declare()
            queue(connection.channel()).purge()
        yield connection
        for queue in current_app.conf.task_queues:
            queue(connection.channel()).purge()


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
    wake.send("work", times=20)
    wake.send(name)
    assert wake.TASKS[name][0] in taken(broker, ("cpu", *BESIDE), 2)


@pytest.mark.django_db
def test_a_long_queue_of_entries_does_not_fill_with_nudges(broker):
    for _ in range(20):
        wake.send("work", times=4)
    with broker.channel() as channel:
        assert channel._size("cpu") == wake.MOST_WAITING
    taken(broker, ("cpu",), 8)
    assert wake.send("work", times=4)
    with broker.channel() as channel:
        assert channel._size("cpu") == wake.MOST_WAITING - 4
