"""Pseudo-scores of damaged meshes, as a simulated rater would give them: 1 to 5, from the level of damage and its effect.

No person has given any of them. The damage to an object is measured as a deviation D over samples of both surfaces. D is
the root mean square distance between the surfaces, in fiftieths of the reference's diagonal, plus the root mean square
angle between their normals, in radians. The strengths of the distortions were chosen so that at every level the mean
of D over the procedural objects is about the same for all kinds: LADDER. Read backwards the ladder turns a deviation
into an effective level, and

    score = 5 - STEP * (level + effective level) / 2,

half what was done and half what came of it. So scores of one kind fall with the level, kinds can be compared with one
another, and damage that hardly shows on an object (smoothing a ball) costs little.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from evaluation.synthetic.distortions import diagonal, face_areas, generator
from submissions.formats.arrays import Mesh

LADDER = (0.0, 0.15, 0.35, 0.7, 1.3)  # mean deviation at levels 0 to 4
STEP = 0.85
LOWEST = 1.1
_FEW, _MANY = 3_000, 20_000


class Judge:
    """Measures damage against one reference, whose samples are drawn once: `few` and `many` of each surface."""

    def __init__(self, reference: Mesh, few: int = _FEW, many: int = _MANY) -> None:
        self._size, self._counts = diagonal(reference), (few, many)
        self._few, self._many = _samples(reference, few, "few"), _samples(reference, many, "many")
        self._tree = cKDTree(self._many[0])
        self._floor = self._gap(self._few, self._many, self._tree)

    def deviation(self, mesh: Mesh) -> float:
        """D of the mesh; 0 for the reference itself."""
        few, many = (_samples(mesh, count, name) for count, name in zip(self._counts, ("few", "many"), strict=True))
        here = self._gap(few, self._many, self._tree)
        there = self._gap(self._few, many, cKDTree(many[0]))
        gap = np.sqrt(np.maximum((here + there) / 2 - self._floor, 0))
        return float(50 * gap[0] / self._size + gap[1])

    def score(self, mesh: Mesh, level: int) -> float:
        """The pseudo-score of the reference damaged at `level` (0 to 4)."""
        return score(level, self.deviation(mesh))

    def _gap(self, few: tuple[np.ndarray, np.ndarray], many: tuple[np.ndarray, np.ndarray], tree: cKDTree) -> np.ndarray:
        """Mean squares of the distances and angles from some samples to their nearest ones on the other surface."""
        distance, nearest = tree.query(few[0])
        angle = np.arccos(np.clip(np.abs((few[1] * many[1][nearest]).sum(axis=1)), 0, 1))
        return np.array([(distance**2).mean(), (angle**2).mean()])


def score(level: float, deviation: float) -> float:
    """The pseudo-score of a level of damage that came out as `deviation`."""
    steps = np.arange(len(LADDER))
    beyond = max(0.0, deviation - LADDER[-1]) / (LADDER[-1] - LADDER[-2])
    effective = float(np.interp(deviation, LADDER, steps)) + beyond
    return max(LOWEST, 5 - STEP * (level + effective) / 2)


def _samples(mesh: Mesh, n: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Stratified points of the surface and the unit normals there, float64[n, 3] each."""
    rng, area = generator(f"pseudo-score:{name}"), np.cumsum(face_areas(mesh))
    face = np.searchsorted(area, (np.arange(n) + rng.random(n)) / n * area[-1], side="right").clip(0, len(area) - 1)
    a, b, c = mesh.vertices[mesh.faces[face]].transpose(1, 0, 2)
    root, other = np.sqrt(rng.random((n, 1))), rng.random((n, 1))
    points = (1 - root) * a + root * (1 - other) * b + root * other * c
    normals = np.cross(b - a, c - a)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return points, np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)
