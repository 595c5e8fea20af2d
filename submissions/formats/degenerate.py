"""Tests for degenerate items, one for each kind of entry: a wireframe without an edge, a mesh without an area, a view without an image."""

import numpy as np

from submissions.formats.arrays import Mesh, Wireframe
from submissions.formats.render.views import View

SHORTEST = 1e-9  # of an edge, in the file's own unit
BLOCK = 100_000  # faces that are looked at together
SMALLEST = 1e-14  # of a face, over the square of the diagonal of the faces' bounding box


def wireframe(frame: Wireframe) -> bool:
    """True without any edge of a positive length."""
    ends = frame.vertices[frame.edges].reshape(-1, 2, 3)
    return not (np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1) > SHORTEST).any()


def mesh(item: Mesh) -> bool:
    """True without any face of a positive area."""
    if not len(item.faces):
        return True
    used = np.zeros(len(item.vertices), bool)
    used[item.faces.ravel()] = True
    origin = item.vertices[item.faces[0, 0]]  # projected coordinates are large, faces small
    flat = item.vertices[used] - origin
    diagonal = np.linalg.norm(flat.max(axis=0) - flat.min(axis=0))
    for start in range(0, len(item.faces), BLOCK):  # the first block tells of almost every mesh
        corners = item.vertices[item.faces[start : start + BLOCK]] - origin
        areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
        if (areas > SMALLEST * diagonal**2).any():
            return False
    return True


def render(view: View) -> bool:
    """True if a view has no reference image, no clean views of its scene and no prompt."""
    return view.image is None and view.clean is None and not view.prompt
