"""One item's prediction and reference, made ready for the metrics, with the work they share."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evaluation.metrics.wireframe import canon

if TYPE_CHECKING:
    from submissions.formats.wireframe import Wireframe

T = TypeVar("T")

RELATIVE_TOLERANCE = 1e-9
SPACING_STEPS = 4


class Pair:
    """A prediction and its reference.

    `pred_vertices`, `pred_edges`, `ref_vertices`, `ref_edges` are in the given order and the
    unit of the files, with the centre of the reference's bounding box subtracted (float64), so
    that nothing is lost at projected coordinates. Parameters come in metres and lengths go out in
    metres: `to_file` and `to_metres` convert. Arrays that are not finite wireframes are a
    programming error (ValueError); files are checked where they are parsed.
    """

    def __init__(
        self,
        pred_vertices: Any,
        pred_edges: Any,
        ref_vertices: Any,
        ref_edges: Any,
        unit_scale: float = 1.0,
    ) -> None:
        if not (math.isfinite(unit_scale) and unit_scale > 0):
            raise ValueError(f"unit_scale must be a positive number, got {unit_scale}")
        self.unit_scale = float(unit_scale)
        pred_vertices, self.pred_edges = _checked(pred_vertices, pred_edges, "prediction")
        ref_vertices, self.ref_edges = _checked(ref_vertices, ref_edges, "reference")
        everything = np.concatenate([pred_vertices, ref_vertices])
        self._magnitude = float(np.abs(everything).max()) if len(everything) else 0.0
        self.centre = (ref_vertices.max(axis=0) + ref_vertices.min(axis=0)) / 2 if len(ref_vertices) else np.zeros(3)
        self.pred_vertices = pred_vertices - self.centre
        self.ref_vertices = ref_vertices - self.centre
        self._done: dict[Hashable, Any] = {}

    @classmethod
    def of(cls, prediction: Wireframe | None, reference: Wireframe, unit_scale: float = 1.0) -> Pair:
        """The pair of two wireframes; a prediction of None is taken as the empty one."""
        vertices, edges = ((), ()) if prediction is None else (prediction.vertices, prediction.edges)
        return cls(vertices, edges, reference.vertices, reference.edges, unit_scale)

    def without_prediction(self) -> Pair:
        """The same reference against the empty prediction."""
        return Pair((), (), self.ref_vertices, self.ref_edges, self.unit_scale)

    def to_file(self, metres: float) -> float:
        """A length in metres, in the unit of the files."""
        return metres / self.unit_scale

    def to_metres(self, length: float) -> float:
        """A length in the unit of the files, in metres."""
        return float(length) * self.unit_scale

    def limit(self, tau: float) -> float:
        """The largest distance (unit of the files) that still counts as within `tau` metres.

        A little above tau itself, so that a distance of exactly tau counts although coordinates
        as large as those given could not hold it exactly.
        """
        tau = self.to_file(tau)
        return tau + RELATIVE_TOLERANCE * max(tau, 1.0) + SPACING_STEPS * float(np.spacing(self._magnitude))

    @property
    def reference_diagonal(self) -> float:
        """Diagonal of the reference's bounding box, in metres."""
        return self.to_metres(canon.bbox_diagonal(self.ref_vertices))

    @property
    def prediction_diagonal(self) -> float:
        """Diagonal of the prediction's bounding box, in metres."""
        return self.to_metres(canon.bbox_diagonal(self.pred_vertices))

    def corners(self, merge_tol: float | None, drop_isolated: bool) -> tuple[np.ndarray, np.ndarray]:
        """Canonical corners (predicted, reference), each float64[V, 3] in lexicographic order."""
        return self.once(
            ("corners", merge_tol, drop_isolated),
            lambda: (
                self._corners(self.pred_vertices, self.pred_edges, merge_tol, drop_isolated),
                self._corners(self.ref_vertices, self.ref_edges, merge_tol, drop_isolated),
            ),
        )

    def segments(self, merge_tol: float | None) -> tuple[canon.Segments, canon.Segments]:
        """Canonical non-degenerate edges (predicted, reference) as sorted geometry."""
        return self.once(
            ("segments", merge_tol),
            lambda: (
                self._segments(self.pred_vertices, self.pred_edges, merge_tol),
                self._segments(self.ref_vertices, self.ref_edges, merge_tol),
            ),
        )

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """`compute()`, done once for this pair however many metrics ask for `key`."""
        if key not in self._done:
            self._done[key] = compute()
        return self._done[key]

    def _corners(self, vertices: np.ndarray, edges: np.ndarray, merge_tol: float | None, drop_isolated: bool) -> np.ndarray:
        vertices, edges, _ = canon.lexicographic(vertices, edges)
        return canon.canon(vertices, edges, self._tolerance(merge_tol), drop_isolated)[0]

    def _segments(self, vertices: np.ndarray, edges: np.ndarray, merge_tol: float | None) -> canon.Segments:
        vertices, edges, _ = canon.lexicographic(vertices, edges)
        shortest = self.to_file(canon.DEGENERATE_LENGTH)
        return canon.segments(vertices, edges, self._tolerance(merge_tol), shortest)

    def _tolerance(self, merge_tol: float | None) -> float | None:
        return None if merge_tol is None else self.to_file(merge_tol)


def _checked(vertices: Any, edges: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """`vertices` as float64[V, 3] and `edges` as int64[E, 2]; ValueError if they are not."""
    points = np.asarray(vertices, dtype=np.float64)
    pairs = np.asarray(edges)
    if points.size == 0:
        points = np.empty((0, 3))
    if pairs.size == 0:
        pairs = np.empty((0, 2), dtype=np.int64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"the {name}'s vertices must have the shape [V, 3], got {points.shape}")
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
        raise ValueError(f"the {name}'s edges must be whole numbers of the shape [E, 2]")
    if not np.isfinite(points).all():
        raise ValueError(f"the {name} has a coordinate that is not finite")
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= len(points)):
        raise ValueError(f"the {name} has an edge that names a vertex it does not have")
    return points, pairs.astype(np.int64)
