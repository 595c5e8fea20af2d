"""Textured building blocks of procedural objects, gathered into one with its materials. PURE.

Lengths in metres, z up. Texture coordinates are in metres too (divided by the material's size of one repeat), except where a
texture is to be seen exactly once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evaluation.rendering.triangles import Triangles, flat_normals, joined

_FACES = ((0, 1, 1), (0, -1, 1), (1, 1, 2), (1, -1, 2), (2, 1, 0), (2, -1, 0))  # axis, side, axis that follows


class Builder:
    """Collects parts; `built` gives them as one object and its textures, `whole` as they lie."""

    def __init__(self) -> None:
        self.textures: list[np.ndarray] = []
        self._repeats: list[float] = []
        self._parts: list[Triangles] = []

    def material(self, texture: np.ndarray, repeat: float = 0.5) -> int:
        """A new material whose texture is `repeat` metres wide."""
        self.textures.append(texture)
        self._repeats.append(repeat)
        return len(self.textures) - 1

    def box(self, low: Sequence[float], high: Sequence[float], material: int, about_z: float = 0.0, picture: int | None = None) -> None:
        """A box between two corners, turned about the z axis through its middle; `picture` covers its face towards −y, once."""
        middle, half = np.add(low, high, dtype=float) / 2, np.subtract(high, low, dtype=float) / 2
        c, s = np.cos(about_z), np.sin(about_z)
        turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        for axis, side, after in _FACES:
            other = 3 - axis - after
            u, v, n = np.eye(3)[after], np.eye(3)[other], side * np.eye(3)[axis]
            if axis != 2:  # z is to be the texture's v
                u, v = np.eye(3)[1 - axis], np.eye(3)[2]
            if np.dot(np.cross(u, v), n) < 0:
                u = -u
            shape = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
            corners = np.array([(n + a * u + b * v) * half for a, b in shape])
            lengths = 2 * np.array([np.abs(u) @ half, np.abs(v) @ half])
            fronted = picture is not None and axis == 1 and side == -1
            uv = np.array([((a + 1) / 2, (1 - b) / 2) for a, b in shape]) * (1 if fronted else lengths)
            self._quads((corners @ turn + middle)[None], uv[None], material if picture is None or not fronted else picture, once=fronted)

    def lathe(self, profile: ArrayLike, material: int, at: Sequence[float] = (0, 0, 0), around: int = 16) -> None:
        """A profile of (radius, height), upwards along its outside, turned about an upright axis through `at`."""
        profile_ = np.asarray(profile, dtype=float)
        angle = np.linspace(0, 2 * np.pi, around + 1)
        ring = np.stack([np.cos(angle), np.sin(angle)], -1)
        points = np.concatenate(
            [profile_[:, None, :1] * ring[None], np.broadcast_to(profile_[:, None, 1:], (len(profile_), around + 1, 1))], -1
        )
        along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(profile_, axis=0), axis=1))])
        wide = max(profile_[:, 0].max(), 1e-6) * angle
        uv = np.stack(np.broadcast_arrays(wide[None], along[:, None]), -1)
        self._sheet(points + np.asarray(at, dtype=float), uv, material)

    def ball(self, radius: float, material: int, at: Sequence[float], squash: float = 1.0, around: int = 16) -> None:
        """A sphere, or with `squash` an ellipsoid of that height."""
        up = np.linspace(-np.pi / 2, np.pi / 2, around // 2 + 1)
        self.lathe(np.stack([radius * np.cos(up), squash * radius * np.sin(up)], -1), material, at, around)

    def rod(self, start: Sequence[float], end: Sequence[float], radius: float, material: int, sides: int = 8) -> None:
        """A straight round bar."""
        first, last = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
        ahead = (last - first) / np.linalg.norm(last - first)
        side = np.cross(ahead, [1.0, 0, 0] if abs(ahead[0]) < 0.9 else [0, 1.0, 0])
        side /= np.linalg.norm(side)
        angle = np.linspace(0, 2 * np.pi, sides + 1)[:, None]
        ring = radius * (np.cos(angle) * side + np.sin(angle) * np.cross(ahead, side))
        points = np.stack([first + 0 * ring, first + ring, last + ring, last + 0 * ring])
        length = np.array([0, radius, radius + np.linalg.norm(last - first), 2 * radius + np.linalg.norm(last - first)])
        self._sheet(points, np.stack(np.broadcast_arrays((radius * angle.T), length[:, None]), -1), material)

    def blade(self, path: np.ndarray, widths: np.ndarray, across: np.ndarray, material: int) -> None:
        """A leaf along a path float[P, 3], so wide at each point along `across`; seen from both sides, its texture once."""
        offset = widths[:, None] / 2 * across
        points = np.stack([path - offset, path + offset], axis=1)
        along = np.linspace(0, 1, len(path))[:, None]
        uv = np.stack(np.broadcast_arrays(along, np.array([[0.0, 1.0]])), -1)
        for turned in (points, points[:, ::-1]):
            self._sheet(turned, uv, material, once=True)

    def built(self) -> tuple[Triangles, list[np.ndarray]]:
        """The object standing on z = 0, its middle above the origin, and its textures."""
        whole = self.whole()
        low, high = whole.corners.min(axis=(0, 1)), whole.corners.max(axis=(0, 1))
        shift = -np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
        return Triangles(whole.corners + shift, whole.normals, whole.uv, whole.materials, whole.items), self.textures

    def whole(self) -> Triangles:
        """All parts where they were put."""
        return joined(self._parts)

    def _sheet(self, points: np.ndarray, uv: np.ndarray, material: int, once: bool = False) -> None:
        """Triangles over a grid of points [P, Q, 3] with smooth normals; u runs along Q, and Q then P turn anticlockwise outside."""
        cells = np.stack([points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]], 2).reshape(-1, 4, 3)
        places = np.stack([uv[:-1, :-1], uv[:-1, 1:], uv[1:, 1:], uv[1:, :-1]], 2).reshape(-1, 4, 2)
        self._quads(cells, places, material, once, smooth=points)

    def _quads(self, corners: np.ndarray, uv: np.ndarray, material: int, once: bool = False, smooth: np.ndarray | None = None) -> None:
        pick = np.array([[0, 1, 2], [0, 2, 3]])
        triangles = corners[:, pick].reshape(-1, 3, 3)
        normals = flat_normals(triangles)
        if smooth is not None:
            closed = np.allclose(smooth[:, 0], smooth[:, -1])
            around = np.concatenate([smooth[:, -2:-1], smooth, smooth[:, 1:2]], axis=1) if closed else smooth
            along_q = np.gradient(around, axis=1)
            along_q = along_q[:, 1:-1] if closed else along_q
            normal = np.cross(along_q, np.gradient(smooth, axis=0))
            at_points = normal / np.maximum(np.linalg.norm(normal, axis=2, keepdims=True), 1e-12)
            cells = np.stack([at_points[:-1, :-1], at_points[:-1, 1:], at_points[1:, 1:], at_points[1:, :-1]], 2).reshape(-1, 4, 3)
            bent = cells[:, pick].reshape(-1, 3, 3)
            # Across a sharp edge of a profile, and at a pole, the face's own normal is the better one.
            fits = (bent * normals).sum(axis=2, keepdims=True) > 0.75
            normals = np.where(fits, bent, normals)
        places = uv[:, pick].reshape(-1, 3, 2) / (1.0 if once else self._repeats[material])
        sound = np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1) > 1e-12
        n = int(sound.sum())
        self._parts.append(
            Triangles(triangles[sound], normals[sound], places[sound], np.full(n, material, dtype=np.int64), np.zeros(n, dtype=np.int64))
        )
