"""One item's predicted and reference mesh, made ready for the metrics, with the work they share."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from evaluation.metrics import array_checks
from evaluation.metrics.mesh import alignment
from evaluation.metrics.mesh.alignment import Similarity
from evaluation.metrics.mesh.sampling import morton_order, samples
from evaluation.metrics.mesh.surface import AREA_TOLERANCE, Surface, cross, distinct, surface
from evaluation.metrics.shared import Arrays, SharedWork

if TYPE_CHECKING:
    from submissions.formats.arrays import Mesh

SHORTEST_SIDE = 1e-30  # a reference whose longest side is no longer has no frame


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points that represent one side: `points` float64[N, 3] and the face of each, int32[N], or None without faces."""

    points: np.ndarray
    faces: np.ndarray | None

    @cached_property
    def tree(self) -> scipy.spatial.cKDTree:
        """A search tree over the points; they are in Morton order, so it needs no balancing."""
        return scipy.spatial.cKDTree(self.points, balanced_tree=False)


class MeshPair(SharedWork):
    """A prediction and its reference.

    `pred_vertices`, `pred_faces`, `ref_vertices`, `ref_faces` are in the given order and in the reference's frame (float64).
    There the bounding box of the reference's surface has its centre at the origin, and its longest side is 1.
    The same transform is applied to the prediction, so nothing is lost at projected coordinates.
    With `normalize="none"` lengths are in metres, with "gt_unit" in the frame: `length` says how long 1 is.

    A reference without a face that has an area cannot be measured against (ValueError, "degenerate_gt"), and arrays
    that are not finite meshes are a programming error (ValueError too); files are checked where they are parsed.
    """

    def __init__(
        self,
        pred_vertices: Any,
        pred_faces: Any,
        ref_vertices: Any,
        ref_faces: Any,
        unit_scale: float = 1.0,
        prepared: MutableMapping[str, Arrays] | None = None,
    ) -> None:
        super().__init__(prepared)
        self.unit_scale = array_checks.unit(unit_scale)
        pred_vertices, self.pred_faces = array_checks.indexed(pred_vertices, pred_faces, 3, "prediction", "face")
        ref_vertices, self.ref_faces = array_checks.indexed(ref_vertices, ref_faces, 3, "reference", "face")
        frame, *arrays = self.reference_once("mesh surface", lambda: self._reference(ref_vertices, self.ref_faces))
        self.reference = Surface(*arrays)
        self.centre, self.longest_side, self.min_area = frame[:3], float(frame[3]), float(frame[4])
        self.pred_vertices = (pred_vertices - self.centre) / self.longest_side
        self.ref_vertices = (ref_vertices - self.centre) / self.longest_side
        magnitude = max((float(np.abs(points).max()) for points in (pred_vertices, ref_vertices) if len(points)), default=0.0)
        # How far rounding alone may move a coordinate of the frame.
        self.spacing = float(np.spacing(magnitude)) / self.longest_side

    @classmethod
    def of(
        cls,
        prediction: Mesh | None,
        reference: Mesh,
        unit_scale: float = 1.0,
        prepared: MutableMapping[str, Arrays] | None = None,
    ) -> MeshPair:
        """The pair of two meshes; a prediction of None is taken as the empty one."""
        vertices, faces = ((), ()) if prediction is None else (prediction.vertices, prediction.faces)
        pair = cls(vertices, faces, reference.vertices, reference.faces, unit_scale, prepared)
        pair.given = prediction, reference
        return pair

    @classmethod
    def of_points(cls, prediction: Mesh, reference: Mesh, unit_scale: float = 1.0) -> MeshPair:
        """The pair of a prediction and a reference of points without faces: these points are its samples. No leaderboard has such one."""
        return _PointsPair.of(prediction, reference, unit_scale)

    @staticmethod
    def itself(reference: Mesh) -> Mesh:
        """The prediction that scores best against the reference."""
        return reference

    def length(self, normalize: str) -> float:
        """Length of the reference's longest side in the frame that `normalize` names: 1, or its length in metres."""
        return 1.0 if normalize == "gt_unit" else self.longest_side * self.unit_scale

    def diagonal(self, normalize: str) -> float:
        """Diagonal of the bounding box of the reference's surface in that frame."""
        return float(np.linalg.norm(np.ptp(self.reference.points, axis=0))) * self.length(normalize)

    @property
    def reference_diagonal(self) -> float:
        """The same in metres."""
        return self.diagonal("none")

    def prediction(self, align: str = "none") -> Surface:
        """The prediction's surface, moved onto the reference if `align` asks for it; it may have no faces."""
        return self.once(("prediction", align), lambda: surface(self.vertices(align), self.pred_faces, self.min_area))

    def vertices(self, align: str = "none") -> np.ndarray:
        """float64[V, 3]: the prediction's vertices in the given order, moved if `align` asks for it."""
        return self.pred_vertices if align == "none" else self.alignment(align).apply(self.pred_vertices)

    def alignment(self, align: str) -> Similarity:
        """The similarity that `align` applies to the prediction, in the reference's frame: none, or the one found by ICP."""
        if align == "none" or not len(self.pred_vertices):
            return alignment.IDENTITY
        cloud = self.prediction_cloud(alignment.POINTS)
        assert cloud is not None  # there are vertices
        return self.once(
            ("alignment", align), lambda: alignment.similarity_icp(cloud.points, self.reference_cloud(alignment.POINTS).points)
        )

    def alignment_parts(self, align: str, normalize: str) -> dict[str, float]:
        """The transform as parts of a result: `x -> align_scale * R x + align_t`; {} where `align` is none."""
        return {} if align == "none" else self.alignment(align).parts(self.length(normalize))

    def reference_cloud(self, n: int, seed0: int = 0) -> Cloud:
        """`n` points of the reference's surface."""
        points, faces = self.reference_once(f"mesh samples n={n} seed0={seed0}", lambda: samples(self.reference, n, seed0))
        return self.once(("reference cloud", n, seed0), lambda: Cloud(points, faces))

    def prediction_cloud(self, n: int, seed0: int = 0, align: str = "none") -> Cloud | None:
        """`n` points of the prediction's surface; all its vertices where it has no face; None where it has none of these."""
        return self.once(("prediction cloud", n, seed0, align), lambda: self._prediction_cloud(n, seed0, align))

    def _prediction_cloud(self, n: int, seed0: int, align: str) -> Cloud | None:
        found = self.prediction(align)
        if len(found):
            points, faces = samples(found, n, seed0)
        elif len(self.pred_vertices):
            return _without_faces(self.vertices(align))
        else:
            return None
        return Cloud(points, faces)

    @staticmethod
    def _reference(vertices: np.ndarray, faces: np.ndarray) -> Arrays:
        """The frame float64[5], then the arrays of its Surface in that frame. The frame has the centre and longest side of
        the surface's box, and the area up to which a face of either side counts for nothing."""
        faces = faces[distinct(faces)]
        kept, limit = faces, 0.0
        if len(faces):
            corners = vertices[np.unique(faces)]
            middle, limit = corners.mean(axis=0), AREA_TOLERANCE * float(np.sum(np.ptp(corners, axis=0) ** 2))
            kept = faces[np.linalg.norm(cross(vertices - middle, faces), axis=1) / 2 > limit]
        if not len(kept):
            raise ValueError("degenerate_gt: the reference has no face with an area")
        frame = _frame(vertices[np.unique(kept)], limit)
        found = surface((vertices - frame[:3]) / frame[3], faces, float(frame[4]))
        if not len(found):
            raise ValueError("degenerate_gt: the reference has no face with an area")
        return frame, found.points, found.faces, found.sign, found.areas


class _PointsPair(MeshPair):
    """A pair whose reference has no faces. Metrics of samples alone can be computed of it; see `MetricSpec.of_points`."""

    def reference_cloud(self, n: int, seed0: int = 0) -> Cloud:
        """All points of the reference."""
        return self.once(("reference cloud",), lambda: _without_faces(self.ref_vertices))

    @staticmethod
    def _reference(vertices: np.ndarray, faces: np.ndarray) -> Arrays:
        frame = _frame(vertices, 0.0)
        return frame, (vertices - frame[:3]) / frame[3], faces, np.empty(0, np.int8), np.empty(0)


def _without_faces(points: np.ndarray) -> Cloud:
    points = points[np.lexsort(points.T[::-1])]
    return Cloud(points[morton_order(points)], None)


def _frame(corners: np.ndarray, limit: float) -> np.ndarray:
    """(centre, longest side, smallest area in units of that side) of the corners' bounding box, float64[5]."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    longest = float((high - low).max())
    if longest <= SHORTEST_SIDE:
        raise ValueError("degenerate_gt: the reference is too small to be measured against")
    return np.array([*(low + high) / 2, longest, limit / longest**2])
