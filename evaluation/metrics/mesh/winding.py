"""Filling meshes that are not closed: the generalised winding number, by a tree of dipoles (Barill et al., 2018).

The tree takes far faces together. How many near ones a place costs is estimated from their sizes, and as many places are
asked as can be within SECONDS, so that no mesh takes longer, however large its faces are.
"""

from __future__ import annotations

import numpy as np

from evaluation.metrics.mesh.surface import Surface

INSIDE = 0.5  # the winding number from which on a place is inside
# How far from a part of the mesh, in its radii, the tree takes that as one. Roughly first; where that leaves a doubt finely,
# which is off by less than 0.01 of a turn.
ROUGHLY, FINELY = 1.0, 2.0
DOUBT = 0.35  # three times the largest error seen of the rough value
SECONDS = 2.0  # of one core, for one mesh
MAX_PLACES = 1 << 18
MIN_PLACES = 1 << 10
PLACE, FACE = 4e-6, 0.3e-6  # seconds, measured: for a place, and for each face near it
IN_CACHE = 10_000  # faces below which each costs less, in proportion


def inside_by_winding(surface: Surface, places: np.ndarray) -> np.ndarray:
    """bool[K]: whether the mesh's generalised winding number is at least a half at each of places[K, 3]."""
    import igl

    tree = igl.FastWindingNumberBVH()
    tree.init(surface.points, surface.oriented, 2)
    value = tree.winding_number(places, ROUGHLY)
    doubtful = np.flatnonzero(np.abs(value - INSIDE) <= DOUBT)
    if len(doubtful):
        value[doubtful] = tree.winding_number(places[doubtful], FINELY)
    return value >= INSIDE


def affordable(surface: Surface) -> int:
    """The number of places of a cube about the mesh that can be asked for its winding number in SECONDS.

    A face is looked at for itself within FINELY of its radii.
    """
    corners = surface.points[surface.faces]
    reach = FINELY * np.linalg.norm(corners - corners.mean(axis=1, keepdims=True), axis=2).max(axis=1)
    side = float(np.ptp(surface.points, axis=0).max())
    near = float(np.minimum(4 / 3 * np.pi * (reach / side) ** 3, 1.0).sum())
    seconds = PLACE + FACE * near * min(1.0, len(surface) / IN_CACHE)
    return int(np.clip(SECONDS / seconds, MIN_PLACES, MAX_PLACES))
