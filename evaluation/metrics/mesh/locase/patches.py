"""Patches: what the network sees of a mesh around each of its vertices."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

NEIGHBOURS = 64
CHANNELS = 7
_LARGEST = 1e4  # nothing in a patch is larger; only absurd shapes get there


class Surroundings:
    """The neighbourhoods of a shape's points float64[N, 3]."""

    def __init__(self, points: np.ndarray) -> None:
        self.points = points
        self._tree = cKDTree(points)

    def neighbours(self, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(numbers int64[Q, 64], distances float64[Q, 64]) of the points nearest to those asked for, nearest first.

        The first is the point itself. Where there are fewer than 64 points they are gone through again.
        """
        count = min(NEIGHBOURS, len(self.points))
        distance, number = self._tree.query(self.points[queries], k=count)
        number[:, 0], distance[:, 0] = queries, 0.0
        again = np.arange(NEIGHBOURS) % count
        return number[:, again], distance[:, again]

    def radius(self) -> float:
        """Mean distance from a point to its 64 neighbours: the unit of length of patches."""
        return float(np.mean([self.neighbours(part)[1].mean() for part in parts(len(self.points), len(self.points))]))

    def patches(self, queries: np.ndarray, radius: float) -> np.ndarray:
        """float32[Q, 64, 7]: where a neighbour lies from the point (3) and how far (1), in radii; the point itself (3)."""
        number, distance = self.neighbours(queries)
        here = self.points[queries][:, None]
        away = (self.points[number] - here) / radius
        tensor = np.concatenate([away, (distance / radius)[..., None], np.broadcast_to(here, away.shape)], axis=-1)
        return np.clip(tensor, -_LARGEST, _LARGEST).astype(np.float32)


def turned(patches: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """float32[..., 7]: patches whose places, of the neighbour and of the point itself, are turned by a matrix float64[3, 3]."""
    matrix = turn.astype(np.float32).T
    return np.concatenate([patches[..., :3] @ matrix, patches[..., 3:4], patches[..., 4:] @ matrix], axis=-1)


def parts(n: int, size: int) -> list[np.ndarray]:
    """The numbers 0 to n - 1 in pieces of at most `size`."""
    return [np.arange(start, min(start + size, n)) for start in range(0, n, size)]
