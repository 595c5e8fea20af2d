"""Version 3 of volume_iou: cells of a grid counted by their centres. Phases that were set up with it keep it."""

from __future__ import annotations

import numpy as np

from evaluation.metrics.mesh import closest
from evaluation.metrics.mesh.distances import RELATIVE_TOLERANCE, SPACING_STEPS, empty
from evaluation.metrics.mesh.occupancy import (
    Grid,
    Sample,
    affordable,
    closed,
    filled,
    grid_around,
    inside_by_winding,
    mark_surface,
    stratified,
)
from evaluation.metrics.mesh.pair import MeshPair
from evaluation.metrics.mesh.surface import Surface
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.seeds import generator

AT_ONCE = 64  # places inside a reference that are asked whether they lie on its surface
FEW = 1 << 14  # places that are asked so one by one


def volume_iou(pair: MeshPair, resolution: int, align: str) -> MetricResult:
    """Share, in [0, 1], of the cells in either mesh that are in both, over resolution^3 cells around the two.

    A cell counts by its centre, inside or on the surface. A mesh that is not watertight is filled by its winding number (flags
    pred_not_watertight and gt_not_watertight); then a stratified sample represents all cells. No value where the reference encloses
    nothing; 0 without faces, and where no centre is inside either. Parts: the two volumes and the shared one, as shares of the grid's cube,
    and the standard error of the value, which is 0 where all cells were looked at.
    """
    if not encloses(pair, resolution):
        return MetricResult(None, Status.NOT_APPLICABLE, ("gt_encloses_nothing",))
    pred, ref = pair.prediction(align), pair.reference
    if not len(pred):
        return empty(0.0)
    grid = grid_around(pred.points, ref.points, n=resolution)
    tolerance = RELATIVE_TOLERANCE * grid.h * grid.n + SPACING_STEPS * pair.spacing
    sample = _sample(grid, pred, ref)
    one, other = (occupied(side, grid, tolerance, sample) for side in (pred, ref))
    both, either = one & other, one | other
    if sample is None:
        sums = [float(np.count_nonzero(found)) for found in (one, other, both, either)]
    else:
        sums = [sample.sum(found) for found in (one, other, both, either)]
    value = sums[2] / sums[3] if sums[3] else 0.0
    error = sample.error(both - value * either) / sums[3] if sample is not None and sums[3] else 0.0
    sides = ((pred, "pred_not_watertight"), (ref, "gt_not_watertight"))
    flags = tuple(flag for side, flag in sides if not closed(side.faces)) + (() if sums[3] else ("both_empty",))
    parts = dict(zip(("volume_pred", "volume_gt", "volume_both"), (found / grid.n**3 for found in sums), strict=False))
    return MetricResult(value, flags=flags, parts=parts | {"standard_error": error} | pair.alignment_parts(align, "gt_unit"))


def encloses(pair: MeshPair, resolution: int) -> bool:
    """True if any cell's centre is inside the reference, not merely on its surface, in the grid around it alone."""

    def compute() -> tuple[np.ndarray]:
        ref = pair.reference
        grid = grid_around(ref.points, n=resolution)
        if closed(ref.faces):
            return (np.array([filled(ref, grid).any()]),)
        sample = _sample(grid, ref)
        assert sample is not None  # an open surface has one
        places = sample.places(grid)
        inner = places[inside_by_winding(ref, places)]
        apart, tolerance = closest.to_mesh(ref.points, ref.faces), RELATIVE_TOLERANCE * grid.h * grid.n
        asked = (inner[start : start + AT_ONCE] for start in range(0, len(inner), AT_ONCE))  # mostly the first is enough
        return (np.array([any((apart(some) > tolerance).any() for some in asked)]),)

    return bool(pair.reference_once(f"encloses resolution={resolution}", compute)[0][0])


def occupied(surface: Surface, grid: Grid, tolerance: float, sample: Sample | None = None) -> np.ndarray:
    """True if each cell's centre is inside the mesh, or within `tolerance` of its surface.

    bool[n, n, n] by (x, y, z) of a closed mesh, or bool[K] of the cells of the sample, which other meshes need.
    """
    if closed(surface.faces):
        found = filled(surface, grid)
        mark_surface(surface, grid, tolerance, found)
        return found if sample is None else found[tuple(sample.cells.T)]
    assert sample is not None
    places = sample.places(grid)
    found = inside_by_winding(surface, places)
    if len(places) <= FEW:  # which large faces allow; they would mark most of the grid, one by one
        return found | (closest.distances(places, surface.points, surface.faces) <= tolerance)
    marked = np.zeros((grid.n,) * 3, dtype=bool)
    mark_surface(surface, grid, tolerance, marked)
    return found | marked[tuple(sample.cells.T)]


def _sample(grid: Grid, *surfaces: Surface) -> Sample | None:
    """Cells to evaluate, as many as all surfaces that are not closed allow; None if none is needed."""
    open_ones = [surface for surface in surfaces if not closed(surface.faces)]
    if not open_ones:
        return None
    low = np.max([surface.points.min(axis=0) for surface in surfaces], axis=0)
    high = np.min([surface.points.max(axis=0) for surface in surfaces], axis=0)
    most = min(map(affordable, open_ones))
    return stratified(grid.n, *grid.within(low, high), most, generator("volume_iou", 0))
