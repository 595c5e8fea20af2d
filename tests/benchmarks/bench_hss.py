"""HSS against the official scorer on real roofs, in one process and one run.

    PLUMBLINE_DATA=... python -m tests.benchmarks.bench_hss

Each roof is scored against a perturbed copy by both, one after the other, several times; the
figure is the median over roofs of the ratio of their best times. The booleans alone, on solids
made beforehand, are timed too: no scorer on manifold3d can be faster than them. Exits with 1 where
the ratio is below 2.5 or a score differs by more than 1e-6.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.metrics.wireframe.hss import SHORTEST, _corners, _long_enough
from evaluation.metrics.wireframe.pair import Pair
from evaluation.metrics.wireframe.tubes import overlap, solids
from evaluation.synthetic.houses import houses
from submissions.formats.wireframe.wireframe_files import Wireframe, load_folder
from tests.benchmarks.timing import shortest
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.official import metric_helper

hss = with_defaults("hss")

FLOOR, TOLERANCE, ROUNDS = 2.5, 1e-6, 3


def references() -> dict[str, Wireframe]:
    """Real roofs where PLUMBLINE_DATA has them, simulated houses elsewhere, centred."""
    folder = os.environ.get("PLUMBLINE_DATA")
    found = load_folder(Path(folder) / "building3d") if folder else houses(24)
    print(f"{len(found)} {'real roofs' if folder else 'made-up houses (PLUMBLINE_DATA is not set)'}")
    middles = {name: (frame.vertices.max(axis=0) + frame.vertices.min(axis=0)) / 2 for name, frame in found.items()}
    return {name: Wireframe(frame.vertices - middles[name], frame.edges) for name, frame in found.items()}


def main() -> int:
    official = metric_helper()
    rows, worst = [], 0.0
    for seed, reference in enumerate(references().values()):
        noise = np.random.default_rng(seed).normal(0, 0.2, reference.vertices.shape)
        prediction = Wireframe(reference.vertices + noise, reference.edges)
        actions: dict[str, Callable[[], Any]] = {
            "theirs": lambda p=prediction, r=reference: official.hss(p.vertices, p.edges, r.vertices, r.edges),
            "ours": lambda p=prediction, r=reference: hss(Pair.of(p, r)),
        }
        first, second = (solids(_corners(_long_enough(frame.vertices, frame.edges, SHORTEST), 0.5, 6)) for frame in (prediction, reference))
        actions["booleans"] = lambda a=first, b=second: overlap(a, b)
        times, answers = shortest(actions, ROUNDS)
        rows.append([1000 * times[name] for name in ("theirs", "ours", "booleans")])
        found, expected = answers["ours"], answers["theirs"]
        worst = max(worst, abs(found.value - expected.hss), abs(found.parts["hss_iou"] - expected.iou))
    theirs, ours, booleans = (statistics.median(column) for column in zip(*rows, strict=True))
    ratio = statistics.median(row[0] / row[1] for row in rows)
    print(f"official {theirs:.1f} ms, ours {ours:.1f} ms, the booleans alone {booleans:.1f} ms (medians per pair)")
    print(f"median ratio {ratio:.2f} (wanted: {FLOOR}), largest difference {worst:.1e} (allowed: {TOLERANCE:.0e})")
    return 0 if ratio >= FLOOR and worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
