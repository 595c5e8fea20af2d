"""Processes are killed at random, again and again. The promises: nothing is left behind, lost, doubled, stuck, wrong or failed.

PLUMBLINE_KILLS says how many kills instead of a hundred, PLUMBLINE_STARTS how many starts instead of thirty.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import signal
import sys
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from evaluation.models import Evaluation, EvaluationBatch, PhaseMetric, Score
from leaderboard.management.commands.run import Service
from submissions.client import command
from submissions.models import ApiToken, Status, Submission
from tests import environment
from tests.nightly.__main__ import SAID
from tests.support.factories import archive, perturbed
from tests.support.processes import START_SECONDS, EmbeddedService, is_ready, wait_until
from tests.support.processes import environment as environment_of_tests
from tests.support.redis_server import RedisServer

KILLS = int(os.environ.get("PLUMBLINE_KILLS", "100"))
STARTS = int(os.environ.get("PLUMBLINE_STARTS", "30"))
SEED = 13


@pytest.mark.skipif(environment.CLUSTER, reason="manage.py run is the embedded profile")
@pytest.mark.timeout(3600)
def test_whatever_is_killed_at_whatever_moment_nothing_is_left_and_the_next_start_works(tmp_path, capsys):
    moments, ends = random.Random(SEED), Counter()
    port = environment.free_port()
    for _ in range(STARTS):
        service = EmbeddedService(tmp_path, port)
        start = time.monotonic()
        if moments.random() < 0.5:
            wait_until(service.is_whole, START_SECONDS, "the service's answer")
        else:
            wait_until(lambda service=service: len(service.running()) > 1, START_SECONDS, "the first of its processes")
            time.sleep(moments.uniform(0, 5))
        running = service.running()
        victim = moments.choice([*sorted(set(running.values())), "Ctrl-C"])
        if victim == "Ctrl-C":
            service.process.send_signal(signal.SIGINT)
            assert service.process.wait(180) == 0
            assert not service.holds_port(), "the port is free when it has ended"
        else:
            with contextlib.suppress(ProcessLookupError):
                os.kill(moments.choice([pid for pid, kind in running.items() if kind == victim]), signal.SIGKILL)
            if victim == "supervisor":
                service.process.wait()
            else:
                wait_until(service.is_whole, START_SECONDS, f"all its processes after the end of the {victim}")
                assert list(service.running().values()).count("web") == 1
                service.end()
        service.require_nothing_left()
        ends[victim] += 1
        with capsys.disabled():
            print(f"{time.monotonic() - start:6.1f} s  {victim}", flush=True)
    assert sum(ends.values()) == STARTS


# --- entries come in, and processes go


class ClusterService:
    """Web, workers, sweeper and a Redis of their own on the test's database and bucket; what ends starts again, as compose does it."""

    VICTIMS = ("web", "web process", "worker", "scoring child", "sweeper", "redis")

    def __init__(self, redis: RedisServer, **env: str) -> None:
        self.redis, self.port, python = redis, environment.free_port(), sys.executable
        self.url = f"http://127.0.0.1:{self.port}"
        env = environment_of_tests(**env) | {
            "PLUMBLINE_BROKER_URL": redis.url,
            "PLUMBLINE_CACHE_URL": redis.url.replace("/0", "/1"),
            "PLUMBLINE_SITE_URL": self.url,
        }
        celery = [python, "-m", "celery", "--quiet", "-A", "evaluation.celery", "worker", "-P", "solo", "-l", "error"]
        self.services = [
            Service("web", [python, "-m", "leaderboard.server", "--port", str(self.port), "--workers", "2", "--log-level", "error"], env),
            *(Service(f"worker {n}", [*celery, "-Q", "cpu", "--without-gossip", "--without-mingle", "-n", f"w{n}@%h"], env) for n in "12"),
            Service("sweeper", [python, "manage.py", "sweep"], env),
        ]
        self._stop = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="keeper")
        self._keeper.start()

    def _keep(self) -> None:
        """In one thread, because a service is killed with the thread that started it."""
        away = 0.0
        while not self._stop.wait(0.2):
            for service in self.services:
                service.ensure()
            if self.redis.process.poll() is None:
                away = time.monotonic()
            elif time.monotonic() - away > 2:
                self.redis.start()
        for service in self.services:
            service.terminate()
        wait_until(lambda: all(service.has_ended() for service in self.services), 60, "the end of the services")
        for service in self.services:
            service.end()

    def running(self) -> dict[int, str]:
        """Processes that may be killed: the services, and their children."""
        found = {self.redis.process.pid: "redis"} if self.redis.process.poll() is None else {}
        for service in self.services:
            process = service.process
            if process is not None:
                kind = service.name.split()[0]
                found[process.pid] = kind
                below = {"web": "web process", "worker": "scoring child"}
                with contextlib.suppress(OSError):
                    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
                    found |= {int(pid): below[kind] for pid in children if kind in below}
        return found

    def is_whole(self) -> bool:
        return {"web", "web process", "worker", "sweeper", "redis"} <= set(self.running().values()) and is_ready(self.url)

    def end(self) -> None:
        self._stop.set()
        self._keeper.join()


class OneMachine(EmbeddedService):
    """`manage.py run` on the test's database."""

    # Not the job: from outside its end cannot be told from that by its own doing, as when the machine's memory runs out.
    VICTIMS = ("web", "web process", "worker", "scoring child", "sweeper")

    def __init__(self, **env: str) -> None:
        super().__init__(settings.HOME, workers=2, **environment_of_tests(**env))


@pytest.fixture
def service(request, transactional_db) -> Iterator[ClusterService | OneMachine]:
    env = {
        "PLUMBLINE_LEASE_SECONDS": "10",
        "PLUMBLINE_HEARTBEAT_SECONDS": "1",
        "PLUMBLINE_SWEEP_SECONDS": "1",
        "PLUMBLINE_PART_SAMPLES": "2",
        "PLUMBLINE_UPLOAD_RATE": "100000/h",
        "PLUMBLINE_API_RATE": "100000/m",
        "PLUMBLINE_LOG_LEVEL": "CRITICAL",
    }
    if environment.CLUSTER:
        started = ClusterService(request.getfixturevalue("redis"), **env)
    else:
        started = OneMachine(**env, PLUMBLINE_UPLOAD_PART_BYTES="1024")  # an upload comes in several parts
    try:
        wait_until(started.is_whole, START_SECONDS, "the service's answer")
        yield started
    finally:
        started.end()


@dataclass
class Sender:
    """Somebody who sends one entry after the other through the client, and waits for none."""

    url: str
    token: str
    phase: object
    name: str
    archives: list[bytes]
    folder: Path
    entries: dict[str, int] = field(default_factory=dict)  # by method, which archive it was
    given_up: dict[str, int] = field(default_factory=dict)  # by method, the client's exit code

    def send(self, which: int) -> str:
        method = f"{self.name}-{len(self.entries)}"
        path = self.folder / f"{method}.zip"
        path.write_bytes(self.archives[which])
        with zipfile.ZipFile(path, "a") as package:
            package.comment = method.encode()  # bytes of its own, or it would be the other's upload that goes on
        place = ("--server", self.url, "--challenge", self.phase.challenge.slug, "--phase", self.phase.slug)
        self.entries[method] = which
        code = command.main(["upload", str(path), *place, "--method", method, "--token", self.token, "--no-check", "--patience", "20"])
        if code:
            self.given_up[method] = code
        return method

    def send_until(self, stop: threading.Event) -> None:
        which = 0
        while not stop.is_set():
            self.send(which % len(self.archives))
            which += 1
            stop.wait(0.5)


def scores_of(entry: Submission) -> dict[str, tuple]:
    """Every figure of an entry to the last bit; what it cost is not one."""
    kept = ("value", "ci_low", "ci_high", "n", "median", "minimum", "maximum", "sd", "n_ok", "n_missing", "n_invalid", "n_null", "extra")
    return {
        score.slug: (*(str(getattr(score, name)) for name in kept), bytes(score.vector), bytes(score.status_vector))
        for score in Score.objects.filter(evaluation__submission=entry)
    }


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(3600)
def test_of_entries_sent_while_processes_are_killed_none_is_lost_doubled_stuck_wrong_or_failed(
    service, phase, people, references, tmp_path, capsys
):
    PhaseMetric.objects.create(
        phase=phase, slug="slow", key="jaccard_distance", position=9, params={"n_samples": 300_000, "primitive": "capsule"}
    )
    EvaluationBatch.start(phase, reference=phase.references.get())
    phase.refresh_from_db()
    archives = [archive(perturbed(references, 0.1, seed=n)) for n in range(5)]
    tokens = [ApiToken.make(user, "test")[1] for user in (people.owner, people.other)]
    senders = [Sender(service.url, token, phase, name, archives, tmp_path) for name, token in zip("ab", tokens, strict=True)]

    # What a run without any kill says.
    unharmed = Sender(service.url, tokens[0], phase, "unharmed", archives, tmp_path)
    with contextlib.redirect_stdout(io.StringIO()):
        methods = [unharmed.send(which) for which in range(len(archives))]
    wait_until(lambda: _done(unharmed.entries) == len(archives), START_SECONDS, "the scores of the unharmed entries")
    expected = [scores_of(Submission.objects.get(method_name=method)) for method in methods]
    assert [scores for scores in expected if len(scores) != 4] == []

    stop = threading.Event()
    threads = [threading.Thread(target=_in_thread, args=(sender.send_until, stop)) for sender in senders]
    for thread in threads:
        thread.start()
    killed = _kill_at_random(service, random.Random(SEED), KILLS, lambda words: _print(capsys, words))
    stop.set()
    for thread in threads:
        thread.join()
    entries = senders[0].entries | senders[1].entries
    given_up = senders[0].given_up | senders[1].given_up
    with contextlib.suppress(AssertionError):  # what is stuck is counted
        wait_until(lambda: _done(entries) >= len(entries) - len(given_up), 2 * START_SECONDS, "the end of all work")

    counts = Counter(sent=len(entries), lost=0, doubled=0, stuck=0, wrong=0, failed=0)
    for method, which in entries.items():
        rows = list(Submission.objects.filter(method_name=method).exclude(status__in=[Status.CANCELLED, Status.UPLOADING]))
        counts["lost"] += not rows
        counts["doubled"] += len(rows) > 1 or Evaluation.objects.filter(submission__in=rows).count() > 1
        for row in rows:
            counts["stuck"] += not row.is_done
            counts["failed"] += row.status in (Status.FAILED, Status.REJECTED)
            counts["wrong"] += row.status == Status.SCORED and scores_of(row) != expected[which]
    profile = "cluster" if environment.CLUSTER else "embedded"
    said = f"{sum(killed.values())} kills ({_listed(killed)}); {_listed(counts)}"
    _print(capsys, f"{profile}: {said}")
    if SAID in os.environ:
        Path(os.environ[SAID]).write_text(said)
    assert counts["sent"] > KILLS / 10 and not given_up
    assert sum(killed.values()) == KILLS
    for fault in ("lost", "doubled", "stuck", "wrong", "failed"):
        assert counts[fault] == 0, (fault, list(Submission.objects.filter(status=Status.FAILED).values("method_name", "failure")))


def _kill_at_random(service, moments: random.Random, n: int, say: Callable[[str], None]) -> Counter:
    killed: Counter[str] = Counter()
    while sum(killed.values()) < n:
        time.sleep(moments.uniform(0.2, 4.0))
        running = {pid: kind for pid, kind in service.running().items() if kind in service.VICTIMS}
        if not running:
            continue
        kind = moments.choice(sorted(set(running.values())))
        try:
            os.kill(moments.choice([pid for pid, its in running.items() if its == kind]), signal.SIGKILL)
        except ProcessLookupError:  # it had just ended
            continue
        killed[kind] += 1
        if sum(killed.values()) % 10 == 0:  # work must get on, too
            wait_until(service.is_whole, START_SECONDS, "all processes")
            say(f"{sum(killed.values())} kills, {_done({})} entries done")
    wait_until(service.is_whole, START_SECONDS, "all processes")
    return killed


def _done(methods: dict[str, int]) -> int:
    """Number of entries that are done, of all or of those."""
    rows = Submission.objects.exclude(status__in=[*Status.in_progress(), Status.CANCELLED])
    return (rows.filter(method_name__in=methods) if methods else rows).count()


def _in_thread(act: Callable, *arguments: object) -> None:
    try:
        act(*arguments)
    finally:
        connection.close()


def _listed(counts: Counter) -> str:
    return ", ".join(f"{n} {name}" for name, n in counts.items())


def _print(capsys, words: str) -> None:
    with capsys.disabled():
        print(words, flush=True)
