"""Spectral graph distances: Wasserstein distance between the eigenvalues of two Laplacians.

A wireframe's adjacency matrix has the length of each edge (metres); its Laplacian's eigenvalues
are taken as a distribution of equal weights. Isolated vertices count with the eigenvalue 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.spec import Effort, MetricSpec, Param, Source, Symmetry
from evaluation.metrics.wireframe import parameters
from evaluation.metrics.wireframe.canon import Graph
from evaluation.metrics.wireframe.pair import Pair

ZERO = 1e-9  # relative to the largest eigenvalue or to 1 m: smaller ones are 0


def spectral_l1(pair: Pair, **params: Any) -> MetricResult:
    """Mean distance in metres (Wasserstein-1); 0 for equal spectra."""
    return _distance(pair, 1, **params)


def spectral_l2(pair: Pair, **params: Any) -> MetricResult:
    """Root of the mean squared distance in metres (Wasserstein-2); 0 for equal spectra."""
    return _distance(pair, 2, **params)


def spectrum(graph: Graph, unit_scale: float = 1.0) -> np.ndarray:
    """float64[V], ascending: the eigenvalues of the Laplacian, in metres; (0) without vertices.

    Connected parts are solved one by one, which gives the same values for less work.
    """
    n = len(graph.vertices)
    if not n:
        return np.zeros(1)
    length = graph.lengths() * unit_scale
    a, b = graph.edges.T
    links = scipy.sparse.coo_array((np.ones(len(a)), (a, b)), shape=(n, n))
    _, part = scipy.sparse.csgraph.connected_components(links, directed=False)
    found = [np.zeros(n - len(np.unique(graph.edges)))]
    order, size = np.argsort(part, kind="stable"), np.bincount(part)
    place = np.empty(n, dtype=np.int64)  # of each vertex within its part
    place[order] = np.arange(n) - np.repeat(np.cumsum(size) - size, size)
    for number in np.flatnonzero(size > 1):
        here = part[a] == number
        laplacian = np.zeros((size[number], size[number]))
        from_, to = place[a[here]], place[b[here]]
        laplacian[from_, to] = laplacian[to, from_] = -length[here]
        np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
        found.append(np.linalg.eigvalsh(laplacian))
    values = np.sort(np.concatenate(found))
    values[np.abs(values) < ZERO * max(1.0, values[-1])] = 0.0
    return values


def wasserstein(a: np.ndarray, b: np.ndarray, p: int) -> float:
    """W_p between two ascending samples of equal weights: the quantile integral, exactly.

    Both quantile functions are steps, so on each interval between steps of either the integrand is
    constant.
    """
    if len(a) == len(b):
        gap, width = np.abs(a - b), np.full(len(a), 1 / len(a))
    else:
        steps = np.unique(np.concatenate([np.arange(len(a) + 1) * len(b), np.arange(len(b) + 1) * len(a)]))
        gap = np.abs(a[steps[:-1] // len(b)] - b[steps[:-1] // len(a)])
        width = np.diff(steps) / (len(a) * len(b))
    largest = gap.max()
    return float(largest * ((gap / largest) ** p @ width) ** (1 / p)) if largest > 0 else 0.0


def _distance(pair: Pair, p: int, size_mode: str, normalize: str, drop_isolated: bool, merge_tol: float | None) -> MetricResult:
    def compute() -> tuple[np.ndarray, np.ndarray]:
        pred, ref = pair.graphs(merge_tol, drop_isolated)
        key = f"spectrum merge_tol={merge_tol} drop_isolated={drop_isolated}"
        (kept,) = pair.reference_once(key, lambda: (spectrum(ref, pair.unit_scale),))
        return spectrum(pred, pair.unit_scale), kept

    pred, ref = pair.once(("spectra", merge_tol, drop_isolated), compute)
    if size_mode == "pad":
        size = max(len(pred), len(ref))
        pred, ref = (np.sort(np.pad(values, (size - len(values), 0))) for values in (pred, ref))
    value = wasserstein(pred, ref, p)
    if normalize == "diam":
        diameter = pair.to_metres(pair.graphs(merge_tol, drop_isolated)[1].diameter)
        if diameter == 0:
            return MetricResult(None, Status.NOT_APPLICABLE, ("degenerate_gt",))
        value /= diameter
    return MetricResult(value, Status.OK if len(pair.pred_vertices) else Status.EMPTY_PRED)


def _spec(p: int, function: Callable[..., MetricResult], formula: str) -> MetricSpec:
    return parameters.distance(
        key=f"spectral_l{p}",
        title=f"Spectral distance L{p}",
        params=(
            Param(
                "size_mode",
                "quantile",
                "choice",
                choices=("quantile", "pad"),
                doc="How spectra of different size are compared: by quantiles, as distributions are, or with zeros added at the low end "
                "of the shorter one.",
                source=Source.PAPER,
            ),
            Param(
                "normalize",
                "off",
                "choice",
                choices=("off", "diam"),
                doc="Divide by the reference's diameter; the value then has no unit.",
                source=Source.OURS,
            ),
            parameters.ISOLATED,
            parameters.MERGE,
        ),
        worst="empty_prediction",
        doc=f"Wasserstein-{p} distance between the eigenvalues of the two graphs' Laplacians, edges weighted by their length. "
        "The metric measures how edges are connected and how long they are, not where they are. Large buildings weigh more in "
        "a mean over items.",
        origin=parameters.WIREFRAME,
        function=function,
        examples=("POSE_UNSEEN", "SHEAR_UNSEEN"),
        symmetry=Symmetry.ROUNDING,
        effort=Effort(10.0, 3_000, power=3.0),  # both spectra, where all vertices hang together; parts that do not are solved alone
        formula=f"{formula}, λ, μ = eig(diag(A1) − A), A_ij = ‖v_i − v_j‖",
    )


PLACE = 50  # in lists of metrics of its kind
SPECS = (
    _spec(1, spectral_l1, "∫₀¹ |F_λ⁻¹(u) − F_μ⁻¹(u)| du"),
    _spec(2, spectral_l2, "(∫₀¹ |F_λ⁻¹(u) − F_μ⁻¹(u)|² du)^½"),
)
