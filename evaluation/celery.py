"""The Celery app, and the one place that decides how tasks run."""

from __future__ import annotations

import os
from functools import partial

from celery import Celery
from kombu import Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")

from django.conf import settings

app = Celery("plumbline", set_as_current=True)


def _filesystem_broker() -> dict:
    """Kombu's filesystem transport: enough to wake workers, needs no server."""
    folder = settings.HOME / "queue"
    for name in ("messages", "control"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return {
        "broker_url": "filesystem://localhost//",
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
        # Nudges older than this are useless; leases, not redelivery, recover lost work.
        "broker_transport_options": {"visibility_timeout": 3600, "socket_timeout": 5, "socket_connect_timeout": 2},
    }


app.conf.update(
    **(_redis_broker() if settings.BROKER_URL else _filesystem_broker()),
    broker_connection_timeout=2,
    broker_connection_retry_on_startup=True,
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_default_queue="cpu",
    task_queues=[Queue("cpu"), Queue("gpu")],
    task_serializer="json",
    accept_content=["json"],
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    enable_utc=True,
)
app.autodiscover_tasks(["evaluation", "leaderboard"])

# Every task of the service is declared through one of these two.
cpu_task = partial(app.task, queue="cpu")
gpu_task = partial(app.task, queue="gpu")
