"""One item's prediction and reference, made ready for the metrics, with the work they share."""

from __future__ import annotations

import copy
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from evaluation.metrics import array_checks
from evaluation.metrics.shared import Arrays, SharedWork
from evaluation.metrics.wireframe import canon

if TYPE_CHECKING:
    from submissions.formats.wireframe.wireframe_files import Wireframe

RELATIVE_TOLERANCE = 1e-9
SPACING_STEPS = 4


class Pair(SharedWork):
    """A prediction and its reference.

    `pred_vertices`, `pred_edges`, `ref_vertices`, `ref_edges` are in the given order and the unit of the files, with the centre of the
    reference's bounding box subtracted (float64), so that nothing is lost at projected coordinates. Parameters and results are in metres:
    `to_file` and `to_metres` convert. `pred_scores` float64[E] are the predicted edges' confidences, or None. Arrays that are not finite
    wireframes are a programming error (ValueError); files are checked where they are parsed. `prepared`: see SharedWork.
    """

    def __init__(
        self,
        pred_vertices: Any,
        pred_edges: Any,
        ref_vertices: Any,
        ref_edges: Any,
        unit_scale: float = 1.0,
        pred_scores: Any = None,
        prepared: MutableMapping[str, Arrays] | None = None,
    ) -> None:
        super().__init__(prepared)
        self.unit_scale = array_checks.unit(unit_scale)
        pred_vertices, self.pred_edges = array_checks.indexed(pred_vertices, pred_edges, 2, "prediction", "edge")
        ref_vertices, self.ref_edges = array_checks.indexed(ref_vertices, ref_edges, 2, "reference", "edge")
        self.pred_scores = scores = None if pred_scores is None else np.asarray(pred_scores, dtype=np.float64)
        if scores is not None and not (scores.shape == (len(self.pred_edges),) and np.isfinite(scores).all()):
            raise ValueError("the prediction's edge scores must be one finite number per edge")
        self._ref_magnitude = _magnitude(ref_vertices)
        self.magnitude = max(self._ref_magnitude, _magnitude(pred_vertices))
        self.centre = (ref_vertices.max(axis=0) + ref_vertices.min(axis=0)) / 2 if len(ref_vertices) else np.zeros(3)
        self.pred_vertices = pred_vertices - self.centre
        self.ref_vertices = ref_vertices - self.centre

    @classmethod
    def of(
        cls,
        prediction: Wireframe | None,
        reference: Wireframe,
        unit_scale: float = 1.0,
        prepared: MutableMapping[str, Arrays] | None = None,
    ) -> Pair:
        """The pair of two wireframes; a prediction of None is taken as the empty one."""
        vertices, edges, scores = ((), (), None) if prediction is None else (prediction.vertices, prediction.edges, prediction.edge_score)
        pair = cls(vertices, edges, reference.vertices, reference.edges, unit_scale, scores, prepared)
        pair.given = prediction, reference
        return pair

    @staticmethod
    def itself(reference: Wireframe) -> Wireframe:
        """The prediction that scores best against the reference."""
        return reference

    def without_prediction(self) -> Pair:
        """The same reference with an empty prediction; data prepared from the reference are shared."""
        alone = copy.copy(self)
        alone.pred_vertices, alone.pred_edges, alone.pred_scores = np.empty((0, 3)), np.empty((0, 2), dtype=np.int64), None
        alone.magnitude = self._ref_magnitude
        alone._done = {}
        alone.given = None, self.given[1]
        return alone

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
        return tau + RELATIVE_TOLERANCE * max(tau, 1.0) + self.rounding

    def slack(self, distance: Any) -> Any:
        """The error that a distance may have for rounding alone; both in the unit of the files, one or an array."""
        return RELATIVE_TOLERANCE * np.maximum(distance, 1.0) + self.rounding

    @property
    def rounding(self) -> float:
        """The part of it that the size of the coordinates given is behind."""
        return SPACING_STEPS * float(np.spacing(self.magnitude))

    @property
    def reference_diagonal(self) -> float:
        """Diagonal of the reference's bounding box, in metres."""
        return self.to_metres(canon.bbox_diagonal(self.ref_vertices))

    @property
    def prediction_diagonal(self) -> float:
        """Diagonal of the prediction's bounding box, in metres."""
        return self.to_metres(canon.bbox_diagonal(self.pred_vertices))

    def graphs(self, merge_tol: float | None = None, drop_isolated: bool = False) -> tuple[canon.Graph, canon.Graph]:
        """Canonical (predicted, reference) wireframes with vertices in lexicographic order."""

        def graph(vertices: np.ndarray, edges: np.ndarray) -> canon.Graph:
            return canon.Graph(*canon.canon(vertices, edges, self._tolerance(merge_tol), drop_isolated))

        pred, ref = self._ordered()
        return self.once(("graphs", merge_tol, drop_isolated), lambda: (graph(*pred), graph(*ref)))

    def graphs_as_given(self, merge_tol: float | None = None, drop_isolated: bool = False) -> tuple[canon.Graph, canon.Graph]:
        """The same with vertices in the order of the files."""
        tolerance = self._tolerance(merge_tol)
        pred = canon.canon(self.pred_vertices, self.pred_edges, tolerance, drop_isolated)
        ref = canon.canon(self.ref_vertices, self.ref_edges, tolerance, drop_isolated)
        return canon.Graph(*pred), canon.Graph(*ref)

    def corners(self, merge_tol: float | None, drop_isolated: bool) -> tuple[np.ndarray, np.ndarray]:
        """Canonical corners (predicted, reference), each float64[V, 3] in lexicographic order."""
        pred, ref = self.graphs(merge_tol, drop_isolated)
        return pred.vertices, ref.vertices

    def corner_distances(self, merge_tol: float | None, drop_isolated: bool) -> np.ndarray:
        """float64[P, G]: distances between the canonical corners, in the unit of the files."""

        def compute() -> np.ndarray:
            return scipy.spatial.distance.cdist(*self.corners(merge_tol, drop_isolated))

        return self.once(("corner distances", merge_tol, drop_isolated), compute)

    def segments(self, merge_tol: float | None) -> tuple[canon.Segments, canon.Segments]:
        """Canonical non-degenerate edges (predicted, reference) as sorted geometry; `corner` numbers the corners."""
        pred, ref = self._ordered()
        return self.once(("segments", merge_tol), lambda: (self._segments(*pred, merge_tol), self._segments(*ref, merge_tol)))

    def segment_scores(self, merge_tol: float | None) -> np.ndarray | None:
        """float64[S]: the confidence of each predicted segment, the highest of doubled edges; None without any."""
        if self.pred_scores is None:
            return None
        vertices, edges = self._ordered()[0]
        by_score = np.argsort(-self.pred_scores, kind="stable")
        return self.pred_scores[by_score][self._segments(vertices, edges[by_score], merge_tol).source]

    def _ordered(self) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """(vertices, edges) of both sides, vertices in lexicographic order."""

        def ordered() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
            pred = canon.lexicographic(self.pred_vertices, self.pred_edges)
            ref = canon.lexicographic(self.ref_vertices, self.ref_edges)
            return pred[:2], ref[:2]

        return self.once("ordered", ordered)

    def _segments(self, vertices: np.ndarray, edges: np.ndarray, merge_tol: float | None) -> canon.Segments:
        return canon.segments(vertices, edges, self._tolerance(merge_tol), self.to_file(canon.DEGENERATE_LENGTH))

    def _tolerance(self, merge_tol: float | None) -> float | None:
        return None if merge_tol is None else self.to_file(merge_tol)


def _magnitude(vertices: np.ndarray) -> float:
    """The largest coordinate without its sign; 0 without vertices."""
    return float(np.abs(vertices).max()) if len(vertices) else 0.0
