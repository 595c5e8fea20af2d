"""Jaccard distance of the solid tubes around the edges of two wireframes: 1 - IoU.

The solid of a wireframe is the union over its canonical non-degenerate edges of a tube of one
radius, with flat ends (cylinder) or round ones (capsule).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.seeds import generator
from evaluation.metrics.wireframe.canon import Segments
from evaluation.metrics.wireframe.pair import Pair
from evaluation.metrics.wireframe.tubes import Overlap, from_mesh, orthonormal, overlap, polyhedra, union_mesh

TOLERANCE = 1e-9  # relative, on a tube's radius and on the interval along its axis
BLOCK = 500_000  # point-tube pairs worked on at a time, which bounds memory
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
    pair: Pair,
    radius: float = 0.5,
    primitive: str = "cylinder",
    n_samples: int = 100_000,
    method: str = "sampling",
    seed0: int = 0,
    merge_tol: float | None = None,
) -> MetricResult:
    """1 - IoU in [0, 1]; 0 if neither side has an edge, 1 if exactly one has. `radius` in metres.

    `sampling` is an unbiased estimate, bit for bit symmetric and exactly 0 for equal geometry;
    `exact` measures 64-sided tubes of the same volume.
    """
    pred, ref = pair.segments(merge_tol)
    if not len(pred) or not len(ref):
        return MetricResult(0.0 if len(pred) == len(ref) else 1.0, Status.OK if len(pred) else Status.EMPTY_PRED)
    width = pair.to_file(radius)
    if method == "exact":
        iou = exact_overlap(pair, radius, primitive, merge_tol).iou
    else:
        iou = _sampled_iou(_tubes(pred, ref, width, primitive == "capsule"), n_samples, seed0)
    value = 1.0 - min(max(iou, 0.0), 1.0)
    return MetricResult(value, parts={"iou": 1.0 - value})


def exact_overlap(pair: Pair, radius: float, primitive: str = "cylinder", merge_tol: float | None = None) -> Overlap:
    """The volumes of both solids and what they share; both sides must have an edge. `radius` in metres."""

    def compute() -> Overlap:
        pred, ref = (polyhedra(side.ends, pair.to_file(radius), primitive) for side in pair.segments(merge_tol))
        key = f"exact solid radius={radius} primitive={primitive} merge_tol={merge_tol}"
        return overlap(pred, ref, from_mesh(*pair.reference_once(key, lambda: union_mesh(ref))))

    return pair.once(("exact solids", radius, primitive, merge_tol), compute)


def _tubes(pred: Segments, ref: Segments, radius: float, round_ends: bool) -> Tubes:
    ends = np.concatenate([pred.ends, ref.ends])
    rows = ends.reshape(-1, 6)
    order = np.lexsort(rows.T[::-1])
    ends, rows = ends[order], rows[order]
    starts_new = np.ones(len(rows), dtype=np.int64)
    starts_new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    along = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(along, axis=1)
    return Tubes(
        start=ends[:, 0],
        axis=along / length[:, None],
        length=length,
        predicted=order < len(pred),
        twin=np.cumsum(starts_new),
        radius=radius,
        round_ends=round_ends,
    )


def _sampled_iou(tubes: Tubes, n: int, seed0: int) -> float:
    """Estimate the IoU from n points, each drawn from a tube chosen by volume.

    A point takes five uniform numbers: the tube, then its place along the axis, distance from it,
    angle about it, and height on the ball that two round ends form. A point in m tubes can be
    drawn from any of them, so it weighs 1/m. The weights are summed by counting points of equal m,
    so the sum does not depend on their order.
    """
    draws = generator("jaccard_distance", seed0).random((n, 5)).T
    reached = np.cumsum(tubes.volume)
    source = np.minimum(np.searchsorted(reached, draws[0] * reached[-1], side="right"), len(tubes) - 1)
    small = source.astype(np.min_scalar_type(len(tubes)))  # sorted by radix, which is quicker
    draws = draws[1:, np.argsort(small, kind="stable")]
    first = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=len(tubes)))])
    across = orthonormal(tubes.axis)
    counted = np.zeros(len(tubes) + 1, dtype=np.int64)
    counted_in_both = np.zeros(len(tubes) + 1, dtype=np.int64)
    for tube in np.flatnonzero(np.diff(first)):
        others = _candidates(tubes, tube)
        predicted, twins = tubes.predicted[others], tubes.twin[others] == tubes.twin[tube]
        rows = max(1, BLOCK // len(others))
        for start in range(first[tube], first[tube + 1], rows):
            points = _points(tubes, tube, across[tube], draws[:, start : min(start + rows, first[tube + 1])])
            inside = _contain(tubes, others, points) | twins
            multiplicity = inside.sum(axis=1)
            in_both = inside[:, predicted].any(axis=1) & inside[:, ~predicted].any(axis=1)
            counted += np.bincount(multiplicity, minlength=len(counted))
            counted_in_both += np.bincount(multiplicity[in_both], minlength=len(counted))
    weight = 1.0 / np.arange(1, len(counted))
    return float((counted_in_both[1:] * weight).sum() / (counted[1:] * weight).sum())


def _points(tubes: Tubes, tube: int, across: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """float64[3, N]: points uniform in one tube, from draws[4, N] (see _sampled_iou)."""
    along, out, turn, polar = draws
    length, radius = tubes.length[tube], tubes.radius
    along = along * tubes.volume[tube]
    reach = radius * np.sqrt(out)
    if tubes.round_ends:
        in_ball = along >= length
        distance, height = radius * np.cbrt(out), 2 * polar - 1
        reach = np.where(in_ball, distance * np.sqrt(1 - height * height), reach)
        along = np.where(in_ball, distance * height + np.where(height > 0, length, 0.0), along)
    angle = 2 * np.pi * turn
    local = np.stack([along, reach * np.cos(angle), reach * np.sin(angle)])
    frame = np.stack([tubes.axis[tube], *across], axis=1)
    return tubes.start[tube][:, None] + frame @ local


def _contain(tubes: Tubes, which: np.ndarray, points: np.ndarray) -> np.ndarray:
    """bool[N, K]: whether points[3, N] lie in the tubes numbered which[K], surface included."""
    offset = [points[k, :, None] - tubes.start[which, k] for k in range(3)]
    axis = [tubes.axis[which, k] for k in range(3)]
    along = offset[0] * axis[0] + offset[1] * axis[1] + offset[2] * axis[2]
    length = tubes.length[which]
    if tubes.round_ends:
        foot, between = np.clip(along, 0.0, length), True
    else:
        foot, between = along, (along >= -TOLERANCE * length) & (along <= length * (1 + TOLERANCE))
    gap = [offset[k] - foot * axis[k] for k in range(3)]
    squared = gap[0] * gap[0] + gap[1] * gap[1] + gap[2] * gap[2]
    return between & (squared <= (tubes.radius * (1 + TOLERANCE)) ** 2)


def _candidates(tubes: Tubes, tube: int) -> np.ndarray:
    """int64[K]: all tubes that can share a point with `tube`, itself included, in order.

    Seen along the axis of `tube`, the part of another axis that is beside it must come within
    two radii of it. Only what certainly cannot is left out, so no value depends on this choice.
    """
    axis, radius = tubes.axis[tube], tubes.radius
    offset = tubes.start - tubes.start[tube]
    reach = tubes.length + tubes.length[tube] + np.abs(offset).sum(axis=1)
    margin = CANDIDATE_MARGIN * radius + CANDIDATE_ROUNDING * reach
    beyond = (2 * radius if tubes.round_ends else radius) + margin
    height, rise = offset @ axis, tubes.axis @ axis * tubes.length
    slanted = np.abs(rise) > CANDIDATE_MARGIN * tubes.length
    slope = np.where(slanted, rise, 1.0)
    low, high = (-beyond - height) / slope, (tubes.length[tube] + beyond - height) / slope
    enter = np.where(slanted, np.clip(np.minimum(low, high), 0.0, 1.0), 0.0)
    leave = np.where(slanted, np.clip(np.maximum(low, high), 0.0, 1.0), 1.0)
    lowest, highest = np.minimum(height, height + rise), np.maximum(height, height + rise)
    beside = (lowest <= tubes.length[tube] + beyond) & (highest >= -beyond)
    side = offset - height[:, None] * axis
    drift = tubes.axis * tubes.length[:, None] - rise[:, None] * axis
    squared = (drift * drift).sum(axis=1)
    nearest = -(side * drift).sum(axis=1) / np.where(squared > 0, squared, 1.0)
    nearest = np.clip(nearest, enter, leave)
    gap = side + nearest[:, None] * drift
    return np.flatnonzero(beside & ((gap * gap).sum(axis=1) <= (2 * radius + margin) ** 2))
