"""Polygons cut into triangles, concave ones too, and colours of faces from the colours of their materials or corners."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from submissions.formats.errors import FormatError, Remarks

# A polygon around whose first corner the triangles overlap is cut by a library whose time grows with the square of the corners.
MAX_CORNERS = 3_000  # of such a polygon
MAX_SQUARES = 100_000_000  # of all such polygons of a file: the sum of the squares of their corners
_SLACK = 1e-6  # of a polygon's area that may lie wrong, for coordinates are rounded
_UNEVEN = 0.01  # of a polygon's size between its corners and its mean plane, beyond which it is not planar
_TOGETHER = 1 << 18  # corners handled together
UNEVEN = "Polygons are not planar; each was cut into triangles as it looks from above its mean plane"
CROSSING = "Polygons cross themselves or have no inside, so the surface that was read may not be the one that is meant"
ROUGH = "Concave polygons were read roughly here, because manifold3d is not installed; the server cuts them into the right triangles"
# What a face without a colour of its own gets where other faces of the file have one.
PLAIN = (200, 200, 200)


def fan(corners: NDArray[Any], sizes: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Polygons of at least 3 corners, one after the other in ``corners``, as triangles around each one's first corner.

    Returns [F, 3], of the corners' type, and, for each triangle, the polygon it came from.
    """
    if len(sizes) and (sizes == 3).all():
        return corners.reshape(-1, 3), np.arange(len(sizes))
    polygon = np.repeat(np.arange(len(sizes)), sizes - 2)
    first = (np.cumsum(sizes) - sizes)[polygon]
    step = np.arange(len(polygon)) - np.repeat(np.cumsum(sizes - 2) - (sizes - 2), sizes - 2)
    return np.stack([corners[first], corners[first + step + 1], corners[first + step + 2]], axis=1), polygon


def cut(
    vertices: NDArray[np.float64],
    faces: NDArray[np.int64],
    sizes: NDArray[np.int64],
    place: Callable[[int], str],
    file: str,
    remarks: Remarks | None = None,
) -> NDArray[np.int64]:
    """The triangles that ``fan`` made of polygons of these sizes, right for polygons that are not convex too: [F, 3], the triangles of each
    polygon in the same rows. What was right stays as it is.

    ``place`` names a polygon of the file. A polygon that is not planar is cut in its mean plane. Remarks say which polygons are not planar
    or cross themselves. Raises ``FormatError`` where to cut one, or all of them, would take too long.
    """
    if not (sizes > 3).any():
        return faces
    remarks = remarks or Remarks()
    try:
        from manifold3d import triangulate
    except ModuleNotFoundError:
        triangulate = None
    faces, starts = faces.copy(), np.cumsum(sizes - 2) - (sizes - 2)
    squares = 0

    def note(sentence: str, polygons: NDArray[np.int64]) -> None:
        remarks.add(sentence, [f"{file}: {place(polygon)}" for polygon in polygons[:1].tolist()], len(polygons))

    order = np.argsort(sizes, kind="stable")
    order = order[np.searchsorted(sizes[order], 4) :]
    for every in np.split(order, np.flatnonzero(np.diff(sizes[order])) + 1):
        size = int(sizes[every[0]])
        step = max(1, _TOGETHER // size)
        for polygons in (every[start : start + step] for start in range(0, len(every), step)):
            rows = starts[polygons, None] + np.arange(size - 2)
            corners = np.concatenate([faces[rows[:, 0]], faces[rows[:, 1:], 2]], axis=1)
            points = vertices[corners]
            overlaps, uneven, flat = _seen(points - points[:, :1])
            note(UNEVEN, polygons[uneven])
            squares += len(flat) * size**2
            if len(flat) and (size > MAX_CORNERS or squares > MAX_SQUARES):
                many = "" if size > MAX_CORNERS else ", one of too many of its kind in this file"
                said = f"is a polygon of {size} corners that is not convex or crosses itself{many}; export triangles"
                raise FormatError(file, place(int(polygons[overlaps][0])), said)
            if len(flat) and triangulate is None:
                note(ROUGH, polygons[overlaps])
            elif len(flat):
                found = np.stack([_filled(triangulate([polygon]), size) for polygon in flat])
                each = np.arange(len(flat))[:, None, None]
                faces[rows[overlaps]] = corners[overlaps][each, found]
                a, b, c = np.moveaxis(flat[each, found], 2, 0)
                covered = np.abs(_cross(b - a, c - a)).sum(axis=1)
                inside = _cross(flat, np.roll(flat, -1, axis=1)).sum(axis=1)
                note(CROSSING, polygons[overlaps][covered > (1 + _SLACK) * inside])
    return faces


def folded_fans(vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> int:
    """Number of triangles that fold back onto the one before around the same first corner, as in a fan made of a concave polygon;
    meshes of triangles hardly ever do."""
    after, before = faces[1:], faces[:-1]
    fans = np.flatnonzero((after[:, 0] == before[:, 0]) & (after[:, 1] == before[:, 2]))
    normals = []
    for side in (before[fans], after[fans]):
        a, b, c = np.moveaxis(vertices[side], 1, 0)
        crosses = np.cross(b - a, c - a)
        with np.errstate(invalid="ignore"):  # of a triangle without an area, which folds onto nothing
            normals.append(crosses / np.linalg.norm(crosses, axis=1, keepdims=True))
    return int(((normals[0] * normals[1]).sum(axis=1) < -1 + _SLACK).sum())


def _filled(triangles: Any, size: int) -> NDArray[np.int64]:
    """Triangles of a polygon of ``size`` corners; beside those that were left out because they have no area, triangles of one corner."""
    found = np.zeros((size - 2, 3), np.int64)
    given = np.asarray(triangles, np.int64).reshape(-1, 3)[: size - 2]
    found[: len(given)] = given
    return found


def _seen(points: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.float64]]:
    """Facts of polygons [P, N, 3] whose first corner is the origin: whether the fan around it overlaps, and whether it is not planar.
    Then the corners of the Q overlapping ones in their plane, counter-clockwise, [Q, N, 2]."""
    crosses = np.cross(points[:, 1:-1], points[:, 2:])  # twice the area of each triangle of the fan, along its normal
    normals = crosses.sum(axis=1)
    lengths = np.linalg.norm(crosses, axis=2)
    total = lengths.sum(axis=1)
    widest = crosses[np.arange(len(crosses)), lengths.argmax(axis=1)]
    nothing = np.linalg.norm(normals, axis=1) <= _SLACK * total  # a bow tie: any of its triangles says where its plane is
    normals = np.where(nothing[:, None], widest, normals)
    with np.errstate(invalid="ignore"):  # of a polygon without an area, which stays as it is
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    heights = np.einsum("pnc,pc->pn", points, normals)
    size = np.ptp(points, axis=1).max(axis=1)
    areas = np.einsum("pnc,pc->pn", crosses, normals)
    along = (points[:, 1:-1] * points[:, 2:]).sum(axis=2) - heights[:, 1:-1] * heights[:, 2:]
    turned = np.arctan2(areas, along).sum(axis=1)  # a fan of more than a whole turn overlaps itself
    back = np.maximum(-areas, 0).sum(axis=1)
    has_area = total > 1e-12 * size**2
    overlaps = has_area & (nothing | (back > _SLACK * np.abs(areas).sum(axis=1)) | (turned > 2 * np.pi + _SLACK))
    uneven = has_area & (np.ptp(heights, axis=1) > 2 * _UNEVEN * size)
    bad, normal = points[overlaps], normals[overlaps]
    # The axis that is least along the normal gives one direction of the plane.
    axis = np.eye(3)[np.abs(normal).argmin(axis=1)]
    across = np.cross(normal, axis)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    plane = np.stack([across, np.cross(normal, across)], axis=1)
    return overlaps, uneven, np.einsum("pnc,pdc->pnd", bad, plane)


def _cross(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def bytes_of(colours: NDArray[np.floating] | NDArray[np.integer]) -> NDArray[np.uint8]:
    """Colours [N, 3] as bytes: whole numbers are 0 to 255 already, others 0 to 1. What is out of range is cut off."""
    with np.errstate(over="ignore"):  # beyond the largest number is out of range too
        scaled = np.asarray(colours, np.float64) * (1 if colours.dtype.kind in "iu" else 255)
    return np.clip(np.rint(np.nan_to_num(scaled, nan=0.0)), 0, 255).astype(np.uint8)


def from_corners(colours: NDArray[np.uint8], faces: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The mean colour of each face's corners; ``faces`` must be in range."""
    return np.rint(colours[faces].mean(axis=1)).astype(np.uint8)


def srgb(linear: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Linear light 0 to 1 as sRGB bytes, by the curve of IEC 61966-2-1."""
    light = np.clip(np.nan_to_num(linear, nan=0.0), 0, 1)
    curve = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.rint(255 * curve).astype(np.uint8)
