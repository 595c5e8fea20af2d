"""Cost of `puzzlesim_pieces`: a fit, a view, memory and an acceptance test; beside scipy, in one process and one run.

    PLUMBLINE_DATA=... python -m tests.benchmarks.bench_pieces [--views 36] [--rounds 3] [--threads 1] [--no-acceptance test]

The scene is PLUMBLINE_DATA/renders/garden: up to 36 clean views and a render of 628 × 416 px. Two parts have a peer, on the same
input: the dictionary (the same patches whitened by scipy's eigh and clustered from the same start by scipy's kmeans2), and the
nearest cell of each clean view (scipy's cdist and its minimum). The sides take turns and the shortest time of the process's own
clock counts, so that a busy machine weighs on all alike. The floor of a view, and of a fit, is what their products of matrices
alone take at the rate at which products of the same kind ran in between. Memory is the growth of the process's largest size.
Exits with 1 where the dictionary is less than 0.7 times as fast as the peer's, the nearest cells are found
less than 5 times as fast, what they found differs by more than 1e-3, or a fit or a view adds more than 1 GiB.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from PIL import Image
from scipy import linalg
from scipy.cluster.vq import kmeans2
from scipy.spatial.distance import cdist

from evaluation.metrics import registry
from evaluation.metrics.render.pieces.features import (
    ATOMS,
    DRAWN,
    LEARNT_FROM,
    NOISE,
    PATCH,
    ROUNDS,
    SEED,
    STEP,
    Dictionary,
    grid,
    moved_from,
)
from evaluation.metrics.render.pieces.metric import Scene
from evaluation.metrics.seeds import generator
from evaluation.properties.gate import acceptance_test
from submissions.formats.render.views import CleanViews, View, render
from tests.benchmarks.timing import shortest
from tests.support.memory import status

LEARNT, NEAREST, OFF, MEMORY = 0.7, 5.0, 1e-3, 1024.0
COPIES = 4  # of each view that is moved, itself included
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def pictures(folder: Path) -> list[np.ndarray]:
    return [np.array(Image.open(path).convert("RGB")) for path in sorted(folder.glob("*.png"))]


def peer_dictionary(views: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(atoms, whitened patches) by scipy, from the patches and the start of `Dictionary.learn`."""
    rng, drawn = generator(SEED), []
    for pixels in views:
        windows = sliding_window_view(pixels, (PATCH, PATCH), axis=(0, 1))
        rows, columns = (rng.integers(0, side, DRAWN) for side in windows.shape[:2])
        drawn.append(windows[rows, columns].reshape(DRAWN, -1) / 255)
    patches = np.concatenate(drawn)
    centred = patches - patches.mean(axis=0)
    values, vectors = linalg.eigh(centred.T @ centred / len(centred))
    whitened = centred @ ((vectors / np.sqrt(np.maximum(values, 0) + NOISE)) @ vectors.T)
    start = whitened[rng.choice(len(whitened), ATOMS, replace=False)]
    atoms, _ = kmeans2(whitened, start, iter=ROUNDS, minit="matrix", missing="raise")
    return atoms, whitened


def spread(atoms: np.ndarray, whitened: np.ndarray) -> float:
    """Mean squared distance of patches to their nearest atom."""
    return float(((whitened**2).sum(1) + ((atoms**2).sum(1) - 2 * whitened @ atoms.T).min(1)).mean())


def operations(width: int, height: int, views: int, channels: int) -> tuple[float, float]:
    """(of one picture's cells, of finding them among so many views): floating-point operations of their products."""
    h, w = grid(width, height)
    down, across = (height - PATCH) // STEP + 1, (width - PATCH) // STEP + 1
    patch = 3 * PATCH * PATCH
    cells = 2.0 * down * across * patch * (patch + ATOMS) + 2.0 * h * down * across * ATOMS + 2.0 * h * w * across * ATOMS
    cells += 2.0 * h * height * width * 3 + 2.0 * h * w * width * 3
    return cells, 2.0 * (h * w) ** 2 * views * (channels + 1)


def largest() -> float:
    """MiB of the process's largest size so far."""
    return status("VmHWM") / 2**20


def measured(chosen: argparse.Namespace, queue: Any) -> None:
    """In a process of its own, whose libraries began with the threads that were asked for."""
    folder = Path(os.environ["PLUMBLINE_DATA"]) / "renders" / "garden"
    clean, picture = pictures(folder / "prior")[: chosen.views], pictures(folder / "test")[0]
    height, width = picture.shape[:2]
    images, size, met = [render(one) for one in clean], (width, height), True
    before = largest()
    begun = time.process_time()
    scene = Scene.fit(images, size, "dictionary")
    fit, after = time.process_time() - begun, largest()
    scene.plausible(picture)
    grown = (after - before, largest() - after)
    learnt_from = clean[::LEARNT_FROM]
    cells, finder = scene.features(picture), scene.clean.finder
    a, b = (np.random.default_rng(0).random((n, finder.operand.shape[1])) for n in (256, 4096))

    def peer_nearest() -> np.ndarray:
        return cdist(cells, finder.flat).reshape(len(cells), finder.views, finder.size).min(axis=2)

    times, _ = shortest(
        {
            "dictionary": lambda: Dictionary.learn(learnt_from, generator(SEED)),
            "scipy's dictionary": lambda: peer_dictionary(learnt_from),
            "nearest": lambda: finder.nearest(cells),
            "scipy's nearest": peer_nearest,
            "cells": lambda: scene.features(picture),
            "view": lambda: scene.plausible(picture),
            "rate": lambda: [a @ b.T for _ in range(50)],
        },
        chosen.rounds,
    )
    rate = 50 * 2.0 * len(a) * len(b) * a.shape[1] / times["rate"]
    described, found = operations(width, height, len(clean), cells.shape[1])
    floors = {"view": described + found, "fit": (len(clean) + COPIES * len(moved_from(len(clean)))) * described + len(clean) * found}
    times["fit"] = fit
    print(f"{len(clean)} clean views of {width} × {height} px, {chosen.threads} threads, products at {rate / 1e9:.0f} GFLOP/s")
    for name in ("fit", "view"):
        floor = floors[name] / rate
        print(f"  a {name:<5} {times[name]:7.2f} s, floor of {floors[name] / 1e9:.0f} GFLOP {floor:.2f} s: {times[name] / floor:.2f} of it")
    print(f"    of a view: cells {times['cells']:.2f} s, nearest {times['nearest']:.2f} s")
    print(f"  memory: a fit adds {grown[0]:.0f} MiB to the peak, the first view {grown[1]:.0f} MiB (wanted below {MEMORY:.0f})")
    atoms, whitened = peer_dictionary(learnt_from)
    ours = spread(Dictionary.learn(learnt_from, generator(SEED)).atoms, whitened)
    off = float(np.abs(finder.nearest(cells)[0] - peer_nearest()).max())
    print(f"  found: patches to atoms {ours:.3f} (scipy {spread(atoms, whitened):.3f}), nearest cells off by {off:.1e}")
    met &= off <= OFF and max(grown) <= MEMORY and abs(ours / spread(atoms, whitened) - 1) < 0.01
    for name, wanted in (("dictionary", LEARNT), ("nearest", NEAREST)):
        ratio = times[f"scipy's {name}"] / times[name]
        print(f"  {name} {times[name]:.2f} s, {ratio:.2f} times as fast as scipy's (wanted {wanted:g})")
        met &= ratio >= wanted
    if not chosen.no_acceptance_test:
        spec, params = registry.get("puzzlesim_pieces"), registry.resolve_params("puzzlesim_pieces", {"features": "dictionary"})
        views = {"garden/0": View(None, 0, 0, clean=CleanViews.of(images))}
        subjects = acceptance_test.subjects_of(spec, params, views, "garden")
        known = acceptance_test.prepare(spec, params, views, subjects[:1], 1.0)
        begun = time.process_time()
        n = len(acceptance_test.scored(spec, params, views, subjects[0], 1.0, lambda done: None, known))
        one = time.process_time() - begun
        print(
            f"  an acceptance test: {n} scores of a view {one:.1f} s; {len(subjects)} views and the fit {len(subjects) * one + fit:.0f} s"
        )
    queue.put(met)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--views", type=int, default=36)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--no-acceptance-test", action="store_true")
    chosen = parser.parse_args()
    if not os.environ.get("PLUMBLINE_DATA"):
        print("skipped: PLUMBLINE_DATA does not name the folder with the real test data")
        return 0
    os.environ |= dict.fromkeys(THREADS, str(chosen.threads))
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=measured, args=(chosen, queue))
    process.start()
    process.join()
    return 0 if process.exitcode == 0 and queue.get() else 1


if __name__ == "__main__":
    sys.exit(main())
