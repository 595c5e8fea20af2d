"""For operators: is it alive, is it ready, and what is it doing."""

from __future__ import annotations

import hmac
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.cache import cache
from django.db import Error, connection
from django.db.models import Count, F, Max, Q
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from evaluation.celery import app
from evaluation.models import MetricProgram, Part, PhaseMetric, PictureRun, Process, RemoteWorker, SuiteRun, WorkerToken
from evaluation.programs import sandbox as programs
from evaluation.work import progress
from evaluation.work.heartbeat import Heartbeat
from leaderboard.checks import check_squashed_migrations
from leaderboard.models import AnswerSet, JointAnalysis, JudgeRun, StudyAnalysis
from leaderboard.service import database_timeouts, mail, traffic
from submissions import database, database_clock
from submissions.choices import TextChoices
from submissions.leases import Leased
from submissions.models import Status, Submission
from submissions.storage import stored_files
from submissions.storage.store import StorageError

START_SECONDS = 60.0  # workers and sweeper may take so long until they are heard of
ANSWER_SECONDS = 3.0  # in which the database answers each question of `ready`
ROUND_SECONDS = 300.0  # a sweeper that has ended no round for so long is stuck
MEASURE_SECONDS = 3600  # at most one count of what is stored in this time
STORED = "stored-bytes"  # in the cache


class Unready(Exception):
    """Work would not be done; the text is one sentence: what is wrong, where, and what to do."""


@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Readiness for work: database, storage and queue answer, and there is a worker; 503 names each problem. `notes` say
    what else an operator may want to look at."""
    try:
        with database_timeouts.own_connection(ANSWER_SECONDS):
            failed = _failures(PROBES)
            notes = {} if "database" in failed else _failures(NOTES)
    except Error as error:
        failed, notes = {"database": _silent("database", error)}, {}
    answer = {"status": "unready" if failed else "ok", "failed": failed, "notes": notes}
    # The session of the visitor is not read: that would be another question to a database that may hang.
    return JsonResponse(answer, status=503 if failed else 200, headers={"Cache-Control": "no-store"})


def _failures(probes: dict[str, Callable[[], str]]) -> dict[str, str]:
    """Sentences of the probes that fail, by name."""
    failed = {}
    for name, probe in probes.items():
        try:
            probe()
        except (Unready, StorageError) as error:
            failed[name] = str(error)
        except Exception as error:  # for any error of the driver the answer is "not ready"
            if isinstance(error, Error):
                name = "database"
            failed[name] = _silent(name, error)
            if name == "database":
                break  # the others ask it
    return failed


def _silent(name: str, error: Exception) -> str:
    return f"The {name} does not answer ({type(error).__name__}); see `manage.py doctor`."


# --- probes: each says in a few words what it found, or raises ----------------------------------


def probe_database() -> str:
    if not database.is_migrated():
        for error in check_squashed_migrations(None, databases=[connection.alias]):
            raise Unready(f"{error.msg} {error.hint}")
        if sentence := database.behind():
            raise Unready(sentence)
    return f"{connection.vendor}, migrated"


def probe_storage() -> str:
    stored_files.store().exists("health/probe")
    return "the storage answers"


def probe_queue() -> str:
    with app.connection_for_write(connect_timeout=3) as broker:
        broker.ensure_connection(max_retries=1, timeout=3)
        return broker.as_uri()


def probe_workers() -> str:
    n = Process.objects.listeners()["cpu"]
    if n:
        return f"{_count(n, 'worker')} to the queue cpu"
    if _has_just_started():
        return "no worker listens yet; the service started a moment ago"
    waiting = progress.depth()[0]
    wait = f"{_count(waiting, 'entry waits', 'entries wait')} for one" if waiting else "new entries would wait"
    raise Unready(f"No worker listens to the queue cpu, and {wait}; start one with `{_command('docker compose up -d worker')}`.")


def probe_gpu() -> str:
    n, troubles = Process.objects.listeners()["gpu"], Process.objects.card_troubles()
    in_trouble = f"{_count(len(troubles), 'worker')} of the queue gpu cannot use {'its' if len(troubles) == 1 else 'their'} graphics card"
    if n:
        others = f"; {in_trouble}: {troubles[0]}" if troubles else ""
        return f"{_count(n, 'worker')} to the queue gpu{others}"
    waiting = Part.objects.waiting("gpu").count()
    if troubles and (settings.GPU_WORKERS or waiting):
        raise Unready(f"{in_trouble}, and no other worker listens to that queue: {troubles[0]} Each tries its card again every minute.")
    if not settings.GPU_WORKERS and not waiting:
        return "metrics with networks are left to any worker"
    if _has_just_started():
        return "no worker listens yet; the service started a moment ago"
    start = _command("docker compose --profile gpu up -d --build")
    if waiting:
        wait = _count(waiting, "part of an entry waits", "parts of entries wait")
        raise Unready(f"{wait} for a worker of the queue gpu, and none listens to it; start one with `{start}`.")
    raise Unready(
        "PLUMBLINE_GPU_WORKERS=true leaves metrics with networks to workers of the queue gpu, and none listens to it; "
        f"start one with `{start}`, or unset the setting."
    )


def probe_sweeper() -> str:
    now = database_clock.read()
    sweepers = Process.objects.filter(kind=Process.Kind.SWEEPER)
    live = list(sweepers.live(now).values_list("worked_at", "started_at"))
    last = sweepers.aggregate(at=Max("worked_at"))["at"]
    if not live and _has_just_started():
        return "no sweeper runs yet; the service started a moment ago"
    if not live:
        ended = f" (the last round ended {last:%Y-%m-%d %H:%M} UTC)" if last else ""
        raise Unready(
            f"No sweeper runs{ended}, so new tests of metrics, some analyses of studies and the removal of unfinished uploads and old "
            "files wait. Workers do entries, rankings and e-mails without it; "
            f"start it with `{_command('docker compose up -d scheduler')}`."
        )
    since = max(worked or started for worked, started in live)
    seconds = (now - since).total_seconds()
    if seconds > ROUND_SECONDS + settings.SWEEP_SECONDS:
        restart = _command("docker compose restart scheduler")
        raise Unready(f"The sweeper runs but has ended no round for {seconds:.0f} s; see its log, and restart it with `{restart}`.")
    return f"the last round ended {seconds:.0f} s ago"


def probe_writes() -> str:
    """Database and storage took data when a sweeper last tried it, and the database takes the heartbeat of this process."""
    now = database_clock.read()
    if Heartbeat.fault:
        raise Unready(f"This web process cannot write to the database ({Heartbeat.fault}): make room on its disk, or let it be written to.")
    last = Process.objects.live(now).filter(kind=Process.Kind.SWEEPER).order_by(F("wrote_at").desc(nulls_last=True)).first()
    if last is None:
        return "no sweeper runs that would try it"
    seconds = (now - (last.wrote_at or last.started_at)).total_seconds()
    if last.write_faults:
        said = "; ".join(f"the {name} accepted no data ({fault})" for name, fault in last.write_faults.items())
        raise Unready(
            f"{said[:1].upper()}{said[1:]}, {seconds:.0f} s ago: make room on its disk, or let it be written to; "
            "uploads, answers and log-ins are refused meanwhile."
        )
    if seconds > ROUND_SECONDS + settings.SWEEP_SECONDS:
        raise Unready(f"The sweeper has not tried for {seconds:.0f} s whether database and storage take data; see its log.")
    return f"database and storage accepted data {seconds:.0f} s ago" if last.wrote_at else "the sweeper has just started and tries it soon"


def probe_disk() -> str:
    """The room that the service's folders have."""
    places = {"PLUMBLINE_HOME": settings.HOME}
    if connection.vendor == "sqlite":
        places["the folder of the database"] = Path(connection.settings_dict["NAME"]).parent
    free_bytes = {name: shutil.disk_usage(folder).free for name, folder in places.items()}
    name, free = min(free_bytes.items(), key=lambda one: one[1])
    if free < settings.FREE_BYTES:
        raise Unready(
            f"{free / 1e6:,.0f} MB are free below {name}, and {settings.FREE_BYTES / 1e6:,.0f} MB are needed (PLUMBLINE_FREE_BYTES): "
            "make room there; work waits meanwhile."
        )
    return f"{free / 1e9:,.0f} GB are free below {name}"


def probe_lost() -> str:
    """Work whose workers were lost: given up, which is for an operator to look at, or tried again."""
    kinds = [model for model in apps.get_models() if issubclass(model, Leased)]
    given_up = [row for kind in kinds for row in kind._default_manager.filter(losses__gte=settings.MAX_LOSSES)]
    if given_up:
        row, last = given_up[0], given_up[0].lost[-1]
        raise Unready(
            f"{len(given_up)} given up after losing {settings.MAX_LOSSES} workers each. The last worker of {row._meta.verbose_name} "
            f"{row.pk} ({row}) was {last['worker']}, lost at {last['at']}. Look at that machine, then retry the work from its page in the "
            "console."
        )
    waiting = sum(kind._default_manager.filter(losses__gt=0, lease_until__isnull=False).count() for kind in kinds)
    return f"{waiting} wait or are tried again because their worker was lost" if waiting else "no work has lost its worker"


def probe_sandbox() -> str:
    """Sandboxes for metric programs that start on this machine, what bounds programs there, and the reasons why others do not."""
    there = [f"{rung.name} ({rung.runs}{rung.limits and f'; {rung.limits}'})" for rung in programs.rungs() if not rung.refusal]
    missing = "; ".join(f"not {rung.name}: {rung.refusal}" for rung in programs.rungs() if rung.refusal)
    return "; ".join([", ".join(there) or "no metric program is run on this machine", *([missing] if missing else [])])


def probe_programs() -> str:
    """Each metric program that scores, or waits to be checked, has a sandbox on a worker's machine."""
    now = database_clock.read()
    rows = {row.full_key: row for row in MetricProgram.objects.newest()}
    columns = PhaseMetric.objects.filter(Q(phase__closes_at=None) | Q(phase__closes_at__gt=now), key__in=rows)
    needed = [
        (f"The phase {column.phase.challenge.slug}/{column.phase.slug} is scored by the metric program {column.key}", rows[column.key])
        for column in columns.select_related("phase__challenge")
    ]
    needed += [(f"The metric program {row.full_key} waits to be checked", row) for row in MetricProgram.objects.waiting()]
    workers = Process.objects.live(now).filter(kind=Process.Kind.WORKER)
    said = list(workers.values_list("sandboxes", flat=True))
    for sentence, row in needed:
        document = row.read
        # Of the embedded profile all run on this machine; a worker that does not say, of another version, may have one.
        missing = (
            [one.get(document.sandbox, "") for one in said] if settings.BROKER_URL else [programs.missing(document.run, document.device)]
        )
        if missing and all(missing):
            raise Unready(f"{sentence}, and no worker's machine has a sandbox for it: {missing[0]}; then restart the workers.")
    return f"{_count(len(needed), 'metric program')} in use, each with a sandbox" if needed else "no metric program is in use"


def probe_remote(named: bool = False) -> str:
    """Remote workers bring what they hold: no token waits because its workers did not, and none holds a part without progress. Challenges
    are `named` to operators alone: everybody may read `ready`, and not every challenge is public."""
    now = database_clock.read()
    stalled = Part.objects.stalled(now)
    waiting = list(WorkerToken.objects.live(now).filter(waits_until__gt=now).select_related("challenge"))
    said = []
    if stalled:
        one = stalled[0]
        parts, done = _count(len(stalled), "part"), f"{one.scored} of {one.n_items} items done"
        said.append(f"remote workers hold {parts} without progress, the oldest for {one.seconds_held(now):.0f} s with {done}")
    if waiting:
        said.append(f"{_count(len(waiting), 'token of remote workers gets', 'tokens of remote workers get')} no part for a while")
    if said:
        slugs = sorted({one.token.challenge.slug for one in stalled if one.token} | {token.challenge.slug for token in waiting})
        where = f"the console's page Workers of {', '.join(slugs)}" if named else "`manage.py doctor`"
        sentence = ", and ".join(said)
        raise Unready(f"{sentence[:1].upper()}{sentence[1:]}; see {where}.")
    held = Part.objects.held(now).filter(state=Part.State.WAITING, token__isnull=False).count()
    return f"remote workers hold {_count(held, 'part')}, each with progress" if held else "no remote worker holds a part"


def probe_clocks(named: bool = False) -> str:
    """Machines have the time of the database. Processes are `named` to operators alone."""
    wrong = list(Process.objects.with_wrong_clock())
    if not wrong:
        return "every process has the time of the database"
    if not named:
        most = max(abs(process.clock_ahead) for process in wrong)
        whose = f"clocks of {len(wrong)} processes differ" if len(wrong) > 1 else "clock of 1 process differs"
        raise Unready(f"The {whose} from the database's, by up to {most:.0f} s; see `manage.py doctor`.")
    said = ", ".join(f"{one} is {abs(one.clock_ahead):.0f} s {'ahead' if one.clock_ahead > 0 else 'behind'}" for one in wrong[:5])
    raise Unready(
        f"By the database's clock the machine of {said}; have these machines and the database's set their clocks by NTP. "
        "An upload is in time or late by the clock of the web process that takes it."
    )


PROBES: dict[str, Callable[[], str]] = {
    "database": probe_database,
    "storage": probe_storage,
    "queue": probe_queue,
    "workers": probe_workers,
    "gpu": probe_gpu,
    "sweeper": probe_sweeper,
    "disk": probe_disk,
    "writes": probe_writes,
    "programs": probe_programs,
}
# Their sentences are added to the answer, which stays "ok": a worker outside must not be able to make the service unready.
NOTES: dict[str, Callable[[], str]] = {"remote": probe_remote, "clocks": probe_clocks}


def _has_just_started() -> bool:
    """True if the web server or the supervisor came up a moment ago, so that others may still be on their way."""
    now = database_clock.read()
    first = Process.objects.live(now).filter(kind__in=[Process.Kind.WEB, Process.Kind.SUPERVISOR])
    return first.filter(started_at__gt=now - timedelta(seconds=START_SECONDS)).exists()


def _command(of_cluster: str) -> str:
    """The command that starts the missing process: the cluster's, or the one command of the embedded profile."""
    return of_cluster if settings.DATABASE_URL or settings.BROKER_URL else "python manage.py run"


def _count(n: int, one: str, many: str = "") -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


# --- metrics ---------------------------------------------------------------------------------


def _may_scrape(request: HttpRequest) -> bool:
    if settings.METRICS_TOKEN:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(given.encode(), settings.METRICS_TOKEN.encode())
    return request.META.get("REMOTE_ADDR") in ("127.0.0.1", "::1") and "HTTP_X_FORWARDED_FOR" not in request.META


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text: what waits, what failed, who works on it, and how requests were answered. All of it is read from rows, so
    every web process gives the same answer."""
    if not _may_scrape(request):
        return HttpResponse("Send the metrics token as a bearer token.\n", status=403, content_type="text/plain")
    registry = CollectorRegistry()
    now = database_clock.read()

    def gauge(name: str, help: str, label: str, values: dict[str, float]) -> None:
        made = Gauge(f"plumbline_{name}", help, [label], registry=registry)
        for value, number in values.items():
            made.labels(value).set(number)

    def states(rows: Any, field: str, choices: type[TextChoices]) -> dict[str, float]:
        counts = dict(rows.order_by().values_list(field).annotate(Count("id")))
        return {choice.value: counts.get(choice.value, 0) for choice in choices}

    gauge("submissions", "Submissions by status.", "status", states(Submission.objects, "status", Status))
    parts = Gauge("plumbline_parts", "Parts not done, by device and state.", ["device", "state"], registry=registry)
    open_parts = Part.objects.filter(state=Part.State.WAITING).order_by()
    for device, n in open_parts.filter(lease_until__gt=now).values_list("device").annotate(Count("id")):
        parts.labels(device, "leased").set(n)
    for device, n in open_parts.unleased(now).values_list("device").annotate(Count("id")):
        parts.labels(device, "waiting").set(n)
    live = RemoteWorker.live(now)
    at_work = Part.objects.held(now).filter(state=Part.State.WAITING, token__isnull=False).count()
    counts = {"live": live.count(), "at_work": at_work, "stalled": len(Part.objects.stalled(now))}
    told = "Remote workers: heard of within minutes, with a part, and with one without progress."
    gauge("remote_workers", told, "state", counts)
    for name, help, rows in (
        ("property_runs", "Runs of sanity tests, by state.", SuiteRun.objects.sanity_tests()),
        ("picture_runs", "Scenes whose pictures are made in the background, by state.", PictureRun.objects),
        ("acceptance_tests", "Acceptance tests of columns, by state.", SuiteRun.objects.acceptance_tests()),
        ("analyses", "Analyses of studies, by state.", StudyAnalysis.objects),
        ("joint_analyses", "Analyses of studies that share items or raters, by state.", JointAnalysis.objects),
        ("answer_sets", "Analyses of answers that were brought in as one set, by state.", AnswerSet.objects),
        ("judge_runs", "Runs of judge models, by state.", JudgeRun.objects),
    ):
        gauge(name, help, "state", states(rows, "state", rows.model.State))
    due = {
        "outcome": mail.due_outcomes(),
        "invitation": mail.due_invitations(),
        "merge": mail.due_merges(),
        "warning": mail.due_warnings(),
    }
    unsent = {kind: rows.count() for kind, rows in due.items()}
    gauge("mail_unsent", "E-mails that are due and not sent, by kind.", "kind", unsent)
    gauge("oldest_waiting_seconds", "Age of the oldest work nobody has begun, by kind.", "kind", progress.oldest_waiting(now))
    gauge("oldest_in_progress_seconds", "Age of the oldest work in progress, by kind.", "kind", progress.oldest_in_progress(now))
    listeners = Process.objects.listeners(now)
    names = [one.name for one in app.conf.task_queues]
    gauge("workers", "Live workers that listen to a queue.", "queue", {name: listeners[name] for name in names})
    kinds = dict(Process.objects.live(now).order_by().values_list("kind").annotate(Count("id")))
    gauge("processes", "Live processes, by kind.", "kind", {kind.value: kinds.get(kind.value, 0) for kind in Process.Kind})
    swept = Process.objects.aggregate(at=Max("worked_at"))["at"]
    last_sweep = Gauge("plumbline_last_sweep_seconds", "Since a sweeper last ended a round; +Inf: never.", registry=registry)
    last_sweep.set((now - swept).total_seconds() if swept else float("inf"))
    gauge("stored_bytes", "Bytes stored by folder, as counted in the last hour.", "folder", cache.get(STORED, {}))
    registry.register(_Requests())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class _Requests(Collector):
    def collect(self):
        yield traffic.family(Process.objects.filter(kind=Process.Kind.WEB).values_list("name", "requests"))


def measure_storage_due() -> int:
    """Count what is stored, if that was not done lately; how many bytes there are, or 0 where it was."""
    if not cache.add(f"{STORED}-counted", 1, MEASURE_SECONDS):
        return 0
    used = stored_files.store().used()
    cache.set(STORED, used, None)
    return sum(used.values())
