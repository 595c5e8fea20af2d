"""Rerun, each by itself, tests that failed beside others: `python -m tests.alone`, after a run of pytest that failed.

Two tests at a time share the machine with a browser, a database and workers, so a test may fail beside others that
does not fail by itself. That is a fault too, of the test or of the code, but not one that says the change is wrong:
the test is written to the list (PLUMBLINE_FLAKY_LIST, else tests/flaky.txt), and this command succeeds. A test that
is on the list already has had its warning: then, as when something fails again, it ends with status 1.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from tests import ROOT

FAILED_KEY = "plumbline/failed"  # in pytest's cache: what failed in its last run (tests/conftest.py)
FAILED = ROOT / ".pytest_cache" / "v" / FAILED_KEY
COMMITTED = ROOT / "tests" / "flaky.txt"
MAX_FAILED = 20  # more than that is not bad luck


def listed(*files: Path) -> set[str]:
    """Tests on the lists: the first word of each line that is no comment."""
    lines = [line for file in files if file.exists() for line in file.read_text().splitlines()]
    return {line.split("\t")[0] for line in lines if line and not line.startswith("#")}


def verdict(failed: list[str], failed_again: list[str], known: set[str]) -> tuple[list[str], list[str]]:
    """(tests to write to the list, sentences that say why the run fails; none if it does not)."""
    if not failed:
        return [], ["The run failed, but no test did: read what it printed before the first test."]
    if len(failed) > MAX_FAILED:
        return [], [f"{len(failed)} tests failed; more than {MAX_FAILED} are not run again one by one."]
    faults = [f"{test} fails by itself too." for test in failed_again]
    passed = [test for test in failed if test not in failed_again]
    faults += [f"{test} failed beside others for the second time; mend the test or what it tests." for test in passed if test in known]
    return [test for test in passed if test not in known], faults


def main() -> int:
    failed = json.loads(FAILED.read_text()) if FAILED.exists() else []
    again = []
    if 0 < len(failed) <= MAX_FAILED:
        print(f"\n{len(failed)} failed beside others; each runs once more by itself.", flush=True)
        for test in failed:
            if subprocess.run([sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", test], cwd=ROOT).returncode:
                again.append(test)
    own = Path(os.environ.get("PLUMBLINE_FLAKY_LIST", COMMITTED))
    new, faults = verdict(failed, again, listed(COMMITTED, own))
    if new:
        own.parent.mkdir(parents=True, exist_ok=True)
        with own.open("a") as file:
            file.writelines(f"{test}\t{datetime.now(UTC):%Y-%m-%d}\n" for test in new)
    for test in new:
        print(f"{test} failed beside others and passes by itself; it stands on {own} now, and fails the run next time.")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
