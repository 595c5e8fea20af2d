"""The Celery app, and the one place that decides how tasks run."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import structlog
from celery import Celery
from celery.signals import setup_logging, worker_init, worker_ready, worker_shutdown
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
# A worker would load every page of the service for Django's checks, and then not look at what they found.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

from django.conf import settings
from django.db import close_old_connections

from evaluation.work import folder_broker
from submissions import worker_notify
from submissions.database import require_migrated

log = structlog.get_logger(__name__)
app = Celery("plumbline", set_as_current=True)
LOOK_EVERY = 3  # sweeps; so often a worker looks at the rows without a nudge
BESIDE = ("short", "studies")  # queues that a worker of `cpu` also serves in turn, so that no operator need name them


def _folder_broker() -> dict:
    """A folder of messages: enough to wake workers, needs no server."""
    folder = settings.HOME / "queue"
    for name in ("messages", "control"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return {
        "broker_url": f"{folder_broker.SCHEME}://localhost//",
        "broker_transport_options": {
            "data_folder_in": str(folder / "messages"),
            "data_folder_out": str(folder / "messages"),
            "control_folder": str(folder / "control"),
            "polling_interval": 0.1,
        },
    }


def _redis_broker() -> dict:
    return {
        "broker_url": settings.BROKER_URL,
        # Leases, not redelivery, recover lost work.
        "broker_transport_options": {
            "visibility_timeout": 3600,
            "socket_timeout": 5,
            "socket_connect_timeout": 2,
            "global_keyprefix": f"{settings.REDIS_PREFIX}:",
        },
    }


app.conf.update(
    **(_redis_broker() if settings.BROKER_URL else _folder_broker()),
    broker_connection_timeout=2,
    broker_connection_retry_on_startup=True,
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_default_queue="cpu",
    task_queues=[Queue(name) for name in ("cpu", "gpu", *BESIDE)],
    task_serializer="json",
    accept_content=["json"],
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    enable_utc=True,
)
app.autodiscover_tasks(["evaluation", "leaderboard"])

# Every task of the service is declared through one of these.
cpu_task = partial(app.task, queue="cpu")
gpu_task = partial(app.task, queue="gpu")
short_task = partial(app.task, queue="short")
studies_task = partial(app.task, queue="studies")


@setup_logging.connect
def _keep_logging(**_: object) -> None:
    """The log is as the settings say: with a receiver of this signal Celery sets up none of its own."""


@worker_init.connect
def _require_migrated(**_: object) -> None:
    require_migrated()


@worker_init.connect
def _take_of_all_in_turn(sender: Any, **_: object) -> None:
    queues = sender.app.amqp.queues
    if "cpu" in queues.consume_from:
        for name in BESIDE:
            queues.select_add(name)


@worker_ready.connect
def _start_heartbeat(sender: Any, **_: object) -> None:
    """The worker has reached the broker and listens: its row says so from now on."""
    # They load models, which are there once Django is set up.
    from evaluation.work import programs
    from evaluation.work.graphics_card import card
    from evaluation.work.heartbeat import Heartbeat, Process

    queues = sorted(sender.app.amqp.queues.consume_from)

    def facts() -> dict[str, Any]:
        return {"sandboxes": programs.sandboxes(), "card_trouble": card.trouble}

    heartbeat = Heartbeat(Process.Kind.WORKER, queues, facts).start()
    worker_shutdown.connect(lambda **_: heartbeat.stop(), weak=False)


@worker_ready.connect
def _look_now_and_then(sender: Any, **_: object) -> None:
    """Do what nudges ask for without one, every few sweeps: one may be lost, or sent while Redis is emptied. The timer may be a thread of
    its own, and work is done between two messages, where no other is under way."""
    queues = sender.app.amqp.queues.consume_from
    tasks = [sender.app.tasks[task] for task, queue in worker_notify.TASKS.values() if queue in queues]

    def look() -> None:
        for task in tasks:
            close_old_connections()
            try:
                task()
            except Exception:
                log.exception("a worker that looked for work by itself could not do it", task=task.name)
        close_old_connections()

    sender.timer.call_repeatedly(LOOK_EVERY * settings.SWEEP_SECONDS, sender.call_soon, (look,))
