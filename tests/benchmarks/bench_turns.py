"""Time that entries wait, in the order of arrival and in turns, and beside metric programs: `python -m tests.benchmarks.bench_turns`.

A simulation: 50 teams send entries to four workers for three hours, five of the teams long ones, several at a time. Seconds from
sending to the score; the last column is the worst of all parts, as a multiple of its fair share (`tests.support.queueing.share_fairly`).
The second table is the same in turns, with metric programs whose work never ends: "before" in slices of 83 s after two seconds of parts,
and as workers share their time now (`evaluation.work.shares`). Its last column is the programs' share of all workers' time.
"""

from __future__ import annotations

import os

import django

import tests.environment  # noqa: F401  # first: it names a home of its own

os.environ["DJANGO_SETTINGS_MODULE"] = "leaderboard.settings"
django.setup()

from evaluation.work.shares import SHARE, SLICE_SECONDS  # noqa: E402
from tests.support.queueing import ByShare, InTurn, by_arrival, by_turns, fifty_teams, run, share_fairly, waiting  # noqa: E402

WORKERS = 4


def main() -> None:
    print(f"{'seed':>4} {'load':>4} {'order':<9}{'median':>9}{'95 %':>9}{'worst':>9}{'short: median':>15}{'worst':>9}{'worst share':>13}")
    for load in (0.7, 0.9, 1.2):
        for seed in range(5):
            for name, order in (("arrival", by_arrival), ("turns", by_turns)):
                sent = fifty_teams(seed, load=load)
                run(sent, WORKERS, order)
                share_fairly(sent, WORKERS)
                it = waiting(sent)
                times = f"{it.median:9,.0f}{it.p95:9,.0f}{it.worst:9,.0f}{it.short_median:15,.0f}{it.short_worst:9,.0f}"
                print(f"{seed:4} {load:4} {name:<9}{times}{it.worst_ratio:13.1f}")
    print(f"\n{'seed':>4} {'load':>4} {'programs':<9}{'median':>9}{'95 %':>9}{'worst':>9}{'short: median':>15}{'worst':>9}{'programs':>13}")
    for load in (0.5, 0.7):
        for seed in range(5):
            for name, programs in (("none", None), ("before", InTurn()), ("now", ByShare(SHARE, SLICE_SECONDS))):
                sent = fifty_teams(seed, load=load)
                run(sent, WORKERS, by_turns, programs)
                share_fairly(sent, WORKERS)
                it, end = waiting(sent), max(piece.done for piece in sent.pieces)
                times = f"{it.median:9,.0f}{it.p95:9,.0f}{it.worst:9,.0f}{it.short_median:15,.0f}{it.short_worst:9,.0f}"
                share = 0.0 if programs is None else programs.seconds / (WORKERS * end)
                print(f"{seed:4} {load:4} {name:<9}{times}{share:12.0%}")


if __name__ == "__main__":
    main()
