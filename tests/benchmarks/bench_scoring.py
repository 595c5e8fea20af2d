"""Cost of scoring an entry: each metric alone in milliseconds per sample, and all of them together.

    python -m tests.benchmarks.bench_scoring [--samples 1000]

Samples are simulated wireframes of about 30 vertices and 40 edges and noisy copies of them. Exits
with 1 where a thousand samples would take longer than five minutes on this core; the two metrics that
solve far larger problems than the others are timed, and left out of that.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from evaluation.metrics.registry import REGISTRY
from evaluation.metrics.scoring import MetricRequest, score_items
from evaluation.synthetic.houses import house
from submissions.formats.wireframe.wireframe_files import Wireframe

EACH, LIMIT_SECONDS = 20, 300
APART = ("hss_exact", "ecd_emd")


def sample(seed: int) -> tuple[Wireframe, Wireframe]:
    """A prediction and its reference."""
    reference = house(("l_shaped", "dormer")[seed % 2], seed)
    noise = np.random.default_rng(seed).normal(0, 0.15, reference.vertices.shape)
    return Wireframe(reference.vertices + noise, reference.edges), reference


def seconds(samples: dict[str, tuple[Wireframe, Wireframe]], keys: list[str]) -> float:
    requests = [MetricRequest(key, key, {}) for key in keys]
    start = time.perf_counter()
    score_items({name: pair[0] for name, pair in samples.items()}, {name: pair[1] for name, pair in samples.items()}, requests)
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1000)
    count = parser.parse_args().samples
    samples = {f"s{seed:05}": sample(seed) for seed in range(count)}
    sizes = np.mean([(len(reference.vertices), len(reference.edges)) for _, reference in samples.values()], axis=0)
    print(f"{count} samples of {sizes[0]:.0f} vertices and {sizes[1]:.0f} edges on average")
    few = dict(list(samples.items())[:EACH])
    keys = [key for key, spec in REGISTRY.items() if spec.family == "wireframe" and not spec.weights]
    for key in keys:
        seconds({"warm": samples["s00000"]}, [key])
        print(f"  {key:<18} {1000 * seconds(few, [key]) / len(few):8.2f} ms per sample")
    total = seconds(samples, [key for key in keys if key not in APART])
    print(f"  {'the rest together':<18} {1000 * total / count:8.2f} ms per sample, {total:.1f} s in all")
    return 0 if total * 1000 / count <= LIMIT_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
