"""Jaccard distance of the solid tubes around the edges of two wireframes: 1 - IoU.

The solid of a wireframe is the union over its canonical non-degenerate edges of a tube of one
radius, with flat ends (cylinder) or round ones (capsule).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.seeds import generator
from evaluation.metrics.spec import MetricSpec, Param, Source, Symmetry
from evaluation.metrics.wireframe import parameters
from evaluation.metrics.wireframe.pair import Pair
from evaluation.metrics.wireframe.tubes import EFFORT, Overlap, from_mesh, orthonormal, overlap, polyhedra, same, union_mesh, with_itself

TOLERANCE = 1e-9  # relative, on a tube's radius and on the interval along its axis
BLOCK = 32_768  # point-tube pairs worked on at a time, which bounds memory and stays in the cache
CELLS = 4096  # that the choice of a tube is looked up in
SLICES = 64  # bins along each tube's axis that points are sorted into
CANDIDATE_MARGIN = 1e-6  # relative to the radius; candidates are chosen generously
CANDIDATE_ROUNDING = 1e-9  # relative to the lengths and offsets at hand


@dataclass(frozen=True, eq=False)
class Tubes:
    """All tubes of both wireframes in lexicographic order of their segments.

    start, axis float64[M, 3] (axis of length 1), length float64[M], predicted bool[M] (whose tube
    it is), twin int64[M] (equal numbers for equal segments).
    """

    start: np.ndarray
    axis: np.ndarray
    length: np.ndarray
    predicted: np.ndarray
    twin: np.ndarray
    radius: float
    round_ends: bool

    def __len__(self) -> int:
        return len(self.length)

    @property
    def volume(self) -> np.ndarray:
        """float64[M], in units of pi * radius**2"""
        return self.length + (4 * self.radius / 3 if self.round_ends else 0.0)


def jaccard_distance(
    pair: Pair, radius: float, primitive: str, n_samples: int, method: str, seed0: int, merge_tol: float | None
) -> MetricResult:
    """1 - IoU in [0, 1]; 0 if neither side has an edge, 1 if exactly one has. `radius` in metres.

    `sampling` is an unbiased estimate, bit for bit symmetric; `exact` measures 64-sided tubes of the
    same volume. Both are exactly 0 for equal geometry.
    """
    pred, ref = pair.segments(merge_tol)
    if not len(pred) or not len(ref):
        return MetricResult(0.0 if len(pred) == len(ref) else 1.0, Status.OK if len(pred) else Status.EMPTY_PRED)
    width = pair.to_file(radius)
    if method == "exact":
        iou = exact_overlap(pair, radius, primitive, merge_tol).iou
    else:
        every = np.concatenate([pred.ends, ref.ends])
        rows = every.reshape(-1, 6)
        order = np.lexsort(rows.T[::-1])
        every, rows = every[order], rows[order]
        new = np.ones(len(rows), dtype=np.int64)
        new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
        along = every[:, 1] - every[:, 0]
        length = np.linalg.norm(along, axis=1)
        tubes = Tubes(
            start=every[:, 0],
            axis=along / length[:, None],
            length=length,
            predicted=order < len(pred),
            twin=np.cumsum(new),
            radius=width,
            round_ends=(primitive == "capsule"),
        )
        # Each of n points is drawn from a tube chosen by volume. It takes five uniform numbers: the tube, then its place along the
        # axis, distance from it, angle about it, and height on the ball that two round ends form. A point in m tubes can be drawn
        # from any of them, so it weighs 1/m. The weights are summed by counting points of equal m, so the sum does not depend on
        # their order.
        points = _points(tubes, np.ascontiguousarray(generator("jaccard_distance", seed0).random((n_samples, 5)).T))
        multiplicity, in_both = _counted(tubes, points, _neighbours(tubes, np.diff(points.first) > 0))
        weight = 1.0 / np.arange(1, len(tubes) + 1)
        counted, counted_in_both = (np.bincount(m, minlength=len(tubes) + 1)[1:] for m in (multiplicity, multiplicity[in_both]))
        iou = float((counted_in_both * weight).sum() / (counted * weight).sum())
    value = 1.0 - min(max(iou, 0.0), 1.0)
    return MetricResult(value, parts={"iou": 1.0 - value})


def exact_overlap(pair: Pair, radius: float, primitive: str = "cylinder", merge_tol: float | None = None) -> Overlap:
    """The volumes of both solids and what they share; both sides must have an edge. `radius` in metres.

    The same segments on both sides, in any order, share everything.
    """
    pred_ends, ref_ends = (side.ends for side in pair.segments(merge_tol))
    width = pair.to_file(radius)

    def compute() -> Overlap:
        ref = polyhedra(ref_ends, width, primitive)
        key = f"exact solid radius={radius} primitive={primitive} merge_tol={merge_tol}"
        ref_union = from_mesh(*pair.reference_once(key, lambda: union_mesh(ref)))
        return with_itself(ref_union) if same(pred_ends, ref_ends) else overlap(polyhedra(pred_ends, width, primitive), ref, ref_union)

    key = ("exact solids", width, primitive)
    return pair.once((*key, merge_tol), lambda: pair.repeated(key, (pred_ends, ref_ends), compute))


@dataclass(frozen=True, eq=False)
class Points:
    """Sample points, place float64[3, n], in the order of their bins: the tube, then a slice of its axis.

    Each of the M tubes has `slices` bins; bin_first int64[M * slices + 1] is where each of them
    starts, and at last the number of points.
    """

    place: np.ndarray
    bin_first: np.ndarray
    slices: int

    @property
    def first(self) -> np.ndarray:
        """int64[M + 1]: where each tube's points start."""
        return self.bin_first[:: self.slices]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Pairs of a tube and another that can share a point with it, in the order of the first.

    tube, other int64[K]; low, high float64[K] is the range along the first one's axis outside of
    which no point of it lies in the other.
    """

    tube: np.ndarray
    other: np.ndarray
    low: np.ndarray
    high: np.ndarray


def _points(tubes: Tubes, draws: np.ndarray) -> Points:
    """Points uniform in the tubes' volumes, from draws[5, n] (see jaccard_distance)."""
    pick, along, out, turn, polar = draws
    volume, radius, pad = tubes.volume, tubes.radius, tubes.radius if tubes.round_ends else 0.0
    # The tube that each falls to. Most of the cells that [0, 1) is cut into lie within one; only in the others it is searched.
    reached = np.cumsum(volume)
    borders = np.searchsorted(reached, np.arange(CELLS + 1) / CELLS * reached[-1], side="right")
    cell = (pick * CELLS).astype(np.int64)
    tube = borders.take(cell)
    unsure = np.flatnonzero(tube != borders.take(cell + 1))
    tube[unsure] = np.searchsorted(reached, pick[unsure] * reached[-1], side="right")
    source = np.minimum(tube, len(volume) - 1)
    along, reach, angle = along * volume[source], radius * np.sqrt(out), 2 * np.pi * turn
    if tubes.round_ends:
        length = tubes.length[source]
        in_ball = along >= length
        distance, height = radius * np.cbrt(out), 2 * polar - 1
        reach = np.where(in_ball, distance * np.sqrt(1 - height * height), reach)
        along = np.where(in_ball, distance * height + np.where(height > 0, length, 0.0), along)
    slices = max(1, min(SLICES, np.iinfo(np.uint16).max // len(tubes)))
    scale = slices / (tubes.length + 2 * pad)
    bins = source * slices + np.clip((along + pad) * scale[source], 0, slices - 1).astype(np.int64)
    order = np.argsort(bins.astype(np.min_scalar_type(len(tubes) * slices)), kind="stable")  # small numbers are sorted by radix
    first = np.concatenate([[0], np.cumsum(np.bincount(bins, minlength=len(tubes) * slices))])
    local = np.stack([along[order], (reach * np.cos(angle))[order], (reach * np.sin(angle))[order]])
    frames = np.stack([tubes.axis, *orthonormal(tubes.axis).transpose(1, 0, 2)], axis=2)
    for tube, (start, end) in enumerate(pairwise(first[::slices].tolist())):
        if end > start:
            local[:, start:end] = frames[tube] @ local[:, start:end] + tubes.start[tube][:, None]
    return Points(local, first, slices)


def _counted(tubes: Tubes, points: Points, near: Neighbours) -> tuple[np.ndarray, np.ndarray]:
    """For each point in how many tubes it lies (int64[n]) and whether in tubes of both sides (bool[n])."""
    pad = tubes.radius if tubes.round_ends else 0.0
    scale = points.slices / (tubes.length[near.tube] + 2 * pad)
    low, high = (np.clip((limit + pad) * scale, -1, points.slices).astype(np.int64) for limit in (near.low, near.high))
    row = near.tube * points.slices
    begin = points.bin_first[row + np.clip(low, 0, points.slices - 1)]
    end = points.bin_first[row + np.clip(high, 0, points.slices - 1) + 1]
    size = end - begin
    reached = np.cumsum(size)
    columns = (*tubes.start[near.other].T, *tubes.axis[near.other].T, tubes.length[near.other])
    twins, other_side = tubes.twin[near.other] == tubes.twin[near.tube], tubes.predicted[near.other] != tubes.predicted[near.tube]
    multiplicity, in_both = np.ones(points.place.shape[1], dtype=np.int64), np.zeros(points.place.shape[1], dtype=bool)
    entry = 0
    while entry < len(size):
        before = reached[entry] - size[entry]
        last = max(entry + 1, int(np.searchsorted(reached, before + BLOCK, side="right")))
        some, count = slice(entry, last), size[entry:last]
        rows = np.arange(reached[last - 1] - before) + np.repeat(begin[some] - (reached[some] - count - before), count)
        inside = _contain([points.place[k].take(rows) for k in range(3)], [np.repeat(column[some], count) for column in columns], tubes)
        inside |= np.repeat(twins[some], count)
        np.add.at(multiplicity, rows[inside], 1)
        in_both[rows[inside & np.repeat(other_side[some], count)]] = True
        entry = last
    return multiplicity, in_both


def _contain(points: Sequence[np.ndarray], others: Sequence[np.ndarray], tubes: Tubes) -> np.ndarray:
    """bool[N]: whether each of the points (x, y, z, all float64[N]) lies in its tube, surface included.

    `others` holds float64[N] of each one's tube: the start, the axis, the length.
    """
    start, axis, length = others[:3], others[3:6], others[6]
    offset = [points[k] - start[k] for k in range(3)]
    along = offset[0] * axis[0] + offset[1] * axis[1] + offset[2] * axis[2]
    if tubes.round_ends:
        foot, between = np.clip(along, 0.0, length), True
    else:
        foot, between = along, (along >= -TOLERANCE * length) & (along <= length * (1 + TOLERANCE))
    gap = [offset[k] - foot * axis[k] for k in range(3)]
    squared = gap[0] * gap[0] + gap[1] * gap[1] + gap[2] * gap[2]
    return between & (squared <= (tubes.radius * (1 + TOLERANCE)) ** 2)


def _neighbours(tubes: Tubes, wanted: np.ndarray) -> Neighbours:
    """All pairs of a `wanted` (bool[M]) tube and another that can share a point with it.

    Only what certainly cannot is left out, so no value depends on this choice.
    """
    found = []
    numbers = np.flatnonzero(wanted)
    rows = max(1, BLOCK // len(tubes))
    for first in range(0, len(numbers), rows):
        # A point that a tube shares with another one is within a radius of the tube's own axis, seen along it, and of the nearest point
        # (the foot) of the other's axis. So the foot is on the part of the other's axis beside the tube, within two radii of its axis.
        # The point is no farther along than that part reaches, plus a radius if the other crosses at a right angle or has round ends,
        # and less if it runs along.
        some = numbers[first : first + rows]
        radius, axis, length = tubes.radius, tubes.axis[some, None], tubes.length[some, None]
        offset = tubes.start - tubes.start[some, None]
        margin = CANDIDATE_MARGIN * radius + CANDIDATE_ROUNDING * (tubes.length + length + np.abs(offset).sum(axis=-1))
        beyond = (2 * radius if tubes.round_ends else radius) + margin
        cosine = (axis * tubes.axis).sum(axis=-1)
        height, rise = (offset * axis).sum(axis=-1), cosine * tubes.length
        slanted = np.abs(rise) > CANDIDATE_MARGIN * tubes.length
        slope = np.where(slanted, rise, 1.0)
        low, high = (-beyond - height) / slope, (length + beyond - height) / slope
        enter = np.where(slanted, np.clip(np.minimum(low, high), 0.0, 1.0), 0.0)
        leave = np.where(slanted, np.clip(np.maximum(low, high), 0.0, 1.0), 1.0)
        beside = (np.minimum(height, height + rise) <= length + beyond) & (np.maximum(height, height + rise) >= -beyond)
        side = offset - height[..., None] * axis
        drift = tubes.axis * tubes.length[:, None] - rise[..., None] * axis
        spread = (drift * drift).sum(axis=-1)
        apart = spread > (CANDIDATE_MARGIN * tubes.length) ** 2
        closest = np.where(apart, -(side * drift).sum(axis=-1) / np.where(apart, spread, 1.0), 0.0)
        gap = side + closest[..., None] * drift
        room = (2 * radius + margin) ** 2 - (gap * gap).sum(axis=-1)
        half = np.where(
            apart, np.sqrt(np.maximum(room, 0.0) / np.where(apart, spread, 1.0)) * (1 + CANDIDATE_MARGIN) + CANDIDATE_MARGIN, np.inf
        )
        enter, leave = np.maximum(enter, closest - half), np.minimum(leave, closest + half)
        meet = beside & (room >= 0) & (enter <= leave)
        meet[np.arange(len(some)), some] = False
        row, other = np.nonzero(meet)
        enter, leave, height, rise, margin = (values[meet] for values in (enter, leave, height, rise, margin))
        reach = radius * (1.0 if tubes.round_ends else np.sqrt(np.maximum(1 - cosine[meet] ** 2, 0.0))) + margin
        ends = height + enter * rise, height + leave * rise
        found.append((some[row], other, np.minimum(*ends) - reach, np.maximum(*ends) + reach))
    return Neighbours(*(np.concatenate(column) for column in zip(*found, strict=True)))


PLACE = 60  # in lists of metrics of its kind
SPECS = (
    MetricSpec(
        key="jaccard_distance",
        title="Jaccard distance",
        family="wireframe",
        higher_is_better=False,
        bounds=(0.0, 1.0),
        unit="",
        params=(
            parameters.tau(
                "radius",
                "Radius of the tubes around the edges. The paper uses a fixed radius and does not print it; 0.5 m is the radius of HSS.",
                Source.OURS,
            ),
            Param(
                "primitive",
                "cylinder",
                "choice",
                choices=("cylinder", "capsule"),
                doc="Flat or round ends; the two give different values.",
                source=Source.OURS,
            ),
            parameters.samples("n_samples", 100_000, "Sample points (method sampling)."),
            Param(
                "method",
                "sampling",
                "choice",
                choices=("sampling", "exact"),
                doc="Unbiased sampling estimate, or exact volumes of 64-sided tubes. The paper averages over points of both wireframes, "
                "which is not the intersection over union.",
                source=Source.OURS,
            ),
            Param("seed0", 0, "int", low=0, high=2**31 - 1, doc="Seed of the sampling.", source=Source.OURS),
            parameters.MERGE,
        ),
        worst="1",
        doc="One minus the intersection over union of the solid tubes around the edges. Equal edges get exactly 0, also by sampling.",
        warning=(
            "The paper's Jaccard distance is another one. It takes points in the tubes of either wireframe, and the shares of these points "
            "that also lie in the tubes of the other wireframe; the similarity is the mean of the two shares. If wireframe A lies within "
            "B and has three quarters of B's volume, this mean is 0.875 and the paper's distance 0.125. The intersection over union is "
            "0.75, so the distance here is 0.25."
        ),
        origin=parameters.WIREFRAME,
        function=jaccard_distance,
        examples=("FAR_IS_FAR", "CONNECTION_UNSEEN"),
        symmetry=Symmetry.EXACT,
        version=3,
        effort=replace(EFFORT, only=("method", "exact")),
        formula="1 − vol(A ∩ B) / vol(A ∪ B), A = ∪_e tube(e, r)",
    ),
)
