"""Everything that computes on a graphics card, checked on the one that is here, as one Markdown table.

    python -m tests.card [--device cuda|cpu] [--quick] [--output FILE] [--only WORD]

It needs this checkout, torch with CUDA, numpy, scipy, pillow and safetensors, and no service. What else is missing is named, and its
rows are left out. Each row says what was computed, on which device and with how much of its memory at most, the value, how far the
card's result is from the processor's, and that difference as a share of the metric's tolerance: above 1 it is too large. A metric counts
as seen on a card only where the scoring child, under its limits of memory, computed it there.

A full run on a card appends its table to tests/benchmarks/CARD.md, or to `--output`. `--quick` takes small pictures, `--device cpu` the
processor in the card's place; neither writes anything. On a card no row begins later than 280 seconds after the start. Exits with 1 where
a row is wrong, and with 2 where there is no card.
"""

from __future__ import annotations

import argparse
import platform
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

from tests import ROOT
from tests.card.check import Check, Row, header
from tests.card.rows import ROWS

OUTPUT = ROOT / "tests" / "benchmarks" / "CARD.md"
LAST_START = 280.0  # seconds after the start, on a card: these are at hand seldom and briefly


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.card", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--quick", action="store_true", help="small pictures; writes nothing")
    parser.add_argument("--output", type=Path, help="file that a full run on a card appends its table to; %(default)s", default=OUTPUT)
    parser.add_argument("--only", default="", metavar="WORD", help="the rows alone whose name has this word; writes nothing")
    chosen = parser.parse_args(arguments)

    import torch

    if chosen.device == "cuda":
        from evaluation.networks.inference import best_device

        if best_device().type != "cuda":
            print("There is no graphics card here that torch computes on; --device cpu tries the command itself.", file=sys.stderr)
            return 2
    elif chosen.quick:  # on small pictures threads spend more on waiting for each other than they save
        torch.set_num_threads(1)
    begun, rows = time.monotonic(), list[Row]()
    facts = described(torch)
    print(facts + "\n\n" + header(), flush=True)
    with tempfile.TemporaryDirectory(prefix="plumbline-card-") as folder, Check(Path(folder), chosen.device, chosen.quick) as check:
        for name, make in ROWS:
            if chosen.only not in name:
                continue
            late = chosen.device == "cuda" and time.monotonic() - begun > LAST_START
            for row in [Row(name, "left out: no time was left")] if late else check.tried(name, make):
                rows.append(row)
                print(row.line(), flush=True)
        after = check.remarks()
    cpu = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    took = f"{time.monotonic() - begun:.0f} s, {cpu:.0f} s of processors"
    after.append(f"{len(rows)} rows, of which {sum(row.wrong for row in rows)} wrong, in {took}.")
    print("\n" + "\n\n".join(after), flush=True)
    if chosen.device == "cuda" and not chosen.quick and not chosen.only:
        with chosen.output.open("a") as stream:
            stream.write("\n".join(["", facts, "", header(), *(row.line() for row in rows), "", *after, ""]))
    return 1 if any(row.wrong for row in rows) else 0


def described(torch: ModuleType) -> str:
    """The heading of a table: when, which code, and on what."""
    asked = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False)
    commit = asked.stdout.strip()
    told = [f"Python {platform.python_version()}", f"torch {torch.__version__}", f"commit {commit or 'unknown'}"]
    if torch.cuda.is_available():
        card = torch.cuda.get_device_properties(0)
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        try:
            driver = subprocess.run(query, capture_output=True, text=True, check=False).stdout.split()[0]
        except (OSError, IndexError):
            driver = "unknown"
        told = [card.name, f"{card.total_memory / 2**30:.0f} GiB", f"driver {driver}", f"CUDA {torch.version.cuda}", *told]
    else:
        told = ["no graphics card", *told]
    return f"## {datetime.now(UTC):%Y-%m-%d %H:%M} UTC: {', '.join(told)}"


if __name__ == "__main__":
    sys.exit(main())
