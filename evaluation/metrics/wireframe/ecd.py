"""Distances between the edges of two wireframes as curves: chamfer, earth mover's and Hausdorff.

Both curves are sampled at n points. Chamfer and Hausdorff take each point to the nearest point of the
other curve's segments. So an edge less on one side never brings a point of the other side nearer. The
earth mover's distance matches the samples one to one. Isolated vertices play no part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.seeds import generator
from evaluation.metrics.spec import Param, Source, Symmetry
from evaluation.metrics.wireframe import parameters
from evaluation.metrics.wireframe.canon import Segments
from evaluation.metrics.wireframe.matching import assign, comes_first
from evaluation.metrics.wireframe.pair import Pair

ROUNDING = 1e-14  # of the largest coordinate: a point this near to a segment lies on it


@dataclass(frozen=True, eq=False)
class Gaps:
    """float64[n] each: from every sample to the nearest segment of the other side, in metres."""

    pred2gt: np.ndarray
    gt2pred: np.ndarray


def ecd_chamfer(pair: Pair, n: int, sampling: str, seed0: int, merge_tol: float | None, one_sided: str) -> MetricResult:
    """Mean of the two directed mean distances from samples to segments, in metres; `one_sided` takes only one of them.

    0 for equal geometry and for two wireframes without length; the bounding box diagonal of the
    other one if exactly one has no length.
    """
    lengthless = _lengthless(pair, merge_tol)
    if lengthless is not None:
        return lengthless
    gaps = _gaps(pair, n, _seed("ecd_chamfer", sampling, seed0), merge_tol)
    parts = {"pred2gt": float(gaps.pred2gt.mean()), "gt2pred": float(gaps.gt2pred.mean())}
    both = (parts["pred2gt"] + parts["gt2pred"]) / 2
    return MetricResult(both if one_sided == "off" else parts[one_sided], parts=parts)


def wf_hausdorff(pair: Pair, n: int, sampling: str, seed0: int, merge_tol: float | None) -> MetricResult:
    """Largest distance of a sample, or of an end of an edge, of either wireframe to the other's segments, in metres.

    Wireframes without length count as for ecd_chamfer.
    """
    lengthless = _lengthless(pair, merge_tol)
    if lengthless is not None:
        return lengthless
    gaps = _gaps(pair, n, _seed("wf_hausdorff", sampling, seed0), merge_tol)
    pred, ref = pair.segments(merge_tol)
    parts = {
        "pred2gt": float(max(gaps.pred2gt.max(), _metres(pair, _corners(pred), ref).max())),
        "gt2pred": float(max(gaps.gt2pred.max(), _metres(pair, _corners(ref), pred).max())),
    }
    return MetricResult(max(parts.values()), parts=parts)


def ecd_emd(pair: Pair, n: int, sampling: str, seed0: int, merge_tol: float | None) -> MetricResult:
    """Mean distance in metres of the one-to-one matching of samples that makes it least (Wasserstein-1).

    Wireframes without length count as for ecd_chamfer. Time grows with the cube of n, memory with
    its square.
    """
    lengthless = _lengthless(pair, merge_tol)
    if lengthless is not None:
        return lengthless
    samples = _samples(pair, n, _seed("ecd_emd", sampling, seed0), merge_tol)

    def compute() -> float:
        first, second = samples if comes_first(*samples) else samples[::-1]
        distance = scipy.spatial.distance.cdist(first, second)
        return distance[assign(distance)].mean()

    return MetricResult(pair.to_metres(pair.repeated("matched samples", samples, compute)))


def sample_points(edges: Segments, positions: np.ndarray) -> np.ndarray:
    """float64[n, 3]: the points at `positions` in [0, 1) of the arc length of all edges in a row.

    Edges follow one another in the order of `edges`, whose total length must not be 0.
    """
    lengths = edges.lengths
    reached = np.cumsum(lengths)
    along = positions * reached[-1]
    edge = np.minimum(np.searchsorted(reached, along, side="right"), len(lengths) - 1)
    share = np.clip((along - (reached[edge] - lengths[edge])) / lengths[edge], 0.0, 1.0)
    start, end = edges.ends[edge, 0], edges.ends[edge, 1]
    return start + share[:, None] * (end - start)


def to_segments(points: np.ndarray, others: Segments) -> np.ndarray:
    """float64[N]: the distance of each of points[N, 3] to the nearest of the segments, of which there is at least one."""
    import igl

    corners = _corners(others)
    _, _, nearest = igl.point_mesh_squared_distance(points, corners, np.arange(len(corners)).reshape(-1, 2))
    gaps = np.linalg.norm(points - nearest, axis=1)
    return np.where(gaps <= ROUNDING * np.abs(corners).max(), 0.0, gaps)


def stratified_positions(n: int) -> np.ndarray:
    """The middles of n equal steps of [0, 1]."""
    return (np.arange(n) + 0.5) / n


def _lengthless(pair: Pair, merge_tol: float | None) -> MetricResult | None:
    """The result where a side has no length, else None."""
    pred, ref = pair.segments(merge_tol)
    if len(pred) and len(ref):
        return None
    if not len(pred):
        return MetricResult(pair.reference_diagonal if len(ref) else 0.0, Status.EMPTY_PRED)
    return MetricResult(pair.prediction_diagonal)


def _seed(metric: str, sampling: str, seed0: int) -> tuple[str, int] | None:
    """The seed of the generator; None for stratified sampling."""
    return (metric, seed0) if sampling == "random" else None


def _samples(pair: Pair, n: int, seed: tuple[str, int] | None, merge_tol: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Points on both curves, float64[n, 3] each; the reference's may have been prepared."""
    pred, ref = pair.segments(merge_tol)
    positions = stratified_positions(n) if seed is None else generator(*seed).random(n)
    key = f"curve samples n={n} seed={seed} merge_tol={merge_tol}"
    (on_ref,) = pair.reference_once(key, lambda: (sample_points(ref, positions),))
    return sample_points(pred, positions), on_ref


def _gaps(pair: Pair, n: int, seed: tuple[str, int] | None, merge_tol: float | None) -> Gaps:
    """The samples' distances; both sides must have a length."""

    def compute() -> Gaps:
        pred, ref = pair.segments(merge_tol)
        on_pred, on_ref = _samples(pair, n, seed, merge_tol)
        return Gaps(_metres(pair, on_pred, ref), _metres(pair, on_ref, pred))

    return pair.once(("sample gaps", n, seed, merge_tol), compute)


def _metres(pair: Pair, points: np.ndarray, others: Segments) -> np.ndarray:
    return to_segments(points, others) * pair.unit_scale


def _corners(edges: Segments) -> np.ndarray:
    """float64[2 S, 3]: both ends of each segment, segment by segment."""
    return np.ascontiguousarray(edges.ends.reshape(-1, 3))


def _params(default: int, most: int = 1_000_000) -> tuple[Param, ...]:
    return (
        parameters.samples("n", default, "Sample points on each wireframe.", most),
        Param(
            "sampling",
            "stratified",
            "choice",
            choices=("stratified", "random"),
            doc="Points at equal steps along all edges, or uniform random ones with a fixed seed. The paper does not say "
            "which of the two it uses; its table 2 shows that it sampled both wireframes differently.",
            source=Source.OURS,
        ),
        parameters.SEED,
        parameters.MERGE,
    )


PLACE = 40  # in lists of metrics of its kind
SPECS = (
    parameters.distance(
        key="ecd_chamfer",
        title="Edge chamfer distance",
        params=(
            *_params(10_000),
            Param(
                "one_sided",
                "off",
                "choice",
                choices=("off", "pred2gt", "gt2pred"),
                doc="Only one of the two directed means instead of their average. Equation 1 of the paper is one directed mean.",
                source=Source.OURS,
            ),
        ),
        worst="gt_diagonal",
        doc="Mean distance from points on the edges of one wireframe to the edges of the other, averaged over both directions.",
        origin=parameters.WIREFRAME,
        function=ecd_chamfer,
        examples=("CONNECTION_UNSEEN", "FEW_WRONG_LONG_EDGES"),
        symmetry=Symmetry.ROUNDING,
        formula="½ (mean_{a∈A} min_{q∈Q} ‖a − q‖ + mean_{b∈B} min_{p∈P} ‖b − p‖), A, B samples of the edges P, Q",
        version=2,
    ),
    parameters.distance(
        key="ecd_emd",
        title="Edge earth mover distance",
        params=_params(1024, most=4096),
        worst="gt_diagonal",
        doc="Mean distance between points on the edges of the two wireframes, matched one to one with the least total distance. Unlike "
        "the chamfer distance, this metric requires the right amount of edge everywhere.",
        origin=parameters.WIREFRAME,
        function=ecd_emd,
        examples=("MISSING_PARTS_PAID_BY_NEIGHBOURS", "CONNECTION_UNSEEN"),
        symmetry=Symmetry.ROUNDING,
        formula="min_σ (1/n) Σ_k ‖a_k − b_σ(k)‖ over permutations σ",
    ),
    parameters.distance(
        key="wf_hausdorff",
        title="Hausdorff distance",
        params=_params(10_000),
        worst="gt_diagonal",
        doc=(
            "Largest distance from the edges of one wireframe to those of the other, in either direction. Measured from points sampled on "
            "the edges, and from their ends."
        ),
        origin=parameters.WIREFRAME,
        function=wf_hausdorff,
        examples=("WORST_POINT_DECIDES", "CONNECTION_UNSEEN"),
        symmetry=Symmetry.ROUNDING,
        formula="max(max_{a∈A} min_{q∈Q} ‖a − q‖, max_{b∈B} min_{p∈P} ‖b − p‖), A, B samples and ends of the edges P, Q",
        version=2,
    ),
)
