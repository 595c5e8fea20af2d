"""Pinhole cameras, and the sets of them that look at one object from all around. PURE.

The world has z up. In the camera's own frame x is to the right, y down and z ahead. Angles are in degrees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEP = 15  # between neighbouring views of the grid
AZIMUTHS = tuple(range(0, 360, STEP))
ELEVATIONS = tuple(range(-75, 76, STEP))


@dataclass(frozen=True, eq=False)
class Camera:
    """Position, orientation and focal length of a camera.

    ``eye``: float64[3]. ``turn``: float64[3, 3], its rows are the camera's x, y and z in the world. ``focal``: focal length
    as a share of the image's height. The middle of the image lies ahead.
    """

    eye: NDArray[np.float64]
    turn: NDArray[np.float64]
    focal: float

    def seen(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points float64[..., 3] of the world in the camera's frame."""
        return (points - self.eye) @ self.turn.T

    def projected(self, points: NDArray[np.float64], width: int, height: int) -> NDArray[np.float64]:
        """Column and row, float64[..., 2], of points in front of the camera; (0, 0) is the corner of the first pixel."""
        x, y, z = np.moveaxis(self.seen(points), -1, 0)
        scale = self.focal * height / z
        return np.stack([width / 2 + x * scale, height / 2 + y * scale], axis=-1)


@dataclass(frozen=True)
class View:
    """One place to look from: the name of its picture, azimuth from x towards y, and elevation above the ground."""

    name: str
    azimuth: float
    elevation: float


def looking(eye: NDArray[np.float64], target: NDArray[np.float64], field: float = 50.0) -> Camera:
    """A camera at `eye` that looks at `target` with z up (with y up where it looks straight up or down).

    `field` is the angle from the image's upper edge to its lower one.
    """
    ahead = np.asarray(target, dtype=np.float64) - eye
    ahead = ahead / np.linalg.norm(ahead)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    if np.linalg.norm(right) < 1e-9:
        right = np.cross(ahead, [0.0, 1.0, 0.0])
    right = right / np.linalg.norm(right)
    turn = np.stack([right, np.cross(ahead, right), ahead])
    return Camera(np.asarray(eye, dtype=np.float64), turn, 0.5 / math.tan(math.radians(field) / 2))


def grid() -> tuple[View, ...]:
    """The 266 views of the 15-degree grid: 24 azimuths at each elevation from −75 to 75, row by row, then the two poles."""
    around = [(azimuth, elevation) for elevation in ELEVATIONS for azimuth in AZIMUTHS]
    return _named([*around, (0, -90), (0, 90)])


def turntable(count: int = len(AZIMUTHS), elevation: float = 0.0) -> tuple[View, ...]:
    """`count` views from evenly spread azimuths at one elevation; by default the grid's equator."""
    return _named([(360 * number / count, elevation) for number in range(count)])


def around(view: View, centre: NDArray[np.float64], radius: float, field: float = 40.0) -> Camera:
    """The camera of a view that just has the ball of that centre and radius in its image, with a margin of a twentieth."""
    azimuth, elevation = math.radians(view.azimuth), math.radians(view.elevation)
    level = 0.0 if abs(view.elevation) == 90 else math.cos(elevation)
    towards = np.array([level * math.cos(azimuth), level * math.sin(azimuth), math.sin(elevation)])
    distance = 1.05 * radius / math.sin(math.radians(field) / 2)
    return looking(centre + distance * towards, centre, field)


def _named(angles: list[tuple[float, float]]) -> tuple[View, ...]:
    return tuple(View(str(number), float(azimuth), float(elevation)) for number, (azimuth, elevation) in enumerate(angles))
