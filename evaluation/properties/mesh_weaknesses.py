"""Drawn examples of where mesh metrics go wrong (see `weaknesses`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.synthetic.distortions import subdivide
from submissions.formats.arrays import Mesh

BOX_SIDES = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]


def _mesh(vertices: Any, faces: Any) -> Mesh:
    return Mesh(np.array(vertices, dtype=np.float64), np.array(faces, dtype=np.int64))


def _box(size: Sequence[float], corner: Sequence[float] = (0, 0, 0)) -> Mesh:
    """A closed box of that size; its sides are two triangles each: bottom, top, front, back, left, right."""
    unit = np.array([[n & 1, n >> 1 & 1, n >> 2 & 1] for n in range(8)])
    return _mesh(np.array(corner) + unit * np.array(size), [f for a, b, c, d in BOX_SIDES for f in ((a, b, c), (a, c, d))])


def _joined(*meshes: Mesh) -> Mesh:
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    faces = [mesh.faces + start for mesh, start in zip(meshes, starts, strict=True)]
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces))


def _moved(mesh: Mesh, *by: float) -> Mesh:
    return Mesh(mesh.vertices + np.array(by), mesh.faces)


def _sides(mesh: Mesh, *kept: int) -> Mesh:
    """A box with some of its six sides."""
    return Mesh(mesh.vertices, np.concatenate([mesh.faces[2 * side : 2 * side + 2] for side in kept]))


BOX = _box((1, 1, 1))
OPEN = _sides(BOX, 0, 2, 3, 4, 5)
STRAY = _joined(BOX, _mesh([(5, 0, 0), (5.2, 0, 0), (5, 0.2, 0)], [(0, 1, 2)]))
PLATE = _sides(_box((1, 1, 0)), 0)
SHEET = _box((1, 1, 0.02))
MAST = _joined(BOX, _box((0.03, 0.03, 1), (0.5, 0.5, 1)))
TALL_MAST = _box((0.03, 0.03, 2.5), (0.5, 0.5, 1))
BESIDE = _moved(BOX, 1.5, 0, 0)
TWO_BOXES = _joined(BOX, _moved(BOX, 2, 0, 0))
# An octahedron without any symmetry, so that its spectrum is well defined.
CRYSTAL = _mesh(
    [(1, 0.1, 0), (-1.2, 0, 0.2), (0, 0.9, 0.1), (0.1, -1.1, 0), (0, 0.2, 1.3), (-0.2, 0, -0.8)],
    [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)],
)
MIRRORED = Mesh(CRYSTAL.vertices * np.array([-1.0, 1.0, 1.0]), CRYSTAL.faces[:, ::-1])
BLOCK = subdivide(subdivide(_box((1, 0.7, 0.4))))
TWICE = Mesh(BLOCK.vertices * 2, BLOCK.faces)

Example = tuple[str, str, Any, tuple[tuple[str, Any], ...]]

INSIDE_OUT: Example = (
    "The metric does not see which side is outside",
    "The entry is the box turned inside out, which renders black and has no inside. The metric gives {0:.4f}, its best value.",
    BOX,
    (("inside out", Mesh(BOX.vertices, BOX.faces[:, ::-1])),),
)
MISSING_SIDE_WEIGHS_LESS: Example = (
    "A missing side weighs less than a small shift",
    "To people, a box without its lid is worse than a box that is moved a little. The metric gives {0:.4f} and {1:.4f}.",
    BOX,
    (("without its lid", OPEN), ("moved by a twelfth", _moved(BOX, 1 / 12, 0, 0))),
)
STRAY_TRIANGLE: Example = (
    "One stray triangle outweighs a missing side",
    "One entry has a stray triangle, which is easily cut away; the other lacks the lid of the box. The metric gives {0:.4f} and {1:.4f}.",
    BOX,
    (("a stray triangle", STRAY), ("without its lid", OPEN)),
)
HAIR_DECIDES_EVERYTHING: Example = (
    "A tiny difference decides the score",
    "Both entries are the right plate, raised a little. Raised by just less than the threshold it scores {0:.2f}; by just more, {1:.2f}.",
    PLATE,
    (("raised by 0.049", _moved(PLATE, 0, 0, 0.049)), ("raised by 0.051", _moved(PLATE, 0, 0, 0.051))),
)
SATURATION: Example = (
    "Beyond a distance, everything counts the same",
    "A plate raised by a tenth of its side is nearly right; a plate raised by twice its side is wrong. The metric gives {0:.2f} and "
    "{1:.2f}.",
    PLATE,
    (("raised by 0.1", _moved(PLATE, 0, 0, 0.1)), ("raised by 2", _moved(PLATE, 0, 0, 2))),
)
THIN_PARTS_UNSEEN: Example = (
    "Thin parts have no volume",
    "The entry lacks the mast, which people see first. The metric still gives {0:.4f}.",
    MAST,
    (("without the mast", BOX),),
)
THIN_SHEETS: Example = (
    "Thin things must lie exactly",
    "The sheet is raised by its own thickness, a fiftieth of its side, and people see no difference. The metric gives {0:.2f}.",
    SHEET,
    (("raised by its thickness", _moved(SHEET, 0, 0, 0.025)),),
)
EXTRA_PARTS_UNSEEN: Example = (
    "Extra parts are not seen",
    "The entry has a second box where nothing should be. The entry covers all of the reference, so the metric gives {0:.2f}.",
    BOX,
    (("a box too many", TWO_BOXES),),
)
WORST_POINT_DECIDES: Example = (
    "The worst point is all that counts",
    "To people, an entry without half of the object is worse than one without the mast. The metric gives {0:.2f} and {1:.2f}.",
    _joined(BOX, BESIDE, TALL_MAST),
    (("a box missing", _joined(BOX, TALL_MAST)), ("the mast missing", _joined(BOX, BESIDE))),
)
MISSING_PARTS_UNSEEN: Example = (
    "Missing parts are not seen",
    "The entry is only the bottom of the box. All of the entry lies on the reference, so the metric gives {0:.2f}, its best value.",
    BOX,
    (("the bottom alone", _sides(BOX, 0)),),
)
PLACE_UNSEEN: Example = (
    "The metric does not see where anything is",
    "The plate is raised by half its side, which people notice. It faces the right way, so the metric gives {0:.2f}, its best value.",
    PLATE,
    (("raised by half its side", _moved(PLATE, 0, 0, 0.5)),),
)
MIRROR_IMAGE: Example = (
    "A mirror image has the same value",
    "The entry is a mirror image, like a left shoe for a right one. The metric gives {0:.4f}.",
    CRYSTAL,
    (("mirrored", MIRRORED),),
)
SIZE_AND_PLACE_UNSEEN: Example = (
    "The metric does not see size or place",
    "The entry is three times as large and far away, so it does not fit the reference. The metric gives {0:.4f}.",
    CRYSTAL,
    (("three times as large, far away", Mesh(3 * CRYSTAL.vertices + 50, CRYSTAL.faces)),),
)
SIZE_AND_PLACE_UNSEEN_BY_LOCASE: Example = (
    "The metric does not see size or place",
    "Twice as large and far away, the entry does not fit the reference; it scores {0:.2f}, and the reference itself {1:.2f}.",
    BLOCK,
    (("twice as large, far away", _moved(TWICE, 5, 5, 5)), ("the reference itself", BLOCK)),
)
