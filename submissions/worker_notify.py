"""The nudge: a message that tells waiting workers to look for new rows now.

It is empty and may be lost, because the row itself is the request: workers and the sweeper look for rows now and then without a nudge. So
a failure of the broker never reaches the person whose row was just committed. A nudge has no expiry: Celery would compare the clocks of
two machines, and a worker whose clock is ahead would drop every nudge.
"""

from __future__ import annotations

import structlog
from celery import current_app
from django.db import transaction

log = structlog.get_logger(__name__)

# Names that can be woken, with the task and queue of each. Tasks are sent by name, because
# they live in rooms above this one. Workers take from their queues in turn. So short tasks (leaderboards and mail) and tasks on
# people's answers have queues of their own, and do not wait behind all the nudges of the others.
TASKS = {
    "work": ("evaluation.work", "cpu"),
    "gpu": ("evaluation.work_gpu", "gpu"),
    "mail": ("leaderboard.mail", "short"),
    "boards": ("leaderboard.boards", "short"),
    "studies": ("leaderboard.studies", "studies"),
    "studies_gpu": ("leaderboard.studies_gpu", "gpu"),
    "judges": ("leaderboard.judges", "studies"),
}


# Messages that may wait in a queue. They wait while all its workers are busy, and then more of them would only be read and found too
# late; or while it has no worker, and they would wait for ever.
MOST_WAITING = 32


def after_commit(*what: str, times: int = 1) -> None:
    """Nudge once the surrounding transaction has committed; `what` defaults to validation work."""
    for name in what or ("work",):
        transaction.on_commit(lambda name=name: send(name, times))


def send(name: str, times: int = 1) -> bool:
    """Send the nudge `times` times (one message wakes one worker), or less often where many wait in its queue; False when the broker is
    away."""
    task, queue = TASKS[name]
    try:
        with current_app.producer_pool.acquire(block=True) as producer:
            waiting = producer.channel.queue_declare(queue=queue, durable=True).message_count
            for _ in range(min(times, MOST_WAITING - waiting)):
                current_app.send_task(task, queue=queue, producer=producer, ignore_result=True, retry=False)
    except Exception as error:  # any broker, any transport: see the module's docstring
        log.warning("nobody could be nudged; workers and the sweeper will find the work", nudge=name, error=str(error))
        return False
    return True
