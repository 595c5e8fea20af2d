"""`fid`: the Fréchet distance (Heusel et al., 2017) between all renders and all reference views, in features of Inception-v3."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.result import ItemPartial, MetricResult, Status
from evaluation.metrics.shared import for_all
from evaluation.metrics.spec import PRECISION, MetricSpec, Source, published
from evaluation.metrics.tolerance import OF_NETWORKS
from evaluation.networks import weights as stored

if TYPE_CHECKING:
    from torch import Tensor

    from evaluation.metrics.render.pair import RenderPair

NETWORK = "inception"
FEATURES = 2048


def features(pixels: np.ndarray, weights: str) -> np.ndarray:
    """float32[2048]: the third pooling's features of an image uint8[H, W, 3] of any size."""
    return features_of([pixels], weights)[0]


def features_of(images: Sequence[np.ndarray], weights: str) -> list[np.ndarray]:
    """`features` of each of several images, which go through the network together."""
    import torch

    from evaluation.networks.inception import SIDE, resize
    from evaluation.networks.inference import in_batches
    from evaluation.networks.load import load

    def compute(device: torch.device, x: Tensor) -> Tensor:
        return load(NETWORK, weights, device)(x)

    tensors = [torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1))).float() for pixels in images]
    found = in_batches(compute, [resize(one[None], SIDE, SIDE)[0] for one in tensors], batch=len(images))
    return [one.numpy() for one in found]


def fid(pair: RenderPair, weights: str) -> MetricResult:
    """One view's part in the distance: the features of its render and of its reference; `finish` makes the value.

    A render of another size than the reference counts as missing, and a view without a reference image not at all.
    """
    if pair.not_alike:
        return MetricResult(None, pair.not_alike.status)
    (reference,) = pair.reference_once(
        f"inception {weights} {stored.digest(NETWORK, weights)}", lambda: (features(pair.ref, weights).astype(np.float64),)
    )
    own = pair.once(("inception", weights), lambda: features(pair.pred, weights))
    return MetricResult(None, partial={"pred": packed(own), "ref": packed(reference.astype(np.float32))})


def ahead(pairs: Sequence[RenderPair], weights: str) -> None:
    """Features of several pairs' renders together."""
    usable = [pair for pair in pairs if not pair.not_alike]
    for_all(usable, ("inception", weights), lambda some: features_of([one.pred for one in some], weights))


def finish(items: Sequence[ItemPartial], params: Mapping[str, Any]) -> list[MetricResult]:
    """The distance over all views, the same for each of them.

    None if a render is missing, or with fewer than two views. With fewer than 2048 the covariances
    cannot have full rank and the distance is biased upwards: `rank_deficient`, comparable only at equal numbers.
    """
    counted = [item.result for item in items if item.result.status != Status.NOT_APPLICABLE]
    partials = [result.partial for result in counted if result.partial is not None]
    if len(counted) < 2 or len(partials) < len(counted):
        return [MetricResult(None, item.result.status, item.result.flags) for item in items]
    pred, ref = (np.stack([unpacked(partial[side]) for partial in partials]).astype(np.float64) for side in ("pred", "ref"))
    value = frechet(pred, ref)
    flags = ("rank_deficient",) if len(counted) < FEATURES else ()
    return [MetricResult(value, Status.OK, (*item.result.flags, *flags)) for item in items]


def frechet(one: np.ndarray, other: np.ndarray) -> float:
    """‖μ1 − μ2‖² + Tr(Σ1 + Σ2 − 2(Σ1Σ2)^½) of two samples float64[N, D], with unbiased covariances; at least 2 rows each."""
    means, roots = [], []  # roots of the covariances, with no more than D rows
    for sample in (one, other):
        means.append(sample.mean(axis=0))
        root = (sample - means[-1]) / np.sqrt(len(sample) - 1)
        roots.append(np.asarray(np.linalg.qr(root, mode="r")) if len(root) > root.shape[1] else root)
    return distance(means[0], roots[0], means[1], roots[1])


def distance(mean1: np.ndarray, root1: np.ndarray, mean2: np.ndarray, root2: np.ndarray) -> float:
    """The same of two normal distributions, given their means [D] and any roots [k, D] of their covariances: Σ = rootᵀ root.

    The eigenvalues of Σ1Σ2 that are not 0 are the squared singular values of root1·root2ᵀ. So the trace of (Σ1Σ2)^½ is
    the sum of the singular values, never negative or complex. With few samples root1·root2ᵀ is small.
    """
    trace = float(np.sum(root1**2) + np.sum(root2**2) - 2 * np.linalg.svd(root1 @ root2.T, compute_uv=False).sum())
    return max(0.0, float(np.sum((mean1 - mean2) ** 2)) + trace)


def packed(values: np.ndarray) -> str:
    """float32[D] as text, bit for bit."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode()


def unpacked(text: str) -> np.ndarray:
    """The inverse of packed."""
    return np.frombuffer(base64.b64decode(text), dtype="<f4")


PLACE = 60  # in lists of metrics of its kind
SPECS = (
    MetricSpec(
        key="fid",
        title="FID",
        family="render",
        higher_is_better=False,
        bounds=(0.0, None),
        unit="",
        params=(published(NETWORK, "The weights of 2015-12-05, which published figures use.", Source.CODE), PRECISION),
        worst="null",
        doc=(
            "Fréchet distance between all renders and all reference views together, in features of Inception-v3. FID has no "
            "value if a render is missing. With fewer than 2,048 views, FID is biased upwards: compare it only between equal "
            "numbers of views."
        ),
        origin=Origin((papers.FID,)),
        function=fid,
        ahead=ahead,
        weights=NETWORK,
        tolerance=replace(OF_NETWORKS, packed=True),  # of the features of each view
        level="set",
        finish=finish,
        formula="‖μ₁ − μ₂‖² + Tr(Σ₁ + Σ₂ − 2(Σ₁Σ₂)^½)",
    ),
)
