"""Cost of saliency for one image, beside the plain second writing of it that the tests hold it to.

    python -m tests.benchmarks.bench_gbvs [--width 640] [--height 448]

Both run in this process on one thread, taking turns, and of that thread's time the shortest counts, so that a busy machine
weighs little. The floor is what must be read: the walks multiply a matrix of 896 × 896 doubles some 16 times for each of
21 maps. Exits with 1 where ours is not at least 3 times as fast, or the two disagree.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import cv2
import numpy as np

from evaluation.metrics.render import gbvs
from tests.benchmarks.timing import shortest
from tests.support.evaluation.metrics.render import pictures, plain_gbvs

FLOOR, AGREEMENT, ROUNDS = 3.0, 2e-5, 7


def steps(image: np.ndarray) -> int:
    """Number of times that the walks of all 21 maps multiply by their matrix."""
    count = 0
    rest = gbvs._rest

    def counting(step, v):
        def counted(at):
            nonlocal count
            count += at.ndim == 1
            return step(at)

        return rest(counted, v)

    gbvs._rest = counting
    try:
        gbvs.saliency(image)
    finally:
        gbvs._rest = rest
    return count


def memory_floor(count: int) -> float:
    """Seconds that reading `count` matrices once takes here, as fast as a dot product reads."""
    matrix, vector = np.ones((gbvs.CELLS, gbvs.CELLS)), np.ones(gbvs.CELLS)
    return count * shortest({"product": lambda: matrix @ vector}, ROUNDS, time.thread_time)[0]["product"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=448)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    image = pictures.blobs(options.height, options.width)
    bgr = np.ascontiguousarray(image[..., ::-1])
    difference = float(np.abs(gbvs.saliency(image) - plain_gbvs.saliency(cv2, bgr)).max())
    sides = {"ours": lambda: gbvs.saliency(image), "plain": lambda: plain_gbvs.saliency(cv2, bgr)}
    ours, plain = shortest(sides, ROUNDS, time.thread_time)[0].values()
    count = steps(image)
    ratio = plain / ours
    print(f"{options.width} × {options.height}: ours {1000 * ours:.0f} ms, plain {1000 * plain:.0f} ms: {ratio:.1f} times")
    print(f"floor {1000 * memory_floor(count):.0f} ms: {count} products of 896 × 896 doubles, read at the speed of memory")
    print(f"largest difference {difference:.1e}")
    return 0 if ratio >= FLOOR and difference <= AGREEMENT else 1


if __name__ == "__main__":
    sys.exit(main())
