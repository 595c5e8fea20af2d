"""Pages of a board of 300 entries under 20 readers at once: `python -m tests.benchmarks.bench_readers [RANKINGS]`.

One process of the web server. Of each page: the longest wait of 20 readers who ask for it at once in a process that has never been asked
for it, and the median and the longest of 5 pages each after that. Then the same pages with RANKINGS (3,000) older rankings kept.
Exits with 1 where a page is neither answered nor refused as busy.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from threading import Barrier, Thread

import httpx

from tests.benchmarks import bench_board  # sets the environment

# All readers come from one address here.
ENVIRONMENT = {**os.environ, "PLUMBLINE_PAGES_AT_ONCE": "20", "PLUMBLINE_HOSTS": "127.0.0.1"}

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from leaderboard.models import Snapshot  # noqa: E402
from leaderboard.tasks import build_due_boards  # noqa: E402
from submissions.models import Challenge, Phase  # noqa: E402
from tests.environment import free_port  # noqa: E402
from tests.support.processes import wait_until  # noqa: E402

READERS, PAGES_EACH, ENTRIES = 20, 5, 300


def main() -> int:
    kept = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000
    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    phase, _ = bench_board.fill(ENTRIES)
    Challenge.objects.update(visibility="public")
    build_due_boards()
    fine = readers(phase)
    keep(phase, kept)
    print(f"with {kept:,} older rankings:")
    return int(not (readers(phase) and fine))


def keep(phase: Phase, n: int) -> None:
    """Keep so many older rankings, the same as the newest."""
    newest = Snapshot.current(phase, "public")
    facts = {name: getattr(newest, name) for name in ("phase", "audience", "batch", "n_entries", "n_teams", "lead", "payload")}
    older = [Snapshot(digest=f"{number:064x}", revision=number, **facts) for number in range(n)]
    Snapshot.objects.bulk_create(older, batch_size=100)
    Snapshot.objects.filter(pk=newest.pk).update(revision=n)
    Phase.objects.filter(pk=phase.pk).update(board_revision=n)


def readers(phase: Phase) -> bool:
    """Print the waits for each page of a new server; returns whether all were answered, or refused as busy."""
    connection.close()
    place, port = f"/challenges/{phase.challenge.slug}/{phase.slug}/", free_port()
    command = [sys.executable, "-m", "leaderboard.server", "--port", str(port), "--log-level", "error"]
    # Without its log, in which each reader that is refused as busy is a line.
    server = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    site, fine = f"http://127.0.0.1:{port}", True
    try:
        wait_until(lambda: _answers(f"{site}/-/health"), 60, "the server")
        for page in ("/", "/challenges/", place, f"{place}entries/", f"{place}choosing-metrics/", f"{place}feed.atom", "/api/v1/docs"):
            waits: dict[int, list[float]] = {}
            statuses: Counter[int] = Counter()
            for each in (1, PAGES_EACH):
                took: list[float] = []
                start = Barrier(READERS)

                def read(each=each, took=took, start=start, page=page, statuses=statuses) -> None:
                    with httpx.Client(timeout=120) as client:
                        start.wait()
                        for _ in range(each):
                            begun = time.perf_counter()
                            statuses[client.get(f"{site}{page}").status_code] += 1
                            took.append(time.perf_counter() - begun)

                threads = [Thread(target=read) for _ in range(READERS)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                waits[each] = took
            then, fine = waits[PAGES_EACH], fine and statuses.keys() <= {200, 503}
            name = page.replace(place, "board/") if page.startswith(place) else page
            print(
                f"{name:24} first {max(waits[1]):5.2f} s, then median {statistics.median(then):5.2f} s, most {max(then):5.2f} s; "
                f"{statuses[503]} of {statuses.total()} refused as busy",
                flush=True,
            )
    finally:
        server.terminate()
        server.wait()
    return fine


def _answers(address: str) -> bool:
    try:
        return httpx.get(address).status_code == 200
    except httpx.TransportError:
        return False


if __name__ == "__main__":
    sys.exit(main())
