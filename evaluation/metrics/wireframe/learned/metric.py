"""`wf_learned`: how a network trained on people's choices likes a wireframe, seen together with its reference in one picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.spec import PRECISION, Effort, MetricSpec, Param, Source
from evaluation.metrics.tolerance import Tolerance
from evaluation.metrics.wireframe.canon import segments
from evaluation.metrics.wireframe.pair import Pair
from evaluation.metrics.wireframe.parameters import WIREFRAME
from evaluation.networks import weights as stored
from evaluation.networks.precision import FLOAT32
from evaluation.rendering.wires import BLACK, BLUE, Lines, Viewpoint, picture

if TYPE_CHECKING:
    from evaluation.metrics.wireframe.learned.network import Head


SIDE = 518  # pixels; a whole number of DINOv2's patches of 14
MARGIN = 1.15  # what is seen, over the ball around the reference
WIDTH = 2.0  # of a line, in pixels
VIEW_VERSION = 1  # raised whenever a pixel can change


def viewpoint(pair: Pair) -> Viewpoint | None:
    """Azimuth 45°, elevation 30°, on the ball around the reference's vertices, with the middle of their bounding box; None if the box has
    no size. The prediction never changes the view; its parts beyond are cut off."""
    squared = (pair.ref_vertices**2).sum(axis=1)
    radius = float(np.sqrt(squared.max())) if len(squared) else 0.0
    return Viewpoint((0.0, 0.0, 0.0), MARGIN * radius) if radius > 0 else None


def canonical_view(pair: Pair) -> np.ndarray:
    """uint8[518, 518, 3]: the reference's edges in black and the prediction's in blue over them, on white, smoothed by two
    samples a side. ValueError for a reference without size."""
    place = viewpoint(pair)
    if place is None:
        raise ValueError("a reference without size cannot be looked at")
    reference = Lines(segments(pair.ref_vertices, pair.ref_edges).ends, BLACK, WIDTH)
    prediction = Lines(segments(pair.pred_vertices, pair.pred_edges).ends, BLUE, WIDTH)
    return picture([reference, prediction], place, SIDE)


NETWORK = "wf_learned"
_loaded: dict[str, Head] = {}  # by digest


def wf_learned(pair: Pair, weights: str) -> MetricResult:
    """g of the canonical view of both, in logits: P(i before j) = σ(g_i − g_j) on the same reference; higher is better.

    An empty prediction gets g of the view of the reference alone; to a reference without size the metric does not apply.
    WeightsError where a file is not here or another than its card says, or the features are not those that were trained
    on: no network scores with random weights.
    """
    found = stored.require(NETWORK, weights)
    if viewpoint(pair) is None:
        return MetricResult(None, Status.NOT_APPLICABLE, ("degenerate_reference",))
    if not len(segments(pair.pred_vertices, pair.pred_edges)):
        (alone,) = pair.reference_once(f"{NETWORK} {found.sha256}", lambda: (liking(found, [canonical_view(pair)]),))
        return MetricResult(float(alone[0]), Status.EMPTY_PRED)
    return MetricResult(float(liking(found, [canonical_view(pair)])[0]))


def liking(found: stored.Weights, views: Sequence[np.ndarray]) -> np.ndarray:
    """g, float64[N], of views uint8[518, 518, 3], by the head and the features of that set of weights."""
    # Loads torch, which a process that computes no learned metric never needs.
    import torch

    from evaluation.metrics.wireframe.learned import network
    from evaluation.metrics.wireframe.learned.network import ready
    from evaluation.networks.inference import exact

    known = network.KNOWN[found.card["features"]["name"]]
    if found.sha256 not in _loaded:
        _loaded[str(found.sha256)] = ready(found.read(), known.width)
    seen = torch.from_numpy(known.of(views))
    with exact(precision=FLOAT32):
        return _loaded[str(found.sha256)](seen).double().numpy()


PLACE = 90  # in lists of metrics of its kind
SPECS = (
    MetricSpec(
        key="wf_learned",
        title="Learned preference",
        family="wireframe",
        higher_is_better=True,
        bounds=(-math.inf, None),
        unit="logit",
        params=(
            Param(
                "weights",
                "study",
                "choice",
                choices=("study",),
                network="wf_learned",
                doc=(
                    "The trained weights, by name. The service comes without weights; an operator trains them on a study's votes "
                    "(python -m evaluation train wireframe-preference). The paper's weights are not published."
                ),
                source=Source.OURS,
            ),
            PRECISION,
        ),
        worst="empty_prediction",
        doc=(
            "The score that a network trained on people's choices gives to one picture of the wireframe over its reference. The "
            "difference of two entries' values on an item is the log-odds that people would prefer the first; a value alone means "
            "nothing."
        ),
        origin=WIREFRAME.noting("the view, the head and the weights are our own"),
        function=wf_learned,
        warning=(
            "Never rank entries by this metric alone. Its network learns what the raters of one study liked in pictures from one side, and "
            "an entry can please the network without being better (reward hacking). Rank by a geometric metric, and use this metric "
            "beside it."
        ),
        formula="g(r), P(i before j) = σ(g(r_i) − g(r_j)); r: picture of 518 × 518 pixels, prediction in blue over reference in black, "
        "orthographic, azimuth 45°, elevation 30°; g = head(features(r)), features frozen",
        weights="wf_learned",
        tolerance=Tolerance(relative=1e-3, absolute=1e-3),  # logits, which may lie near 0
        effort=Effort(6.0, 30, power=0.0),  # DINOv2 on one core, twice where the reference alone is not known yet
    ),
)
