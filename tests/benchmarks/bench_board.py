"""A board of 5,000 entries x 12 metrics x 43 items: `python -m tests.benchmarks.bench_board [ENTRIES]`.

1. Building its ranking from the stored vectors, and how large the snapshot is.
2. Reading it as a page (Django's test client, templates and all): queries and server time, for a
   visitor and for a member of a team with an entry in progress, first read and later ones
   (promise: at most 10 queries). Floor: the same page over a board of 100 entries.
3. Its exports.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
HOME = tempfile.mkdtemp(prefix="plumbline-bench-")
os.environ |= {
    "PLUMBLINE_HOME": HOME, "DJANGO_SETTINGS_MODULE": "leaderboard.settings", "PLUMBLINE_LOG_LEVEL": "WARNING",
    "PLUMBLINE_HOSTS": "testserver",
}  # fmt: skip

import django  # noqa: E402

django.setup()

import numpy as np  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402
from django.utils import timezone  # noqa: E402

from evaluation.metrics.registry import REGISTRY  # noqa: E402
from evaluation.models import Evaluation, EvaluationBatch, Score  # noqa: E402
from leaderboard.models import Snapshot, read_board  # noqa: E402
from submissions.models import Phase, Status, Submission, Team, User  # noqa: E402
from tests.support.factories import ChallengeFactory, PhaseFactory, UserFactory, gables, give_reference, join  # noqa: E402

ITEMS = 43


def fill(entries: int) -> tuple[Phase, User]:
    """A phase with that many scored entries, one a team, by rows as the closing transaction writes them."""
    keys = [*REGISTRY, "hss"][:12]
    metrics = [{"slug": f"m{n}", "key": key, "is_primary": n == 0} for n, key in enumerate(keys)]
    challenge = ChallengeFactory(made_up=True)
    phase = PhaseFactory(challenge=challenge, ranking="mean_rank", entries="best", limit_per_day=5, limit_total=50)
    batch = give_reference(phase, gables(ITEMS), metrics=metrics)
    teams = Team.objects.bulk_create([Team(challenge=challenge, name=f"Team {n}") for n in range(entries)], batch_size=500)
    now = timezone.now()
    rows = [
        Submission(phase=phase, team=team, number=n + 1, status=Status.SCORED, method_name=f"method {n}", file_name="e.zip",
                   size=1, created_at=now, received_at=now, finished_at=now)
        for n, team in enumerate(teams)
    ]  # fmt: skip
    submissions = Submission.objects.bulk_create(rows, batch_size=500)
    evaluations = Evaluation.objects.bulk_create(
        [Evaluation(submission=it, batch=batch, state="done", n_items=ITEMS) for it in submissions], batch_size=500
    )
    random = np.random.default_rng(0)
    skills = random.random(entries)
    for metric in batch.metrics:
        values = np.clip(0.6 * skills[:, None] + random.normal(0.2, 0.15, (entries, ITEMS)), 0, 1)
        low, high = values.mean(axis=1) - 0.04, values.mean(axis=1) + 0.04
        Score.objects.bulk_create(
            [
                Score(evaluation=it, slug=metric["slug"], key=metric["key"], fingerprint=metric["fingerprint"],
                      value=float(row.mean()), ci_low=float(a), ci_high=float(b), n=ITEMS, vector=row.tobytes())
                for it, row, a, b in zip(evaluations, values, low, high, strict=True)
            ],
            batch_size=500,
        )  # fmt: skip
    member = UserFactory(username=f"member{phase.pk}")
    join(member, teams[0])
    running = Submission.objects.create(
        phase=phase, team=teams[0], number=entries + 1, status=Status.SCORING, method_name="running", file_name="e.zip",
        size=1, received_at=now,
    )  # fmt: skip
    Evaluation.make(running, EvaluationBatch.current(phase))
    return phase, member


def read(client: Client, address: str, rounds: int = 20) -> tuple[int, float, float]:
    """(queries of the first read, its milliseconds, median milliseconds of the later ones)."""
    read_board.cache_clear()
    with CaptureQueriesContext(connection) as asked:
        start = time.perf_counter()
        response = client.get(address)
        first = 1000 * (time.perf_counter() - start)
    queries = len(asked)
    assert response.status_code == 200, response.status_code
    later = []
    for _ in range(rounds):
        start = time.perf_counter()
        client.get(address)
        later.append(1000 * (time.perf_counter() - start))
    return queries, first, statistics.median(later)


def measure(entries: int) -> None:
    phase, member = fill(entries)
    start = time.perf_counter()
    snapshot = Snapshot.make(phase, "public")
    seconds = time.perf_counter() - start
    size = len(bytes(Snapshot.objects.get(pk=snapshot.pk).payload))
    print(f"{entries} entries x 12 metrics x {ITEMS} items: built in {seconds:.1f} s, {size / 1e6:.2f} MB")
    address = f"/challenges/{phase.challenge.slug}/{phase.slug}/"
    visitor, known = Client(), Client()
    known.force_login(member)
    last = -(-entries // 100)
    for name, client, query in (
        ("visitor, first page", visitor, ""), ("visitor, last page by a metric", visitor, f"?sort=m3&page={last}"),
        ("visitor, filtered", visitor, "?q=method+49"), ("member with an entry in progress", known, ""),
    ):  # fmt: skip
        queries, first, later = read(client, address + query)
        print(f"  {name}: {queries} queries, {first:.0f} ms at first, then {later:.0f} ms")
        assert queries <= 10, "a board is read in at most 10 queries"
    for kind in ("csv", "json", "tex", "md"):
        start = time.perf_counter()
        content = visitor.get(f"{address}snapshots/{snapshot.digest}.{kind}").content
        print(f"  {kind}: {1000 * (time.perf_counter() - start):.0f} ms, {len(content) / 1e6:.2f} MB")


def main() -> None:
    (Path(HOME) / "static").mkdir()
    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
    measure(100)


if __name__ == "__main__":
    main()
