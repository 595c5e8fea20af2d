"""Read many damaged files of every format, and print how they ended; exit status 1 where one is neither taken nor refused.

python -m tests.fuzz                              20,000 a format
python -m tests.fuzz --cases 300 --format PLY --format GLB
python -m tests.fuzz --format PLY --again FILE    one kept case, without limits
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tests.fuzz import load

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000, help="of each format (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which cases (default: %(default)s)")
    parser.add_argument("--format", action="append", metavar="NAME", help="only this one; may be given again")
    parser.add_argument("--faults", type=Path, metavar="DIR", help="where cases that are faults are kept (default: a new folder)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that share the formats (default: one a core)")
    parser.add_argument("--again", type=Path, metavar="FILE", help="read this kept case of the one format given")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts there too")
    args = parser.parse_args()

    load()
    from tests.fuzz import runner
    from tests.fuzz.formats import BY_NAME, FORMATS
    from tests.nightly.__main__ import SAID

    unknown = [name for name in args.format or () if name not in BY_NAME]
    if unknown or (args.again and len(args.format or ()) != 1):
        parser.error(f"name formats among: {', '.join(BY_NAME)}")
    chosen = [BY_NAME[name] for name in args.format or BY_NAME]
    if args.again:
        for sentence in runner.again(chosen[0], args.again) or ["accepted"]:
            print(sentence)
        return 0
    folder = args.faults or Path(tempfile.mkdtemp(prefix="plumbline-faults-"))
    width = max(len(one.name) for one in FORMATS)
    print(f"{'format':{width}}  {'cases':>7} {'accepted':>9} {'refused':>8} {'worst s':>8} {'worst MB':>9} {'faults':>7}", flush=True)
    counts = {}
    with ProcessPoolExecutor(min(args.jobs, len(chosen)), get_context("spawn"), load) as pool:
        futures = {kind.name: pool.submit(runner.tried, kind.name, args.seed, args.cases, folder) for kind in chosen}
        for name, future in futures.items():
            found = counts[name] = future.result()
            line = f"{name:{width}}  {args.cases:7,} {found['accepted']:9,} {found['refused']:8,}"
            print(f"{line} {found['seconds']:8.2f} {found['bytes'] / 1e6:9.1f} {found['fault']:7,}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(counts))
    if SAID in os.environ:
        totals = {end: sum(one[end] for one in counts.values()) for end in ("accepted", "refused", "fault")}
        worst = max(one["seconds"] for one in counts.values()), max(one["bytes"] for one in counts.values()) / 1e6
        said = ", ".join(f"{count:,} {end}" for end, count in totals.items())
        Path(os.environ[SAID]).write_text(f"{len(counts)} formats: {said}; at most {worst[0]:.2f} s and {worst[1]:.0f} MB a file")
    faults = [fault for one in counts.values() for fault in one["faults"]]
    if faults:
        print(f"\n{len(faults)} faults, kept in {folder}; the first:\n{faults[0]['path']}\n{faults[0]['said']}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
