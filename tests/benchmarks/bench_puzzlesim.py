"""Cost of a map of Puzzle Similarity, beside the torch path of its authors' package, in one process and one run.

    PLUMBLINE_DATA=... python -m tests.benchmarks.bench_puzzlesim [--net squeeze] [--threads 1 2] [--rounds 2] [--renders 2]
        [--device cpu]

The scene is PLUMBLINE_DATA/renders/garden: 36 clean views and four renders of 628 × 416 px. Both sides have the same
random weights, read from one file in the published format; both have the features of the reference ready. Each number
of threads asked for, by default one and all there are, is measured and judged by itself. The sides take turns and the
shortest time of each counts, so that a busy machine weighs on all alike. On a processor times are of the process's own
clock over its threads too (`processor`), which a neighbour disturbs less than the clock on the wall; on a graphics card
they are taken by its events. The floor is what a side's products alone take at the rate at which products of the same
library, type and number of columns ran in between, all operands in the cache. The peer multiplies all channels, and asks
MKL; screening multiplies along the axes that it chose, in float32 by oneDNN. Beside each floor stands what ratio to the
peer it would allow. Peak memory is the growth of the process's largest size over a map whose reference lies in a file,
with 9 and with 36 views. Exits with 1 where screening in float32 is less than 2 times as fast as the peer, in half
precision less than 4 times where it is native, all products on a card less than 0.8 times, or a map is off by more than 1e-4
from the peer's in full float32.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from evaluation.metrics.render.puzzlesim import matching
from evaluation.metrics.render.puzzlesim.bank import Layer, columns
from evaluation.metrics.render.puzzlesim.matching import Limits
from evaluation.metrics.render.puzzlesim.similarity import Budget, Scene, features, scene
from evaluation.networks.inference import exact
from evaluation.networks.load import load
from tests.support.evaluation.metrics.render.puzzlesim.scenes import peer, put_weights
from tests.support.memory import status

EXACT, SCREENED, ON_A_CARD, OFF = 2.0, 4.0, 0.8, 1e-4
RATED = 100  # products of 2048 × 256 and 512 vectors in what tells the rate


def pictures(folder: Path) -> list[np.ndarray]:
    return [np.array(Image.open(path).convert("RGB")) for path in sorted(folder.glob("*.png"))]


def seconds(action: Callable[[], Any], device: str) -> tuple[float, float]:
    """(on the wall, of the processor) of one call; on a card both are the time between two of its events."""
    if device == "cuda":
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        action()
        last.record()
        torch.cuda.synchronize()
        return (first.elapsed_time(last) / 1e3,) * 2
    wall, own = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - own


@dataclass(frozen=True)
class Side:
    """One side of the comparison: its map of the n-th render, the `columns` of its products in each layer, how it multiplies,
    and how many times as fast as the peer it should be."""

    map: Callable[[int], np.ndarray]
    columns: list[int]
    kind: torch.dtype
    multiply: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    wanted: float

    def operations(self, products: list[int]) -> float:
        """Floating-point operations of a view whose layers take so many products."""
        return sum(2.0 * number * columns for number, columns in zip(products, self.columns, strict=True))

    @property
    def rated(self) -> float:
        """Operations of `rate`."""
        return RATED * 2.0 * 2048 * 512 * self.columns[0]

    def rate(self, device: str) -> Callable[[int], None]:
        """Products of the kind that most of a map is made of, one after the other."""
        a, b = (torch.rand(size, self.columns[0], device=device).to(self.kind) for size in (2048, 512))

        def run(_: int) -> None:
            for _ in range(RATED):
                self.multiply(a, b)

        return run


def products(found: Scene, image: np.ndarray) -> list[int]:
    """Number of products that a map takes in each layer."""
    with exact():
        shapes = [tap.shape[1:3] for tap in features(found.network, [image], found.size, found.device)]
    return [layer.rows * height * width for layer, (height, width) in zip(found.layers, shapes, strict=True)]


def transposed(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.mm(a, b.t())


def kept(layer: Layer) -> int:
    """The columns of an operand of that layer."""
    return columns(layer.channels if layer.frame.axes is None else layer.frame.axes.shape[1])


def grown(net: str, views: int, queue: Any) -> None:
    """In a process of its own: by how many MiB its largest size grows over one map, with the reference in files, and that size."""
    torch.set_num_threads(1)
    folder = Path(os.environ["PLUMBLINE_DATA"]) / "renders" / "garden"
    clean, image = pictures(folder / "prior")[:views], pictures(folder / "test")[0]
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as shelf:
        network = load("backbone", put_weights(patch, Path(shelf), net))
    found = scene(network, clean, image.shape[1::-1], budget=Budget(features=0, limits=Limits(chunk=16 << 20)))
    before = status("VmHWM")
    found.map(image)
    after = status("VmHWM")
    queue.put(((after - before) / 2**20, after / 2**20))


def memory(net: str) -> None:
    context = multiprocessing.get_context("spawn")
    for views in (9, 36):
        queue = context.Queue()
        process = context.Process(target=grown, args=(net, views, queue))
        process.start()
        growth, whole = queue.get()
        print(f"  {views} views in files, read 16 MiB at a time: one map adds {growth:.0f} MiB to the peak, {whole:.0f} MiB in all")
        process.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", default="squeeze", choices=["squeeze", "alex", "vgg"])
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, os.cpu_count() or 1}), help="one or several numbers of them")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--renders", type=int, default=2, help="how many of the four renders")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--no-memory", action="store_true")
    chosen = parser.parse_args()
    if chosen.device == "cuda" and not torch.cuda.is_available():
        print("skipped: torch sees no graphics card on this machine")
        return 0
    if not os.environ.get("PLUMBLINE_DATA"):
        print("skipped: PLUMBLINE_DATA does not name the folder with the real test data")
        return 0
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        name = put_weights(patch, Path(folder), chosen.net)
        package, network, code = peer(patch, Path(folder)), load("backbone", name, chosen.device), 0
        for threads in chosen.threads if chosen.device == "cpu" else chosen.threads[:1]:
            torch.set_num_threads(threads)
            code |= compare(package, network, chosen)
        if chosen.device == "cpu" and not chosen.no_memory:
            memory(chosen.net)
    return code


def compare(package: Any, network: Any, chosen: argparse.Namespace) -> int:
    folder, device = Path(os.environ["PLUMBLINE_DATA"]) / "renders" / "garden", chosen.device
    clean, tests = pictures(folder / "prior"), pictures(folder / "test")[: chosen.renders]
    size = tests[0].shape[1::-1]
    tensors = [torch.from_numpy(image).permute(2, 0, 1).to(device) / 255 for image in (*clean, *tests)]
    theirs = package.PuzzleSim(torch.stack(tensors[: len(clean)]), net_type=chosen.net).to(device)
    found, half = scene(network, clean, size, device), matching.screening(device)
    channels, screened = [layer.channels for layer in found.layers], [kept(layer) for layer in found.layers]

    def ours(kind: torch.dtype | None) -> Callable[[int], np.ndarray]:
        with_kind = replace(found, kind=kind)
        return lambda n: with_kind.map(tests[n])

    sides = {"puzzle_sim": Side(lambda n: theirs(tensors[len(clean) + n]).cpu().numpy(), channels, torch.float32, transposed, 0.0)}
    if half is None:
        sides["all products"] = Side(ours(None), channels, torch.float32, transposed, ON_A_CARD)
    else:
        sides["float32"] = Side(ours(torch.float32), screened, torch.float32, matching.multiplied, EXACT)
        if half != torch.float32:
            sides[str(half).removeprefix("torch.")] = Side(ours(half), screened, half, transposed, SCREENED)
    with exact():
        maps = {name: [side.map(n) for n in range(len(tests))] for name, side in sides.items()}
    with torch.no_grad():
        times = measured(sides, len(tests), chosen)
    return report(sides, maps, times, products(found, tests[0]), chosen)


def measured(sides: dict[str, Side], count: int, chosen: argparse.Namespace) -> dict[str, tuple[float, float]]:
    """The shortest (wall, processor) seconds of each side for a view, and of its rated products."""
    actions: dict[str, Callable[[int], Any]] = {name: side.map for name, side in sides.items()}
    actions |= {"rate of " + name: side.rate(chosen.device) for name, side in sides.items()}
    best = {name: (float("inf"),) * 2 for name in actions}
    for turn in range(chosen.rounds):
        for n in range(count):
            for name, action in actions.items():
                found = seconds(lambda action=action, n=n: action(n), chosen.device)
                best[name] = tuple(min(pair) for pair in zip(best[name], found, strict=True))
        print(f"  round {turn + 1} of {chosen.rounds} done", file=sys.stderr)
    return best


def report(sides: dict[str, Side], maps: dict[str, Any], times: dict[str, Any], products: list[int], chosen: argparse.Namespace) -> int:
    print(f"{chosen.net} on {chosen.device}, {torch.get_num_threads()} threads: {sum(products) / 1e6:.0f} · 10^6 products a view")
    met, (peer_wall, peer_own) = True, times["puzzle_sim"]
    for name, side in sides.items():
        (wall, own), (rated_wall, rated_own) = times[name], times["rate of " + name]
        floor, own_floor = (side.operations(products) / side.rated * one for one in (rated_wall, rated_own))
        off = max(float(np.abs(one - other).max()) for one, other in zip(maps[name], maps["puzzle_sim"], strict=True))
        print(f"  {name:<12} {wall:7.3f} s a view, {peer_wall / wall:5.2f} times the peer (wanted {side.wanted:g}), off by {off:.1e}")
        print(
            f"    floor of products of {side.columns} columns {floor:.3f} s ({side.rated / rated_wall / 1e9:.0f} GFLOP/s),"
            f" {peer_wall / floor:.1f} times the peer: {wall / floor:.2f} of it"
        )
        print(f"    processor {own:.3f} s, {peer_own / own:.2f} times the peer; floor {own_floor:.3f} s: {own / own_floor:.2f} of it")
        met &= peer_wall / wall >= side.wanted and off <= OFF
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
