"""Reference pictures of a mesh, for generated objects: shaded views and normals from all around. PURE and deterministic.

The mesh is seen from outside the ball around its bounding box, always from the same distance, with a margin. Faces are flat,
in their own colours or in one grey, and seen from both sides; the light is the sky's, the ground's and the camera's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.rendering.cameras import View, around, grid, turntable
from evaluation.rendering.pictures import Lighting, linear, picture
from evaluation.rendering.triangles import Atlas, Triangles, flat_normals
from submissions.formats.arrays import Mesh

SIDE = 512  # pixels
GREY = (0.75, 0.75, 0.75)  # of faces without a colour, sRGB
LIGHTING = Lighting(above=(0.55, 0.55, 0.55), below=(0.25, 0.25, 0.25), headlight=0.5)
SETS: Mapping[str, Callable[[], Sequence[View]]] = {"266": grid, "turntable": turntable}


@dataclass(frozen=True, eq=False)
class MeshView:
    """``colour``: uint8[S, S, 3] sRGB on white. ``normals``: uint8[S, S, 3], (n + 1) / 2 of the normal in the camera's frame (x to
    the right, y up, z towards the viewer), white where nothing is. ``mask``: bool[S, S], True where anything is."""

    view: View
    colour: NDArray[np.uint8]
    normals: NDArray[np.uint8]
    mask: NDArray[np.bool_]


def mesh_views(
    mesh: Mesh,
    views: Sequence[View],
    side: int = SIDE,
    up: str = "z",
    ball: tuple[NDArray[np.float64], float] | None = None,
) -> Iterator[MeshView]:
    """The pictures of a mesh from `views`, one after the other; `up` is its axis that points up, "y" or "z".

    `ball` is the centre and the radius of what is looked at, by default of the ball around the mesh's bounding box.
    ValueError if no face of the mesh has an area.
    """
    scene, atlas, centre, radius = _prepared(mesh, up)
    if ball is not None:
        centre, radius = _upright(np.asarray(ball[0]), up), ball[1]
    for view in views:
        camera = around(view, centre, radius)
        drawn = picture(scene, atlas, camera, side, side, LIGHTING, back_faces=True)
        mask = np.asarray((drawn.items >= 0).reshape(side, 2, side, 2).any(axis=(1, 3)))
        length = np.linalg.norm(drawn.normals, axis=2, keepdims=True)
        turned = np.rint(255 * (drawn.normals / np.maximum(length, 1e-6) + 1) / 2)
        yield MeshView(view, drawn.colour, np.where(mask[..., None], turned, 255).astype(np.uint8), mask)


def _upright(points: NDArray[np.float64], up: str) -> NDArray[np.float64]:
    """Points float64[..., 3] turned so that z points up."""
    return points if up == "z" else points[..., [0, 2, 1]] * [1, -1, 1]


def _prepared(mesh: Mesh, up: str) -> tuple[Triangles, Atlas, NDArray[np.float64], float]:
    """The mesh as triangles with a colour each, the middle of its bounding box, and the radius of the ball around that."""
    if up not in ("y", "z"):
        raise ValueError(f'the axis that points up is "y" or "z", not {up!r}')
    corners = _upright(mesh.vertices, up)[mesh.faces]
    normals = flat_normals(corners)
    sound = (normals[:, 0] != 0).any(axis=1)
    if not sound.any():
        raise ValueError("the mesh has no face with an area, so there is nothing to draw")
    corners, normals = corners[sound], normals[sound]
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    colours, own = np.array([GREY]), np.zeros(len(corners), dtype=np.int64)
    if mesh.face_colours is not None:
        colours, own = np.unique(mesh.face_colours[sound] / 255, axis=0, return_inverse=True)
    atlas = Atlas(linear(colours)[:, None, None, :])  # a texture of one texel per colour
    scene = Triangles(corners, normals, np.zeros((*corners.shape[:2], 2)), own.reshape(-1), np.zeros(len(corners), dtype=np.int64))
    return scene, atlas, (low + high) / 2, float(np.linalg.norm(high - low) / 2)
