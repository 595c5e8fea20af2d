"""`manage.py doctor`: is everything there that the service needs? One line a thing, exit code 1 if not."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

from django.apps import apps
from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from evaluation import queue, weights
from evaluation.models import Part, PhaseMetric, PropertyRun
from evaluation.sandbox import job_folder, sandbox
from submissions import storage
from submissions.leases import Leased

LOW_DISK = 2 << 30  # bytes
ANSWER_SECONDS = (1.0, 5.0)  # within which workers answer at first asking, and again


class Command(BaseCommand):
    help = (
        "Check settings, database, queue, workers of the queue gpu, cache, storage, disk, the limited scoring process and the weights "
        "that phases need."
    )

    def handle(self, *args, **options) -> None:
        probes: dict[str, Callable[[], str]] = {
            "settings": self._settings,
            "database": self._database,
            "queue": self._queue,
            "gpu": self._gpu,
            "cache": self._cache,
            "storage": self._storage,
            "disk": self._disk,
            "scoring": self._scoring,
            "weights": self._weights,
            "waiting": self._waiting,
            "measuring": self._measuring,
        }
        failed = 0
        for name, probe in probes.items():
            try:
                self.stdout.write(f"ok    {name:<9} {probe()}")
            except Exception as error:  # each probe fails in its own library's way; the line says how
                failed += 1
                self.stdout.write(self.style.ERROR(f"FAIL  {name:<9} {error}"))
        if failed:
            raise CommandError(f"{failed} of {len(probes)} checks failed; mend what the lines above name.")

    def _settings(self) -> str:
        call_command("check", verbosity=0)
        return "no error"

    def _database(self) -> str:
        executor = MigrationExecutor(connection)
        behind = executor.migration_plan(executor.loader.graph.leaf_nodes())
        if behind:
            raise CommandError(f"{len(behind)} migrations are not applied; run `manage.py migrate`")
        return f"{connection.vendor}, migrated"

    def _queue(self) -> str:
        from evaluation.celery import app

        with app.connection_for_write(connect_timeout=3) as broker:
            broker.ensure_connection(max_retries=1, timeout=3)
            return broker.as_uri()

    def _gpu(self) -> str:
        waiting = Part.objects.waiting("gpu")
        n = waiting.count()
        if not settings.GPU_WORKERS and not n:
            return "metrics with networks are left to any worker"
        # A worker that is at work does not answer, but what it does is known.
        if waiting.held().exists() or any(_listens("gpu", seconds) for seconds in ANSWER_SECONDS):
            return "a worker listens to the queue gpu"
        if not settings.BROKER_URL and any(_held()):
            return "the workers are at work, and those of this profile listen to the queue gpu too"
        start = "docker compose --profile gpu up -d --build" if settings.BROKER_URL else "python manage.py run"
        if n:
            wait = "1 part of an entry waits" if n == 1 else f"{n} parts of entries wait"
            raise CommandError(f"{wait} for a worker of the queue gpu, and none listens to it; start one with `{start}`")
        raise CommandError(
            "PLUMBLINE_GPU_WORKERS=true leaves metrics with networks to workers of the queue gpu, and none listens to it; "
            f"start one with `{start}`, or unset the setting"
        )

    def _cache(self) -> str:
        if not settings.CACHE_URL:
            return "limits are counted in the database"
        cache.ping()
        return "limits are counted in Redis"

    def _storage(self) -> str:
        store = storage.store()
        store.save_bytes("health/probe", b"probe")
        if store.read("health/probe") != b"probe":
            raise CommandError("the storage gave back other bytes than it was given")
        store.delete("health/probe")
        return f"S3 bucket {settings.S3_BUCKET}" if settings.S3_BUCKET else str(settings.HOME)

    def _disk(self) -> str:
        free = shutil.disk_usage(settings.HOME).free
        if free < LOW_DISK:
            raise CommandError(f"only {free / 1e9:.1f} GB free below {settings.HOME}; make room")
        return f"{free / 1e9:.0f} GB free below {settings.HOME}"

    def _scoring(self) -> str:
        with job_folder() as folder:
            (folder / "empty").mkdir()
            (folder / "nothing.json").write_text("{}")
            item = {"id": "a", "group": "a", "max_vertices": 9, "max_edges": 9}
            manifest = {
                "challenge": "doctor", "phase": "doctor", "family": "wireframe", "items": [item], "formats": ["json"],
                "missing": "reject", "unit": "m", "unit_scale": 1.0, "metrics": [], "bounds": {}, "reference_version": 1,
            }  # fmt: skip
            verdict = sandbox.run(folder, {"kind": "validate", "archive": "nothing.json", "manifest": manifest}, lambda: True)
        sandbox.stop()
        if verdict["accepted"]:
            raise CommandError("the limited process accepted an upload without items")
        return "the limited process answers"

    def _weights(self) -> str:
        sets = {}
        for metric in PhaseMetric.objects.order_by():
            for network, name in metric.spec.networks:
                found = weights.get(network, metric.resolved[name])
                sets[found.network, found.name] = found
        paths = {path for found in sets.values() for path in found.paths()}
        return f"{len(paths)} files of weights that phases need are here and unchanged"

    def _waiting(self) -> str:
        n, oldest = queue.depth()
        return f"{n} entries wait, the oldest for {oldest:.0f} s"

    def _measuring(self) -> str:
        runs = PropertyRun.objects.order_by().only("key", "state", "done", "total", "failure")
        failed = [run for run in runs if run.state == PropertyRun.State.FAILED]
        if failed:
            one = failed[0]
            raise CommandError(f"{len(failed)} property tables failed ({one.key}: {one.failure}) Have them measured again in the admin")
        waiting = [run for run in runs if run.state == PropertyRun.State.WAITING]
        if not waiting:
            return "no property table is to be made"
        return f"{len(waiting)} property tables are being made, {waiting[0].key} at {waiting[0].percent:.0f} %"


def _listens(queue: str, seconds: float) -> bool:
    """Whether a worker that answers within so many seconds listens to this queue."""
    from evaluation.celery import app

    with app.connection_for_write(connect_timeout=3) as broker:
        broker.ensure_connection(max_retries=1, timeout=3)
        answers = app.control.inspect(timeout=seconds, connection=broker).active_queues() or {}
    return any(one["name"] == queue for queues in answers.values() for one in queues)


def _held() -> Iterator[bool]:
    """Of each kind of work, whether a worker is at it."""
    return (model._default_manager.held().exists() for model in apps.get_models() if issubclass(model, Leased))
