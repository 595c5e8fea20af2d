"""Celery tasks: each looks at the rows and does what they ask for."""

from __future__ import annotations

from evaluation.celery import cpu_task, gpu_task
from evaluation.work import worker


@cpu_task(name="evaluation.work")
def work() -> int:
    return worker.work("cpu")


@gpu_task(name="evaluation.work_gpu")
def work_gpu() -> int:
    return worker.work("gpu")
