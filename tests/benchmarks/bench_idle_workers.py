"""Cost of workers that wait: `python -m tests.benchmarks.bench_idle_workers [WORKERS] [SECONDS]`.

A service of the embedded profile with nothing to do, and WORKERS (200) connections, of four tokens, that ask for a part as `plumbline
worker` does, each when it was told to. Once with no work for long, when they ask every quarter of a minute, and once with work a moment
ago, when they ask every second. Printed is the processor time of the service's web processes, in percent of one core, less what they take
with no worker at all (promise: 5 with none for long).
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
import tests.environment  # noqa: E402, F401  # first: it names a home of its own

HOME = tempfile.mkdtemp(prefix="plumbline-bench-")
os.environ |= {"PLUMBLINE_HOME": HOME, "DJANGO_SETTINGS_MODULE": "leaderboard.settings", "PLUMBLINE_LOG_LEVEL": "WARNING"}

import django  # noqa: E402

django.setup()

import httpx  # noqa: E402
from django.utils import timezone  # noqa: E402

from evaluation.models import WorkerToken  # noqa: E402
from evaluation.work.remote_worker_client import _capabilities, _machine  # noqa: E402
from tests.support.factories import ChallengeFactory  # noqa: E402
from tests.support.processes import EmbeddedService, wait_until  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")


def spent(service: EmbeddedService) -> float:
    """Processor seconds that the web processes have taken."""
    total = 0
    for pid, kind in service.running().items():
        if kind.startswith("web"):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / TICKS


async def ask(client: httpx.AsyncClient, n: int, key: str, about: dict[str, object], until: float) -> tuple[int, float]:
    """Ask as one worker until then; requests, and the longest answer in seconds."""
    headers, body = {"Authorization": f"Bearer {key}"}, {"queues": ["cpu"], "worker": f"worker {n}", **about}
    asked, longest = 0, 0.0
    await asyncio.sleep(n % 100 / 10)  # nobody starts them all in one moment
    while time.monotonic() < until:
        begun = time.monotonic()
        response = await client.post("/api/v1/worker/claim", json=body, headers=headers)
        assert response.status_code == 204, response.text
        asked, longest = asked + 1, max(longest, time.monotonic() - begun)
        await asyncio.sleep(min(float(response.headers["retry-after"]), max(0.0, until - time.monotonic())))
    return asked, longest


async def waiting(service: EmbeddedService, keys: list[str], workers: int, seconds: float, name: str, rest: float) -> None:
    about = {"machine": _machine(), "capabilities": _capabilities()}
    begun, before = time.monotonic(), spent(service)
    async with httpx.AsyncClient(base_url=service.url, limits=httpx.Limits(max_connections=workers), timeout=60) as client:
        answered = await asyncio.gather(*(ask(client, n, keys[n % len(keys)], about, begun + seconds) for n in range(workers)))
    took, asked, longest = time.monotonic() - begun, sum(n for n, _ in answered), max(it for _, it in answered)
    share = 100 * (spent(service) - before) / took - rest
    print(f"{workers} idle workers, {name}: {share:.1f} % of one core, {asked / took:.1f} requests/s, longest answer {longest:.2f} s")


def main(workers: int = 200, seconds: float = 60.0) -> None:
    service = EmbeddedService(Path(HOME), workers=0)
    try:
        wait_until(service.answers, what="the service")
        keys = [WorkerToken.make(ChallengeFactory(), None, f"lab {n}", ["cpu"], 30, at_once=workers)[1] for n in range(4)]
        before = spent(service)
        time.sleep(seconds / 2)
        rest = 200 * (spent(service) - before) / seconds
        print(f"no workers: {rest:.1f} % of one core")
        for name, ago in (("none for an hour", 3600), ("work a moment ago", 0)):
            WorkerToken.objects.update(worked_at=timezone.now() - timezone.timedelta(seconds=ago))
            asyncio.run(waiting(service, keys, workers, seconds, name, rest))
    finally:
        service.end()


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
