"""`mesh_looks`: how alike the normals of two meshes look from all around, in the features of EfficientNet-Lite0. Own definition.

Both meshes are drawn as the service draws them for people and judges, in the frame of the reference, so that size and place count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.render.lite0_distance import UNTRIED, WEIGHTS
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.spec import PRECISION, Effort, MetricSpec, Param, Source
from evaluation.metrics.tolerance import OF_NETWORKS
from evaluation.networks.precision import current
from evaluation.rendering.cameras import View
from evaluation.rendering.reference import mesh_views
from submissions.formats.arrays import Mesh

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from evaluation.metrics.mesh.pair import MeshPair
    from evaluation.metrics.shared import Arrays

SIDE = 224  # px of a view
STRIDES = (8, 16)
WORST = 2.0
VIEWS = (
    *(View(f"above {azimuth}", azimuth, 35) for azimuth in range(30, 360, 60)),
    *(View(f"below {azimuth}", azimuth, -20) for azimuth in range(0, 360, 60)),
)


def mesh_looks(pair: MeshPair, up: str, weights: str) -> MetricResult:
    """The mean over the strides 8 and 16 of the mean over places of 1 − cosine, in [0, 2]; 0 where both look alike.

    Parts: `stride_8`, `stride_16`, each stride's own mean. A prediction without a face that has an area is at 2.
    """
    known = pair.reference_once(f"looks {up} {weights} {current()}", lambda: looks(pair, (pair.ref_vertices, pair.ref_faces), up, weights))
    if not len(pair.prediction()):
        return MetricResult(WORST, Status.EMPTY_PRED)
    if pair.preparing:
        return MetricResult(0.0)
    found = looks(pair, (pair.pred_vertices, pair.pred_faces), up, weights)
    apart = []
    for place in range(len(STRIDES)):
        counted = known[2 * place + 1] | found[2 * place + 1]
        gap = np.square(known[2 * place].astype(np.float64) - found[2 * place]).sum(axis=1) / 2  # 1 − cosine of vectors of length 1
        apart.append(float(gap[counted].mean()) if counted.any() else 0.0)
    parts = {f"stride_{stride}": value for stride, value in zip(STRIDES, apart, strict=True)}
    return MetricResult(min(float(np.mean(apart)), WORST), parts=parts)


def looks(pair: MeshPair, surface: tuple[np.ndarray, np.ndarray], up: str, weights: str) -> Arrays:
    """Looks of a mesh from all views. Each stride s has the unit features float32[12, C, 224 // s, 224 // s] of its normals, and
    bool[12, 224 // s, 224 // s], True where a pixel shows it. `surface` has its vertices, in the reference's frame, and its faces."""
    import torch

    from evaluation.networks import lite0
    from evaluation.networks.inference import in_batches
    from evaluation.networks.load import load

    drawn = list(mesh_views(Mesh(*surface), VIEWS, SIDE, up, (np.zeros(3), pair.diagonal("gt_unit") / 2)))
    pictures = [torch.from_numpy(one.normals.transpose(2, 0, 1).copy()).float() for one in drawn]
    masks = np.stack([one.mask for one in drawn])
    found: list[np.ndarray] = []
    for stride in STRIDES:
        side = SIDE // stride
        covered = masks.reshape(len(masks), side, stride, side, stride).any(axis=(2, 4))

        def compute(device: torch.device, batch: Tensor, stride: int = stride) -> Tensor:
            network: Any = load("lite0", weights, device)
            return lite0.unit(network.behind(batch, (lite0.TAPS[stride],))[0].float())

        found += [torch.stack(in_batches(compute, pictures, 4)).numpy(), np.asarray(covered)]
    return tuple(found)


PLACE = 40  # in lists of metrics of its kind
SPECS = (
    MetricSpec(
        key="mesh_looks",
        title="Mesh looks",
        family="mesh",
        higher_is_better=False,
        bounds=(0.0, WORST),
        unit="",
        params=(
            Param("up", "z", "choice", choices=("z", "y"), doc="The axis of the meshes that points up.", source=Source.OURS),
            WEIGHTS,
            PRECISION,
        ),
        worst="2",
        doc="Distance of how two meshes look. Pictures of their normals, rendered from 12 viewpoints around the reference, are compared "
        "in the features of EfficientNet-Lite0, a network trained on ImageNet, wherever either mesh is visible. Both meshes are rendered "
        "in the reference's frame. Faces are rendered from both sides, so flipped faces make no difference.",
        origin=Origin((papers.EFFICIENTNET,), "our own definition on the paper’s network"),
        function=mesh_looks,
        examples=("INSIDE_OUT",),
        weights="lite0",
        tolerance=OF_NETWORKS,
        effort=Effort(3.0, 200_000, power=1.0, by=1, least=True),
        warning=f"The metric does not see flipped faces, and its network was not trained on people's answers. {UNTRIED}",
        formula="mean over strides 8, 16 of the mean over places of 12 views of 1 − cos(x, y), x and y the features of both pictures there",
    ),
)
