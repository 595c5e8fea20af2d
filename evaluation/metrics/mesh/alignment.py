"""Similarity ICP: the rotation, scale and shift that lay one cloud of points onto another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

POINTS = 10_000  # samples of each side
MAX_STEPS = 100
SETTLED = 1e-10  # relative change of the mean squared distance at which it stops
SCALES = (0.1, 10.0)  # no step may leave these bounds, or a prediction could shrink to a point


@dataclass(frozen=True, eq=False)
class Similarity:
    """x -> scale * rotation @ x + shift, and the root mean square distance that was left after it."""

    scale: float
    rotation: np.ndarray
    shift: np.ndarray
    residual: float = 0.0

    def apply(self, points: np.ndarray) -> np.ndarray:
        """float64[N, 3]"""
        return self.scale * points @ self.rotation.T + self.shift

    def parts(self, length: float) -> dict[str, float]:
        """Its numbers by name, the shift and the residual in a frame where 1 is `length` long."""
        named = {f"align_r{i}{j}": float(self.rotation[i, j]) for i in range(3) for j in range(3)}
        named |= {f"align_t{axis}": float(self.shift[i] * length) for i, axis in enumerate("xyz")}
        return {"align_scale": self.scale, **named, "align_rms": self.residual * length}


IDENTITY = Similarity(1.0, np.eye(3), np.zeros(3))


def similarity_icp(points: np.ndarray, reference: np.ndarray) -> Similarity:
    """The similarity that iterated nearest points give, started from where the two are.

    Both directions count, so that shrinking into the reference is no way out. It is the best of all steps, the start
    included: aligning never makes the sum of the two mean squared distances larger.
    """
    tree = scipy.spatial.cKDTree(reference)
    best, found, current = np.inf, IDENTITY, IDENTITY
    for _ in range(MAX_STEPS):
        moved = current.apply(points)
        (there, nearest), (back, source) = tree.query(moved), scipy.spatial.cKDTree(moved).query(reference)
        error = float(np.mean(there**2) + np.mean(back**2))
        settled = best - error <= SETTLED * error
        if error < best:
            best, found = error, current
        step = None if settled else fitted(np.concatenate([points, points[source]]), np.concatenate([reference[nearest], reference]))
        if step is None:
            break
        current = step
    return Similarity(found.scale, found.rotation, found.shift, float(np.sqrt(best / 2)))


def fitted(points: np.ndarray, targets: np.ndarray) -> Similarity | None:
    """The similarity of least squares from points to their targets (Umeyama 1991); None where it is not determined."""
    from_centre, to_centre = points.mean(axis=0), targets.mean(axis=0)
    source, target = points - from_centre, targets - to_centre
    spread = float(np.mean(np.sum(source**2, axis=1)))
    if spread <= np.finfo(float).tiny:
        return None
    u, stretch, vt = np.linalg.svd(target.T @ source / len(points))
    if stretch[1] <= 1e-12 * stretch[0]:  # all on one line: any turn about it would do
        return None
    signs = np.array([1.0, 1.0, np.sign(np.linalg.det(u) * np.linalg.det(vt))])
    rotation = u @ np.diag(signs) @ vt
    scale = float(np.clip(np.sum(stretch * signs) / spread, *SCALES))
    return Similarity(scale, rotation, to_centre - scale * rotation @ from_centre)
