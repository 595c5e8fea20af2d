"""Time that entries wait, in the order of arrival and in turns: `python -m tests.benchmarks.bench_turns`.

A simulation: 50 teams send entries to four workers for three hours, five of the teams long ones, several at a time. Seconds from
sending to the score; the last column is the worst of all parts, as a multiple of its fair share (`tests.support.queueing.share_fairly`).
"""

from __future__ import annotations

from tests.support.queueing import by_arrival, by_turns, fifty_teams, run, share_fairly, waiting


def main() -> None:
    print(f"{'seed':>4} {'load':>4} {'order':<9}{'median':>9}{'95 %':>9}{'worst':>9}{'short: median':>15}{'worst':>9}{'worst share':>13}")
    for load in (0.7, 0.9, 1.2):
        for seed in range(5):
            for name, order in (("arrival", by_arrival), ("turns", by_turns)):
                sent = fifty_teams(seed, load=load)
                run(sent, 4, order)
                share_fairly(sent, 4)
                it = waiting(sent)
                times = f"{it.median:9,.0f}{it.p95:9,.0f}{it.worst:9,.0f}{it.short_median:15,.0f}{it.short_worst:9,.0f}"
                print(f"{seed:4} {load:4} {name:<9}{times}{it.worst_ratio:13.1f}")


if __name__ == "__main__":
    main()
