"""`make nightly`: what takes too long for every change, in one table.

    python -m tests.nightly [--only NAME ...] [--record]

Each stage runs by itself, so that one that fails or breaks down keeps none of the others from running; those that mostly
wait for processes to start again run first, side by side, and what no clock limits takes the time they leave. With
`--record` each is written to the table in deploy/nightly.md when it ends, with the counts, the commit and the day; stages
that do not run keep the rows they had.
Ends with status 1 where a stage failed.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests import ROOT

RECORD = ROOT / "deploy" / "nightly.md"
SAID = "PLUMBLINE_SAID"  # names the file in which a stage says in one line what it found


@dataclass(frozen=True)
class Stage:
    """One row: a run of pytest with these arguments, or else a command of Python.

    `beside` is the niceness at which it runs side by side with others: 0 where most of its time is waiting, more where it
    counts seconds of the processor and none of the clock; None where it must have the machine to itself.
    """

    name: str
    pytest: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    beside: int | None = None


# What the usual run tries once, for other kinds of work: real processes that are killed, stopped or lack something. test_kills.py
# goes on for hours and has stages of its own.
REAL_PROCESSES = (
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests" / "nightly" / "evaluation").glob("test_*.py"))),
    "tests/nightly/evaluation/work",
    "tests/nightly/leaderboard/studies/judge",
    "tests/nightly/leaderboard/test_ready.py",
    "tests/nightly/leaderboard/test_run.py",
)

STAGES = (
    Stage("trainings and networks", tuple(f"tests/nightly/evaluation/{name}" for name in ("metrics", "networks", "properties"))),
    Stage("real processes, embedded profile", REAL_PROCESSES),
    Stage("real processes, cluster profile", REAL_PROCESSES, env={"PLUMBLINE_PROFILE": "cluster"}),
    Stage("cluster, embedded profile", ("-n", "3", "--dist", "loadfile", "tests/cluster")),
    Stage("escapes from the sandbox", ("tests/nightly/evaluation/programs",)),
    Stage(
        "service, cluster profile",
        ("-n", "3", "--dist", "loadfile", "tests/service"),
        env={"PLUMBLINE_PROFILE": "cluster", "PLUMBLINE_EVERYBODY": "1"},
    ),
    Stage("statistics", ("tests/nightly/leaderboard/stats", "tests/nightly/leaderboard/studies/live")),
    Stage("published sets from file to page", ("tests/nightly/leaderboard/studies/test_published_challenges.py",)),
    Stage("properties on many examples", ("-n", "2", "-m", "hypothesis", "tests/pure"), env={"PLUMBLINE_EXAMPLES": "5"}),
    Stage("the package on its oldest libraries", ("tests/nightly/leaderboard/package",)),
    Stage("large hostile files", ("tests/nightly/submissions",)),
    Stage("fuzzing, 20,000 a format", command=("-m", "tests.fuzz", "--cases", "20000"), beside=10),
    Stage("kills, embedded profile", ("-s", "tests/nightly/leaderboard/test_kills.py"), beside=0),
    # The only one of its profile that runs beside others: what they store would be in one database.
    Stage("kills, cluster profile", ("-s", "tests/nightly/leaderboard/test_kills.py"), env={"PLUMBLINE_PROFILE": "cluster"}, beside=0),
    Stage(
        "kills of workers elsewhere",
        ("-n", "0", "tests/cluster/evaluation/work/test_outbound.py", "-k", "killed_again_and_again"),
        env={"PLUMBLINE_OUTBOUND_KILLS": "100"},
        beside=0,
    ),
    *(
        Stage(f"benchmark {path.stem.removeprefix('bench_')}", command=("-m", f"tests.benchmarks.{path.stem}"))
        for path in sorted((ROOT / "tests" / "benchmarks").glob("bench_*.py"))
    ),
)


@dataclass(frozen=True)
class Result:
    """Result of a stage: numbers of tests (a command counts as one), minutes, and what it says in numbers, if it does."""

    stage: str
    passed: int
    failed: int
    skipped: int
    minutes: float
    said: str = ""


def run(stage: Stage) -> Result:
    """Do one stage; what it prints goes where ours does, or, of one that runs beside others, there when it has ended."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts.xml"
        arguments = ("-m", "pytest", "-q", "--timeout=5400", f"--junitxml={counts}", *stage.pytest) if stage.pytest else stage.command
        words = Path(folder) / "said"
        env = os.environ | stage.env | {SAID: str(words)}
        if stage.beside is not None:
            nice = ["nice", "-n", str(stage.beside), sys.executable, *arguments]
            ended = subprocess.run(nice, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            print(f"\n=== {stage.name}\n{ended.stdout.decode(errors='replace')}", flush=True)
        else:
            print(f"\n=== {stage.name}", flush=True)
            ended = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=env)
        status = ended.returncode
        minutes = (time.monotonic() - begun) / 60
        said = words.read_text().strip() if words.exists() else ""
        if not stage.pytest:
            return Result(stage.name, int(status == 0), int(status != 0), 0, minutes, said)
        suites = list(ElementTree.parse(counts).getroot().iter("testsuite")) if counts.exists() else []
        total = {key: sum(int(suite.get(key, 0)) for suite in suites) for key in ("tests", "failures", "errors", "skipped")}
    failed = total["failures"] + total["errors"]
    # A run that breaks down before its first test has counted none.
    failed_or_broken = failed or int(status not in (0, 5))
    return Result(stage.name, total["tests"] - failed - total["skipped"], failed_or_broken, total["skipped"], minutes, said)


WHOLE = "The last night of all stages in one run took "
HEAD = [
    "| what | passed | failed | skipped | minutes | commit | day | in numbers |",
    "| --- | ---: | ---: | ---: | ---: | --- | --- | --- |",
]


def row(result: Result, commit: str) -> str:
    """A line of the table in Markdown."""
    counts = f"{result.passed} | {result.failed} | {result.skipped} | {result.minutes:.1f}"
    return f"| {result.stage} | {counts} | {commit} | {datetime.now(UTC):%Y-%m-%d} | {result.said} |"


def record(rows: dict[str, str], whole: str = "") -> None:
    """Write these rows, by stage, over the earlier ones, in the order of the stages; and what `whole` says of a run of all of them."""
    before = RECORD.read_text().splitlines() if RECORD.exists() else []
    whole = whole or next((line for line in before if line.startswith(WHOLE)), "")
    kept = {line.split("|")[1].strip(): line for line in before if line.startswith("| ") and line not in HEAD} | rows
    lines = [kept[stage.name] for stage in STAGES if stage.name in kept]
    RECORD.write_text(
        "# The last nightly run of each stage\n\n`make nightly`. A command or a benchmark counts as one test: a benchmark fails "
        "where a ratio to its peer is worse than it states.\n\n" + (f"{whole}\n\n" if whole else "") + "\n".join([*HEAD, *lines]) + "\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.nightly", description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", metavar="NAME", help="stages whose names contain one of these words")
    parser.add_argument("--record", action="store_true", help=f"write the table to {RECORD.relative_to(ROOT)}")
    options = parser.parse_args()
    wanted = [stage for stage in STAGES if not options.only or any(word in stage.name for word in options.only)]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    beside, alone = [stage for stage in wanted if stage.beside is not None], [stage for stage in wanted if stage.beside is None]
    results, rows, begun = [], {}, time.monotonic()
    with ThreadPoolExecutor(max(1, len(beside))) as pool:
        for result in itertools.chain((one.result() for one in as_completed(pool.submit(run, stage) for stage in beside)), map(run, alone)):
            results.append(result)
            rows[result.stage] = row(result, commit)
            if options.record:
                record(rows)
    if options.record and len(wanted) == len(STAGES):
        took = f"{(time.monotonic() - begun) / 60:.1f} minutes on {os.cpu_count()} cores"
        record(rows, f"{WHOLE}{took} ({commit}, {datetime.now(UTC):%Y-%m-%d}).")
    print("\n" + "\n".join([*HEAD, *(rows[stage.name] for stage in wanted)]))
    return 1 if any(result.failed for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
