"""A board of 5,000 entries x 12 metrics x 43 items: `python -m tests.benchmarks.bench_board [ENTRIES]`.

1. Building its ranking from the stored vectors, and how large the snapshot is.
2. Reading it as a page (Django's test client, templates and all): queries, bytes on the wire, and the processor's time, for a
   visitor and for a member of a team with an entry in progress, first read and later ones (promise: at most 11 queries, and 30 ms of
   a processor that nothing else uses). Peer: the same pages over a board of 100 entries, in turns with them.
3. Its exports, written and kept (promise: 300 ms). Peers: the csv and json modules, and formatting to three decimals, over the same
   numbers without anything said of them.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
HOME = tempfile.mkdtemp(prefix="plumbline-bench-")
os.environ |= {
    "PLUMBLINE_HOME": HOME,
    "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
    "PLUMBLINE_LOG_LEVEL": "WARNING",
    "PLUMBLINE_HOSTS": "testserver",
}

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
from leaderboard.boards import snapshots  # noqa: E402
from leaderboard.models import Snapshot, read_board  # noqa: E402
from leaderboard.records.board import Board  # noqa: E402
from leaderboard.views.board import written  # noqa: E402
from submissions.models import Phase, Status, Submission, Team, User  # noqa: E402
from tests.benchmarks.timing import shortest  # noqa: E402
from tests.support.factories import ChallengeFactory, PhaseFactory, UserFactory, gables, give_reference, join  # noqa: E402

ITEMS = 43


def fill(entries: int) -> tuple[Phase, User]:
    """A phase with that many scored entries, one a team, by rows as the closing transaction writes them."""
    keys = [*REGISTRY, "hss"][:12]
    metrics = [{"slug": f"m{n}", "key": key, "is_primary": n == 0} for n, key in enumerate(keys)]
    challenge = ChallengeFactory(simulated=True)
    phase = PhaseFactory(challenge=challenge, ranking="mean_rank", entries="best", limit_per_day=5, limit_total=50)
    batch = give_reference(phase, gables(ITEMS), metrics=metrics)
    teams = Team.objects.bulk_create([Team(challenge=challenge, name=f"Team {n}") for n in range(entries)], batch_size=500)
    now = timezone.now()
    rows = [
        Submission(
            phase=phase,
            team=team,
            number=n + 1,
            status=Status.SCORED,
            method_name=f"method {n}",
            file_name="e.zip",
            size=1,
            created_at=now,
            received_at=now,
            finished_at=now,
        )
        for n, team in enumerate(teams)
    ]
    submissions = Submission.objects.bulk_create(rows, batch_size=500)
    evaluations = Evaluation.objects.bulk_create(
        [Evaluation(submission=it, batch=batch, state="done", n_items=ITEMS) for it in submissions], batch_size=500
    )
    random = np.random.default_rng(0)
    skills = random.random(entries)
    for metric in batch.columns:
        values = np.clip(0.6 * skills[:, None] + random.normal(0.2, 0.15, (entries, ITEMS)), 0, 1)
        low, high = values.mean(axis=1) - 0.04, values.mean(axis=1) + 0.04
        Score.objects.bulk_create(
            [
                Score(
                    evaluation=it,
                    slug=metric.slug,
                    key=metric.key,
                    fingerprint=metric.fingerprint,
                    value=float(row.mean()),
                    ci_low=float(a),
                    ci_high=float(b),
                    n=ITEMS,
                    vector=row.tobytes(),
                )
                for it, row, a, b in zip(evaluations, values, low, high, strict=True)
            ],
            batch_size=500,
        )
    member = UserFactory(username=f"member{phase.pk}")
    join(member, teams[0])
    running = Submission.objects.create(
        phase=phase,
        team=teams[0],
        number=entries + 1,
        status=Status.SCORING,
        method_name="running",
        file_name="e.zip",
        size=1,
        received_at=now,
    )
    Evaluation.make(running, EvaluationBatch.current(phase))
    return phase, member


def first_read(client: Client, address: str) -> tuple[int, float, int]:
    """(queries, milliseconds of the processor, bytes on the wire) of a page whose ranking nobody has read lately."""
    read_board.cache_clear()
    with CaptureQueriesContext(connection) as asked:
        start = time.process_time()
        response = client.get(address, headers={"accept-encoding": "gzip"})
        first = 1000 * (time.process_time() - start)
    assert response.status_code == 200, response.status_code
    assert len(asked) <= 11, "a board is read in at most 11 queries"
    return len(asked), first, len(response.content)


def peers(board: Board) -> dict[str, Callable[[], object]]:
    """Writing of the numbers of the board alone in each format."""
    ends = [[metric.value, metric.ci_low, metric.ci_high, metric.rank] for metric in board.metrics]
    rows = [[numbers[index] for column in ends for numbers in column] for index in range(len(board.entries))]

    def fixed() -> str:
        return "\n".join(" & ".join(f"{number:.3f}" for number in row if number is not None) for row in rows)

    return {
        "csv": lambda: csv.writer(io.StringIO()).writerows(rows),
        "json": lambda: json.dumps(rows),
        "tex": fixed,
        "md": fixed,
    }


def measure(entries: int) -> tuple[Phase, User]:
    phase, member = fill(entries)
    start = time.perf_counter()
    snapshot = snapshots.make(phase, "public")
    seconds = time.perf_counter() - start
    size = len(bytes(Snapshot.objects.get(pk=snapshot.pk).payload))
    print(f"{entries} entries x 12 metrics x {ITEMS} items: built in {seconds:.1f} s, {size / 1e6:.2f} MB")
    return phase, member


def main() -> None:
    (Path(HOME) / "static").mkdir()
    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    entries = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    boards = {n: measure(n) for n in (entries, 100)}

    pages = {
        "visitor, first page": "",
        "visitor, last page by a metric": "?sort=m3&page=1000000",
        "visitor, filtered": "?q=method+49",
        "member with an entry in progress": "",
    }
    visitor = Client()
    visitor.get("/")  # what a process loads once
    for name, query in pages.items():
        reads = {}
        for n, (phase, member) in boards.items():
            client = Client()
            if "member" in name:
                client.force_login(member)
            reads[n] = partial(client.get, f"/challenges/{phase.challenge.slug}/{phase.slug}/{query}")
        queries, first, size = first_read(reads[entries].func.__self__, reads[entries].args[0])
        times, _ = shortest(reads, 20)
        own, peer = (1000 * times[n] for n in (entries, 100))
        ratio = f"{own / peer:.2f} of 100 entries'"
        print(f"  {name}: {queries} queries, {size / 1000:.0f} kB, {first:.0f} ms at first, then {own:.1f} ms, {ratio}")

    phase, _ = boards[entries]
    snapshot = Snapshot.current(phase, "public")
    alone = peers(snapshot.board)
    for kind in ("csv", "json", "tex", "md"):
        address = f"/challenges/{phase.challenge.slug}/{phase.slug}/snapshots/{snapshot.digest}.{kind}"

        def anew(address: str = address) -> int:
            written.answers.clear()
            return len(visitor.get(address).content)

        times, sizes = shortest({"written": anew, "kept": partial(visitor.get, address), "peer": alone[kind]}, 5)
        print(
            f"  {kind}: written in {1000 * times['written']:.0f} ms, {times['written'] / times['peer']:.1f} of the numbers alone; "
            f"kept {1000 * times['kept']:.0f} ms, {sizes['written'] / 1e6:.2f} MB"
        )


if __name__ == "__main__":
    main()
