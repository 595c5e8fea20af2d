"""Closed triangle surfaces from simple descriptions: grids, lathes, swept tubes, boxes, prisms, level sets.

Every function returns a `Surface` (vertices float64[V, 3], faces int64[F, 3]) whose faces turn outwards.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

Surface = tuple[np.ndarray, np.ndarray]

_CORNERS = np.array(list(itertools.product((0, 1), repeat=3)))  # of a cell; number = 4x + 2y + z
_EDGES = [(a, b) for a in range(8) for b in range(a + 1, 8) if (a ^ b).bit_count() == 1]


def sheet(points: np.ndarray, wrap_u: bool = False, wrap_v: bool = False) -> Surface:
    """Triangles over a grid of points float64[U, V, 3], joined to themselves where they wrap."""
    rows, columns = points.shape[:2]
    number = np.arange(rows * columns).reshape(rows, columns)
    if wrap_u:
        number = np.concatenate([number, number[:1]])
    if wrap_v:
        number = np.concatenate([number, number[:, :1]], axis=1)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    faces = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], -2)
    return points.reshape(-1, 3).copy(), faces.reshape(-1, 3)


def tube(rings: np.ndarray, closed: bool = False) -> Surface:
    """A tube through rings of points float64[R, N, 3]; its ends are closed with a middle point each."""
    rings = np.asarray(rings, dtype=np.float64)
    vertices, faces = sheet(rings, wrap_u=closed, wrap_v=True)
    if closed:
        return outwards(vertices, faces)
    n, around = len(vertices), rings.shape[1]
    here, after = np.arange(around), np.roll(np.arange(around), -1)
    start = np.stack([np.full(around, n), here, after], -1)
    last = n - around
    end = np.stack([np.full(around, n + 1), last + after, last + here], -1)
    vertices = np.concatenate([vertices, rings[:1].mean(axis=1), rings[-1:].mean(axis=1)])
    return outwards(vertices, np.concatenate([faces, start, end]))


def lathe(profile: np.ndarray, around: int) -> Surface:
    """The profile (radius, height) float64[P, 2] turned about the z axis."""
    angle = np.linspace(0, 2 * math.pi, around, endpoint=False)
    radius, height = profile[:, :1], profile[:, 1:]
    return tube(np.stack([radius * np.cos(angle), radius * np.sin(angle), np.broadcast_to(height, (len(profile), around))], -1))


def sweep(path: np.ndarray, section: np.ndarray, scale: np.ndarray | float = 1.0, closed: bool = False) -> Surface:
    """The section float64[N, 2] carried along the path float64[P, 3] without needless twist."""
    ahead = np.roll(path, -1, axis=0) - np.roll(path, 1, axis=0) if closed else np.gradient(path, axis=0)
    tangent = ahead / np.linalg.norm(ahead, axis=1, keepdims=True)
    across = np.empty_like(path)
    side = np.eye(3)[np.abs(tangent[0]).argmin()]
    for n, direction in enumerate(tangent):
        side = side - direction * (side @ direction)
        side /= np.linalg.norm(side)
        across[n] = side
    if closed:  # what the frame has turned by after one round is spread over the path
        other = np.cross(tangent[0], across[0])
        turned = side - tangent[0] * (side @ tangent[0])
        angle = -math.atan2(turned @ other, turned @ across[0]) * np.arange(len(path))[:, None] / len(path)
        across = np.cos(angle) * across + np.sin(angle) * np.cross(tangent, across)
    up = np.cross(tangent, across)
    flat = section[None] * np.broadcast_to(np.asarray(scale, dtype=np.float64).reshape(-1, 1, 1), (len(path), 1, 1))
    return tube(path[:, None] + flat[..., :1] * across[:, None] + flat[..., 1:] * up[:, None], closed)


def circle(n: int, radius: float = 1.0) -> np.ndarray:
    """`n` points of a circle, float64[n, 2]."""
    angle = np.linspace(0, 2 * math.pi, n, endpoint=False)
    return radius * np.stack([np.cos(angle), np.sin(angle)], -1)


def prism(outline: np.ndarray, height: float, layers: int, rings: int, turn: float = 0.0, taper: float = 1.0) -> Surface:
    """A star-shaped outline float64[N, 2] raised along z, turned and tapered on the way up; lids of `rings` rings."""
    lid = np.linspace(0, 1, rings + 1)[1:]
    share = np.concatenate([lid, np.ones(layers - 1), lid[::-1]])
    level = np.concatenate([np.zeros(rings), np.arange(1, layers) / layers, np.ones(rings)])
    size, angle = share * (1 + (taper - 1) * level), turn * level
    x, y = outline[:, 0], outline[:, 1]
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    flat = [size[:, None] * (cos * x - sin * y), size[:, None] * (sin * x + cos * y)]
    return tube(np.stack([*flat, np.broadcast_to((level * height)[:, None], flat[0].shape)], -1))


def box(low: Sequence[float], high: Sequence[float], spacing: float) -> Surface:
    """An axis-parallel box whose faces are cut into squares of about `spacing`."""
    start, size = np.asarray(low, dtype=np.float64), np.subtract(high, low, dtype=np.float64)
    cuts = np.maximum(1, np.round(size / spacing)).astype(int)
    parts = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, 1):
            grid = np.empty((cuts[u] + 1, cuts[v] + 1, 3))
            grid[..., u] = np.arange(cuts[u] + 1)[:, None]
            grid[..., v] = np.arange(cuts[v] + 1)[None]
            grid[..., axis] = side * cuts[axis]
            vertices, faces = sheet(grid)
            parts.append((vertices, faces if side else faces[:, ::-1]))
    vertices, faces = joined(parts)
    places, inverse = np.unique(vertices, axis=0, return_inverse=True)
    return start + places / cuts * size, inverse.reshape(-1)[faces]


def level_set(function: Callable[[np.ndarray], np.ndarray], low: float, high: float, cells: int) -> Surface:
    """The surface function(points) = 0 in a cube of `cells`³ cells (negative inside), by surface nets."""
    axis = np.linspace(low, high, cells + 1)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1)
    value = function(grid.reshape(-1, 3)).reshape(grid.shape[:3])
    value = np.where(value == 0, 1e-12, value)
    corner = np.stack([value[x : cells + x, y : cells + y, z : cells + z] for x, y, z in _CORNERS], -1)
    mixed = (corner < 0).any(-1) & (corner > 0).any(-1)
    number = np.full(mixed.shape, -1)
    number[mixed] = np.arange(int(mixed.sum()))
    at = corner[mixed]
    total, count = np.zeros((len(at), 3)), np.zeros(len(at))
    for a, b in _EDGES:
        crosses = (at[:, a] < 0) != (at[:, b] < 0)
        t = np.where(crosses, at[:, a] / np.where(crosses, at[:, a] - at[:, b], 1), 0)[:, None]
        total += np.where(crosses[:, None], _CORNERS[a] + t * (_CORNERS[b] - _CORNERS[a]), 0)
        count += crosses
    vertices = low + (np.argwhere(mixed) + total / count[:, None]) * (high - low) / cells
    faces = [_crossings(value, number, k) for k in range(3)]
    return outwards(vertices, np.concatenate(faces))


def _crossings(value: np.ndarray, number: np.ndarray, axis: int) -> np.ndarray:
    """Two triangles for every grid edge along `axis` that crosses the surface, through its four cells."""
    value, number = np.moveaxis(value, axis, 0), np.moveaxis(number, axis, 0)  # the other two keep their order
    inside = value < 0
    i, j, k = np.nonzero(inside[:-1, 1:-1, 1:-1] != inside[1:, 1:-1, 1:-1])
    quad = np.stack([number[i, j, k], number[i, j + 1, k], number[i, j + 1, k + 1], number[i, j, k + 1]], -1)
    leaves = inside[i, j + 1, k + 1] ^ (axis == 1)
    quad[~leaves] = quad[~leaves][:, ::-1]
    return np.concatenate([quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]])


def joined(parts: Sequence[Surface]) -> Surface:
    """Several surfaces as one, side by side."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    return (
        np.concatenate([vertices for vertices, _ in parts]),
        np.concatenate([faces + start for (_, faces), start in zip(parts, starts[:-1], strict=True)]),
    )


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    """Signed volume; positive where the faces of a closed surface turn outwards."""
    a, b, c = vertices[faces].transpose(1, 0, 2)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def outwards(vertices: np.ndarray, faces: np.ndarray) -> Surface:
    """The surface with its faces turned outwards, if they all turned inwards."""
    return vertices, (faces if volume(vertices, faces) >= 0 else faces[:, ::-1])
