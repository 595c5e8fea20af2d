"""Cost of the wireframe metrics for a pair: each alone, all together, and how far that is from the least it could be.

    PLUMBLINE_DATA=... OMP_NUM_THREADS=1 python -m tests.benchmarks.bench_wireframe [--pairs N]

Each roof is scored against a perturbed copy. Times are of the processor, not of the wall, so that
neighbours on the machine matter less, and medians over roofs. Stated apart: hss_exact, the exact
Jaccard distance and ecd_emd, each beside its peer. Exits with 1 where the others together take
more than 150 ms, or the Jaccard distance alone more than 30 ms.

Floors: what no arrangement of the same definition avoids on this machine, timed here. For HSS the
booleans on solids made beforehand. For the Jaccard distance its 100,000 points: 500,000 random
numbers, 200,000 sines and cosines, 100,000 roots, and one pass over the 4 MB they take; beyond it
lie about two visits a point to a neighbour of 25 operations each. For chamfer and Hausdorff the
search of the segments for 10,000 points, both ways, beside scipy's tree of as many samples (which is what they were before,
and not exact) and all pairs of a point and a segment in numpy. For all together these three in a row.
For ecd_emd the Hungarian assignment of its points, for the exact solids the booleans on those made beforehand.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from manifold3d import Manifold
from scipy.optimize import linear_sum_assignment
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from evaluation.metrics.registry import REGISTRY, resolve_params
from evaluation.metrics.wireframe import ecd, jaccard
from evaluation.metrics.wireframe.canon import Segments
from evaluation.metrics.wireframe.hss import SHORTEST, _corners, _long_enough
from evaluation.metrics.wireframe.pair import Pair
from evaluation.metrics.wireframe.tubes import overlap, polyhedra, solids
from evaluation.synthetic.houses import houses
from submissions.formats.wireframe.wireframe_files import Wireframe, load_folder
from tests.support.evaluation.official import optimal_transport

TOGETHER, JACCARD = 150.0, 30.0  # milliseconds a pair
APART = ("hss_exact", "ecd_emd")
KEYS = [key for key, spec in REGISTRY.items() if spec.family == "wireframe" and not spec.weights and key not in APART]
SAMPLES, POINTS, PEER_PAIRS = 100_000, 10_000, 5


def pairs(count: int | None) -> list[tuple[Wireframe, Wireframe]]:
    """Real roofs where PLUMBLINE_DATA has them, simulated houses elsewhere, and perturbed copies with confidences."""
    folder = os.environ.get("PLUMBLINE_DATA")
    found = list((load_folder(Path(folder) / "building3d") if folder else houses(24)).values())[:count]
    sizes = [statistics.median(map(len, column)) for column in ([f.vertices for f in found], [f.edges for f in found])]
    print(
        f"{len(found)} {'real roofs' if folder else 'made-up houses (PLUMBLINE_DATA is not set)'} of {sizes[0]} vertices, {sizes[1]} edges"
    )
    made = []
    for seed, reference in enumerate(found):
        noise = np.random.default_rng(seed).normal(0, 0.2, reference.vertices.shape)
        scores = np.linspace(0, 1, len(reference.edges))
        made.append((Wireframe(reference.vertices + noise, reference.edges, scores), reference))
    return made


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds of the processor, and the answer."""
    start = time.process_time()
    answer = action()
    return 1000 * (time.process_time() - start), answer


def median(action: Callable[[Wireframe, Wireframe], Any], rows: list[tuple[Wireframe, Wireframe]]) -> float:
    action(*rows[0])
    return statistics.median(timed(lambda p=p, r=r: action(p, r))[0] for p, r in rows)


def score(keys: list[str], pair: Pair, **params: Any) -> list[Any]:
    return [REGISTRY[key].function(pair, **resolve_params(key, params)) for key in keys]


def family(rows: list[tuple[Wireframe, Wireframe]]) -> tuple[float, float]:
    """Prints each metric alone and in turn; the medians of all together, and with references prepared."""
    in_turn: dict[str, list[float]] = {key: [] for key in KEYS}
    afresh, prepared = [], []
    for prediction, reference in rows:
        kept: dict = {}
        pair = Pair.of(prediction, reference, prepared=kept)
        for key in KEYS:
            in_turn[key].append(timed(lambda key=key, pair=pair: score([key], pair))[0])
        afresh.append(timed(lambda p=prediction, r=reference: score(KEYS, Pair.of(p, r)))[0])
        prepared.append(timed(lambda p=prediction, r=reference, k=kept: score(KEYS, Pair.of(p, r, prepared=k)))[0])
    print(f"{'metric':<18} {'alone':>9} {'in turn':>9}   ms a pair")
    for key in KEYS:
        alone = median(lambda p, r, key=key: score([key], Pair.of(p, r)), rows)
        print(f"{key:<18} {alone:9.2f} {statistics.median(in_turn[key]):9.2f}")
    return statistics.median(afresh), statistics.median(prepared)


def booleans(prediction: Wireframe, reference: Wireframe) -> float:
    pair = Pair.of(prediction, reference)
    sides = (pair.pred_vertices, pair.pred_edges), (pair.ref_vertices, pair.ref_edges)
    first, second = (solids(_corners(_long_enough(vertices, edges, SHORTEST), 0.5, 6)) for vertices, edges in sides)
    return timed(lambda: overlap(first, second))[0]


def sampling(prediction: Wireframe, reference: Wireframe) -> float:
    def least() -> None:
        draws = np.random.default_rng(0).random((SAMPLES, 5))
        angle = draws[:, 0] * 2 * np.pi
        points = np.stack([np.cos(angle), np.sin(angle), np.sqrt(draws[:, 1])])
        (points * points).sum(axis=0)

    return timed(least)[0]


def curves(prediction: Wireframe, reference: Wireframe) -> tuple[list[np.ndarray], tuple[Segments, Segments]]:
    """The samples of both sides, and their segments."""
    sides = Pair.of(prediction, reference).segments(None)
    positions = ecd.stratified_positions(POINTS)
    return [ecd.sample_points(side, positions) for side in sides], sides


def searches(prediction: Wireframe, reference: Wireframe) -> float:
    points, sides = curves(prediction, reference)
    return timed(lambda: [ecd.to_segments(there, other) for there, other in zip(points, sides[::-1], strict=True)])[0]


def trees(prediction: Wireframe, reference: Wireframe) -> float:
    (a, b), _ = curves(prediction, reference)
    return timed(lambda: (cKDTree(a).query(b), cKDTree(b).query(a)))[0]


def all_pairs(prediction: Wireframe, reference: Wireframe) -> float:
    """The same by a loop over the segments, and no more than rounding apart."""
    points, sides = curves(prediction, reference)

    def least(there: np.ndarray, others: Segments) -> np.ndarray:
        squares = np.full(len(there), np.inf)
        for start, end in others.ends:
            along, way = end - start, there - start
            way -= np.clip(way @ along / (along @ along), 0.0, 1.0)[:, None] * along
            np.minimum(squares, np.einsum("ij,ij->i", way, way), out=squares)
        return np.sqrt(squares)

    milliseconds, found = timed(lambda: [least(there, other) for there, other in zip(points, sides[::-1], strict=True)])
    for distances, there, other in zip(found, points, sides[::-1], strict=True):
        assert np.abs(distances - ecd.to_segments(there, other)).max() < 1e-9
    return milliseconds


def peers(rows: list[tuple[Wireframe, Wireframe]]) -> None:
    """The three that are stated apart, each beside the same by another package."""
    transport = optimal_transport()
    emd, assigning, pot, worst = [], [], [], 0.0
    exact, uniting, trimesh_exact = [], [], []
    for prediction, reference in rows[:PEER_PAIRS]:
        ours, found = timed(lambda p=prediction, r=reference: score(["ecd_emd"], Pair.of(p, r))[0])
        positions = ecd.stratified_positions(1024)
        clouds = [ecd.sample_points(side, positions) for side in Pair.of(prediction, reference).segments(None)]
        weights, distance = np.full(1024, 1 / 1024), cdist(*clouds)
        assigning.append(timed(lambda d=distance: linear_sum_assignment(d))[0])
        theirs, expected = timed(lambda c=clouds, w=weights: transport.emd2(w, w, cdist(*c), numItermax=10_000_000))
        emd.append(ours)
        pot.append(theirs)
        worst = max(worst, abs(found.value - expected))
        ours, found = timed(lambda p=prediction, r=reference: jaccard.exact_overlap(Pair.of(p, r), 0.5).iou)
        sides = [polyhedra(side.ends, 0.5, "cylinder") for side in Pair.of(prediction, reference).segments(None)]
        uniting.append(timed(lambda s=sides: overlap(*s))[0])
        theirs, expected = timed(lambda p=prediction, r=reference: by_trimesh(Pair.of(p, r)))
        exact.append(ours)
        trimesh_exact.append(theirs)
        worst = max(worst, abs(found - expected))
    for name, ours, floor, peer, theirs in (
        ("ecd_emd", emd, assigning, "POT", pot),
        ("exact Jaccard and hss_exact", exact, uniting, "trimesh", trimesh_exact),
    ):
        least = f"{statistics.median(ours):.0f} ms, {ratio(ours, floor)} times its floor"
        print(f"{name}: {least}; {peer} {statistics.median(theirs):.0f} ms, {ratio(theirs, ours)} times ours")
    print(f"largest difference of either {worst:.1e}")


def by_trimesh(pair: Pair) -> float:
    """The same solids through trimesh's booleans."""
    import trimesh

    def mesh(solid: Manifold) -> Any:
        arrays = solid.to_mesh64()
        return trimesh.Trimesh(np.asarray(arrays.vert_properties), np.asarray(arrays.tri_verts), process=False)

    sides = [[mesh(solid) for solid in polyhedra(side.ends, pair.to_file(0.5), "cylinder")] for side in pair.segments(None)]
    one, other = (trimesh.boolean.union(side, engine="manifold") for side in sides)
    shared = trimesh.boolean.intersection([one, other], engine="manifold").volume
    return float(shared / (one.volume + other.volume - shared))


def ratio(above: list[float], below: list[float]) -> str:
    return f"{statistics.median(a / b for a, b in zip(above, below, strict=True)):.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int)
    rows = pairs(parser.parse_args().pairs)
    afresh, prepared = family(rows)
    print(f"all together {afresh:.1f} ms (wanted: {TOGETHER:.0f}); {prepared:.1f} ms with what depends on the reference prepared")
    jaccard_alone, floors = median(lambda p, r: score(["jaccard_distance"], Pair.of(p, r)), rows), 0.0
    for name, key, floor in (
        ("booleans alone", "hss", booleans),
        ("drawing alone", "jaccard_distance", sampling),
        ("the search of the segments alone", "ecd_chamfer", searches),
    ):
        least = statistics.median(floor(*row) for row in rows)
        floors += least
        ours = median(lambda p, r, key=key: score([key], Pair.of(p, r)), rows)
        print(f"{key}: {ours:.1f} ms, {name} {least:.1f} ms: {ours / least:.2f} times its floor")
    for key in ("ecd_chamfer", "wf_hausdorff"):
        ours = median(lambda p, r, key=key: score([key], Pair.of(p, r)), rows)
        for name, peer in (("scipy's trees of samples", trees), ("all pairs in numpy", all_pairs)):
            theirs = statistics.median(peer(*row) for row in rows)
            print(f"{key}: {name} {theirs:.1f} ms, {theirs / ours:.2f} times ours ({ours:.1f} ms)")
    print(f"all together: the three floors in a row {floors:.1f} ms: {afresh / floors:.2f} times its floor")
    print(f"jaccard_distance {jaccard_alone:.1f} ms at {SAMPLES:,} samples (wanted: {JACCARD:.0f})")
    peers(rows)
    return 0 if afresh <= TOGETHER and jaccard_alone <= JACCARD else 1


if __name__ == "__main__":
    sys.exit(main())
