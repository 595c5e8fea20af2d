"""`manage.py doctor`: is everything there that the service needs? One line a thing, exit code 1 if not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import islice

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Exists, OuterRef
from django.db.models.functions import Lower
from redis import Redis

from evaluation.models import EvaluationBatch, PhaseMetric, Process, SuiteRun
from evaluation.models.batch import sentences
from evaluation.networks import weights
from evaluation.work import progress, rereading
from evaluation.work.sandbox import job_folder, sandbox
from leaderboard.service import health
from leaderboard.wording.nouns import counted, verb
from submissions.models import User
from submissions.storage import stored_files
from submissions.wording import failed as failed_words

MAX_KEYS = 100_000  # of a Redis, that are looked at
MAX_NAMES = 20  # that are listed


class Command(BaseCommand):
    help = "Check settings, services, workers, sandboxes, weights, boards and accounts; name each problem and what to do."

    def handle(self, *args, **options) -> None:
        probes: dict[str, Callable[[], str]] = {
            "settings": self._settings,
            "database": health.probe_database,
            "queue": health.probe_queue,
            "processes": self._processes,
            "workers": health.probe_workers,
            "gpu": health.probe_gpu,
            "sweeper": health.probe_sweeper,
            "cache": self._cache,
            "redis": self._redis,
            "storage": self._storage,
            "disk": health.probe_disk,
            "writes": health.probe_writes,
            "scoring": self._scoring,
            "sandbox": health.probe_sandbox,
            "programs": health.probe_programs,
            "weights": self._weights,
            "values": self._values,
            "waiting": self._waiting,
            "suites": self._suites,
            "lost": health.probe_lost,
            "names": self._names,
            "remote": partial(health.probe_remote, named=True),
            "clocks": partial(health.probe_clocks, named=True),
        }
        failed, asked = 0, 0
        for name, probe in probes.items():
            asked += 1
            try:
                self.stdout.write(f"ok    {name:<9} {probe()}")
            except Exception as error:  # each probe fails in its own library's way; the line says how
                failed += 1
                self.stdout.write(self.style.ERROR(f"FAIL  {name:<9} {' '.join(str(error).split())}"))
                if name == "database":
                    break  # all that follow ask it
        if failed:
            raise CommandError(f"{failed} of {asked} checks failed; mend what the lines above name.")

    def _settings(self) -> str:
        call_command("check", verbosity=0)
        return "no error"

    def _processes(self) -> str:
        live: Counter[str] = Counter()
        gone: list[str] = []
        heard_of = set(Process.objects.live().values_list("pk", flat=True))
        for process in Process.objects.all():
            if process.pk in heard_of:
                live[process.get_kind_display().lower()] += 1
            else:
                gone.append(f"{process} (last heard of {process.seen_at:%Y-%m-%d %H:%M} UTC)")
        running = ", ".join(f"{n} {kind}" for kind, n in live.items()) or "none runs"
        return running + (f"; gone: {', '.join(gone[:5])}" if gone else "")

    def _names(self) -> str:
        address = EmailAddress.objects.annotate(name=Lower("email")).filter(name=Lower(OuterRef("username")), verified=True)
        impostors = User.objects.filter(Exists(address.exclude(user=OuterRef("pk"))), username__contains="@")
        if names := list(impostors.order_by("pk").values_list("username", flat=True)):
            more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
            raise CommandError(
                f"The confirmed e-mail address of another account is the user name of {len(names)}: {', '.join(names[:MAX_NAMES])}{more}. "
                "Nobody is found by such an address; ask these people, then change the user names in the admin."
            )
        return "no user name is the address of another account"

    def _cache(self) -> str:
        if not settings.CACHE_URL:
            return "limits are counted in the database"
        cache.ping()
        return "limits are counted in Redis"

    def _redis(self) -> str:
        urls = sorted({url for url in (settings.BROKER_URL, settings.CACHE_URL) if url})
        if not urls:
            return "none is used"
        keys: Counter[str] = Counter()
        queues = set()
        for url in urls:
            with Redis.from_url(url, socket_connect_timeout=3, socket_timeout=10) as server:
                for key in islice(server.scan_iter(count=1000), MAX_KEYS):
                    prefix, separator, name = key.decode(errors="replace").partition(":")
                    keys[prefix if separator else ""] += 1
                    queues |= {(prefix, name)} if separator else {("", prefix)}
        own = keys.pop(settings.REDIS_PREFIX, 0)
        parts = [f"{counted(own, 'key')} of this installation ({settings.REDIS_PREFIX})"]
        bare = keys.pop("", 0)
        for prefix, n in keys.most_common(5):
            named = " and ".join(queue for queue in ("cpu", "gpu") if (prefix, queue) in queues)
            parts.append(f"{n} of the prefix {prefix}" + (f" with the queues {named}" if named else ""))
        if bare:
            named = " and ".join(queue for queue in ("cpu", "gpu") if ("", queue) in queues)
            queued = f" (the queues {named} among them)" if named else ""
            parts.append(f"{bare} without a prefix{queued}, of versions before prefixes or of another program; nothing here reads them")
        return "; ".join(parts)

    def _storage(self) -> str:
        store = stored_files.store()
        store.save_bytes("health/probe", b"probe")
        if store.read("health/probe") != b"probe":
            raise CommandError("the storage gave back other bytes than it was given")
        store.delete("health/probe")
        return f"S3 bucket {settings.S3_BUCKET}" if settings.S3_BUCKET else str(settings.HOME)

    def _scoring(self) -> str:
        with job_folder() as folder:
            (folder / "empty").mkdir()
            (folder / "nothing.json").write_text("{}")
            item = {"id": "a", "group": "a", "max_vertices": 9, "max_edges": 9}
            manifest = {
                "challenge": "doctor",
                "phase": "doctor",
                "family": "wireframe",
                "items": [item],
                "formats": ["json"],
                "missing": "reject",
                "unit": "m",
                "unit_scale": 1.0,
                "metrics": [],
                "bounds": {},
                "reference_version": 1,
            }
            verdict = sandbox.run(folder, {"kind": "validate", "archive": "nothing.json", "manifest": manifest}, lambda: True)
        sandbox.stop()
        if verdict["accepted"]:
            raise CommandError("the limited process accepted an upload without items")
        return "the limited process answers"

    def _weights(self) -> str:
        sets = {}
        for metric in PhaseMetric.objects.order_by():
            for network, name in () if metric.is_retired else metric.spec.networks:
                found = weights.get(network, metric.resolved[name])
                sets[found.network, found.name] = found
        paths = {path for found in sets.values() for path in found.paths()}
        return f"{counted(len(paths), 'file')} of weights that phases need: installed and unchanged"

    def _values(self) -> str:
        outdated = EvaluationBatch.all_outdated()
        if outdated:
            what = " ".join(sentences(column for batch in outdated for column in batch.outdated()))
            where = ", ".join(f"{batch.phase.challenge.slug}/{batch.phase.slug}" for batch in outdated)
            raise CommandError(f"{what} The leaderboards of {where} still use these values; run `manage.py reevaluate --outdated`")
        if stale := rereading.stale_phases():
            where = ", ".join(f"{phase.challenge.slug}/{phase.slug}" for phase in stale)
            raise CommandError(f"An earlier version may have read files of {where} wrongly; run `manage.py reread`")
        building = EvaluationBatch.objects.filter(state=EvaluationBatch.State.BUILDING).count()
        again = f"; {building} being scored again" if building else ""
        return f"phases are scored with the current versions of their metrics{again}"

    def _waiting(self) -> str:
        n, oldest = progress.depth()
        return f"{counted(n, 'entry')} {verb('waits', n)}, the oldest for {oldest:.0f} s"

    def _suites(self) -> str:
        runs = list(SuiteRun.objects.order_by("id").without_results())
        failed = [run for run in runs if run.state == SuiteRun.State.FAILED]
        if failed:
            one = failed[0]
            raise CommandError(
                f"sanity and acceptance tests that failed: {len(failed)} (the {one.suite.title} of {one.key}: {failed_words(one)}) "
                "Have them tested again in the admin"
            )
        waiting: dict[str, list[SuiteRun]] = {}
        for run in runs:
            if not run.judged_at:
                waiting.setdefault(run.suite.title, []).append(run)
        if not waiting:
            return "no sanity or acceptance test is under way"
        return "; ".join(f"{title} under way: {len(of)}, {of[0].key} at {of[0].percent:.0f} %" for title, of in waiting.items())
