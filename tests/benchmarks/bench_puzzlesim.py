"""What a map of Puzzle Similarity costs, beside the torch path of its authors' package, in one process and one run.

    PLUMBLINE_DATA=... python -m tests.benchmarks.bench_puzzlesim [--net squeeze] [--threads 1 2] [--rounds 3] [--renders 4]
        [--device cpu]

The scene is PLUMBLINE_DATA/renders/garden: 36 clean views and four renders of 628 × 416 px. Both sides have the same
random weights, read from one file in the published format; both have the features of the reference ready. Each number
of threads asked for, by default one and all there are, is measured and judged by itself. The sides take turns and the
shortest time of each counts, so that a busy machine weighs on all alike. On a processor times are of the process's own
clock over its threads too (`processor`), which a neighbour disturbs less than the clock on the wall; on a graphics card
they are taken by its events. The floor is what the products alone take at the rate at which products of the same library
and type ran in between, all operands in the cache: the peer's is that of MKL, which torch asks by
itself, ours in float32 that of oneDNN. Beside each floor stands what ratio to the peer it would allow. Peak memory is the
growth of the process's largest size over a map whose reference lies in a file, with 9 and with 36 views. Exits with 1
where float32 is less than 2 times as fast as the peer, screening less than 4 times where half precision is native, or a
map is off by more than 1e-4.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from evaluation.metrics.render.puzzlesim import matching
from evaluation.metrics.render.puzzlesim.matching import Limits
from evaluation.metrics.render.puzzlesim.similarity import Budget, Scene, features, scene
from evaluation.networks.inference import exact
from evaluation.networks.load import load
from tests.evaluation.metrics.render.puzzlesim.scenes import peer, put_weights

EXACT, SCREENED, ON_A_CARD, OFF = 2.0, 4.0, 8.0, 1e-4
RATED = 100  # products of 2048 × 256 with 256 × 512 in what tells the rate
RATED_OPERATIONS = RATED * 2.0 * 2048 * 512 * 256


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


def products(found: Scene, image: np.ndarray) -> float:
    """Floating-point operations of all products of a map."""
    with exact():
        shapes = [tap.shape[1:] for tap in features(found.network, [image], found.size, found.device)]
    return sum(2.0 * layer.rows * height * width * layer.channels for layer, (height, width, _) in zip(found.layers, shapes, strict=True))


def rates(device: str, half: torch.dtype | None) -> dict[str, Callable[[], None]]:
    """For each side of the comparison: products of the kind that its maps are made of, one after the other."""
    found = {
        "puzzle_sim": rate(torch.float32, device, transposed),
        "float32": rate(torch.float32, device, matching.multiplied),
    }
    return found | ({side_of(half): rate(half, device, transposed)} if half else {})


def transposed(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.mm(a, b.t())


def side_of(half: torch.dtype) -> str:
    return f"screened in {half}".replace("torch.", "")


def rate(dtype: torch.dtype, device: str, multiply: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Callable[[], None]:
    a, b = (torch.rand(size, 256, device=device).to(dtype) for size in (2048, 512))

    def run() -> None:
        for _ in range(RATED):
            multiply(a, b)

    return run


def grown(net: str, views: int, queue: Any) -> None:
    """In a process of its own: by how many MiB its largest size grows over one map, with the reference in files."""
    torch.set_num_threads(1)
    folder = Path(os.environ["PLUMBLINE_DATA"]) / "renders" / "garden"
    clean, image = pictures(folder / "prior")[:views], pictures(folder / "test")[0]
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as shelf:
        network = load("backbone", put_weights(patch, Path(shelf), net))
    found = scene(network, clean, image.shape[1::-1], budget=Budget(features=0, limits=Limits(chunk=16 << 20)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found.map(image)
    queue.put((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)


def memory(net: str) -> None:
    context = multiprocessing.get_context("spawn")
    for views in (9, 36):
        queue = context.Queue()
        process = context.Process(target=grown, args=(net, views, queue))
        process.start()
        print(f"  peak grows by {queue.get():6.0f} MiB over one map with {views} views in files, read 16 MiB at a time")
        process.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", default="squeeze", choices=["squeeze", "alex", "vgg"])
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, os.cpu_count() or 1}), help="one or several numbers of them")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--renders", type=int, default=4, help="how many of the four renders, where time is short")
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
    sides: dict[str, Callable[[int], Any]] = {"puzzle_sim": lambda n: theirs(tensors[len(clean) + n]).cpu().numpy()}
    half = matching.native_half(device)
    ours = scene(network, clean, size, device, screen=False)
    fast = Scene(network, ours.layers, size, device, half) if half else None
    sides["float32"] = lambda n: ours.map(tests[n])
    if fast:
        sides[side_of(half)] = lambda n: fast.map(tests[n])
    with torch.no_grad():
        maps = {side: [run(n) for n in range(len(tests))] for side, run in sides.items()}
        times = measured(sides, len(tests), chosen, half)
    return report(maps, times, products(ours, tests[0]), chosen)


def measured(sides: dict[str, Callable[[int], Any]], count: int, chosen: argparse.Namespace, half: torch.dtype | None) -> dict[str, Any]:
    """The shortest (wall, processor) seconds of each side for a view, and of its rated products."""
    actions: dict[str, Callable[[int], Any]] = dict(sides)
    for side, run in rates(chosen.device, half).items():
        actions["rate of " + side] = lambda n, run=run: run()
    best = {name: (float("inf"),) * 2 for name in actions}
    for turn in range(chosen.rounds):
        for n in range(count):
            for name, action in actions.items():
                found = seconds(lambda action=action, n=n: action(n), chosen.device)
                best[name] = tuple(min(pair) for pair in zip(best[name], found, strict=True))
        print(f"  round {turn + 1} of {chosen.rounds} done", file=sys.stderr)
    return best


def report(maps: dict[str, Any], times: dict[str, Any], operations: float, chosen: argparse.Namespace) -> int:
    print(f"{chosen.net} on {chosen.device}, {torch.get_num_threads()} threads: {operations / 1e12:.3f} · 10^12 operations a view")
    met, (peer_wall, peer_own) = True, times["puzzle_sim"]
    for side in maps:
        (wall, own), (rated_wall, rated_own) = times[side], times["rate of " + side]
        floor, own_floor = (operations / RATED_OPERATIONS * one for one in (rated_wall, rated_own))
        off = max(float(np.abs(one - other).max()) for one, other in zip(maps[side], maps["puzzle_sim"], strict=True))
        wanted = 0.0 if side == "puzzle_sim" else ON_A_CARD if chosen.device == "cuda" else SCREENED if "screened" in side else EXACT
        speed = RATED_OPERATIONS / rated_wall / 1e9
        print(f"  {side:<21} {wall:7.3f} s a view, {peer_wall / wall:5.2f} times the peer (wanted {wanted:.0f}), off by {off:.1e}")
        print(
            f"    floor of products {floor:.3f} s ({speed:.0f} GFLOP/s), {peer_wall / floor:.1f} times the peer: {wall / floor:.2f} of it"
        )
        print(f"    processor {own:.3f} s, {peer_own / own:.2f} times the peer; floor {own_floor:.3f} s: {own / own_floor:.2f} of it")
        met &= peer_wall / wall >= wanted and off <= OFF
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
