"""The service's own worker beside its limited child: what `limited` does, within the limits that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from evaluation.work import limited
from evaluation.work.limited import PATIENCE, JobFailed, LeaseLost, Limits

__all__ = ["PATIENCE", "JobFailed", "LeaseLost", "Sandbox", "job_folder", "sandbox"]


def _limits() -> Limits:
    seconds = settings.CHILD_SECONDS, settings.HEARTBEAT_SECONDS
    return Limits(settings.CHILD_MEMORY_MB << 20, *seconds, settings.WEIGHTS, settings.VISIBLE_CARDS)


class Sandbox(limited.Sandbox):
    """One limited child and its jobs, within the settings as they are when a job begins."""

    def __init__(self) -> None:
        super().__init__(_limits)
        self._kept: list[Callable[[], object]] = []

    @contextmanager
    def keeping(self, heartbeat: Callable[[], object]) -> Iterator[None]:
        """Meanwhile each job also renews another lease: that of work which gave way to it."""
        self._kept.append(heartbeat)
        try:
            yield
        finally:
            self._kept.remove(heartbeat)

    def run(self, folder: Path, job: dict, heartbeat: Callable[[], bool], seconds: int | None = None, patience: float = 1.0) -> dict:
        def beat() -> bool:
            for keep in self._kept:
                keep()
            return heartbeat()

        return super().run(folder, job, beat if self._kept else heartbeat, seconds, patience)


@contextmanager
def job_folder() -> Iterator[Path]:
    """A folder for one job of this service."""
    with limited.folder_in(settings.HOME / "jobs") as folder:
        yield folder


sandbox = Sandbox()
