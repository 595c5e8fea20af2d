"""`lite0_distance`: how far apart render and reference are in the features of EfficientNet-Lite0. Own definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.spec import PRECISION, MetricSpec, Source, published
from evaluation.metrics.tolerance import OF_NETWORKS

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from evaluation.metrics.render.pair import RenderPair

STRIDES = (4, 8, 16)
SMALLEST = 96  # px on every side
UNTRIED = "How far this metric agrees with people has not been measured yet."
WEIGHTS = published("lite0", "The weights of EfficientNet-Lite0, which are a Python package that the server has.", Source.OURS)


def cosines(one: np.ndarray, other: np.ndarray, weights: str, strides: Sequence[int]) -> list[Tensor]:
    """The cosine of the features of two pictures uint8[H, W, 3] at each place, for each stride s: float32[H // s, W // s]."""
    import torch

    from evaluation.networks import lite0
    from evaluation.networks.inference import exact, with_room
    from evaluation.networks.load import load

    def compute(device: torch.device) -> list[Tensor]:
        network: Any = load("lite0", weights, device)
        with exact(device):
            pixels = torch.from_numpy(np.stack([one, other]).transpose(0, 3, 1, 2)).to(device).float()
            found = [lite0.unit(features) for features in lite0.dense(network, pixels, strides)]
            # Of vectors of length 1; written so that equal ones have exactly 1.
            return [1 - (features[0] - features[1]).square().sum(0).cpu() / 2 for features in found]

    return with_room(compute)


def lite0_distance(pair: RenderPair, weights: str) -> MetricResult:
    """The mean over the strides 4, 8 and 16 of the mean over places of 1 − cosine, in [0, 2]; 0 where both are alike.

    Parts: `stride_4`, `stride_8`, `stride_16`, each stride's own mean. Flag: `too_small` (a side under 96 px, no value).
    """
    if pair.reference.image is not None and min(pair.ref.shape[:2]) < SMALLEST:
        return MetricResult(None, Status.NOT_APPLICABLE, ("too_small",))
    if pair.not_alike is not None:
        return pair.not_alike
    apart = [min(1 - float(one.double().mean()), 2.0) for one in cosines(pair.ref, pair.pred, weights, STRIDES)]
    return MetricResult(float(np.mean(apart)), parts={f"stride_{stride}": value for stride, value in zip(STRIDES, apart, strict=True)})


PLACE = 110  # in lists of metrics of its kind
SPECS = (
    MetricSpec(
        key="lite0_distance",
        title="Lite0 distance",
        family="render",
        higher_is_better=False,
        bounds=(0.0, 2.0),
        unit="",
        params=(WEIGHTS, PRECISION),
        worst="1",
        doc="Distance of render and reference in the features of EfficientNet-Lite0, a network trained on ImageNet: one minus the cosine "
        "at each position, averaged over three of its layers. The value does not depend on other images of the scene. Images "
        "with a side under "
        "96 px have no value. For ranking, values above 1 count as 1.",
        origin=Origin((papers.EFFICIENTNET,), "our own definition on the paper’s network"),
        function=lite0_distance,
        weights="lite0",
        tolerance=OF_NETWORKS,
        warning=f"This metric is not LPIPS: its network was not trained on people's answers. {UNTRIED}",
        formula="mean over strides 4, 8, 16 of the mean over places of 1 − cos(x, y), x and y the features of both images at a place",
    ),
)
