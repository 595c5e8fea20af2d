"""Claims of parts a second on PostgreSQL: `python -m tests.benchmarks.bench_claims [SECONDS]`.

As many processes as workers claim parts for SECONDS (2) and end each at once, with 20,000 parts waiting. Counted is the time of the claims
alone, the search for lost workers once a second included. The peer is the bare statement: an UPDATE of the first row that `FOR UPDATE SKIP
LOCKED` gives, over psycopg alone. The two take turns, and the best of three rounds of each is printed. At 8 workers claims must reach half
of the bare rate, and none may come back empty. PostgreSQL is that of PLUMBLINE_TEST_POSTGRES; the database is made anew and removed.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
import psycopg  # noqa: E402

import tests.environment  # noqa: E402  # first: it names a home of its own

NAME = f"plumbline_bench_{os.getpid()}"
SERVER = tests.environment.POSTGRES_URL
os.environ |= {
    "PLUMBLINE_DATABASE_URL": urlunsplit(urlsplit(SERVER)._replace(path=f"/{NAME}")),
    "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
    "PLUMBLINE_LOG_LEVEL": "WARNING",
    "PLUMBLINE_LEASE_SECONDS": "600",
}

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from evaluation.models import Evaluation, EvaluationBatch, Part  # noqa: E402
from evaluation.work.worker import PARTS  # noqa: E402
from tests.support.factories import ChallengeFactory, PhaseFactory, TeamFactory, archive, gables, give_reference, received  # noqa: E402

WAITING, ROUNDS = 20_000, 3
BARE = """
UPDATE evaluation_part SET lease_token = gen_random_uuid(), lease_until = now() + interval '600 s', attempts = attempts + 1, worker = %s
WHERE id = (
    SELECT id FROM evaluation_part
    WHERE state = 'waiting' AND device = 'cpu' AND lease_token IS NULL AND (lease_until IS NULL OR lease_until <= now())
    ORDER BY turn, id LIMIT 1 FOR UPDATE SKIP LOCKED
) RETURNING id
"""


def own(worker: str) -> int | None:
    part = PARTS["cpu"].claim(worker)
    return part and part.pk


def bare(worker: str) -> int | None:
    with connection.cursor() as cursor:
        cursor.cursor.execute(BARE, [worker])  # the driver's own cursor
        row = cursor.cursor.fetchone()
    return row and row[0]


def work(claim: Callable[[str], int | None], worker: str, seconds: float, start: Barrier, found: multiprocessing.Queue) -> None:
    """Claim and end parts for so many seconds; puts the number of claims, of those that were empty, and the seconds of all."""
    Part.objects.count()  # connects
    claims, empty, spent = 0, 0, 0.0
    start.wait()
    until = time.perf_counter() + seconds
    while (begun := time.perf_counter()) < until:
        pk = claim(worker)
        spent += time.perf_counter() - begun
        claims += 1
        empty += pk is None
        Part.objects.filter(pk=pk).update(state=Part.State.DONE, lease_token=None, lease_until=None)
    found.put((claims, empty, spent))


def rate(claim: Callable[[str], int | None], workers: int, seconds: float) -> tuple[float, int, int]:
    """Claims a second of all workers together; how many there were, and how many came back empty."""
    Part.objects.all().delete()
    evaluation = Evaluation.objects.get().pk
    Part.objects.bulk_create(Part(evaluation_id=evaluation, slugs=["m"], start=0, stop=1, turn=n) for n in range(WAITING))
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE evaluation_part")
    connection.close()  # before it forks
    fork = multiprocessing.get_context("fork")
    start, found = fork.Barrier(workers), fork.Queue()
    processes = [fork.Process(target=work, args=(claim, f"w{n}", seconds, start, found)) for n in range(workers)]
    for process in processes:
        process.start()
    claims, empty, spent = (sum(column) for column in zip(*(found.get(timeout=seconds + 120) for _ in processes), strict=True))
    for process in processes:
        process.join()
    return workers * claims / spent, claims, empty


def main(seconds: float = 2.0) -> None:
    call_command("migrate", verbosity=0)
    phase = PhaseFactory(challenge=ChallengeFactory())
    give_reference(phase, gables())
    entry = received(phase, TeamFactory(challenge=phase.challenge), archive(gables()))
    Evaluation.objects.create(submission=entry, batch=EvaluationBatch.current(phase), n_items=1)
    print(f"{'workers':>7}{'bare a second':>15}{'claims a second':>17}{'ratio':>7}{'empty':>15}")
    for workers in (1, 4, 8):
        peers, rounds = zip(*((rate(bare, workers, seconds), rate(own, workers, seconds)) for _ in range(ROUNDS)), strict=True)
        (peer, _, _), (ours, _, _) = max(peers), max(rounds)
        claims, empty = (sum(column) for column in list(zip(*rounds, strict=True))[1:])
        print(f"{workers:7}{peer:15.0f}{ours:17.0f}{ours / peer:7.2f}{f'{empty} of {claims}':>15}", flush=True)
        assert not empty, "no claim is empty while parts wait"
    assert ours >= peer / 2, "at 8 workers at least half of the bare rate"


if __name__ == "__main__":
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {NAME}")
        try:
            main(*(float(word) for word in sys.argv[1:]))
        finally:
            connection.close()
            server.execute(f"DROP DATABASE {NAME} WITH (FORCE)")
