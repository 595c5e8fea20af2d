"""Times of a first `make run`, packages aside: `python -m tests.benchmarks.bench_demo [SECONDS]`.

An empty home, from the start of the command: when the server answers, when the first demo board is ranked, when all are, and when the
processor has nothing left to do: the first stretch of SECONDS (60) in which all processes of the service together take less than 5 % of a
core. README.md states these times. Fails where that has not come after an hour.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
import tests.environment  # noqa: E402, F401  # first: it names a home of its own

HOME = tempfile.mkdtemp(prefix="plumbline-bench-")
os.environ |= {"PLUMBLINE_HOME": HOME, "DJANGO_SETTINGS_MODULE": "leaderboard.settings"}

import django  # noqa: E402

django.setup()
for name in [name for name in os.environ if name.startswith("PLUMBLINE_")]:
    del os.environ[name]  # tests have their service sweep and report more often than it does by itself

from tests.support.processes import EmbeddedService, wait_until  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
IDLE = 0.05  # of a core
LONGEST = 3600.0
SAID = {
    "Plumbline runs at": "the server answers",
    "Loading the demo challenge solids": "the first board is ranked",
    "Log in with one of these names": "all boards are ranked",
}


def spent(service: EmbeddedService) -> float:
    """Processor seconds that its processes have taken, with those of their children that have ended."""
    total = 0
    for pid in service.running():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except FileNotFoundError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / TICKS


def main(seconds: float = 60.0) -> None:
    begun = time.monotonic()
    service = EmbeddedService(Path(HOME), workers=2, demo=True)
    try:
        for words, what in SAID.items():
            wait_until(lambda words=words: words in service.said(), LONGEST, what)
            print(f"{what}: after {time.monotonic() - begun:.0f} s, {spent(service):.0f} s of the processor", flush=True)
        share = 1.0
        while share >= IDLE:
            assert time.monotonic() - begun < LONGEST, f"the demo still takes {100 * share:.0f} % of a core"
            before, since = spent(service), time.monotonic()
            time.sleep(seconds)
            share = (spent(service) - before) / (time.monotonic() - since)
        print(f"nothing is left to do: after {since - begun:.0f} s, {before:.0f} s of the processor; then {100 * share:.1f} % of one core")
    finally:
        service.end()


if __name__ == "__main__":
    main(*(float(word) for word in sys.argv[1:]))
