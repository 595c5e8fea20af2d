"""Intersection over union of the volumes of two meshes."""

from __future__ import annotations

import numpy as np

from evaluation.metrics.mesh import closest, parameters, volume_by_centres
from evaluation.metrics.mesh.distances import RELATIVE_TOLERANCE, SPACING_STEPS, empty
from evaluation.metrics.mesh.occupancy import Grid, affordable, blocks, grid_around, inside_by_winding
from evaluation.metrics.mesh.pair import MeshPair
from evaluation.metrics.mesh.solid import MOST_FACES, MOST_MEETINGS, Rays, Shells, exact, inside_lengths, meetings, shells
from evaluation.metrics.mesh.surface import Surface
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.seeds import generator
from evaluation.metrics.spec import Earlier, Effort, MetricSpec, Param, Source

THIN = 0.02  # of a volume: what its surface may hold in cells as thick as one
AT_ONCE = 64  # places inside a reference that are asked whether they lie on its surface


def volume_iou(pair: MeshPair, resolution: int, align: str) -> MetricResult:
    """Volume that both meshes enclose over the volume that either does, in [0, 1].

    Exact by booleans if both are closed and manifold. Other closed meshes are met by two rays at random places in each of
    resolution^2 cells. If either mesh is open, two random places are drawn in each block of a grid of resolution^3 cells.
    They are inside if the winding number is at least a half (flags pred_not_watertight and gt_not_watertight).
    No value where the reference encloses nothing; 0 without faces, and where neither encloses anything.
    Parts: the two volumes and the shared one, as shares of the grid's cube, and the standard error of the value, 0 where it is
    exact. Flag thin: the surface of either mesh, times the side of a cell, is more than THIN of its volume.
    """
    if not encloses(pair, resolution):
        return MetricResult(None, Status.NOT_APPLICABLE, ("gt_encloses_nothing",))
    pred, ref = pair.prediction(align), pair.reference
    if not len(pred):
        return empty(0.0)
    grid = grid_around(pred.points, ref.points, n=resolution)
    solids = shells(pred), shells(ref)
    tolerance = RELATIVE_TOLERANCE + SPACING_STEPS * pair.spacing  # the reference's longest side is 1
    if solids[0] is None or solids[1] is None:
        sums, error = _at_places(pred, ref, grid)
    else:
        sums, error = _of_solids(solids[0], solids[1], resolution, tolerance)
    either = sums[0] + sums[1] - sums[2]
    value = min(sums[2] / either, 1.0) if either else 0.0
    sides = zip(solids, ("pred_not_watertight", "gt_not_watertight"), strict=True)
    open_ones = tuple(flag for solid, flag in sides if solid is None)
    thin = any(side.areas.sum() * grid.h > THIN * volume for side, volume in zip((pred, ref), sums, strict=False))
    flags = open_ones + (("thin",) if thin else ()) + (() if either else ("both_empty",))
    cube = (grid.n * grid.h) ** 3
    parts = dict(zip(("volume_pred", "volume_gt", "volume_both"), (found / cube for found in sums), strict=True))
    return MetricResult(value, flags=flags, parts=parts | {"standard_error": error} | pair.alignment_parts(align, "gt_unit"))


def encloses(pair: MeshPair, resolution: int) -> bool:
    """True if the reference encloses more than a sheet without thickness, or, where it is open, a place off its surface."""

    def compute() -> tuple[np.ndarray]:
        ref = pair.reference
        solid = shells(ref)
        if solid is not None:
            return (np.array([solid.volumes.sum() > RELATIVE_TOLERANCE * ref.areas.sum()]),)
        places = _places(grid_around(ref.points, n=resolution), ref)[0]
        inner = places[inside_by_winding(ref, places)]
        apart = closest.to_mesh(ref.points, ref.faces)
        asked = (inner[start : start + AT_ONCE] for start in range(0, len(inner), AT_ONCE))  # mostly the first is enough
        return (np.array([any((apart(some) > RELATIVE_TOLERANCE).any() for some in asked)]),)

    return bool(pair.reference_once(f"encloses resolution={resolution}, along rays", compute)[0][0])


def _of_solids(pred: Shells, ref: Shells, resolution: int, tolerance: float) -> tuple[tuple[float, float, float], float]:
    """((volume of the prediction, of the reference, of both), standard error of their IoU) of two closed meshes."""
    rays = Rays.through((pred, ref), resolution, generator("volume_iou", 0))
    lengths, doubled = inside_lengths((pred, ref), rays, tolerance)
    if len(pred.faces) + len(ref.faces) <= MOST_FACES and meetings(pred, ref) <= MOST_MEETINGS:
        one = exact(pred, doubled[0], rays, tolerance)
        if one is not None and np.array_equal(pred.points, ref.points) and np.array_equal(pred.faces, ref.faces):
            return (one.volume(),) * 3, 0.0
        other = exact(ref, doubled[1], rays, tolerance) if one is not None else None
        if one is not None and other is not None:
            return (one.volume(), other.volume(), (one ^ other).volume()), 0.0
    return _estimated(lengths * rays.area)


def _at_places(pred: Surface, ref: Surface, grid: Grid) -> tuple[tuple[float, float, float], float]:
    """The same of two meshes by their winding numbers at places in the blocks of a grid."""
    places, volumes = _places(grid, pred, ref)
    one, other = (inside_by_winding(side, places).reshape(-1, 2).T * volumes for side in (pred, ref))
    return _estimated(np.stack([one, other, np.minimum(one, other)]))


def _places(grid: Grid, *surfaces: Surface) -> tuple[np.ndarray, np.ndarray]:
    """(places float64[2 K, 3], volumes float64[K]): two random places in each block of the grid, and the block's volume. There are
    no more places than each of `surfaces` can be asked for."""
    low = np.max([surface.points.min(axis=0) for surface in surfaces], axis=0)
    high = np.min([surface.points.max(axis=0) for surface in surfaces], axis=0)
    start, size = blocks(grid.n, *grid.within(low, high), min(map(affordable, surfaces)) // 2)
    jitter = generator("volume_iou", 0).random((2, *start.shape))
    places = grid.low + (start + jitter * size) * grid.h
    return places.swapaxes(0, 1).reshape(-1, 3), size.prod(axis=1) * grid.h**3


def _estimated(found: np.ndarray) -> tuple[tuple[float, float, float], float]:
    """The three volumes and the standard error of their IoU. `found` float64[3, 2, K] has the volumes of the prediction, of the
    reference and of both in each stratum, by two independent draws."""
    one, other, both = (float(volume) for volume in found.mean(axis=1).sum(axis=1))
    either = one + other - both
    if not either:
        return (one, other, both), 0.0
    share = both / either
    apart = found[2] - share * (found[0] + found[1] - found[2])  # of which the sum is 0: the ratio's error to first order
    return (one, other, both), float(np.linalg.norm(apart[0] - apart[1]) / 2 / either)


PLACE = 20  # in lists of metrics of its kind
SPECS = (
    MetricSpec(
        key="volume_iou",
        title="Volume IoU",
        family="mesh",
        higher_is_better=True,
        bounds=(0.0, 1.0),
        unit="",
        params=(
            Param(
                "resolution",
                256,
                "int",
                low=8,
                high=512,
                doc="Cells along the longest side of the box around both meshes. The LoCaSE paper's table of costs also uses 256.",
                source=Source.PAPER,
            ),
            parameters.ALIGN,
        ),
        worst="0",
        doc=(
            "Intersection over union of the two volumes. The value is exact for two watertight meshes without self-intersections. "
            "For watertight meshes with self-intersections it is estimated by random rays through the cells of a grid. A shell inside "
            "another shell adds no volume; a shell whose faces point inwards is a cavity. A mesh that is not watertight is flagged, and "
            "its inside is where its generalised winding number is at least a half; if its faces point inwards, it encloses nothing. The "
            "volume of such a mesh is estimated at random points, two in each block of cells. The result states the standard error of the "
            "estimate, which is 0 for an exact value. The flag thin is set if the surface of a mesh, taken one cell thick, would be more "
            "than 2 % of the mesh's volume. If the reference encloses nothing, there is no value."
        ),
        origin=parameters.LOCASE,
        function=volume_iou,
        examples=("THIN_PARTS_UNSEEN", "THIN_SHEETS"),
        effort=Effort(5.0, 200_000, power=1.0, by=1, least=True),
        formula="|A ∩ B| / |A ∪ B|",
        version=4,
        earlier=(Earlier(3, volume_by_centres.volume_iou, "flat faces, and shells within a shell"),),
    ),
)
