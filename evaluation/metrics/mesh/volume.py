"""Intersection over union of the volumes of two meshes."""

from __future__ import annotations

import numpy as np

from evaluation.metrics.mesh.distances import RELATIVE_TOLERANCE, SPACING_STEPS, empty
from evaluation.metrics.mesh.occupancy import Grid, closed, crossings, grid_around, mark_surface
from evaluation.metrics.mesh.pair import MeshPair
from evaluation.metrics.mesh.surface import Surface
from evaluation.metrics.mesh.winding import inside_by_winding
from evaluation.metrics.result import MetricResult

RESOLUTION = 256


def volume_iou(pair: MeshPair, resolution: int = RESOLUTION, align: str = "none") -> MetricResult:
    """Share, in [0, 1], of the cells in either mesh that are in both, over resolution^3 cells around the two.

    A cell counts by its centre, inside or on the surface. A mesh that is not watertight is filled by its winding
    number (flags pred_not_watertight and gt_not_watertight). 0 without faces, and where no centre is inside either.
    Parts: the two volumes and the shared one, as shares of the grid's cube.
    """
    pred, ref = pair.prediction(align), pair.reference
    if not len(pred):
        return empty(0.0)
    grid = grid_around(pred.points, ref.points, n=resolution)
    tolerance = RELATIVE_TOLERANCE * grid.h * grid.n + SPACING_STEPS * pair.spacing
    one, other = inside(pred, grid, tolerance), inside(ref, grid, tolerance)
    both, either = int(np.count_nonzero(one & other)), int(np.count_nonzero(one | other))
    sides = ((pred, "pred_not_watertight"), (ref, "gt_not_watertight"))
    flags = tuple(flag for side, flag in sides if not closed(side.faces)) + (() if either else ("both_empty",))
    counts = {"volume_pred": int(np.count_nonzero(one)), "volume_gt": int(np.count_nonzero(other)), "volume_both": both}
    parts = {name: count / grid.n**3 for name, count in counts.items()}
    return MetricResult(both / either if either else 0.0, flags=flags, parts=parts | pair.alignment_parts(align, "gt_unit"))


def inside(surface: Surface, grid: Grid, tolerance: float) -> np.ndarray:
    """bool[n, n, n] by (x, y, z): whether each cell's centre is inside the mesh, or within `tolerance` of its surface."""
    if closed(surface.faces):
        found = crossings(surface.points, surface.faces, grid, signed=False).astype(bool)
    else:
        found = inside_by_winding(surface, grid)
    mark_surface(surface, grid, tolerance, found)
    return found
