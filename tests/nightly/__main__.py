"""`make nightly`: what takes too long for every change, in one table.

    python -m tests.nightly [--only NAME ...] [--record]

Each stage runs by itself, so that one that fails or breaks down keeps none of the others from running. With
`--record` the table is written to deploy/nightly.md, with the commit, the day and the counts. Ends with status 1
where a stage failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests import ROOT

RECORD = ROOT / "deploy" / "nightly.md"


@dataclass(frozen=True)
class Stage:
    """One row: a run of pytest with these arguments, or else a command of Python."""

    name: str
    pytest: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)


# Tests of the usual run, with real workers and services that are killed, stopped or lack something. test_kills.py goes on for
# hours and has stages of its own.
REAL_PROCESSES = (
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests" / "nightly" / "evaluation").glob("test_*.py"))),
    "tests/nightly/leaderboard/judge",
    "tests/nightly/leaderboard/test_ready.py",
    "tests/nightly/leaderboard/test_run.py",
)

STAGES = (
    Stage("trainings and networks", tuple(f"tests/nightly/evaluation/{name}" for name in ("metrics", "networks", "training"))),
    Stage("real processes, embedded profile", REAL_PROCESSES),
    Stage("real processes, cluster profile", REAL_PROCESSES, env={"PLUMBLINE_PROFILE": "cluster"}),
    Stage("statistics", ("tests/nightly/leaderboard/stats",)),
    Stage("properties on many examples", ("-n", "2", "-m", "hypothesis", "tests/pure"), env={"PLUMBLINE_EXAMPLES": "5"}),
    Stage("large hostile files", ("tests/nightly/submissions",)),
    Stage("fuzzing, 20,000 a format", command=("-m", "tests.fuzz", "--cases", "20000")),
    Stage("kills, embedded profile", ("-s", "tests/nightly/leaderboard/test_kills.py")),
    Stage("kills, cluster profile", ("-s", "tests/nightly/leaderboard/test_kills.py"), env={"PLUMBLINE_PROFILE": "cluster"}),
    *(
        Stage(f"benchmark {path.stem.removeprefix('bench_')}", command=("-m", f"tests.benchmarks.{path.stem}"))
        for path in sorted((ROOT / "tests" / "benchmarks").glob("bench_*.py"))
    ),
)


@dataclass(frozen=True)
class Result:
    """How a stage ended: numbers of tests (a command counts as one), and minutes."""

    stage: str
    passed: int
    failed: int
    skipped: int
    minutes: float


def run(stage: Stage) -> Result:
    """Do one stage; what it prints goes where ours does."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts.xml"
        arguments = ("-m", "pytest", "-q", "--timeout=5400", f"--junitxml={counts}", *stage.pytest) if stage.pytest else stage.command
        print(f"\n=== {stage.name}", flush=True)
        status = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=os.environ | stage.env).returncode
        minutes = (time.monotonic() - begun) / 60
        if not stage.pytest:
            return Result(stage.name, status == 0, status != 0, 0, minutes)
        suites = list(ElementTree.parse(counts).getroot().iter("testsuite")) if counts.exists() else []
        total = {key: sum(int(suite.get(key, 0)) for suite in suites) for key in ("tests", "failures", "errors", "skipped")}
    failed = total["failures"] + total["errors"]
    # A run that breaks down before its first test has counted none.
    return Result(stage.name, total["tests"] - failed - total["skipped"], failed or int(status not in (0, 5)), total["skipped"], minutes)


def table(results: list[Result]) -> str:
    """The results as a table in Markdown."""
    lines = ["| what | passed | failed | skipped | minutes |", "| --- | ---: | ---: | ---: | ---: |"]
    lines += [f"| {r.stage} | {r.passed} | {r.failed} | {r.skipped} | {r.minutes:.1f} |" for r in results]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.nightly", description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", metavar="NAME", help="stages whose names contain one of these words")
    parser.add_argument("--record", action="store_true", help=f"write the table to {RECORD.relative_to(ROOT)}")
    options = parser.parse_args()
    wanted = [stage for stage in STAGES if not options.only or any(word in stage.name for word in options.only)]
    results = [run(stage) for stage in wanted]
    print("\n" + table(results))
    if options.record:
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()
        RECORD.write_text(
            f"# The last nightly run\n\n`make nightly`, commit {commit.strip()}, {datetime.now(UTC):%Y-%m-%d}.\n"
            f"A benchmark counts as one test: it fails where a ratio to its peer is worse than it states.\n\n{table(results)}\n"
        )
    return 1 if any(result.failed for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
