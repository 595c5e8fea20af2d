"""`locase`: the learned shape fidelity of a mesh against its reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evaluation.metrics.mesh.locase.alignment import shape
from evaluation.metrics.mesh.pair import MeshPair
from evaluation.metrics.result import MetricResult, Status
from evaluation.networks import weights as stored

if TYPE_CHECKING:
    from evaluation.metrics.mesh.locase.network import LoCaSE

WORST = 1.0
_loaded: dict[str, LoCaSE] = {}  # by digest


def locase(pair: MeshPair, weights: str = "stage1") -> MetricResult:
    """The network's score between 1 and 5, higher is better; each mesh is seen in a frame of its own.

    A prediction with fewer than four different vertices or no size gets 1. WeightsError where the weights' file is not
    here, or another than its card says: no network scores with random weights.
    """
    found = stored.require("locase", weights)
    reference = pair.reference_once(f"locase {found.sha256}", lambda: _reference(pair, found))
    if not len(reference):
        return MetricResult(None, Status.NOT_APPLICABLE, ("degenerate_reference",))
    damaged = shape(pair.pred_vertices, pair.pred_faces)
    if damaged is None:
        return MetricResult(WORST, Status.OK if len(pair.pred_vertices) else Status.EMPTY_PRED, ("degenerate",))
    # Loads torch, which a process that computes no learned metric never needs.
    from evaluation.metrics.mesh.locase.sampling import Sampling
    from evaluation.metrics.mesh.locase.scoring import compared, encoding

    model, (encoded, how) = network(found), reference
    score = compared(model, encoding(model, damaged, Sampling.from_array(how)), encoded)
    return MetricResult(score, parts={"points": float(len(damaged.points))})


def network(found: stored.Weights) -> LoCaSE:
    """The network with these weights, on the graphics card if there is one that works; read once per process.

    WeightsError where they were trained for another network than this version's.
    """
    if found.sha256 not in _loaded:
        from evaluation.metrics.mesh.locase.scoring import fits, ready

        data = found.read()
        if not fits(data):
            raise stored.WeightsError(f"The weights “{found.name}” of locase are of an earlier version of its network; train them again.")
        _loaded[found.sha256] = ready(data)
    return _loaded[found.sha256]


def _reference(pair: MeshPair, found: stored.Weights) -> tuple[np.ndarray, ...]:
    """(encoding float32[512], sampling float64[4]) of the reference, () where it is degenerate."""
    from evaluation.metrics.mesh.locase.sampling import sampling
    from evaluation.metrics.mesh.locase.scoring import encoding

    points = shape(pair.ref_vertices, pair.ref_faces)
    if points is None:
        return ()
    how = sampling(points)
    return encoding(network(found), points, how), how.to_array()
